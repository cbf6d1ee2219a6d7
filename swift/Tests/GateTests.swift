import EvalCore
import Foundation
import Testing

struct GateTests {
    private let folder: TemporaryFolder
    private let suite: Suite

    init() throws {
        folder = try TemporaryFolder()
        let lines = (1...4).map { #"{"id":\#($0),"prompt":"hi","target":"hello"}"# + "\n" }.joined()
        suite = try Suite(path: folder.write(lines, to: "suite.jsonl"))
    }

    private func run(_ name: String) async throws -> String {
        let backend = try await Backend.open("scripted") { $0.script = TestData.script }
        let out = folder.path + "/" + name
        _ = try await Run(suite, on: backend) { $0.out = out }.summary()
        return out
    }

    /// Of four equal items Tango's test shows margins from 0.4035 on.
    @Test func runsAreComparedAndGated() async throws {
        let base = try await run("base")
        let tuned = try await run("tuned")
        #expect(try await compareRuns([base, tuned]).contains(#""difference":0.0,"#))
        let pair = Gate.Pair(candidate: tuned, baseline: base)
        #expect(try await Gate.runs([pair], margin: 0.41).verdict == .pass)
        let few = try await Gate.runs([pair])
        #expect(few.verdict == .inconclusive)
        #expect(few.json.hasPrefix(#"{"verdict":"inconclusive","#))
        let error = await #expect(throws: EvalError.self) { try await Gate.runs([pair], margin: 0) }
        #expect(error?.message.contains("margin must be 0.000001 to 0.999") == true)
    }

    @Test func repliesAreScored() async throws {
        let replies = try folder.write(
            "{\"id\":1,\"text\":\"hello\"}\n{\"id\":2,\"text\":\"no\"}\n{\"id\":9,\"text\":\"?\"}\n",
            to: "replies.jsonl")
        let scored = try await suite.score(repliesAt: replies)
        #expect(scored.summary.score == 0.25)
        #expect(scored.summary.notRun == 2)
        #expect(scored.summary.json.hasPrefix("{"))
        #expect(scored.unknown == 1)
        #expect(scored.verdictsJSONL.split(separator: "\n").count == 2)
        #expect(try await suite.score(repliesAt: replies, limit: 1).summary.score == 1)
    }

    /// (1.645 + 0.842)² · 0.1 / 0.02² = 1545.6 by the normal distribution; the t distribution adds less than two.
    @Test func aGateIsPlanned() throws {
        let plan = try GatePower()
        #expect(plan.itemsNeeded == 1547)
        #expect(plan.powerOfItems == nil)
        #expect(try GatePower(items: 1547).powerOfItems ?? 0 >= 0.8)
    }

    @Test func aRefusedValueOfARequestComesWithTheReason() async throws {
        let pool = try await scriptedPool()
        let error = await #expect(throws: EvalError.self) {
            try await pool.ask(Request(context: "a", continuations: [""]))
        }
        #expect(error?.message.contains("the continuation is empty") == true)
    }
}
