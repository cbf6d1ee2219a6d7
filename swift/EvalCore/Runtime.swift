import CEvalCore

/// The I/O thread behind backends, pools and runs.
///
/// A backend makes one of its own unless it is given one; the endpoints of one pool or run must share it. The thread
/// ends with the last object that uses it. After a `fork()` none of it can be used in the child.
public final class Runtime: Sendable {
    let handle: Handle

    /// Starts the thread.
    ///
    /// - Throws: ``EvalError`` where the system gives no thread.
    public init() throws {
        handle = try makeHandle(freedBy: evc_runtime_free) { evc_runtime_new($0, $1) }
    }
}
