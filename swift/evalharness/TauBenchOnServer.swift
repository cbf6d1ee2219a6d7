import EvalHarnessSupport
import Foundation

/// `eval-tau-bench` on any server: so many conversations at a time. The model under test is reached by a provider of its
/// own, so that the simulated user stays where the environment says.
enum TauBenchOnServer {
    static func run(
        _ common: EvalHarnessSupport.Common, _ options: EvalTauBench.Options,
        on choice: EvalHarnessSupport.BackendChoice
    ) async throws {
        if choice.name == .embedded {
            EvalHarnessSupport.refuse(
                "tau-bench asks over HTTP, which embedded does not offer: use --backend llama-server with the same model",
                usage: EvalTauBench.exitUsage)
        }
        let provider = choice.name == .anthropicURL ? "anthropic" : "hosted_vllm"
        if options.userProvider == provider {
            EvalHarnessSupport.refuse(
                "--user-provider \(provider) is how the model under test is reached, so the simulated user would be asked "
                    + "there, too: choose another provider for it", usage: EvalTauBench.exitUsage)
        }
        let served = try await EvalHarnessSupport.startServe(
            modelPath: common.modelPath ?? "", port: common.servePort, on: choice)
        let work = EvalTauBench.workFolder()
        let start = Date()
        EvalTauBench.play(
            options, limit: common.limit, model: served.model, provider: provider, concurrency: choice.concurrency,
            logs: work, environment: address(of: served, provider: provider))
        let wall = -start.timeIntervalSinceNow
        withExtendedLifetime(served) {}
        append(common, options, EvalTauBench.results(under: work), wall)
    }

    /// As LiteLLM, through which tau-bench asks, wants to be told. Its Anthropic client adds the version itself.
    private static func address(of served: EvalHarnessSupport.Served, provider: String) -> [String: String] {
        let base = served.address
        let prefix = provider.uppercased()
        return [
            "\(prefix)_API_BASE": provider == "anthropic" ? String(base.dropLast("/v1".count)) : base,
            "\(prefix)_API_KEY": served.key ?? "none",
        ]
    }

    /// tau-bench gives a task that failed by an error the reward 0, and says so in its `info`.
    private static func append(
        _ common: EvalHarnessSupport.Common, _ options: EvalTauBench.Options, _ results: [[String: Any]], _ wall: Double
    ) {
        let answered = results.filter { ($0["info"] as? [String: Any])?["traceback"] == nil }
        let reward = answered.compactMap { EvalHarnessSupport.doubleValue($0["reward"]) }.reduce(0, +)
        if answered.isEmpty { fail("tau-bench finished none of \(results.count) tasks: there is no score", 4) }
        var missing = Missing()
        missing.tell(
            "tau-bench/\(options.environment)", missing: results.count - answered.count, correct: reward,
            of: results.count)
        EvalHarnessSupport.appendRow(
            common: common, task: "tau-bench", subtask: options.environment, metric: "pass_at_1",
            score: reward / Double(results.count), n: results.count, wall: wall, harness: "tau-bench")
        print("✓ wrote tau-bench row to \(common.outJsonl ?? "")")
        missing.exitIfAny()
    }
}
