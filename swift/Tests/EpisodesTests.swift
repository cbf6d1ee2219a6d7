import EvalCore
import Foundation
import Testing

/// Conversations on the repository's script, in which "please call" gives a call of `look_up`.
struct EpisodesTests {
    private struct Played: Codable, Equatable {
        var reward = 1
        var said = "I remember"
        var turns = 2
    }

    private struct Broken: Error {}

    private let folder: TemporaryFolder
    private let backend: Backend
    private let call = Request("please call")

    init() async throws {
        folder = try TemporaryFolder()
        backend = try await Backend.open("scripted") { $0.script = TestData.script }
    }

    private func open(_ configure: (inout EpisodesOptions) -> Void = { _ in }) throws -> Episodes {
        try Episodes(backend, store: folder.path + "/e.db", suite: "shop 1", configure: configure)
    }

    /// Opens the store as soon as those who had it have let it go.
    private func reopen() async throws -> Episodes {
        while true {
            do { return try open() } catch let error as EvalError where error.code == .busy {
                try await Task.sleep(for: .milliseconds(5))
            }
        }
    }

    /// Answers one call, and rewards an answer.
    @Sendable private static func shop(_ episode: Episode, _ reply: Reply) async throws -> Played {
        #expect(reply.toolCalls.map(\.name) == ["look_up"])
        var turns = Request()
        turns.appendToolResult("shipped", forCall: try #require(reply.toolCalls.first?.id))
        turns.append(.user, "and so it went")
        let last = try await episode.next(turns)
        return Played(said: last.text, turns: episode.turn)
    }

    /// Plays it, and gives it up at its first reply.
    private func breakOff() async throws {
        let episodes = try open()
        await #expect(throws: Broken.self) {
            try await episodes.play("w1", from: call) { _, _ -> Played in throw Broken() }
        }
        #expect(try await episodes.finish().sent == 1)
    }

    /// Plays it to its end.
    private func playOnce() async throws -> (EpisodeOutcome<Played>, EpisodesSummary) {
        let episodes = try open()
        return (try await episodes.play("w1", from: call, Self.shop), try await episodes.finish())
    }

    @Test func anEpisodeIsPlayedToItsOutcomeOnce() async throws {
        let (outcome, figures) = try await playOnce()
        #expect(outcome.value == Played())
        #expect(!outcome.isFromBefore)
        #expect(figures.episodes == 1)
        #expect(figures.ended == ["done": 1])
        #expect(figures.sent == 2)
        #expect(figures.replies == 2)
        #expect(figures.promptTokens == nil)

        let again = try await reopen()
        let before = try await again.play("w1", from: call) { _, _ -> Played in throw Broken() }
        #expect(before.value == Played())
        #expect(before.isFromBefore)
        let second = try await again.finish()
        #expect(second.finishedBefore == 1)
        #expect(second.sent == 0)
    }

    @Test func anOutcomeOfAnotherTypeIsNotTakenForOne() async throws {
        _ = try await playOnce()
        let again = try await reopen()
        await #expect(throws: DecodingError.self) { try await again.play("w1", from: call) { _, _ in 1 } }
    }

    @Test func whatBrokeOffGoesOnFromTheStore() async throws {
        try await breakOff()
        let again = try await reopen()
        let outcome = try await again.play("w1", from: call) { episode, reply in
            #expect(episode.turn == 1)
            #expect(episode.isReused)
            #expect(!episode.hasDiverged)
            return try await Self.shop(episode, reply)
        }
        #expect(outcome.value == Played())
        let figures = try await again.finish()
        #expect(figures.sent == 1)
        #expect(figures.reused == 1)
    }

    @Test func otherRequestsThanBeforeAreTold() async throws {
        try await breakOff()
        let again = try await reopen()
        let diverged = try await again.play("w1", from: Request("hi there")) { episode, reply in
            #expect(reply.text == "hello")
            return episode.hasDiverged && !episode.isReused
        }
        #expect(diverged.value)
    }

    @Test(.timeLimit(.minutes(1))) func manyArePlayedSideBySide() async throws {
        let episodes = try open { $0.pool.concurrency = 8 }
        let call = call
        let outcomes = try await withThrowingTaskGroup(of: Played.self) { group in
            for number in 0..<30 {
                group.addTask { try await episodes.play("w\(number)", from: call, Self.shop).value }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(outcomes == Array(repeating: Played(), count: 30))
        #expect(try await episodes.finish().ended == ["done": 30])
    }

    @Test func aLimitIsThrownWhereItIsMet() async throws {
        let episodes = try open { $0.maxTurns = 1 }
        let outcome = try await episodes.play("w1", from: call) { episode, reply in
            do { return try await Self.shop(episode, reply).said } catch let why as EpisodeStopped {
                #expect(why.cause == nil)
                return why.why.rawValue
            }
        }
        #expect(outcome.value == "turns")
        #expect(try await episodes.finish().sent == 1)
    }

    @Test func aCostIsALimit() async throws {
        let episodes = try open { $0.maxCost = 1 }
        let stopped = await #expect(throws: EpisodeStopped.self) {
            try await episodes.play("w1", from: call) { episode, reply in
                #expect(throws: EvalError.self) { try episode.addCost(-1) }
                try episode.addCost(1.5)
                return try await Self.shop(episode, reply)
            }
        }
        #expect(stopped?.why == .cost)
    }

    @Test func aRequestThatFailsIsTheCause() async throws {
        let stopped = await #expect(throws: EpisodeStopped.self) {
            try await open().play("w1", from: Request("something wrong"), Self.shop)
        }
        #expect(stopped?.why == .errored)
        #expect(stopped?.cause?.code == .invalidRequest)
        #expect(stopped?.cause?.stage != nil)
    }

    /// Plays an episode that comes as far as a request which the script answers after a minute.
    private func playSlowly(_ episodes: Episodes) async -> Task<EpisodeOutcome<String>, any Error> {
        let (begun, told) = AsyncStream<Void>.makeStream()
        let task = Task {
            try await episodes.play("w1", from: Request("hi there")) { episode, _ in
                told.yield()
                return try await episode.next("slow").text
            }
        }
        for await _ in begun { break }
        return task
    }

    @Test(.timeLimit(.minutes(1))) func aCancelledTaskGivesItsEpisodeUp() async throws {
        let episodes = try open { $0.pool.concurrency = 1 }
        let task = await playSlowly(episodes)
        try await Task.sleep(for: .milliseconds(50))
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(try await episodes.play("w2", from: call, Self.shop).value == Played())
        #expect(try await episodes.finish().ended == ["done": 1, "cancelled": 1])
    }

    @Test(.timeLimit(.minutes(1))) func whatIsUnderWayIsNotBegunAgain() async throws {
        let episodes = try open()
        let first = await playSlowly(episodes)
        let again = await #expect(throws: EvalError.self) { try await episodes.play("w1", from: call, Self.shop) }
        #expect(again?.code == .invalidArgument)
        let busy = #expect(throws: EvalError.self) { try open() }
        #expect(busy?.code == .busy)
        _ = try await episodes.finish()
        let closed = await #expect(throws: EvalError.self) { try await first.value }
        #expect(closed?.code == .closed)
    }

    @Test func aWholeRequestMayTakeThePlaceOfTheHistory() async throws {
        let outcome = try await open().play("w1", from: call) { episode, _ in
            try await episode.next(whole: Request("please count")).text
        }
        #expect(outcome.value == "counted")
    }

    @Test func aModelPlays() async throws {
        let model = try await Backend.open("embedded") {
            $0.model = TestData.model
            $0.contextPerSlot = 1024
        }
        var first = Request("hi")
        first.temperature = 0
        first.maxTokens = 8
        let outcome = try await Episodes(model, store: folder.path + "/model.db", suite: "greetings 1")
            .play("guest", from: first) { episode, reply in
                _ = try await episode.next("hi")
                return [reply.text, "\(episode.turn)"]
            }
        #expect(outcome.value == ["Hello!", "2"])
    }

    @Test func whatIsWrongIsTold() throws {
        let name = #expect(throws: EvalError.self) { try Episodes(backend, store: folder.path + "/e.db", suite: "") }
        #expect(name?.code == .invalidArgument)
        let store = #expect(throws: EvalError.self) { try Episodes(backend, store: "/no/such/e.db", suite: "shop 1") }
        #expect(store?.code == .storage)
        let turns = #expect(throws: EvalError.self) { try open { $0.maxTurns = 0 } }
        #expect(turns?.message == "maxTurns cannot be 0: max_turns must be 1 or more")
    }
}
