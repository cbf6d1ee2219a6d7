import Foundation
import Testing

extension DriverTests {
    /// `eval-bfcl` on a server with OpenAI's API, with BFCL itself.
    @Suite(.enabled(if: bfclPython != nil, "EVALCORE_BFCL_PYTHON names no Python with bfcl_eval"))
    struct BFCLOnServerTests {
        private let bench: HarnessBench

        init() throws { bench = try HarnessBench() }

        private func run(_ more: [String], environment: [String: String] = [:]) async throws -> DriverRun {
            let folder = URL(fileURLWithPath: bfclPython ?? "").deletingLastPathComponent().path
            return try await bench.run(
                ["eval-bfcl", "served", "--out", "rows.jsonl", "--model-name", "m", "--limit", "4"] + bench.served
                    + more,
                environment: ["PATH": folder + ":/usr/bin:/bin"].merging(environment) { $1 })
        }

        /// Of the first four items of `simple_python` one is right, one is wrong, one fails for good and one at first. Of
        /// `irrelevance`, where no call is right, two are right, one is wrong, and one fails for good.
        @Test(.timeLimit(.minutes(10))) func failuresAreMissingAndNeverAnswers() async throws {
            try await bench.serve(
                #"""
                [{"match": "base of 10 units", "call": "calculate_triangle_area", "arguments": {"base": 10, "height": 5}},
                 {"match": "factorial of 5", "call": "math_factorial", "arguments": {"number": 6}},
                 {"match": "hypotenuse", "status": 400},
                 {"match": "a=1, b=-3, c=2", "status": 400, "times": 1},
                 {"match": "a=1, b=-3, c=2", "call": "algebra_quadratic_roots", "arguments": {"a": 1, "b": -3, "c": 2}},
                 {"match": "quadratic equation with coefficients a = 1", "call": "math_sum", "arguments": {"numbers": [1]}},
                 {"match": "roots of the equation 3x^2", "status": 400}]
                """#)
            let run = try await run(
                ["--tasks", "simple,irrelevance", "--concurrency", "3", "--api-key-env", "SERVER_KEY"],
                environment: [
                    "SERVER_KEY": "its-key", "OPENAI_API_KEY": "another", "OPENAI_BASE_URL": "http://127.0.0.1:9",
                ])
            #expect(run.status == 4, "\(run.output)\n\(run.errors)")
            #expect(try run.rows == Files.lines("bfcl-on-server.rows.jsonl"))
            #expect(run.errors.contains("bfcl/simple_python: 1 of 4 items failed"))
            #expect(run.errors.contains("between 0.500 and 0.750"))
            #expect(run.errors.contains("bfcl/irrelevance: 1 of 4 items failed"))
            let asked = try bench.asked()
            // Eight items, three of which are asked again, and two of these a third time.
            #expect(asked.count == 8 + 3 + 2)
            let same = try canonical([
                "key": "Bearer its-key", "model": "served", "program": "openai_server",
                "request": "POST /v1/chat/completions", "temperature": 0,
            ])
            for line in asked { #expect(line == same) }
        }

        @Test(.timeLimit(.minutes(10))) func whereNothingIsAnsweredThereIsNoRow() async throws {
            try await bench.serve(#"[{"match": "", "status": 400}]"#)
            let run = try await run(["--tasks", "simple_python"], environment: ["OPENAI_API_KEY": "another"])
            #expect(run.status == 4, "\(run.output)\n\(run.errors)")
            #expect(run.rows.isEmpty)
            #expect(run.errors.contains("bfcl/simple_python: 4 of 4 items failed"))
            // A key that was not asked for goes nowhere.
            #expect(bench.read("server.jsonl").contains("Bearer none"))
            #expect(!bench.read("server.jsonl").contains("another\""))
        }

        /// Its model has a few answers by heart, none of them a call: wrong where one is wanted, and right where none is.
        @Test(.enabled(if: llamaServer != nil, "EVALCORE_LLAMA_SERVER names no server"), .timeLimit(.minutes(10)))
        func aServerIsStartedAndEnded() async throws {
            let folder = URL(fileURLWithPath: bfclPython ?? "").deletingLastPathComponent().path
            try bench.write("#!/bin/sh\necho $$ > server.pid\nexec '\(llamaServer ?? "")' \"$@\"\n", to: "llama-server")
            try FileManager.default.setAttributes(
                [.posixPermissions: 0o700], ofItemAtPath: bench.folder + "/llama-server")
            let run = try await bench.run(
                [
                    "eval-bfcl", Files.canned, "--out", "rows.jsonl", "--backend", "llama-server", "--server-program",
                    bench.folder + "/llama-server", "--context-per-slot", "1024", "--tasks",
                    "simple_python,irrelevance", "--limit",
                    "2",
                    "--serve-port", "\(bench.port)",
                ], environment: ["PATH": folder + ":/usr/bin:/bin"])
            #expect(run.status == 0, "\(run.output)\n\(run.errors)")
            let server = try #require(pid_t(bench.read("server.pid").trimmingCharacters(in: .whitespacesAndNewlines)))
            #expect(try await hasEnded(server))
            #expect(run.rows.count == 2)
            #expect(run.rows.first?.contains(#""metric":"accuracy""#) == true)
            #expect(
                run.rows.first?.contains(#""n_examples":2,"run_id":"{RUN}","score":1,"subtask":"irrelevance""#) == true)
            #expect(
                run.rows.last?.contains(#""n_examples":2,"run_id":"{RUN}","score":0,"subtask":"simple_python""#) == true
            )
        }
    }
}

extension DriverTests {
    /// `eval-bfcl` where BFCL cannot ask.
    @Suite(.enabled(if: bfclData != nil, "EVALCORE_BFCL names no folder with BFCL's data"))
    struct BFCLInCoreTests {
        @Test(.timeLimit(.minutes(10))) func evalcoreRunsAndScores() async throws {
            let bench = try HarnessBench()
            let run = try await bench.run([
                "eval-bfcl", Files.canned, "--out", "rows.jsonl", "--backend", "embedded", "--bfcl-root",
                bfclData ?? "",
                "--tasks", "simple,simple_python", "--limit", "2", "--context-per-slot", "1024",
            ])
            #expect(run.status == 0, "\(run.output)\n\(run.errors)")
            #expect(run.rows.count == 1)
            #expect(
                run.rows.first?.contains(#""n_examples":2,"run_id":"{RUN}","score":0,"subtask":"simple_python""#)
                    == true)
            #expect(run.rows.first?.contains(#""harness_version":"evalcore","metric":"accuracy""#) == true)
        }

        @Test func aCategoryThatItDoesNotKnowIsNamed() async throws {
            let bench = try HarnessBench()
            let run = try await bench.run([
                "eval-bfcl", Files.canned, "--out", "rows.jsonl", "--backend", "embedded", "--bfcl-root",
                bfclData ?? "",
                "--tasks", "multi_turn_base",
            ])
            #expect(run.status == 2)
            #expect(run.errors.contains("multi_turn_base"))
        }
    }
}

let bfclPython = ProcessInfo.processInfo.environment["EVALCORE_BFCL_PYTHON"]
let bfclData = ProcessInfo.processInfo.environment["EVALCORE_BFCL"]
let llamaServer = ProcessInfo.processInfo.environment["EVALCORE_LLAMA_SERVER"]
