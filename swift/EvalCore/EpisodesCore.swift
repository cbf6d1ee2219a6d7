import CEvalCore
import Foundation
import Synchronization

/// What happened to an episode.
enum EpisodeEvent: Sendable {
    case replied(Reply, turn: Int, isReused: Bool)
    case stopped(EpisodeStopped)
    case diverged
    /// Another time, with this event.
    case finished(json: String)
    case failed(any Error)
}

/// The episodes of the C ABI, who plays which, and the thread that takes their events.
final class EpisodesCore: Sendable {
    private struct State {
        var lastTag: UInt64 = 0
        var playing: [UInt64: Mailbox<EpisodeEvent>] = [:]
    }

    let episodes: Handle
    private let state = Mutex(State())
    private let isStopped = Atomic(false)

    init(_ episodes: Handle) {
        self.episodes = episodes
    }

    /// The number of an episode that begins. Its events go to `mailbox` until they are no longer wanted.
    func begin(
        _ id: String, epoch: UInt32, from first: Request, to mailbox: Mailbox<EpisodeEvent>
    ) throws -> (tag: UInt64, number: UInt64) {
        let made = try first.makeHandle(inParts: false)
        // Known before it begins: its first event may come before the call returns.
        let tag = state.withLock { state in
            state.lastTag += 1
            state.playing[state.lastTag] = mailbox
            return state.lastTag
        }
        do {
            var number: UInt64 = 0
            try episodes.use { episodes in
                try made.use { first in
                    try withText(id) { id in
                        try check { evc_episodes_begin(episodes, id, epoch, first, tag, &number, $0) }
                    }
                }
            }
            return (tag, number)
        } catch {
            forget(tag)
            throw error
        }
    }

    func forget(_ tag: UInt64) { state.withLock { $0.playing[tag] = nil } }

    /// Its thread ends, and with it, soon, what it holds.
    func stop() {
        isStopped.store(true, ordering: .releasing)
        _ = episodes.use { evc_episodes_wake($0) }
    }

    func startPump() {
        Thread.detachNewThread {
            Thread.current.name = "evalcore episodes"
            while let event = nextEvent(
                of: self.episodes, while: { !self.isStopped.load(ordering: .acquiring) }, evc_episodes_poll)
            {
                self.deliver(event)
            }
            self.tellAll(EvalError(.closed, "the episodes have ended"))
        }
    }

    private func deliver(_ event: Handle) {
        let (kind, tag) = event.use { (Int(evc_event_kind($0)), evc_event_tag($0)) }
        if kind == EVC_EVENT_DRAINED {
            // After a failure of the store it is the last of all.
            return tellAll(event.error ?? EvalError(.closed, "the episodes have ended"))
        }
        guard let mailbox = state.withLock({ $0.playing[tag] }) else { return }
        do { if let told = try EpisodeEvent(kind, event) { mailbox.put(told) } } catch { mailbox.put(.failed(error)) }
    }

    private func tellAll(_ why: EvalError) {
        for mailbox in state.withLock({ Array($0.playing.values) }) { mailbox.put(.failed(why)) }
    }
}

extension EpisodeEvent {
    private struct Replied: Decodable {
        let turn: Int
        let reused: Bool
    }
    private struct Stopped: Decodable {
        let why: String
    }

    /// Nil: an event that this version does not know.
    fileprivate init?(_ kind: Int, _ event: Handle) throws {
        switch kind {
        case EVC_EVENT_REPLIED:
            let told = try decoded(event.json, as: Replied.self)
            self = .replied(try Reply(of: event), turn: told.turn, isReused: told.reused)
        case EVC_EVENT_STOPPED:
            let why = EpisodeStopped.Why(rawValue: try decoded(event.json, as: Stopped.self).why) ?? .other
            self = .stopped(EpisodeStopped(why: why, cause: event.error))
        case EVC_EVENT_DIVERGED: self = .diverged
        case EVC_EVENT_FINISHED: self = .finished(json: event.json)
        default: return nil
        }
    }
}
