import EvalCore
import Testing

struct BackendTests {
    @Test func itSaysWhatItIs() async throws {
        let backend = try await Backend.open("scripted") { $0.script = TestData.script }
        #expect(try backend.infoJSON().contains(#""selector":"scripted""#))
    }

    @Test func whatIsMissingIsNamed() async throws {
        let error = await #expect(throws: EvalError.self) {
            try await Backend.open("scripted") { $0.script = "/no/such/script.jsonl" }
        }
        #expect(error?.code == .notFound)
        #expect(error?.message.contains("/no/such/script.jsonl") == true)
        let program = await #expect(throws: EvalError.self) {
            try await Backend.open("llama-server") {
                $0.serverProgram = "/no/such/server"
                $0.model = TestData.model
            }
        }
        #expect(program?.stage == .start)
        let url = await #expect(throws: EvalError.self) {
            try await Backend.open("openai-url") { $0.baseURL = "127.0.0.1:9" }
        }
        #expect(url?.stage == .config)
        let option = await #expect(throws: EvalError.self) { try await Backend.open("embedded") { $0.slots = 1000 } }
        #expect(option?.message == "slots cannot be 1000: slots must be 1 to 256")
        let number = await #expect(throws: EvalError.self) { try await Backend.open("embedded") { $0.port = -1 } }
        #expect(number?.message == "port cannot be -1")
    }

    @Test(.timeLimit(.minutes(1))) func aCancelledTaskStopsWaitingForAServer() async throws {
        let folder = try TemporaryFolder()
        let program = try folder.write("#!/bin/sh\nexec sleep 100\n", to: "never-ready", mode: 0o700)
        let task = Task {
            try await Backend.open("llama-server") {
                $0.serverProgram = program
                $0.model = TestData.model
            }
        }
        try await Task.sleep(for: .milliseconds(100))
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
    }

    @Test(.timeLimit(.minutes(1))) func whoIsCancelledLeavesOthersWaiting() async throws {
        let folder = try TemporaryFolder()
        let program = try folder.write("#!/bin/sh\nexec sleep 100\n", to: "never-ready", mode: 0o700)
        let runtime = try Runtime()
        let tasks = (0..<2).map { _ in
            Task {
                try await Backend.open("llama-server", on: runtime) {
                    $0.serverProgram = program
                    $0.model = TestData.model
                    $0.readyTimeout = .seconds(2)
                }
            }
        }
        try await Task.sleep(for: .milliseconds(100))
        tasks[0].cancel()
        await #expect(throws: CancellationError.self) { try await tasks[0].value }
        let error = await #expect(throws: EvalError.self) { try await tasks[1].value }
        #expect(error?.code == .timeout)
    }

    @Test(.timeLimit(.minutes(1))) func aTaskThatWasCancelledBeforeOpensNothing() async throws {
        let task = Task {
            while !Task.isCancelled { await Task.yield() }
            return try await Backend.open("scripted") { $0.script = TestData.script }
        }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
    }

    @Test func endpointsShareARuntime() async throws {
        let first = try await Backend.open("scripted") { $0.script = TestData.script }
        let second = try await Backend.open("scripted", on: first.runtime) { $0.script = TestData.script }
        let pool = try Pool([first, second])
        #expect(try await pool.ask(Request("please count")).text == "counted")
        let alone = try await Backend.open("scripted") { $0.script = TestData.script }
        let error = #expect(throws: EvalError.self) { try Pool([first, alone]) }
        #expect(error?.code == .invalidArgument)
        #expect(throws: EvalError.self) { try Pool([]) }
    }

    /// The words are those of the C header.
    @Test(arguments: [
        (EvalError.Code.invalidArgument, "invalid_argument"), (.contextOverflow, "context_overflow"),
        (.refusedContent, "refused_content"), (.internalError, "internal"), (.badReply, "bad_reply"),
    ])
    func codesHaveTheLibrarysNames(code: EvalError.Code, name: String) {
        #expect(code.name == name)
    }
}
