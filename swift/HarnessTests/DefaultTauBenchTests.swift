import Foundation
import Testing

extension DriverTests {
    /// `eval-tau-bench` on `posttrainllm serve`, as drivers have always called it.
    struct DefaultTauBenchTests {
        private let bench: HarnessBench

        init() throws { bench = try HarnessBench() }

        private func run(_ more: [String] = [], environment: [String: String] = [:]) async throws -> DriverRun {
            try await bench.run(
                ["eval-tau-bench", "models/tiny.tinygpt", "--out", "rows.jsonl", "--serve-port", "\(bench.port)"]
                    + ["--tau-root", bench.folder + "/tau"] + more,
                environment: environment)
        }

        @Test func theChildAndTheRowAreAsEver() async throws {
            let run = try await run(environment: ["RESULTS": Files.path("tau-results.json")])
            #expect(run.status == 0)
            #expect(try run.records == Files.records("tau.jsonl"))
            #expect(try run.rows == Files.lines("tau.rows.jsonl"))
            for child in run.children { #expect(try await hasEnded(child)) }
        }

        @Test func allFlagsReachTheChild() async throws {
            let run = try await run(
                ["--env", "airline", "--user-model", "gpt-5", "--user-provider", "anthropic", "--limit", "5"],
                environment: ["OPENAI_API_KEY": "the user's", "RESULTS": Files.path("tau-results.json")])
            #expect(run.status == 0)
            #expect(try run.records == Files.records("tau-flags.jsonl"))
        }

        @Test func theChildsStatusIsHandedOn() async throws {
            let run = try await run(environment: ["FAILS": "run.py", "STATUS": "5"])
            #expect(run.status == 5)
            #expect(run.rows.isEmpty)
        }

        @Test func missingResultsAreAFailure() async throws {
            let run = try await run()
            #expect(run.status == 1)
            #expect(run.errors.contains("could not find tau-bench result JSON"))
        }

        @Test func noRewardsAreAZero() async throws {
            try bench.write("[]", to: "none.json")
            let run = try await run(environment: ["RESULTS": bench.folder + "/none.json"])
            #expect(run.status == 0)
            #expect(run.rows.first?.contains(#""n_examples":0"#) == true)
            #expect(run.rows.first?.contains(#""score":0,"#) == true)
        }
    }
}
