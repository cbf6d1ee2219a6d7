import Foundation

/// What drivers of evaluation harnesses have in common: flags, a server to evaluate, child processes, score files and
/// rows. Functions that end the process say so; all others return or throw. Any thread.
public enum EvalHarnessSupport {
    /// The flags that the drivers share.
    public struct Common: Sendable {
        /// The first positional argument: a model's file or folder, or its name at a server.
        public var modelPath: String?
        public var tokenizer: String?
        /// Where rows are appended.
        public var outJsonl: String?
        public var modelName: String?
        /// The step of training; nil: not told.
        public var modelStep: Int?
        public var baseline = false
        /// Items at most; 0: all.
        public var limit = 0
        public var servePort = 8097
        /// A file with a budget for the rows' `protocol`.
        public var budgetPath: String?
        public var evalBudget: EvalGate.AgentEvalBudget?
        /// Times that the whole evaluation is repeated by whoever runs it, at least 1.
        public var evalPasses = 1

        public init() {}
    }

    /// Reads the flags that the drivers share. What it does not know is handed back in order: a flag with the value
    /// behind it, if that does not begin with `-`, and positionals after the first.
    ///
    /// `TINYGPT_EVAL_BUDGET` stands for a missing `--budget`, and `TINYGPT_EVAL_PASSES` gives the passes. Ends the
    /// process through `usage` for `--help` and for a flag without its value, and with 2 for a budget that cannot be
    /// read.
    public static func parseCommon(_ arguments: [String], usage: () -> Never) -> (Common, [String]) {
        var common = Common()
        var rest: [String] = []
        var reader = ArgumentReader(arguments)
        while let argument = reader.next() {
            switch argument {
            case "--tokenizer": common.tokenizer = reader.value(of: argument, usage: usage)
            case "--out": common.outJsonl = reader.value(of: argument, usage: usage)
            case "--model-name": common.modelName = reader.value(of: argument, usage: usage)
            case "--model-step": common.modelStep = Int(reader.value(of: argument, usage: usage))
            case "--baseline": common.baseline = true
            case "--limit": common.limit = Int(reader.value(of: argument, usage: usage)) ?? common.limit
            case "--serve-port": common.servePort = Int(reader.value(of: argument, usage: usage)) ?? common.servePort
            case "--budget": common.budgetPath = reader.value(of: argument, usage: usage)
            case "-h", "--help": usage()
            case _ where argument.hasPrefix("-"):
                rest.append(argument)
                if let value = reader.nextUnlessFlag() { rest.append(value) }
            case _ where common.modelPath == nil: common.modelPath = argument
            default: rest.append(argument)
            }
        }
        readEnvironment(into: &common)
        return (common, rest)
    }

    private static func readEnvironment(into common: inout Common) {
        let environment = ProcessInfo.processInfo.environment
        common.budgetPath = common.budgetPath ?? environment["TINYGPT_EVAL_BUDGET"]
        if let passes = environment["TINYGPT_EVAL_PASSES"].flatMap({ Int($0) }), passes > 0 {
            common.evalPasses = passes
        }
        common.evalBudget = common.budgetPath.map { loadBudget(path: $0) }
    }

    /// The same flags with the model's name in rows, where another backend than posttrainllm serves it. Ends the process
    /// through `usage` where there is no model or no `--out`.
    public static func require(
        _ common: Common, on choice: BackendChoice = BackendChoice(), usage: () -> Never
    ) -> Common {
        if common.modelPath == nil { refuse("missing <model.tinygpt | hf-dir>", usage: usage) }
        if common.outJsonl == nil { refuse("--out <path.jsonl> required", usage: usage) }
        if choice.name == .posttrainllm { return common }
        var named = common
        named.modelName = common.modelName ?? common.modelPath.map { servedName(of: $0) }
        return named
    }

    /// `--model-name`, else the model file's name without its ending.
    public static func displayName(_ common: Common) -> String {
        common.modelName
            ?? URL(fileURLWithPath: common.modelPath ?? "model").deletingPathExtension().lastPathComponent
    }

    /// The name in rows of a model that another backend than posttrainllm serves: the last part of its path or of its
    /// name, without `.gguf`. Any other dot belongs to it, as in `Qwen2.5-0.5B`.
    public static func servedName(of model: String) -> String {
        let name = URL(fileURLWithPath: model).standardizedFileURL.lastPathComponent
        return name.hasSuffix(".gguf") ? String(name.dropLast(".gguf".count)) : name
    }

    /// Writes a line to standard error.
    public static func complain(_ line: String) {
        FileHandle.standardError.write(Data((line + "\n").utf8))
    }

    /// Ends the process through `usage`, with a line that says why on standard error.
    public static func refuse(_ message: String, usage: () -> Never) -> Never {
        complain(message)
        usage()
    }
}

/// Reads a command line from the left.
public struct ArgumentReader {
    private var rest: ArraySlice<String>

    public init(_ arguments: [String]) { rest = arguments[...] }

    public mutating func next() -> String? { rest.popFirst() }

    /// The next argument if it is not a flag.
    public mutating func nextUnlessFlag() -> String? {
        rest.first.map { $0.hasPrefix("-") } == false ? rest.popFirst() : nil
    }

    /// The next argument, whatever it looks like. Ends the process through `usage` where there is none.
    public mutating func value(of flag: String, usage: () -> Never) -> String {
        if let value = rest.popFirst() { return value }
        EvalHarnessSupport.refuse("\(flag) needs a value", usage: usage)
    }
}
