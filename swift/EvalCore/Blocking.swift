import Foundation

/// Runs a call that blocks for long on a thread of its own, as the threads of Swift's tasks are few.
///
/// If the task is cancelled, `cancel` is called, which makes the call end, also if it has not begun yet.
func withoutBlocking<Value: Sendable>(
    cancel: @escaping @Sendable () -> Void = {}, _ call: @escaping @Sendable () throws -> Value
) async throws -> Value {
    try Task.checkCancellation()
    do {
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                Thread.detachNewThread { continuation.resume(with: Result(catching: call)) }
            }
        } onCancel: {
            cancel()
        }
    } catch let error as EvalError where error.code == .cancelled && Task.isCancelled {
        throw CancellationError()
    }
}
