import Synchronization

/// What comes from another thread for one task, in order.
final class Mailbox<Element: Sendable>: Sendable {
    private struct State {
        var come: [Element] = []
        var waiting: CheckedContinuation<Element, any Error>?
    }

    private let state = Mutex(State())

    func put(_ element: Element) {
        let waiting = state.withLock { state -> CheckedContinuation<Element, any Error>? in
            guard let waiting = state.waiting else {
                state.come.append(element)
                return nil
            }
            state.waiting = nil
            return waiting
        }
        waiting?.resume(returning: element)
    }

    /// Waits for the next. One task at a time. Throws `CancellationError` when the task is cancelled.
    func take() async throws -> Element {
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let outcome = state.withLock { state -> Result<Element, any Error>? in
                    if Task.isCancelled { return .failure(CancellationError()) }
                    if !state.come.isEmpty { return .success(state.come.removeFirst()) }
                    state.waiting = continuation
                    return nil
                }
                if let outcome { continuation.resume(with: outcome) }
            }
        } onCancel: {
            let waiting = state.withLock { state in
                defer { state.waiting = nil }
                return state.waiting
            }
            waiting?.resume(throwing: CancellationError())
        }
    }
}
