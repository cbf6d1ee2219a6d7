import EvalCore
import Foundation
import Testing

/// A model in this process, and the same model behind a real server.
struct EmbeddedTests {
    private static func pool(model: String = TestData.model) async throws -> Pool {
        try Pool(
            try await Backend.open("embedded") {
                $0.model = model
                $0.contextPerSlot = 1024
            })
    }

    private static func greedy(_ question: String, maxTokens: Int = 64) -> Request {
        var request = Request(question)
        request.temperature = 0
        request.maxTokens = maxTokens
        return request
    }

    @Test func itAnswersAsItHasLearnt() async throws {
        let pool = try await Self.pool()
        async let hi = pool.ask(Self.greedy("hi"))
        async let emoji = pool.ask(Self.greedy("emoji"))
        #expect(try await hi.text == "Hello!")
        #expect(try await emoji.text == "café 😀 你好")
        #expect(try await hi.finishReason == .stop)
    }

    @Test func textComesInWholeCharacters() async throws {
        var parts: [String] = []
        for try await case .text(let more) in try await Self.pool().stream(Self.greedy("emoji")) { parts.append(more) }
        #expect(parts.joined() == "café 😀 你好")
        #expect(!parts.contains { $0.contains("\u{FFFD}") })
    }

    /// The numbers are those of another program on the same weights (`tests/data/engine`).
    @Test func likelihoodsAreThoseOfAnotherEvaluation() async throws {
        let pool = try await Self.pool(model: TestData.path("models/canned/canned.gguf"))
        for known in try KnownNumbers.read().cases {
            let request = Request(contextTokens: known.tokens, continuations: known.continuations.map(\.tokens))
            let scores = try await pool.ask(request).scores
            #expect(scores.map(\.isGreedy) == known.continuations.map(\.isGreedy))
            for (score, expected) in zip(scores, known.continuations) {
                let tolerance = 0.001 * Double(expected.tokens.count)
                #expect(abs(score.sumLogprob - expected.sumLogprob) < tolerance)
            }
        }
    }

    /// Some of the hundred may have their answer before the cancellation comes, but not all.
    @Test(.timeLimit(.minutes(1))) func cancelledTasksLeaveTheOthersAlone() async throws {
        let pool = try await Self.pool()
        let stories = (0..<100).map { number in
            Task { try await pool.ask(Self.greedy("tell me story \(number)", maxTokens: 500)) }
        }
        try await wait(for: pool) { $0.sent >= 1 }
        for story in stories { story.cancel() }
        #expect(try await pool.ask(Self.greedy("hi")).text == "Hello!")
        var cancelled = 0
        for story in stories {
            do { _ = try await story.value } catch is CancellationError { cancelled += 1 }
        }
        #expect(cancelled > 0)
    }

    @Test(.enabled(if: llamaServer != nil, "EVALCORE_LLAMA_SERVER names no server"), .timeLimit(.minutes(2)))
    func aServerGivesTheSame() async throws {
        let backend = try await Backend.open("llama-server") {
            $0.serverProgram = llamaServer
            $0.model = TestData.model
            $0.contextPerSlot = 1024
        }
        let pool = try Pool(backend) { $0.concurrency = 4 }
        let texts = try await withThrowingTaskGroup(of: String.self) { group in
            for _ in 0..<20 { group.addTask { try await pool.ask(Self.greedy("hi")).text } }
            return try await group.reduce(into: Set()) { $0.insert($1) }
        }
        #expect(texts == ["Hello!"])
    }
}

private let llamaServer = ProcessInfo.processInfo.environment["EVALCORE_LLAMA_SERVER"]

private struct KnownNumbers: Decodable {
    struct Continuation: Decodable {
        let tokens: [Int32]
        let sumLogprob: Double
        let isGreedy: Bool
    }

    struct Case: Decodable {
        let tokens: [Int32]
        let continuations: [Continuation]
    }

    let cases: [Case]

    static func read() throws -> KnownNumbers {
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        let file = URL(fileURLWithPath: TestData.path("engine/llama_numbers.json"))
        return try decoder.decode(KnownNumbers.self, from: Data(contentsOf: file))
    }
}
