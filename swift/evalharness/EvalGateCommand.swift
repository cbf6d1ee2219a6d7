import EvalCore
import EvalHarnessSupport
import Foundation

/// `eval-gate`: gates files of rows against a baseline, by a threshold in percentage points (`docs/gate.md`).
enum EvalGateCommand {
    private struct Options {
        var spec: String?
        var candidate: String?
        var baseline: String?
        var out = "gate-result.json"
        var threshold: Double?
        var budget: String?
        var passes = 1
        var updatesBaseline = false
    }

    /// What of a spec the library does not use: where the baseline is, and how the candidate comes about.
    private struct Spec: Decodable {
        struct Suite: Decodable {
            let name: String
            let command: [String]?
        }
        let baseline: String
        let suites: [Suite]
    }

    static func run(_ arguments: [String]) throws {
        let options = parse(arguments)
        let specJSON = try readSpec(options.spec)
        // The library says what is wrong with a spec, before anything is run.
        let budgetJSON = options.budget.map { String(decoding: read($0, "budget"), as: UTF8.self) }
        _ = try gate(Data(), Data(), specJSON, budgetJSON, options)
        let spec = try JSONDecoder().decode(Spec.self, from: Data(specJSON.utf8))
        let baseline = options.baseline ?? spec.baseline
        let rows = options.candidate.map { read($0, "candidate") } ?? rowsOfCommands(spec.suites, options)
        if options.updatesBaseline {
            do { try rows.write(to: URL(fileURLWithPath: baseline), options: .atomic) } catch {
                fail("cannot write the baseline \(baseline): \(error.localizedDescription)", 1)
            }
            return print("\(baseline) is the baseline now")
        }
        let gated = try gate(rows, read(baseline, "baseline"), specJSON, budgetJSON, options)
        do { try Data(gated.json.utf8).write(to: URL(fileURLWithPath: options.out), options: .atomic) } catch {
            fail("cannot write \(options.out): \(error.localizedDescription)", 2)
        }
        print("\(gated.verdict == .pass ? "pass" : "fail"): \(options.out)")
        if gated.verdict != .pass { exit(1) }
    }

    private static func gate(
        _ candidate: Data, _ baseline: Data, _ spec: String, _ budget: String?, _ options: Options
    ) throws -> Gate {
        try Gate.rows(
            candidate: candidate, baseline: baseline, specJSON: spec, threshold: options.threshold,
            passes: options.passes, budgetJSON: budget)
    }

    private static func readSpec(_ named: String?) throws -> String {
        let usual = "eval-gate.json"
        let project = "posttrainllm.project.json"
        let isThere = FileManager.default.fileExists(atPath:)
        if let path = named ?? (isThere(usual) ? usual : nil) {
            return String(decoding: read(path, "spec"), as: UTF8.self)
        }
        guard isThere(project) else {
            fail("there is no gate: name its file with --spec, or have \(usual) or \(project) with `eval` here", 2)
        }
        let root = EvalHarnessSupport.jsonObject(URL(fileURLWithPath: project)) as? [String: Any]
        guard let block = root?["eval"] as? [String: Any] else { fail("\(project) has no `eval`", 2) }
        return String(decoding: try JSONSerialization.data(withJSONObject: block), as: UTF8.self)
    }

    /// What the suites' commands append to their file, each run once for each pass. Ends the process with the status of
    /// one that fails.
    private static func rowsOfCommands(_ suites: [Spec.Suite], _ options: Options) -> Data {
        if suites.isEmpty {
            fail("there is no candidate: name its rows with --candidate, or a suite with a command", 2)
        }
        let commands = suites.map { suite in
            guard let command = suite.command, !command.isEmpty else {
                fail("suite \(suite.name) has no command to run; name the candidate's rows with --candidate", 2)
            }
            return command
        }
        let rows = FileManager.default.temporaryDirectory.appendingPathComponent("eval-gate-\(UUID().uuidString).jsonl")
        defer { try? FileManager.default.removeItem(at: rows) }
        var environment = ["TINYGPT_EVAL_OUT": rows.path, "TINYGPT_EVAL_PASSES": "\(options.passes)"]
        if let budget = options.budget { environment["TINYGPT_EVAL_BUDGET"] = budget }
        for command in Array(repeating: commands, count: options.passes).joined() {
            guard let program = EvalHarnessSupport.resolveExecutable(command[0]) else {
                fail("cannot start \(command[0])", 127)
            }
            let arguments = command.dropFirst().map {
                $0.replacingOccurrences(of: "${TINYGPT_EVAL_OUT}", with: rows.path)
                    .replacingOccurrences(of: "$TINYGPT_EVAL_OUT", with: rows.path)
            }
            let status = EvalHarnessSupport.runProcess(program, arguments, env: environment)
            if status != 0 {
                try? FileManager.default.removeItem(at: rows)
                exit(status)
            }
        }
        return (try? Data(contentsOf: rows)) ?? Data()
    }

    private static func read(_ path: String, _ what: String) -> Data {
        do { return try Data(contentsOf: URL(fileURLWithPath: path)) } catch {
            fail("cannot read the \(what) \(path)", 2)
        }
    }

    private static func parse(_ arguments: [String]) -> Options {
        var options = Options()
        var reader = ArgumentReader(arguments)
        while let argument = reader.next() {
            switch argument {
            case "--spec": options.spec = reader.value(of: argument, usage: exitUsage)
            case "--candidate": options.candidate = reader.value(of: argument, usage: exitUsage)
            case "--baseline": options.baseline = reader.value(of: argument, usage: exitUsage)
            case "--out": options.out = reader.value(of: argument, usage: exitUsage)
            case "--threshold": options.threshold = number(argument, &reader)
            case "--budget": options.budget = reader.value(of: argument, usage: exitUsage)
            case "--passes": options.passes = number(argument, &reader)
            case "--update-baseline": options.updatesBaseline = true
            case "-h", "--help": exitUsage()
            default: EvalHarnessSupport.refuse("unknown flag: \(argument)", usage: exitUsage)
            }
        }
        if options.passes < 1 { EvalHarnessSupport.refuse("--passes must be at least 1", usage: exitUsage) }
        return options
    }

    private static func number<Number: LosslessStringConvertible>(_ flag: String, _ reader: inout ArgumentReader)
        -> Number
    {
        let value = reader.value(of: flag, usage: exitUsage)
        if let number = Number(value) { return number }
        EvalHarnessSupport.refuse("\(flag) is no number: \(value)", usage: exitUsage)
    }

    private static func exitUsage() -> Never {
        print(
            """
            usage: evalharness eval-gate [options]

            --spec <json>           the gate (default: eval-gate.json, or `eval` of posttrainllm.project.json)
            --candidate <jsonl>     rows of the candidate (default: what the suites' commands append)
            --baseline <jsonl>      rows of the baseline (default: the spec's)
            --out <json>            the result (default: gate-result.json)
            --threshold PP          percentage points that a metric may lose (default: the spec's, 2)
            --budget <json>         budget that result and commands are given
            --passes N              how often the suites' commands are run (default: 1)
            --update-baseline       put the candidate's rows in the place of the baseline's, and gate nothing
            """)
        exit(2)
    }
}
