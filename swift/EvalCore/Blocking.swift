import Foundation
import Synchronization

/// Runs a call that blocks for long on a thread of its own, as the threads of Swift's tasks are few.
///
/// If the task is cancelled, the runtime is interrupted until the call has returned: it may not yet have begun to wait
/// when the cancellation comes.
func withoutBlocking<Value: Sendable>(
    interrupting runtime: Runtime?, _ call: @escaping @Sendable () throws -> Value
) async throws -> Value {
    try Task.checkCancellation()
    let hasReturned = Flag()
    do {
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                Thread.detachNewThread {
                    let outcome = Result(catching: call)
                    hasReturned.raise()
                    continuation.resume(with: outcome)
                }
            }
        } onCancel: {
            guard let runtime else { return }
            Task.detached {
                while !hasReturned.isRaised {
                    runtime.interrupt()
                    try await Task.sleep(for: .milliseconds(10))
                }
            }
        }
    } catch let error as EvalError where error.code == .cancelled && Task.isCancelled {
        throw CancellationError()
    }
}

/// A Boolean that several threads share.
private final class Flag: Sendable {
    private let value = Atomic(false)

    var isRaised: Bool { value.load(ordering: .acquiring) }

    func raise() { value.store(true, ordering: .releasing) }
}
