import Foundation
import Testing

@testable import EvalHarnessSupport

/// Text completions over HTTP, against a server that writes down what it is asked.
struct CompletionTests {
    @Test(.timeLimit(.minutes(1))) func theRequestIsAsEver() async throws {
        let bench = try HarnessBench()
        let server = Process()
        server.executableURL = URL(fileURLWithPath: Files.path("bin/posttrainllm"))
        server.arguments = ["--port", "\(bench.port)"]
        server.environment = ["RECORD": bench.folder + "/records.jsonl"]
        try server.run()
        defer { kill(server.processIdentifier, SIGKILL) }
        let base = "http://127.0.0.1:\(bench.port)/v1"
        let answer = await onThread {
            var answer: String?
            while answer == nil && server.isRunning {
                answer = EvalHarnessSupport.completion(
                    baseURL: base, prompt: "The capital \"of\" France is", maxTokens: 3)
            }
            return answer
        }
        #expect(answer == " Paris")
        let line = try #require(bench.read("records.jsonl").split(separator: "\n").last)
        let seen = try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
        #expect(seen["request"] as? String == "POST /v1/completions")
        #expect(seen["content_type"] as? String == "application/json")
        let body = try JSONSerialization.jsonObject(with: Data((seen["body"] as? String ?? "").utf8))
        let expected =
            #"{"model": "posttrainllm", "prompt": "The capital \"of\" France is", "max_tokens": 3, "temperature": 0}"#
        #expect(try canonical(body) == canonical(JSONSerialization.jsonObject(with: Data(expected.utf8))))
    }

    @Test func aFailureIsNoAnswer() async throws {
        let port = try freePort()
        let answer = await onThread {
            EvalHarnessSupport.completion(baseURL: "http://127.0.0.1:\(port)/v1", prompt: "hi")
        }
        #expect(answer == nil)
    }
}

/// Runs what blocks on a thread of its own.
private func onThread<Value: Sendable>(_ body: @escaping @Sendable () -> Value) async -> Value {
    await withCheckedContinuation { continuation in
        Thread.detachNewThread { continuation.resume(returning: body()) }
    }
}
