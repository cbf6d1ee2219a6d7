import EvalHarnessSupport
import Foundation

/// `eval-tau-bench`: tau-bench's own `run.py`, one row with the mean reward.
enum EvalTauBench {
    struct Options {
        var environment = "retail"
        var root = externalFolder("tau-bench")
        var userModel = "gpt-4o"
        var userProvider = "openai"
    }

    static func run(_ arguments: [String]) async throws {
        let (choice, others) = EvalHarnessSupport.takeBackend(arguments, usage: exitUsage)
        let (parsed, rest) = EvalHarnessSupport.parseCommon(others, usage: exitUsage)
        let options = parse(rest)
        let common = EvalHarnessSupport.require(parsed, on: choice, usage: exitUsage)
        if choice.name == .posttrainllm {
            runAsEver(common, options)
        } else {
            try await TauBenchOnServer.run(common, options, on: choice)
        }
    }

    private static func runAsEver(_ common: EvalHarnessSupport.Common, _ options: Options) {
        let key = ProcessInfo.processInfo.environment["OPENAI_API_KEY"]
        if key == nil && options.userProvider == "openai" {
            EvalHarnessSupport.complain("tau-bench requires OPENAI_API_KEY for the user simulator in v1")
        }
        let served = EvalHarnessSupport.startServe(
            modelPath: common.modelPath ?? "", port: common.servePort, programs: EvalHarnessSupport.servePrograms)
        defer { served.terminate() }

        let work = workFolder()
        let base = "http://127.0.0.1:\(common.servePort)/v1"
        let start = Date()
        play(
            options, limit: common.limit, model: "posttrainllm", provider: "openai", concurrency: 1, logs: work,
            environment: [
                "OPENAI_BASE_URL": base, "OPENAI_API_BASE": base, "OPENAI_API_KEY": key ?? "posttrainllm",
            ])
        let wall = -start.timeIntervalSinceNow
        let rewards = results(under: work).compactMap { EvalHarnessSupport.doubleValue($0["reward"]) }
        EvalHarnessSupport.appendRow(
            common: common, task: "tau-bench", subtask: options.environment, metric: "pass_at_1",
            score: rewards.isEmpty ? 0 : rewards.reduce(0, +) / Double(rewards.count), n: rewards.count, wall: wall,
            harness: "tau-bench")
        print("✓ wrote tau-bench row to \(common.outJsonl ?? "")")
    }

    static func workFolder() -> String {
        let folder = "/tmp/posttrainllm-tau-\(UUID().uuidString.prefix(8))"
        try? FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        return folder
    }

    private static func parse(_ rest: [String]) -> Options {
        var options = Options()
        var reader = ArgumentReader(rest)
        while let argument = reader.next() {
            switch argument {
            case "--env": options.environment = reader.value(of: argument, usage: exitUsage)
            case "--tau-root": options.root = reader.value(of: argument, usage: exitUsage)
            case "--user-model": options.userModel = reader.value(of: argument, usage: exitUsage)
            case "--user-provider": options.userProvider = reader.value(of: argument, usage: exitUsage)
            default: EvalHarnessSupport.refuse("unknown flag: \(argument)", usage: exitUsage)
            }
        }
        return options
    }

    /// Runs tau-bench. Ends the process with its status where it fails.
    static func play(
        _ options: Options, limit: Int, model: String, provider: String, concurrency: Int, logs: String,
        environment: [String: String]
    ) {
        let status = EvalHarnessSupport.runProcess(
            pythonProgram(),
            [
                "run.py", "--agent-strategy", "tool-calling", "--env", options.environment, "--model", model,
                "--model-provider", provider, "--user-model", options.userModel, "--user-model-provider",
                options.userProvider, "--user-strategy", "llm", "--max-concurrency", "\(concurrency)",
                "--start-index", "0", "--end-index", limit > 0 ? "\(limit)" : "-1", "--log-dir", logs,
            ],
            cwd: URL(fileURLWithPath: options.root), env: environment)
        if status != 0 { fail("tau-bench failed with exit \(status)", status) }
    }

    /// What tau-bench says of each task. Ends the process with 1 where it wrote nothing.
    static func results(under work: String) -> [[String: Any]] {
        guard let file = EvalHarnessSupport.latestJSON(under: URL(fileURLWithPath: work)),
            let results = EvalHarnessSupport.jsonObject(file) as? [[String: Any]]
        else { fail("could not find tau-bench result JSON under \(work)", 1) }
        return results
    }

    static func exitUsage() -> Never {
        print(
            """
            usage: evalharness eval-tau-bench <model> --out <jsonl> [options]

            --env retail|airline    domain (default: retail)
            --limit N               first N tasks (default: all)
            --tau-root <dir>        checkout of tau-bench
            --user-model NAME       model that plays the user (default: gpt-4o)
            --user-provider NAME    its provider (default: openai)
            --model-name NAME       name in the row
            --model-step N          step of training in the row
            --baseline              the row is that of the baseline
            --budget <json>         budget to note in the row
            --serve-port N          port of a server that is started (default: 8097)
            \(EvalHarnessSupport.backendHelp)
            """)
        exit(2)
    }
}
