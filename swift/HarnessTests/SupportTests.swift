import EvalCore
import Foundation
import Testing

@testable import EvalHarnessSupport

struct ReadinessTests {
    /// Plays a server: what each question is answered with, and whether the server lives after it.
    private final class Play {
        var steps: [String] = []
        let answers: (Int) -> Int?
        let lives: (Int) -> Bool
        var asked = 0

        init(answers: @escaping (Int) -> Int?, lives: @escaping (Int) -> Bool = { _ in true }) {
            self.answers = answers
            self.lives = lives
        }

        func isReady() -> Bool {
            ReadinessWait(
                sleep: { self.steps.append("sleep \($0)") },
                status: { request in
                    self.asked += 1
                    self.steps.append("GET \(request.url?.absoluteString ?? "") within \(request.timeoutInterval)")
                    return self.answers(self.asked)
                },
                isRunning: { self.lives(self.asked) }
            ).isReady(port: 8097)
        }
    }

    private let question = ["sleep 1.0", "GET http://127.0.0.1:8097/v1/models within 2.0"]

    @Test func aSecondComesBeforeEachQuestion() {
        let play = Play(answers: { $0 < 3 ? nil : 200 })
        #expect(play.isReady())
        #expect(play.steps == question + question + question)
    }

    @Test func anyAnswerBelow500IsReady() {
        #expect(Play(answers: { $0 == 1 ? 503 : 404 }).isReady())
        #expect(Play(answers: { $0 == 1 ? 500 : 499 }).isReady())
    }

    @Test func sixtyQuestionsAreEnough() {
        let play = Play(answers: { $0 <= 60 ? 503 : 200 })
        #expect(!play.isReady())
        #expect(play.asked == 60)
        #expect(Play(answers: { $0 < 60 ? nil : 200 }).isReady())
    }

    @Test func whatDiedIsNotWaitedFor() {
        let play = Play(answers: { _ in nil }, lives: { $0 < 2 })
        #expect(!play.isReady())
        #expect(play.steps == question + question)
    }
}

struct ScoreTests {
    private func scores(_ json: String) throws -> [String] {
        EvalHarnessSupport.numericScores(try JSONSerialization.jsonObject(with: Data(json.utf8)))
            .map { "\($0) \($1) \($2)" }
    }

    @Test func metricsAreFoundByNameAtAnyDepth() throws {
        let found = try scores(
            #"""
            {"b": {"Accuracy": 0.5, "num": 7, "latency": 3}, "a": [{"pass@1": "0.25", "total": "8"}, {"reward": 1}],
             "avg_reward": 0, "rewards": 9, "score": "high", "name": "accuracy"}
            """#)
        #expect(found == ["a/0/pass@1 0.25 8", "a/1/reward 1.0 0", "avg_reward 0.0 0", "b/Accuracy 0.5 7"])
    }

    @Test func theFirstNamedCountIsTaken() throws {
        #expect(try scores(#"{"total": 4, "n": 2.0, "acc": 1}"#) == ["acc 1.0 2"])
    }

    @Test func theNewestFileIsTaken() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("scores-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let deep = folder.appendingPathComponent("deep")
        try FileManager.default.createDirectory(at: deep, withIntermediateDirectories: true)
        for (name, age) in [("old.json", 20.0), ("deep/new.json", 10), ("newest.txt", 0)] {
            let file = folder.appendingPathComponent(name)
            try Data("[1]".utf8).write(to: file)
            try FileManager.default.setAttributes(
                [.modificationDate: Date(timeIntervalSinceNow: -age)], ofItemAtPath: file.path)
        }
        #expect(EvalHarnessSupport.latestJSON(under: folder)?.lastPathComponent == "new.json")
        #expect(EvalHarnessSupport.latestJSON(under: folder.appendingPathComponent("none")) == nil)
        let file = deep.appendingPathComponent("new.json")
        #expect(EvalHarnessSupport.jsonObject(file) as? [Int] == [1])
        try Data("{}\n{}\n".utf8).write(to: file)
        #expect(EvalHarnessSupport.jsonObject(file) == nil)
    }
}

struct FlagTests {
    @Test func flagsAreTakenAndTheRestIsHandedBackInOrder() {
        let (common, rest) = EvalHarnessSupport.parseCommon(
            ["-x", "1", "m.tinygpt", "--out", "-o", "--limit", "many", "--deep", "--baseline", "more", "--y", "2"],
            usage: { fatalError("usage") })
        #expect(common.modelPath == "m.tinygpt")
        #expect(common.outJsonl == "-o")
        #expect(common.limit == 0)
        #expect(common.baseline)
        #expect(common.servePort == 8097)
        #expect(common.modelStep == nil)
        #expect(common.evalPasses == 1)
        #expect(rest == ["-x", "1", "--deep", "more", "--y", "2"])
    }

    @Test func aModelIsNamedAfterItsFile() {
        var common = EvalHarnessSupport.Common()
        #expect(EvalHarnessSupport.displayName(common) == "model")
        common.modelPath = "/models/tiny.v2.tinygpt"
        #expect(EvalHarnessSupport.displayName(common) == "tiny.v2")
        common.modelName = "other"
        #expect(EvalHarnessSupport.displayName(common) == "other")
    }

    @Test(arguments: [
        ("Qwen2.5-0.5B", "Qwen2.5-0.5B"), ("Qwen/Qwen2.5-0.5B", "Qwen2.5-0.5B"),
        ("/models/Qwen2.5-0.5B/", "Qwen2.5-0.5B"),
        ("models/smol.v2.Q4_1.gguf", "smol.v2.Q4_1"), ("/models/tiny", "tiny"), ("tiny", "tiny"),
        ("org/model:free", "model:free"), ("/models/tiny.gguf/", "tiny"), ("/models/../tiny/.", "tiny"),
    ])
    func aServedModelKeepsTheDotsOfItsName(model: String, name: String) {
        #expect(EvalHarnessSupport.servedName(of: model) == name)
        var common = EvalHarnessSupport.Common()
        common.modelPath = model
        common.outJsonl = "rows.jsonl"
        var choice = EvalHarnessSupport.BackendChoice()
        choice.name = .openaiURL
        #expect(EvalHarnessSupport.require(common, on: choice, usage: { fatalError("usage") }).modelName == name)
        #expect(EvalHarnessSupport.require(common, usage: { fatalError("usage") }).modelName == nil)
        common.modelName = "other"
        #expect(EvalHarnessSupport.require(common, on: choice, usage: { fatalError("usage") }).modelName == "other")
    }

    @Test func programsAreFoundByPathOrName() {
        #expect(EvalHarnessSupport.resolveExecutable("/bin/sh")?.path == "/bin/sh")
        #expect(EvalHarnessSupport.resolveExecutable("sh")?.lastPathComponent == "sh")
        #expect(EvalHarnessSupport.resolveExecutable("/etc/passwd") == nil)
        #expect(EvalHarnessSupport.resolveExecutable("no-such-program-here") == nil)
    }

    @Test func whatCannotBeLaunchedIs127() {
        let shell = URL(fileURLWithPath: "/bin/sh")
        #expect(EvalHarnessSupport.runProcess(URL(fileURLWithPath: "/no/such"), []) == 127)
        #expect(EvalHarnessSupport.runProcess(shell, ["-c", "exit $WANTED"], env: ["WANTED": "3"]) == 3)
    }
}

struct SubmissionTests {
    private static let script = Files.repository("tests/data/capi/script.jsonl")

    /// The script answers "soon" after 30 ms and the others at once, and refuses "wrong".
    @Test(arguments: [1, 3, 1024]) func outcomesStandInTheOrderOfTheRequests(window: Int) async throws {
        let pool = try Pool(try await Backend.open("scripted") { $0.script = Self.script })
        let asked = ["soon", "please count", "wrong", "hi there"]
        let outcomes = try await EvalHarnessSupport.submit(asked.lazy.map { Request($0) }, to: pool, window: window)
        #expect(outcomes.count == 4)
        #expect(try outcomes[0].get().text == "in a while")
        #expect(try outcomes[1].get().text == "counted")
        #expect(throws: EvalError.self) { try outcomes[2].get() }
        #expect(try outcomes[3].get().text == "hello")
    }

    @Test(.timeLimit(.minutes(1))) func aCancelledTaskGivesNoOutcomes() async throws {
        let pool = try Pool(try await Backend.open("scripted") { $0.script = Self.script })
        let task = Task { try await EvalHarnessSupport.submit([Request("slow")], to: pool) }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
    }
}
