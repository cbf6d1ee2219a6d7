import EvalCore
import Testing

/// The code that `docs/swift.md` shows, as a program has it.
private enum Program {
    static func ask(model: String, _ questions: [String]) async throws -> [String: String] {
        let backend = try await Backend.open("embedded") {
            $0.model = model
            $0.contextPerSlot = 1024
        }
        let pool = try Pool(backend) { $0.concurrency = 16 }

        return try await withThrowingTaskGroup(of: (String, String).self) { group in
            for question in questions {
                group.addTask {
                    var request = Request(question)
                    request.temperature = 0
                    request.maxTokens = 64
                    return (question, try await pool.ask(request).text)
                }
            }
            return try await group.reduce(into: [:]) { answers, answer in answers[answer.0] = answer.1 }
        }
    }

    static func stream(_ request: Request, from pool: Pool) async throws -> String {
        var answer = ""
        for try await part in pool.stream(request) {
            switch part {
            case .text(let more): answer += more
            case .retrying: answer = ""
            case .reply(let reply): print(reply.finishReason)
            }
        }
        return answer
    }

    static func play(on backend: Backend, store: String, tasks: [String]) async throws -> [Double] {
        let episodes = try Episodes(backend, store: store, suite: "shop 1") { $0.maxTurns = 30 }
        return try await withThrowingTaskGroup(of: Double.self) { group in
            for task in tasks {
                group.addTask {
                    let outcome = try await episodes.play(task, from: Request("please call")) { episode, reply in
                        var reply = reply
                        while let call = reply.toolCalls.first {
                            var turns = Request()
                            turns.appendToolResult("shipped", forCall: call.id)
                            turns.append(.user, "and so it went")
                            reply = try await episode.next(turns)
                        }
                        return reply.text.contains("remember") ? 1.0 : 0.0
                    }
                    return outcome.value
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
    }

    static func run(_ suitePath: String, on backend: Backend, into folder: String) async throws -> RunSummary {
        let suite = try Suite(path: suitePath)
        let run = try Run(suite, on: backend) {
            $0.out = folder
            $0.parametersJSON = #"{"temperature": 0}"#
        }
        for await progress in run.progress { print(progress.done, "of", progress.items) }
        return try await run.summary()
    }
}

struct QuickStart {
    @Test func questions() async throws {
        let answers = try await Program.ask(model: TestData.model, ["hi", "emoji"])
        #expect(answers == ["hi": "Hello!", "emoji": "café 😀 你好"])
    }

    @Test func anAnswerAsItComes() async throws {
        #expect(try await Program.stream(Request("busy once"), from: scriptedPool()) == "now")
    }

    @Test func conversations() async throws {
        let folder = try TemporaryFolder()
        let backend = try await Backend.open("scripted") { $0.script = TestData.script }
        let rewards = try await Program.play(on: backend, store: folder.path + "/e.db", tasks: ["w1", "w2"])
        #expect(rewards == [1, 1])
    }

    @Test func aSuite() async throws {
        let folder = try TemporaryFolder()
        let backend = try await Backend.open("scripted") { $0.script = TestData.script }
        let summary = try await Program.run(TestData.path("capi/suite.jsonl"), on: backend, into: folder.path)
        #expect(summary.score == 0.5)
    }
}
