import EvalCore
import Foundation
import Testing

struct RunTests {
    private let folder: TemporaryFolder
    private let suite: Suite
    private let backend: Backend

    init() async throws {
        folder = try TemporaryFolder()
        suite = try Suite(path: TestData.path("capi/suite.jsonl"))
        backend = try await Backend.open("scripted") { $0.script = TestData.script }
    }

    @Test func aSuiteSaysWhatItIs() throws {
        #expect(suite.count == 4)
        #expect(suite.task == "suite")
        #expect(suite.hash.count == 64)
        let error = #expect(throws: EvalError.self) { try Suite(path: "/no/such/suite.jsonl") }
        #expect(error?.code == .notFound)
        let line = try folder.write("{\"id\": 1\n", to: "bad.jsonl")
        let bad = #expect(throws: EvalError.self) { try Suite(path: line) }
        #expect(bad?.code == .badSuite)
    }

    @Test func aRunHasProgressASummaryAndFiles() async throws {
        let run = try Run(suite, on: backend) { $0.out = folder.path }
        var last: RunProgress?
        for await progress in run.progress { last = progress }
        #expect(last?.items == 4)
        let summary = try await run.summary()
        #expect(summary.items == 4)
        #expect(summary.answered == 3)
        #expect(summary.errors == 1)
        #expect(summary.score == 0.5)
        #expect(!summary.interrupted)
        #expect(try String(contentsOfFile: folder.path + "/summary.json", encoding: .utf8) == summary.json)

        let again = try Run(suite, on: backend) { $0.out = folder.path }
        let second = try await again.summary()
        #expect(second.reused == 3)
        #expect(second.sent == 1)
        var notes = 0
        for await note in again.notes where !note.isEmpty { notes += 1 }
        #expect(notes > 0)
    }

    @Test(.timeLimit(.minutes(1))) func aCancelledTaskEndsTheRunAndKeepsWhatIsDone() async throws {
        let slow = try Suite(path: TestData.path("capi/slow_suite.jsonl"))
        let run = try Run(slow, on: backend) { $0.out = folder.path }
        let task = Task { try await run.summary() }
        for await progress in run.progress where progress.done == 1 { break }
        task.cancel()
        let summary = try await task.value
        #expect(summary.interrupted)
        #expect(summary.answered == 1)
        #expect(summary.notRun == 2)
    }

    @Test func whatIsWrongWithARunIsTold() async throws {
        let without = #expect(throws: EvalError.self) { try Run(suite, on: backend) { _ in } }
        #expect(without?.code == .invalidArgument)
        let shard = #expect(throws: EvalError.self) { try Run(suite, on: backend) { $0.shard = (3, 2) } }
        #expect(shard?.code == .invalidArgument)
        let run = try Run(suite, on: backend) { $0.out = "/dev/null/folder" }
        let error = await #expect(throws: EvalError.self) { try await run.summary() }
        #expect(error?.code == .storage)
    }

    @Test func aPlanHasTheOrder() async throws {
        let plan = try await suite.plan()
        #expect(plan.items == 4)
        #expect(plan.unit == "bytes")
        #expect(Set(plan.order) == ["counts", "greets", "parts", "fails"])
        #expect(plan.groups.map(\.items).reduce(0, +) == 4)
        let two = try await suite.plan { $0.limit = 2 }
        #expect(Set(two.order) == ["counts", "greets"])
    }

    @Test func aModelCountsInTokens() async throws {
        let model = try await Backend.open("embedded") {
            $0.model = TestData.model
            $0.contextPerSlot = 1024
        }
        let plan = try await suite.plan(for: model)
        #expect(plan.unit == "tokens")
        #expect(plan.order.count == 4)
    }
}
