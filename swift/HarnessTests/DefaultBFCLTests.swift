import Foundation
import Testing

extension DriverTests {
    /// `eval-bfcl` on `posttrainllm serve`, as drivers have always called it: the files say what its children are given.
    struct DefaultBFCLTests {
        private let bench: HarnessBench

        init() throws { bench = try HarnessBench() }

        private func run(_ more: [String] = [], environment: [String: String] = [:]) async throws -> DriverRun {
            try await bench.run(
                ["eval-bfcl", "models/tiny.tinygpt", "--out", "rows.jsonl", "--serve-port", "\(bench.port)"]
                    + ["--bfcl-root", bench.folder + "/bfcl"] + more,
                environment: environment)
        }

        @Test func childrenAndRowsAreAsEver() async throws {
            let run = try await run(environment: ["SCORES": Files.path("bfcl-score")])
            #expect(run.status == 0)
            #expect(try run.records == Files.records("bfcl.jsonl"))
            #expect(try run.rows == Files.lines("bfcl.rows.jsonl"))
            #expect(run.output.contains("wrote 2 BFCL rows"))
            for child in run.children { #expect(try await hasEnded(child)) }
        }

        @Test func theBackendByNameIsTheDefault() async throws {
            let run = try await run(["--backend", "posttrainllm"], environment: ["SCORES": Files.path("bfcl-score")])
            #expect(try run.records == Files.records("bfcl.jsonl"))
            #expect(try run.rows == Files.lines("bfcl.rows.jsonl"))
        }

        @Test func allFlagsReachTheChildren() async throws {
            let budget = #"{"temperature": 0, "max_steps": 8, "infra_patches": []}"#
            try bench.write(budget, to: "budget.json")
            let run = try await run(
                [
                    "--tasks", "simple,multiple", "--bfcl-model", "vendor/model-FC", "--lora", "a.lora", "--tools",
                    "t.json",
                    "--tool-mode", "deferred", "--model-name", "tiny/α", "--model-step", "100", "--baseline",
                    "--budget",
                    "budget.json", "--tokenizer", "unused", "--limit", "3",
                ], environment: ["SCORES": Files.path("bfcl-score"), "TINYGPT_EVAL_PASSES": "3"])
            #expect(run.status == 0)
            #expect(try run.records == Files.records("bfcl-flags.jsonl"))
            #expect(try run.rows == Files.lines("bfcl-flags.rows.jsonl"))
        }

        @Test(arguments: [("generation", 7, 3), ("eval_runner", 9, 4)])
        func aChildsStatusIsHandedOn(module: String, status: Int, records: Int) async throws {
            let run = try await run(
                environment: ["FAILS": module, "STATUS": "\(status)", "SCORES": Files.path("bfcl-score")])
            #expect(Int(run.status) == status)
            #expect(run.records.count == records)
            #expect(run.rows.isEmpty)
            for child in run.children { #expect(try await hasEnded(child)) }
        }

        @Test func aMissingScoreIsAFailure() async throws {
            let run = try await run()
            #expect(run.status == 1)
            #expect(run.errors.contains("could not find BFCL score JSON"))
            #expect(run.rows.isEmpty)
        }

        /// It is asked once, a second after its start, and not for a minute.
        @Test(.timeLimit(.minutes(1))) func aServerThatDiesIsNoticed() async throws {
            let run = try await run(environment: ["SERVE": "dies"])
            #expect(run.status == 1)
            #expect(run.records.count == 1)
            #expect(run.errors.contains("did not become ready on port \(bench.port)"))
            #expect(run.errors.contains("no such model"))
        }

        @Test(.timeLimit(.minutes(1))) func anInterruptedDriverEndsItsChildren() async throws {
            async let ended = run(environment: ["HANGS": "generation"])
            while try bench.children().count < 2 { try await Task.sleep(for: .milliseconds(20)) }
            kill(try #require(bench.driver), SIGTERM)
            #expect(try await ended.status == 128 + SIGTERM)
            for child in try await ended.children { #expect(try await hasEnded(child)) }
        }

        @Test(.timeLimit(.minutes(1))) func aServerThatPrintsMuchIsNotHeldUp() async throws {
            let run = try await run(environment: ["SERVE": "chatty", "SCORES": Files.path("bfcl-score")])
            #expect(run.status == 0)
        }

        @Test(arguments: [
            ["--frobnicate"], ["--tool-mode", "half"], ["--tool-mode", "deferred"], ["--tasks"],
            ["--budget", "none.json"],
            ["second.model"],
        ])
        func wrongFlagsAreRefusedBeforeAnythingStarts(arguments: [String]) async throws {
            let run = try await run(arguments)
            #expect(run.status == 2)
            #expect(run.records.isEmpty)
        }

        @Test func aModelAndAFileForRowsAreRequired() async throws {
            #expect(try await bench.run(["eval-bfcl", "--out", "rows.jsonl"]).status == 2)
            #expect(try await bench.run(["eval-bfcl", "model"]).status == 2)
        }
    }
}
