import EvalCore
import Foundation
import Testing

@testable import EvalHarnessSupport

extension DriverTests {
    /// Servers as the drivers reach or start them, and what the drivers then tell the harnesses.
    struct ServedTests {
        private let bench: HarnessBench

        init() throws { bench = try HarnessBench() }

        /// Starts a server, asks it, and checks what a driver is told of it.
        private func checkStart(
            of name: EvalHarnessSupport.BackendName, _ program: String, _ arguments: [String] = [], model: String,
            calledThere sentModel: String
        ) async throws {
            var choice = EvalHarnessSupport.BackendChoice()
            choice.name = name
            choice.options.serverProgram = program
            choice.options.backendArguments = arguments
            let port = try freePort()
            let served = try await EvalHarnessSupport.startServe(modelPath: model, port: port, on: choice)
            #expect(served.model == sentModel)
            #expect(served.baseURL == "http://127.0.0.1:\(port)/v1")
            var request = Request("hi")
            request.temperature = 0
            #expect(try await Pool(served.backend).ask(request).text == "Hello!")
        }

        /// The fourth of the four tasks failed by an error.
        private func playTauBench(
            _ model: String, _ flags: [String], environment: [String: String] = [:]
        ) async throws -> DriverRun {
            let run = try await bench.run(
                ["eval-tau-bench", model, "--out", "rows.jsonl", "--tau-root", bench.folder + "/tau"] + flags,
                environment: ["RESULTS": Files.path("tau-results.json")].merging(environment) { $1 })
            #expect(run.status == 4, "\(run.errors)")
            return run
        }

        @Test(arguments: ["", "/", "/v1", "/v1/"]) func itsAPIIsFoundHoweverTheURLIsWritten(ending: String) async throws
        {
            try await bench.serve("[]")
            var choice = EvalHarnessSupport.BackendChoice()
            choice.name = .openaiURL
            choice.options.baseURL = "http://127.0.0.1:\(bench.port)\(ending)"
            let served = try await EvalHarnessSupport.startServe(modelPath: "served", on: choice)
            #expect(served.baseURL == "http://127.0.0.1:\(bench.port)/v1")
            #expect(served.model == "served")
        }

        /// Its recorded answer calls for the weather in Paris; the second item wants that in Rome.
        @Test func evalcoreAsksAnthropicsAPIForBFCL() async throws {
            try await bench.serve(captured: "llama_fs_Qwen-Qwen2.5-7B-Instruct_anth")
            let run = try await bench.run(
                [
                    "eval-bfcl", "served", "--out", "rows.jsonl", "--backend", "anthropic-url", "--base-url",
                    "http://127.0.0.1:\(bench.port)", "--api-key-env", "SERVER_KEY", "--tasks", "simple_python",
                    "--bfcl-root", Files.path("bfcl-weather"),
                ], environment: ["SERVER_KEY": "its-key", "ANTHROPIC_API_KEY": "another"])
            #expect(run.status == 0, "\(run.errors)")
            #expect(run.rows.count == 1)
            #expect(
                run.rows.first?.contains(#""n_examples":2,"run_id":"{RUN}","score":0.5,"subtask":"simple_python""#)
                    == true)
            let question = try canonical([
                "key": "its-key", "model": "served", "program": "captured_server", "request": "POST /v1/messages",
                "stream": true, "temperature": 0,
            ])
            // Before the two items it is asked in whole answers whether tools change the prompt.
            #expect(try bench.asked().filter { $0.contains(#""stream":true"#) } == [question, question])
        }

        @Test func tauBenchAsksAnthropicsAPI() async throws {
            try await bench.serve(captured: "llama_messages")
            let run = try await playTauBench(
                "served",
                [
                    "--backend", "anthropic-url", "--base-url", "http://127.0.0.1:\(bench.port)/v1", "--api-key-env",
                    "SERVER_KEY",
                ], environment: ["SERVER_KEY": "its-key", "ANTHROPIC_API_KEY": "another"])
            #expect(try run.records == Files.records("tau-on-anthropic.jsonl"))
        }

        /// With the bytes of mlx_lm.server, whose answers have the same form.
        @Test func oMLXIsAskedByTheNameOfTheFolder() async throws {
            let folder = bench.folder + "/models/Qwen2.5-0.5B"
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            let program = Files.path("bin/captured_server")
            let captured = bench.captured("mlxlm_canned_hi")
            try await checkStart(of: .omlx, program, captured, model: folder + "/", calledThere: "Qwen2.5-0.5B")
            let question = try canonical([
                "key": NSNull(), "model": "Qwen2.5-0.5B", "program": "captured_server",
                "request": "POST /v1/chat/completions", "stream": true, "temperature": 0,
            ])
            #expect(try bench.asked() == [question])

            let run = try await playTauBench(
                folder,
                ["--backend", "omlx", "--server-program", program, "--serve-port", "\(bench.port)"]
                    + captured.flatMap { ["--backend-arg", $0] })
            #expect(try run.records == Files.records("tau-on-omlx.jsonl"))
            #expect(run.rows.first?.contains(#""model_name":"Qwen2.5-0.5B""#) == true)
        }

        /// Under any other name than its own it would look for another model.
        @Test(.enabled(if: mlxServer != nil, "EVALCORE_MLX_SERVER names no server"), .timeLimit(.minutes(5)))
        func mlxServerIsAskedByItsOwnNameForTheModelThatItHas() async throws {
            let folder = Files.repository("tests/data/models/canned")
            try await checkStart(of: .mlxServer, mlxServer ?? "", model: folder, calledThere: "default_model")

            let run = try await playTauBench(
                folder,
                ["--backend", "mlx-server", "--server-program", mlxServer ?? "", "--serve-port", "\(bench.port)"])
            #expect(try run.records == Files.records("tau-on-mlx-server.jsonl"))
            #expect(run.rows.first?.contains(#""model_name":"canned""#) == true)
        }
    }
}

private let mlxServer = ProcessInfo.processInfo.environment["EVALCORE_MLX_SERVER"]
