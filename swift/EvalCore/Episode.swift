import CEvalCore
import Synchronization

/// One conversation, for the task that plays it.
public final class Episode: Sendable {
    private struct State {
        var turn = 0
        var isReused = false
        var hasDiverged = false
    }

    public let id: String
    public let epoch: Int
    /// How many replies it had.
    public var turn: Int { state.withLock { $0.turn } }
    /// Whether the last one came from the store.
    public var isReused: Bool { state.withLock { $0.isReused } }
    /// Whether its requests are not those of another time: the stored turns that followed are gone.
    public var hasDiverged: Bool { state.withLock { $0.hasDiverged } }

    private let core: EpisodesCore
    private let number: UInt64
    private let tag: UInt64
    private let mailbox = Mailbox<EpisodeEvent>()
    private let state = Mutex(State())

    init(_ core: EpisodesCore, _ id: String, epoch: Int, from first: Request) throws {
        guard let short = UInt32(exactly: epoch) else {
            throw EvalError(.invalidArgument, "epoch cannot be \(epoch)")
        }
        self.core = core
        self.id = id
        self.epoch = epoch
        (tag, number) = try core.begin(id, epoch: short, from: first, to: mailbox)
    }

    deinit { core.forget(tag) }

    /// Goes on with turns that follow the last reply, which stays as it is: what a user says, results of the reply's
    /// calls. Nothing else of the request counts. Waits for the model's next reply.
    ///
    /// - Throws: ``EpisodeStopped`` where there will be none; ``EvalError``; `CancellationError` when the task was
    ///   cancelled.
    public func next(_ turns: Request) async throws -> Reply {
        try ask(with: turns, evc_episodes_next)
        return try await reply()
    }

    /// The same with what a user says.
    public func next(_ words: String) async throws -> Reply { try await next(Request(words)) }

    /// Goes on with a whole request, for what edits its history.
    public func next(whole request: Request) async throws -> Reply {
        try ask(with: request, evc_episodes_next_whole)
        return try await reply()
    }

    /// Adds to what the episode has cost, in a unit of your own, 0 or more. Told again when it goes on another time.
    public func addCost(_ cost: Double) throws {
        try core.episodes.use { episodes in try check { evc_episodes_add_cost(episodes, number, cost, $0) } }
    }

    /// What its last request came to.
    enum Answer {
        case reply(Reply)
        /// The episode was ended another time, with this event.
        case finished(json: String)
    }

    func answer() async throws -> Answer {
        while true {
            switch try await mailbox.take() {
            case .replied(let reply, let turn, let isReused):
                state.withLock { ($0.turn, $0.isReused) = (turn, isReused) }
                return .reply(reply)
            case .finished(let json): return .finished(json: json)
            case .diverged: state.withLock { $0.hasDiverged = true }
            case .stopped(let why): throw why
            case .failed(let error): throw error
            }
        }
    }

    func end(with outcome: String) throws {
        try core.episodes.use { episodes in
            try withText(outcome) { outcome in try check { evc_episodes_end(episodes, number, outcome, $0) } }
        }
    }

    /// Another time it is played again.
    func giveUp() {
        _ = core.episodes.use { evc_episodes_cancel($0, number, nil) }
    }

    private func ask(
        with request: Request,
        _ next: (OpaquePointer?, UInt64, OpaquePointer?, UnsafeMutablePointer<OpaquePointer?>?) -> evc_status
    ) throws {
        let made = try request.makeHandle(inParts: false)
        try core.episodes.use { episodes in
            try made.use { request in try check { next(episodes, number, request, $0) } }
        }
    }

    private func reply() async throws -> Reply {
        guard case .reply(let reply) = try await answer() else { throw EvalError(.closed, "the episode has ended") }
        return reply
    }
}
