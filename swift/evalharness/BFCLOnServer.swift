import EvalHarnessSupport
import Foundation

/// `eval-bfcl` on a server with OpenAI's API: BFCL generates, so many requests at a time, and scores.
enum BFCLOnServer {
    /// How often what failed is generated, all in all.
    private static let rounds = 3

    static func run(
        _ common: EvalHarnessSupport.Common, _ options: EvalBFCL.Options, on choice: EvalHarnessSupport.BackendChoice
    ) async throws {
        EvalBFCL.refuseFlagsOfPosttrainllm(options)
        let categories = BFCLCategories.current(options.categoryList)
        let work = EvalBFCL.Work()
        let served = try await EvalHarnessSupport.startServe(
            modelPath: common.modelPath ?? "", port: common.servePort, on: choice)
        let bfcl = Command(options, categories, common.limit, work, served)

        let start = Date()
        var failures: [String: Int] = [:]
        for round in 1...rounds {
            bfcl.generate(threads: choice.concurrency)
            failures = try BFCLFiles.removeFailures(under: work.results)
            let count = failures.values.reduce(0, +)
            if count == 0 { break }
            EvalHarnessSupport.complain("round \(round) of \(rounds): \(count) requests failed")
        }
        bfcl.evaluate()
        let wall = -start.timeIntervalSinceNow
        withExtendedLifetime(served) {}
        append(common, BFCLFiles.scores(under: work.scores), failures, work, wall)
    }

    private static func append(
        _ common: EvalHarnessSupport.Common, _ scores: [BFCLFiles.Score], _ failures: [String: Int],
        _ work: EvalBFCL.Work, _ wall: Double
    ) {
        var missing = Missing()
        for score in scores {
            let failed = failures[score.category] ?? 0
            let total = score.total + failed
            missing.tell("bfcl/\(score.category)", missing: failed, correct: Double(score.correct), of: total)
            EvalHarnessSupport.appendRow(
                common: common, task: "bfcl", subtask: score.category, metric: "accuracy",
                score: Double(score.correct) / Double(total), n: total, wall: wall, harness: "bfcl")
        }
        // Where nothing at all was answered there is no score, so there is no row.
        for (category, failed) in failures.sorted(by: { $0.key < $1.key })
        where !scores.contains(where: { $0.category == category }) {
            missing.tell("bfcl/\(category)", missing: failed, correct: 0, of: failed)
        }
        print("✓ wrote \(scores.count) BFCL rows to \(common.outJsonl ?? "")")
        missing.exitIfAny()
        if scores.isEmpty { fail("could not find BFCL score JSON under \(work.scores)", 1) }
    }

    /// BFCL's command line.
    private struct Command {
        private let model: String
        private let categories: String
        private let limit: Int
        private let work: EvalBFCL.Work
        private let folder: String
        private let environment: [String: String]

        /// BFCL's own folder is the run's, as it writes there, and reads a file of keys that would take precedence.
        init(
            _ options: EvalBFCL.Options, _ categories: [String], _ limit: Int, _ work: EvalBFCL.Work,
            _ served: EvalHarnessSupport.Served
        ) {
            model = options.bfclModel ?? BFCLLauncher.modelName
            self.categories = categories.joined(separator: ",")
            self.limit = limit
            self.work = work
            folder = FileManager.default.fileExists(atPath: options.root) ? options.root : work.folder
            var environment = [
                "OPENAI_API_KEY": served.key ?? "none", "OPENAI_BASE_URL": served.address,
                "BFCL_PROJECT_ROOT": work.folder,
            ]
            if options.bfclModel == nil { environment["EVALCORE_BFCL_MODEL"] = served.model }
            if limit > 0 { environment["EVALCORE_BFCL_LIMIT"] = "\(limit)" }
            self.environment = environment
        }

        /// What is there already is not generated again.
        func generate(threads: Int) {
            let ids = limit > 0 ? ["--run-ids"] : []
            run(
                ["generate"] + named + ["--temperature", "0", "--num-threads", "\(threads)", "--skip-server-setup"]
                    + ids,
                "generation")
        }

        func evaluate() { run(["evaluate"] + named + ["--score-dir", work.scores, "--partial-eval"], "scoring") }

        private var named: [String] {
            ["--model", model, "--test-category", categories, "--result-dir", work.results]
        }

        private func run(_ arguments: [String], _ what: String) {
            let status = EvalHarnessSupport.runProcess(
                pythonProgram(),
                ["-c", BFCLLauncher.script] + arguments, cwd: URL(fileURLWithPath: folder), env: environment)
            if status != 0 { fail("BFCL \(what) failed with exit \(status)", status) }
        }
    }
}

/// The names of BFCL's categories, which changed with its version 4.
enum BFCLCategories {
    private static let renamed = [
        "simple": "simple_python", "java": "simple_java", "javascript": "simple_javascript",
        "relevance": "live_relevance",
    ]

    /// Each once, by its name today.
    static func current(_ names: [String]) -> [String] {
        names.map { renamed[$0] ?? $0 }.reduce(into: []) { if !$0.contains($1) { $0.append($1) } }
    }
}

extension EvalBFCL {
    static func refuseFlagsOfPosttrainllm(_ options: Options) {
        if options.tools != nil || options.lora != nil || options.toolMode != "full" {
            EvalHarnessSupport.refuse(
                "--tools, --tool-mode and --lora are posttrainllm's: use --backend-arg for flags of another server",
                usage: exitUsage)
        }
    }
}
