import CEvalCore
import Foundation

/// Conversations whose next request depends on the last reply (`docs/episodes.md`); as many at once as the pool allows.
///
/// Each reply is in the store before it is handed out. Another time the same calls meet the same replies, and nothing is
/// sent for what the store has. Any thread, any number of tasks at once. When the last reference to it goes, the store
/// is soon free for others; what is done is in it.
public final class Episodes: Sendable {
    private let core: EpisodesCore

    /// Opens the store, and blocks while it does.
    ///
    /// - Parameters:
    ///   - endpoints: Backends of the same model on the same runtime, at least one.
    ///   - store: A file, made where there is none; for these episodes alone meanwhile.
    ///   - suite: A name, with a version or a hash of all that a reply depends on and no request shows. Not empty.
    ///   - configure: Sets options.
    /// - Throws: ``EvalError``: `busy` where another has the store, `storage`, `invalidArgument`.
    public init(
        _ endpoints: [Backend], store: String, suite: String, configure: (inout EpisodesOptions) -> Void = { _ in }
    ) throws {
        var options = EpisodesOptions()
        configure(&options)
        let written = try options.makeHandle(suite: suite)
        core = EpisodesCore(try makeHandle(endpoints, store, written))
        core.startPump()
    }

    /// Episodes with one endpoint.
    public convenience init(
        _ backend: Backend, store: String, suite: String, configure: (inout EpisodesOptions) -> Void = { _ in }
    ) throws {
        try self.init([backend], store: store, suite: suite, configure: configure)
    }

    deinit { core.stop() }

    /// Plays one episode to its end: asks `first`, calls `player` with the reply, and keeps what that returns. Where it
    /// was ended another time, nothing is played.
    ///
    /// If `player` throws, or the task is cancelled, the episode is given up, and played again another time.
    ///
    /// - Parameters:
    ///   - id: Its name in the store, with `epoch`, the number of the repetition.
    ///   - first: The first request: turns, tools, parameters.
    ///   - player: Asks for further turns and returns the outcome.
    /// - Throws: What `player` throws, ``EpisodeStopped`` among it; ``EvalError``: `invalidArgument` where it is under
    ///   way already or the backend cannot be asked that; a `DecodingError` where the outcome of another time is none of
    ///   this type; `CancellationError` when the task was cancelled.
    public func play<Value: Codable & Sendable>(
        _ id: String, epoch: Int = 0, from first: Request,
        _ player: @Sendable (Episode, Reply) async throws -> Value
    ) async throws -> EpisodeOutcome<Value> {
        try Task.checkCancellation()
        let episode = try Episode(core, id, epoch: epoch, from: first)
        do {
            switch try await episode.answer() {
            case .finished(let json):
                let told = try JSONDecoder().decode(Finished<Value>.self, from: Data(json.utf8))
                return EpisodeOutcome(value: told.outcome, isFromBefore: true)
            case .reply(let reply):
                let value = try await player(episode, reply)
                try episode.end(with: String(decoding: JSONEncoder().encode(value), as: UTF8.self))
                return EpisodeOutcome(value: value, isFromBefore: false)
            }
        } catch {
            episode.giveUp()
            throw error
        }
    }

    /// Cancels what is out and closes the run in the store. Once, the last call.
    public func finish() async throws -> EpisodesSummary {
        let json = try await withoutBlocking { [core] in
            var text: OpaquePointer?
            try core.episodes.use { episodes in try check { evc_episodes_finish(episodes, &text, $0) } }
            return String(taking: text)
        }
        return try EpisodesSummary(json: json)
    }
}

private struct Finished<Value: Decodable>: Decodable {
    let outcome: Value
}

private func makeHandle(_ endpoints: [Backend], _ store: String, _ options: Handle) throws -> Handle {
    try endpoints.withPointers { runtime, endpoints, count in
        try makeHandle(freedBy: evc_episodes_free) { out, error in
            options.use { options in
                withText(store) { evc_episodes_open(runtime, endpoints, count, $0, options, out, error) }
            }
        }
    }
}
