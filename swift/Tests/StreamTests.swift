import EvalCore
import Testing

struct StreamTests {
    @Test func theTextComesAndThenTheReply() async throws {
        let pool = try await scriptedPool()
        var text = ""
        var reply: Reply?
        for try await part in pool.stream(Request("hi there")) {
            #expect(reply == nil, "nothing follows the reply")
            switch part {
            case .text(let more): text += more
            case .retrying: Issue.record("nothing fails")
            case .reply(let whole): reply = whole
            }
        }
        #expect(text == "hello")
        #expect(reply?.text == "hello")
    }

    @Test(.timeLimit(.minutes(1))) func aFailedAttemptIsTold() async throws {
        let pool = try await scriptedPool()
        var why: [EvalError] = []
        var answer: String?
        for try await part in pool.stream(Request("busy once")) {
            if case .retrying(let error) = part { why.append(error) }
            if case .reply(let reply) = part { answer = reply.text }
        }
        #expect(why.map(\.code) == [.overloaded])
        #expect(why.first?.isRetryable == true)
        #expect(answer == "now")
    }

    @Test func aFailureIsThrownOnce() async throws {
        let pool = try await scriptedPool()
        var parts = pool.stream(Request("something wrong")).makeAsyncIterator()
        await #expect(throws: EvalError.self) { try await parts.next() }
        #expect(try await parts.next() == nil)
    }

    @Test(.timeLimit(.minutes(1))) func aCancelledTaskNeverSeesAWholeAnswer() async throws {
        let pool = try await scriptedPool()
        let task = Task {
            for try await _ in pool.stream(Request("slow")) {}
        }
        try await wait(for: pool) { $0.inFlight == 1 }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        try await wait(for: pool) { $0.inFlight == 0 }
    }

    @Test(.timeLimit(.minutes(1))) func whoStopsReadingCancelsTheRequest() async throws {
        let pool = try await scriptedPool()
        var parts: AnswerParts? = pool.stream(Request("slow"))
        try await wait(for: pool) { $0.inFlight == 1 }
        _ = parts
        parts = nil
        try await pool.close()
    }

    @Test func anAnswerOutlivesItsPool() async throws {
        let parts = try await scriptedPool().stream(Request("soon"))
        var text = ""
        for try await case .text(let more) in parts { text += more }
        #expect(text == "in a while")
    }
}
