import EvalCore
import Testing

struct PoolTests {
    @Test func anAnswerHasTextAndCounts() async throws {
        let reply = try await scriptedPool().ask(Request("please count"))
        #expect(reply.text == "counted")
        #expect(reply.finishReason == .stop)
        #expect(reply.tokens.prompt == 12)
        #expect(reply.tokens.cached == 0)
        #expect(reply.tokens.completion == 3)
        #expect(reply.tokens.reasoning == nil)
        #expect(reply.scores.isEmpty)
        #expect(reply.json.contains(#""text":"counted""#))
    }

    @Test func aFailureSaysWhy() async throws {
        let pool = try await scriptedPool()
        let error = await #expect(throws: EvalError.self) { try await pool.ask(Request("something wrong")) }
        #expect(error?.code == .invalidRequest)
        #expect(error?.message.contains("the script refuses") == true)
        #expect(error?.isRetryable == false)
    }

    @Test func whatIsAskedWronglyIsRefused() async throws {
        let pool = try await scriptedPool()
        var request = Request("hi there")
        request.temperature = -1
        let range = await #expect(throws: EvalError.self) { try await pool.ask(request) }
        #expect(range?.code == .invalidArgument)
        #expect(range?.message == "temperature cannot be -1.0: the temperature is negative or not finite")
        request.temperature = nil
        request.parametersJSON = #"{"warmth": 1}"#
        let name = await #expect(throws: EvalError.self) { try await pool.ask(request) }
        #expect(name?.code == .invalidRequest)
        #expect(name?.message.contains("warmth") == true)
    }

    @Test func aConversationGoesOnWithCallsAndResults() async throws {
        let pool = try await scriptedPool()
        var request = Request("a call please")
        let reply = try await pool.ask(request)
        #expect(reply.finishReason == .toolCalls)
        let call = try #require(reply.toolCalls.first)
        #expect(call.id == "c1")
        #expect(call.name == "look_up")
        #expect(call.arguments.contains("W1"))
        request.append(reply)
        request.appendToolResult("it is on its way", forCall: call.id)
        request.append(messagesJSON: #"[{"role": "user", "content": "and so it went"}]"#)
        #expect(try await pool.ask(request).text == "I remember")
    }

    @Test(.timeLimit(.minutes(1))) func aCancelledTaskCancelsItsRequest() async throws {
        let pool = try await scriptedPool()
        // The script answers after a minute.
        let task = Task { try await pool.ask(Request("slow")) }
        try await wait(for: pool) { $0.inFlight == 1 }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(try Figures(of: pool).inFlight == 0)
    }

    @Test(.timeLimit(.minutes(1))) func aTaskThatWasCancelledBeforeAsksNothing() async throws {
        let pool = try await scriptedPool()
        let task = Task {
            while !Task.isCancelled { await Task.yield() }
            return try await pool.ask(Request("hi there"))
        }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(try Figures(of: pool).sent == 0)
    }

    @Test(.timeLimit(.minutes(1))) func aThousandRequestsAtSixteenInFlight() async throws {
        let folder = try TemporaryFolder()
        let lines = (0..<1000).map { #"{"match": "number \#($0);", "text": "answer \#($0)", "delay_ms": 20}"# }
        let script = try folder.write(lines.joined(separator: "\n"), to: "script.jsonl")
        let pool = try Pool(try await Backend.open("scripted") { $0.script = script }) { $0.concurrency = 16 }
        let clock = ContinuousClock()
        let start = clock.now
        let wrong = try await withThrowingTaskGroup(of: Bool.self) { group in
            for number in 0..<1000 {
                group.addTask { try await pool.ask(Request("number \(number);")).text == "answer \(number)" }
            }
            return try await group.filter { !$0 }.reduce(into: 0) { count, _ in count += 1 }
        }
        #expect(wrong == 0)
        // Sixteen at a time need 62.5 times 20 ms; one at a time would need 20 s.
        let elapsed = start.duration(to: clock.now)
        #expect(elapsed >= .milliseconds(1250))
        #expect(elapsed < .seconds(15))
        try await pool.close()
    }

    @Test(.timeLimit(.minutes(1))) func aClosedPoolTakesNothing() async throws {
        let pool = try await scriptedPool()
        async let last = pool.ask(Request("soon"))
        try await wait(for: pool) { $0.sent == 1 }
        try await pool.close()
        #expect(try await last.text == "in a while")
        let error = await #expect(throws: EvalError.self) { try await pool.ask(Request("hi there")) }
        #expect(error?.code == .closed)
        try await pool.close()
    }

    @Test(.timeLimit(.minutes(1))) func closingInACancelledTaskCancelsWhatIsInFlight() async throws {
        let pool = try await scriptedPool()
        let slow = Task { try await pool.ask(Request("slow")) }
        try await wait(for: pool) { $0.inFlight == 1 }
        let close = Task { try await pool.close() }
        close.cancel()
        try await close.value
        let error = await #expect(throws: EvalError.self) { try await slow.value }
        #expect(error?.code == .cancelled)
    }

    @Test func aPoolThatStoppedByItselfSaysWhy() async throws {
        let pool = try await scriptedPool { $0.maxErrors = 0 }
        await #expect(throws: EvalError.self) { try await pool.ask(Request("something wrong")) }
        await #expect(throws: EvalError.self) { try await pool.close() }
    }

    @Test(.timeLimit(.minutes(1))) func moreThanMayBeOutstandingIsRefused() async throws {
        let pool = try await scriptedPool { $0.maxOutstanding = 1 }
        let slow = Task { try await pool.ask(Request("slow")) }
        try await wait(for: pool) { $0.inFlight == 1 }
        let error = await #expect(throws: EvalError.self) { try await pool.ask(Request("hi there")) }
        #expect(error?.code == .overloaded)
        #expect(error?.detail == "queue_full")
        slow.cancel()
        await #expect(throws: CancellationError.self) { try await slow.value }
    }
}
