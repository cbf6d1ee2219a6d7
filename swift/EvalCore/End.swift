import Synchronization

/// How something ended, and who waits for that.
final class End<Value: Sendable>: Sendable {
    private struct State {
        var end: Result<Value, any Error>?
        var waiting: [CheckedContinuation<Value, any Error>] = []
    }

    private let state = Mutex(State())

    func wait(_ continuation: CheckedContinuation<Value, any Error>) {
        let end = state.withLock { state in
            if state.end == nil { state.waiting.append(continuation) }
            return state.end
        }
        if let end { continuation.resume(with: end) }
    }

    /// The first end counts.
    func settle(_ end: Result<Value, any Error>) {
        let waiting = state.withLock { state in
            guard state.end == nil else { return [CheckedContinuation<Value, any Error>]() }
            state.end = end
            return state.waiting
        }
        for one in waiting { one.resume(with: end) }
    }
}
