import EvalCore
import EvalHarnessSupport
import Foundation

/// `eval-bfcl` where BFCL itself cannot ask, in this process and in Anthropic's API: evalcore runs BFCL's files and scores
/// as BFCL does.
enum BFCLInCore {
    static func run(
        _ common: EvalHarnessSupport.Common, _ options: EvalBFCL.Options, on choice: EvalHarnessSupport.BackendChoice
    ) async throws {
        EvalBFCL.refuseFlagsOfPosttrainllm(options)
        if options.bfclModel != nil {
            EvalHarnessSupport.refuse(
                "--bfcl-model is for backends that BFCL asks itself, not \(choice.name.rawValue)",
                usage: EvalBFCL.exitUsage)
        }
        let suites = try BFCLCategories.current(options.categoryList).map { category in
            (category, try Suite(path: "\(dataFolder(options.root))/BFCL_v4_\(category).json"))
        }
        let served = try await EvalHarnessSupport.startServe(modelPath: common.modelPath ?? "", on: choice)
        var missing = Missing()
        var rows = 0
        for (category, suite) in suites {
            let start = Date()
            let summary = try await play(suite, category, common, choice, served)
            let score = summary.score ?? 0
            let lost = summary.errors + summary.unscored + summary.notRun
            missing.tell(
                "bfcl/\(category)", missing: lost, correct: score * Double(summary.items), of: summary.items)
            if summary.answered == 0 { continue }
            EvalHarnessSupport.appendRow(
                common: common, task: "bfcl", subtask: category, metric: "accuracy", score: score, n: summary.items,
                wall: -start.timeIntervalSinceNow, harness: "evalcore")
            rows += 1
        }
        print("✓ wrote \(rows) BFCL rows to \(common.outJsonl ?? "")")
        missing.exitIfAny()
    }

    private static func play(
        _ suite: Suite, _ category: String, _ common: EvalHarnessSupport.Common,
        _ choice: EvalHarnessSupport.BackendChoice, _ served: EvalHarnessSupport.Served
    ) async throws -> RunSummary {
        let work = EvalBFCL.Work()
        let run = try Run(suite, on: served.backend) {
            $0.out = work.results
            $0.parametersJSON = #"{"temperature": 0}"#
            $0.pool.concurrency = choice.concurrency
            if common.limit > 0 { $0.limit = common.limit }
        }
        for await note in run.notes { print("\(category): \(note)") }
        return try await run.summary()
    }

    /// A checkout has the data in the package's folder.
    private static func dataFolder(_ root: String) -> String {
        let inPackage = root + "/bfcl_eval/data"
        return FileManager.default.fileExists(atPath: inPackage) ? inPackage : root
    }
}
