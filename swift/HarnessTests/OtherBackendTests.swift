import Foundation
import Testing

extension DriverTests {
    /// tau-bench and lm_eval on other backends, and what is refused.
    struct OtherBackendTests {
        private let bench: HarnessBench

        init() throws { bench = try HarnessBench() }

        /// The fourth of the four tasks failed by an error.
        @Test func tauBenchLeavesTheUserWhereItIs() async throws {
            try await bench.serve("[]")
            let run = try await bench.run(
                ["eval-tau-bench", "served", "--out", "rows.jsonl", "--tau-root", bench.folder + "/tau"] + bench.served
                    + ["--api-key-env", "SERVER_KEY"],
                environment: [
                    "SERVER_KEY": "its-key", "OPENAI_API_KEY": "the user's", "RESULTS": Files.path("tau-results.json"),
                ])
            #expect(try run.records == Files.records("tau-on-server.jsonl"))
            #expect(run.status == 4)
            #expect(run.errors.contains("tau-bench/retail: 1 of 4 items failed"))
            #expect(run.errors.contains("between 0.500 and 0.750"))
            #expect(run.rows.first?.contains(#""n_examples":4,"run_id":"{RUN}","score":0.5,"#) == true)
        }

        @Test func lmEvalAsksManyAtATime() async throws {
            try await bench.serve("[]")
            let run = try await bench.run(
                ["run-lm-eval", "--model", "served", "--tokenizer", "org/tokenizer", "--out", "rows.jsonl"]
                    + ["--model-name", "tiny", "--model-step", "7", "--concurrency", "8"] + bench.served,
                environment: ["OPENAI_API_KEY": "another", "RESULTS": Files.path("lm-eval-results.json")])
            #expect(run.status == 0, "\(run.errors)")
            #expect(try run.records == Files.records("lm-eval-on-server.jsonl"))
            #expect(
                try run.rows
                    == Files.lines("lm-eval.rows.jsonl").map {
                        $0.replacingOccurrences(of: #"models\/tiny.tinygpt"#, with: "served")
                    })
        }

        @Test(arguments: ["Qwen2.5-0.5B", "Qwen/Qwen2.5-0.5B"]) func aNameWithDotsStandsWholeInRows(model: String)
            async throws
        {
            try await bench.serve("[]")
            let tau = try await bench.run(
                ["eval-tau-bench", model, "--out", "rows.jsonl", "--tau-root", bench.folder + "/tau"] + bench.served,
                environment: ["RESULTS": Files.path("tau-results.json")])
            #expect(tau.rows.first?.contains(#""model_name":"Qwen2.5-0.5B""#) == true, "\(tau.errors)")
            let lm = try await bench.run(
                ["run-lm-eval", "--model", model, "--tokenizer", "org/tokenizer", "--out", "rows.jsonl"] + bench.served,
                environment: ["RESULTS": Files.path("lm-eval-results.json")])
            #expect(lm.rows.last?.contains(#""model_name":"Qwen2.5-0.5B""#) == true, "\(lm.errors)")
        }

        @Test func aBackendThatIsNotThereIsTold() async throws {
            let run = try await bench.run(["eval-tau-bench", "m", "--out", "rows.jsonl"] + bench.served)
            #expect(run.status == 3)
            #expect(run.errors.contains("\(bench.port)"))
            #expect(run.records.isEmpty)
        }

        /// The numbers are those of `evalcore run` with the same options.
        @Test(arguments: [
            (["--backend", "openai-url", "--base-url", "127.0.0.1:9"], 2),
            (["--backend", "openai-url", "--base-url", "http://127.0.0.1:9", "--api-key-env", "NO_SUCH_KEY"], 2),
            (["--backend", "llama-server", "--server-program", "/no/such/program"], 3),
            (["--backend", "llama-server", "--server-program", "/bin/sh"], 3),
            (["--backend", "llama-server", "--server-program", "/bin/sh", "--backend-arg", "--port"], 2),
            (["--backend", "omlx", "--server-program", "/bin/sh"], 3),
        ])
        func mistakesAndBackendsThatAreNotThereAreToldApart(flags: [String], status: Int) async throws {
            let run = try await bench.run(["eval-tau-bench", "no-such-model", "--out", "rows.jsonl"] + flags)
            #expect(Int(run.status) == status, "\(run.errors)")
            #expect(run.records.isEmpty)
        }

        @Test(arguments: [
            (["eval-bfcl", "m", "--backend", "vllm"], "--backend must be one of posttrainllm, omlx"),
            (["eval-bfcl", "m", "--concurrency", "4"], "--concurrency has no use for posttrainllm"),
            (
                ["eval-bfcl", "m", "--backend", "embedded", "--concurrency", "0"],
                "--concurrency must be a number from 1"
            ),
            (["eval-bfcl", "m", "--backend", "llama-server", "--lora", "a"], "--backend-arg"),
            (["eval-bfcl", "m", "--backend", "openai-url"], "base_url"),
            (["eval-tau-bench", "m", "--backend", "embedded"], "llama-server"),
            (["eval-tau-bench", "m", "--backend", "omlx", "--user-provider", "hosted_vllm"], "simulated user"),
            (["run-lm-eval", "--model", "m", "--backend", "anthropic-url"], "text completions"),
            (["run-lm-eval", "--model", "m", "--backend", "omlx"], "--tokenizer"),
            (["run-lm-eval", "--hf-model", "m", "--backend", "omlx"], "--model"),
            (["run-lm-eval", "--model", "m"], "--backend"), (["eval-frobnicate"], "unknown command: eval-frobnicate"),
        ])
        func whatCannotBeIsRefused(arguments: [String], words: String) async throws {
            let run = try await bench.run(arguments + ["--out", "rows.jsonl"])
            #expect(run.status == 2)
            #expect(run.errors.contains(words), "\(run.errors)")
            #expect(run.records.isEmpty)
        }
    }
}
