import Foundation
import Testing

extension DriverTests {
    /// `run-lm-eval` on `posttrainllm serve` and on a model that lm_eval loads, as drivers have always called it.
    struct DefaultLMEvalTests {
        private let bench: HarnessBench

        init() throws { bench = try HarnessBench() }

        private func run(_ more: [String], results: String? = "lm-eval-results.json", status: Int? = nil) async throws
            -> DriverRun
        {
            try await bench.run(
                ["run-lm-eval", "--out", "rows.jsonl", "--serve-port", "\(bench.port)"] + more,
                environment: ["RESULTS": results.map { Files.path($0) }, "STATUS": status.map { "\($0)" }]
                    .compactMapValues { $0 })
        }

        @Test func aServedModelIsAskedOverHTTP() async throws {
            let run = try await run([
                "--posttrainllm-model", "models/tiny.tinygpt", "--tokenizer", "org/tokenizer", "--model-step", "7",
            ])
            #expect(run.status == 0)
            #expect(try run.records == Files.records("lm-eval-served.jsonl"))
            #expect(try run.rows == Files.lines("lm-eval.rows.jsonl"))
            for child in run.children { #expect(try await hasEnded(child)) }
        }

        @Test func theTokenizerIsTheOneThatTheModelNames() async throws {
            try FileManager.default.createDirectory(
                atPath: bench.folder + "/models", withIntermediateDirectories: true)
            try bench.write(#"TGPT{"layers":2,"tokenizerSource":"org/tokenizer","x":1}"#, to: "models/tiny.tinygpt")
            let run = try await run(["--posttrainllm-model", "models/tiny.tinygpt"])
            #expect(try run.records == Files.records("lm-eval-served.jsonl"))
        }

        @Test func aLoadedModelNeedsNoServer() async throws {
            let run = try await run([
                "--hf-model", "models/hf", "--tasks", "arc_easy,piqa", "--limit", "10", "--batch", "8", "--device",
                "cpu",
                "--dtype", "bfloat16", "--model-name", "tiny", "--model-step", "7",
            ])
            #expect(run.status == 0)
            #expect(try run.records == Files.records("lm-eval-loaded.jsonl"))
            #expect(
                try run.rows
                    == Files.lines("lm-eval.rows.jsonl").map {
                        $0.replacingOccurrences(of: #"models\/tiny.tinygpt"#, with: #"models\/hf"#)
                    })
        }

        @Test func theChildsStatusIsHandedOn() async throws {
            let run = try await run(["--hf-model", "models/hf"], status: 6)
            #expect(run.status == 6)
            #expect(run.rows.isEmpty)
        }

        @Test func missingResultsAreAFailure() async throws {
            let run = try await run(["--hf-model", "models/hf"], results: nil)
            #expect(run.status == 1)
            #expect(run.errors.contains("could not find results JSON"))
        }

        @Test func aMissingProgramIsNamed() async throws {
            let run = try await run(["--hf-model", "models/hf", "--lm-eval", "no_such_lm_eval"])
            #expect(run.status == 1)
            #expect(run.errors.contains("'no_such_lm_eval' not found"))
        }

        @Test func aModelWithoutATokenizerIsRefused() async throws {
            let run = try await run(["--posttrainllm-model", "models/tiny.tinygpt"])
            #expect(run.status == 1)
            #expect(run.errors.contains("--tokenizer"))
            #expect(run.records.isEmpty)
        }

        @Test(arguments: [
            [], ["--hf-model", "a", "--posttrainllm-model", "b"], ["--frobnicate"], ["--hf-model"],
        ])
        func wrongFlagsAreRefusedBeforeAnythingStarts(arguments: [String]) async throws {
            let run = try await run(arguments)
            #expect(run.status == 2)
            #expect(run.records.isEmpty)
        }
    }
}
