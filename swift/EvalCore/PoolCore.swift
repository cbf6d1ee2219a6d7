import CEvalCore
import Foundation
import Synchronization

/// The pool of the C ABI, who waits for what, and the thread that takes its events.
///
/// The thread holds it until the pool has drained, so the pool is freed when nobody can be in a call.
final class PoolCore: Sendable {
    /// Whom a request's end is told.
    enum Receiver: Sendable {
        case whole(CheckedContinuation<Reply, any Error>)
        case parts(AsyncThrowingStream<AnswerPart, any Error>.Continuation)
    }

    /// A request from before it is submitted until its end.
    private struct Asked {
        var receiver: Receiver?
        var ticket: UInt64?
        var isCancelled = false
    }

    private struct State {
        var lastTag: UInt64 = 0
        var asked: [UInt64: Asked] = [:]
    }

    let pool: Handle
    let end = End<Void>()
    private let state = Mutex(State())

    init(_ pool: Handle) {
        self.pool = pool
    }

    /// The tag of a request to come, so that it can be cancelled before it was submitted.
    func begin() -> UInt64 {
        state.withLock { state in
            state.lastTag += 1
            state.asked[state.lastTag] = Asked()
            return state.lastTag
        }
    }

    func submit(_ request: Request, as tag: UInt64, to receiver: Receiver) {
        do {
            let made = try request.makeHandle(inParts: receiver.wantsParts)
            // The receiver must be known before: the answer may come before the call returns.
            let isCancelled = state.withLock { state in
                state.asked[tag]?.receiver = receiver
                return state.asked[tag]?.isCancelled ?? true
            }
            if isCancelled { throw CancellationError() }
            var ticket: UInt64 = 0
            try pool.use { pool in
                try made.use { request in try check { evc_pool_submit(pool, request, tag, &ticket, $0) } }
            }
            accepted(tag, ticket)
        } catch {
            // Whoever takes a request out is the one who tells its receiver.
            let isOurs = state.withLock { $0.asked.removeValue(forKey: tag) != nil }
            if isOurs { receiver.fail(error) }
        }
    }

    private func accepted(_ tag: UInt64, _ ticket: UInt64) {
        let isCancelled = state.withLock { state in
            state.asked[tag]?.ticket = ticket
            return state.asked[tag]?.isCancelled ?? false
        }
        if isCancelled { cancel(ticket: ticket) }
    }

    /// Requests that have ended are left alone.
    func cancel(_ tag: UInt64) {
        let ticket = state.withLock { state in
            state.asked[tag]?.isCancelled = true
            return state.asked[tag]?.ticket
        }
        if let ticket { cancel(ticket: ticket) }
    }

    private func cancel(ticket: UInt64) {
        _ = pool.use { evc_pool_cancel($0, ticket) }
    }

    func shutDown(cancelling: Bool) {
        _ = pool.use { evc_pool_shutdown($0, cancelling ? 1 : 0) }
    }

    /// Takes events on a thread of its own until the pool has drained.
    func startPump() {
        Thread.detachNewThread {
            Thread.current.name = "evalcore pool"
            while let event = nextEvent(of: self.pool, evc_pool_poll) { self.deliver(event) }
            self.abandonTheRest()
        }
    }

    /// After the last event there is nobody left, unless events could not be had: then no task may wait for ever.
    private func abandonTheRest() {
        shutDown(cancelling: true)
        let why = EvalError(.closed, "the pool gives no more events")
        let left = state.withLock { state in
            let left = state.asked.filter { $0.value.receiver != nil }
            for tag in left.keys { state.asked[tag] = nil }
            return left.values.compactMap(\.receiver)
        }
        for receiver in left { receiver.fail(why) }
        end.settle(.failure(why))
    }

    private func deliver(_ event: Handle) {
        let (kind, tag) = event.use { (Int(evc_event_kind($0)), evc_event_tag($0)) }
        switch kind {
        case EVC_EVENT_TEXT:
            let text = event.use { String(evc_event_text($0)) }
            state.withLock { $0.asked[tag]?.receiver }?.yield(.text(text))
        case EVC_EVENT_RETRYING:
            guard let error = event.error else { return }
            state.withLock { $0.asked[tag]?.receiver }?.yield(.retrying(error))
        case EVC_EVENT_END:
            guard let asked = state.withLock({ $0.asked.removeValue(forKey: tag) }) else { return }
            if let error = event.error {
                let isOwnCancellation = asked.isCancelled && error.code == .cancelled
                asked.receiver?.fail(isOwnCancellation ? CancellationError() : error)
            } else {
                asked.receiver?.end(with: Result { try Reply(of: event) })
            }
        case EVC_EVENT_DRAINED:
            end.settle(event.error.map { .failure($0) } ?? .success(()))
        default:
            break
        }
    }
}

extension PoolCore.Receiver {
    fileprivate var wantsParts: Bool {
        if case .parts = self { true } else { false }
    }

    fileprivate func yield(_ part: AnswerPart) {
        if case .parts(let continuation) = self { continuation.yield(part) }
    }

    fileprivate func fail(_ error: any Error) { end(with: .failure(error)) }

    fileprivate func end(with outcome: Result<Reply, any Error>) {
        switch (self, outcome) {
        case (.whole(let continuation), _):
            continuation.resume(with: outcome)
        case (.parts(let continuation), .success(let reply)):
            continuation.yield(.reply(reply))
            continuation.finish()
        case (.parts(let continuation), .failure(let error)):
            continuation.finish(throwing: error)
        }
    }
}
