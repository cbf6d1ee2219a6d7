import EvalHarnessSupport
import Foundation

/// `eval-bfcl`: generation and scoring by the `bfcl_eval` package, a row for each metric.
enum EvalBFCL {
    struct Options {
        var categories =
            "simple,multiple,parallel,parallel_multiple,relevance,irrelevance,live_simple,live_multiple,"
            + "live_parallel,live_parallel_multiple"
        var root = externalFolder("gorilla-bfcl/berkeley-function-call-leaderboard")
        /// In BFCL's registry.
        var bfclModel: String?
        var tools: String?
        var toolMode = "full"
        var lora: String?

        var categoryList: [String] { categories.split(separator: ",").map(String.init) }
    }

    static func run(_ arguments: [String]) async throws {
        let (choice, others) = EvalHarnessSupport.takeBackend(arguments, usage: exitUsage)
        let (parsed, rest) = EvalHarnessSupport.parseCommon(others, usage: exitUsage)
        let options = parse(rest)
        let common = EvalHarnessSupport.require(parsed, on: choice, usage: exitUsage)
        switch choice.name {
        case .posttrainllm: runAsEver(common, options)
        case .embedded, .anthropicURL: try await BFCLInCore.run(common, options, on: choice)
        case .omlx, .mlxServer, .llamaServer, .openaiURL: try await BFCLOnServer.run(common, options, on: choice)
        }
    }

    private static func runAsEver(_ common: EvalHarnessSupport.Common, _ options: Options) {
        let work = Work()
        let served = EvalHarnessSupport.startServe(
            modelPath: common.modelPath ?? "", port: common.servePort, extraArgs: serveArguments(options, work),
            programs: EvalHarnessSupport.servePrograms)
        defer { served.terminate() }

        let start = Date()
        generateAndScore(options, port: common.servePort, work)
        let wall = -start.timeIntervalSinceNow
        let rows = appendScores(common, work, wall) + appendToolHops(common, options, work, wall)
        print("✓ wrote \(rows) BFCL rows to \(common.outJsonl ?? "")")
    }

    private static func parse(_ rest: [String]) -> Options {
        var options = Options()
        var reader = ArgumentReader(rest)
        while let argument = reader.next() {
            switch argument {
            case "--tasks", "--categories": options.categories = reader.value(of: argument, usage: exitUsage)
            case "--bfcl-root": options.root = reader.value(of: argument, usage: exitUsage)
            case "--bfcl-model": options.bfclModel = reader.value(of: argument, usage: exitUsage)
            case "--tools": options.tools = reader.value(of: argument, usage: exitUsage)
            case "--lora": options.lora = reader.value(of: argument, usage: exitUsage)
            case "--tool-mode":
                options.toolMode = reader.value(of: argument, usage: exitUsage)
                if !["full", "deferred"].contains(options.toolMode) {
                    EvalHarnessSupport.refuse("--tool-mode must be full or deferred", usage: exitUsage)
                }
            default: EvalHarnessSupport.refuse("unknown flag: \(argument)", usage: exitUsage)
            }
        }
        return options
    }

    /// The private folder of a run.
    struct Work {
        let folder = "/tmp/posttrainllm-bfcl-\(UUID().uuidString.prefix(8))"
        var results: String { folder + "/result" }
        var scores: String { folder + "/score" }
        var toolMetrics: String { folder + "/tool-metrics.jsonl" }

        init() {
            for path in [results, scores] {
                try? FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
            }
        }
    }

    private static func serveArguments(_ options: Options, _ work: Work) -> [String] {
        var arguments = options.lora.map { ["--lora", $0] } ?? []
        if let tools = options.tools {
            arguments += ["--tools", tools, "--tool-mode", options.toolMode]
            if options.toolMode == "deferred" { arguments += ["--tool-metrics-out", work.toolMetrics] }
        } else if options.toolMode != "full" {
            EvalHarnessSupport.refuse("--tool-mode deferred requires --tools <path.json>", usage: exitUsage)
        }
        return arguments
    }

    /// Ends the process with the child's status where one fails.
    private static func generateAndScore(_ options: Options, port: Int, _ work: Work) {
        func python(_ module: String, _ arguments: [String], _ what: String) {
            let status = EvalHarnessSupport.runProcess(
                pythonProgram(),
                ["-m", module, "--model", options.bfclModel ?? "openbmb/MiniCPM-SALA-FC", "--test-category"]
                    + options.categoryList + arguments,
                cwd: URL(fileURLWithPath: options.root),
                env: [
                    "OPENAI_API_KEY": "posttrainllm", "OPENAI_BASE_URL": "http://127.0.0.1:\(port)/v1",
                    "BFCL_PROJECT_ROOT": options.root,
                ])
            if status != 0 { fail("BFCL \(what) failed with exit \(status)", status) }
        }
        python(
            "bfcl_eval._llm_response_generation",
            ["--result-dir", work.results, "--skip-server-setup", "--allow-overwrite"], "generation")
        python(
            "bfcl_eval.eval_checker.eval_runner",
            ["--result-dir", work.results, "--score-dir", work.scores, "--partial-eval"], "scoring")
    }

    private static func appendScores(_ common: EvalHarnessSupport.Common, _ work: Work, _ wall: Double) -> Int {
        guard let file = EvalHarnessSupport.latestJSON(under: URL(fileURLWithPath: work.scores)),
            let json = EvalHarnessSupport.jsonObject(file)
        else { fail("could not find BFCL score JSON under \(work.scores)", 1) }
        let scores = EvalHarnessSupport.numericScores(json)
        for (name, score, count) in scores {
            let path = name.split(separator: "/").map(String.init)
            EvalHarnessSupport.appendRow(
                common: common, task: "bfcl", subtask: path.dropLast().last, metric: path.last ?? "accuracy",
                score: score, n: count, wall: wall, harness: "bfcl")
        }
        return scores.count
    }

    /// The mean number of times that an answer asked for a tool's description, where tools are deferred.
    private static func appendToolHops(
        _ common: EvalHarnessSupport.Common, _ options: Options, _ work: Work, _ wall: Double
    ) -> Int {
        guard options.toolMode == "deferred",
            let lines = try? String(contentsOfFile: work.toolMetrics, encoding: .utf8)
        else { return 0 }
        let hops = lines.split(separator: "\n").compactMap { line in
            let object = try? JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
            return EvalHarnessSupport.doubleValue(object?["get_tool_info_hops"])
        }
        if hops.isEmpty { return 0 }
        EvalHarnessSupport.appendRow(
            common: common, task: "bfcl", subtask: "deferred_tools", metric: "get_tool_info_hops",
            score: hops.reduce(0, +) / Double(hops.count), n: hops.count, wall: wall, harness: "bfcl-tool-metrics")
        return 1
    }

    static func exitUsage() -> Never {
        print(
            """
            usage: evalharness eval-bfcl <model> --out <jsonl> [options]

            --tasks <csv>           BFCL categories (default: those of one turn)
            --limit N               first N items of each category; no use with posttrainllm
            --bfcl-root <dir>       checkout of BFCL
            --model-name NAME       name in the rows
            --model-step N          step of training in the rows
            --baseline              the rows are those of the baseline
            --budget <json>         budget to note in the rows
            --tokenizer <dir>       accepted for symmetry; the server reads the model's own
            --serve-port N          port of a server that is started (default: 8097)
            \(EvalHarnessSupport.backendHelp)

            --bfcl-model NAME       model in BFCL's registry (default: openbmb/MiniCPM-SALA-FC with posttrainllm, else
                                    the served model, called by OpenAI's function calling)
            Of posttrainllm:
            --tools <json>          tools that the server itself declares
            --tool-mode MODE        full (default) or deferred
            --lora <path.lora>      adapter that the server puts on the model
            """)
        exit(2)
    }
}
