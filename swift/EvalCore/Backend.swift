import CEvalCore

/// Who answers requests: a server, a paid API, a model in this process, a script.
///
/// Any thread. A server that evalcore started ends with the last pool or run that uses the backend.
public final class Backend: Sendable {
    /// The runtime that it was opened on, for further endpoints of the same pool.
    public let runtime: Runtime
    let handle: Handle

    private init(_ runtime: Runtime, _ handle: Handle) {
        self.runtime = runtime
        self.handle = handle
    }

    /// Reaches or starts a backend and waits until it is ready, which may take minutes.
    ///
    /// Cancelling the task ends the wait.
    ///
    /// - Parameters:
    ///   - selector: A name that `evalcore backends` lists, such as `openai-url` or `embedded`.
    ///   - runtime: The runtime to share with other backends; nil: one of its own.
    ///   - configure: Sets options before it is opened.
    /// - Throws: ``EvalError``: `invalidArgument` for options that are wrong or left out, `notFound` for a program, a
    ///   file or a model, `transport`, `timeout`, `auth` or `backendFault` for a server that cannot be reached, is
    ///   not ready in time, does not let in, or died. `CancellationError` when the task was cancelled.
    public static func open(
        _ selector: String, on runtime: Runtime? = nil, configure: (inout BackendOptions) -> Void = { _ in }
    ) async throws -> Backend {
        var options = BackendOptions()
        configure(&options)
        let written = try options.makeHandle()
        let runtime = try runtime ?? Runtime()
        return try await withoutBlocking(
            cancel: { _ = written.use { evc_backend_options_cancel_open($0) } },
            {
                let opened = try EvalCore.makeHandle(freedBy: evc_backend_free) { out, error in
                    runtime.handle.use { runtime in
                        written.use { options in
                            withText(selector) { evc_backend_open(runtime, $0, options, out, error) }
                        }
                    }
                }
                return Backend(runtime, opened)
            })
    }

    /// What is known of it, as a JSON object: `selector`, `dialect`, `model`, `sent_model` (the model's name in requests
    /// to a server), `address` (where the server listens, such as `http://127.0.0.1:8080`), `slots`, `context_per_slot`,
    /// `identity`, `notes`, `capabilities`. What is not known is null.
    public func infoJSON() throws -> String {
        var text: OpaquePointer?
        try handle.use { backend in try check { evc_backend_info(backend, &text, $0) } }
        return String(taking: text)
    }
}

extension [Backend] {
    /// Lends the endpoints of a pool or a run to a C function, with the runtime that they share.
    func withPointers<Value>(
        _ body: (_ runtime: OpaquePointer, _ endpoints: UnsafePointer<OpaquePointer?>?, _ count: Int) throws -> Value
    ) throws -> Value {
        guard let first else { throw EvalError(.invalidArgument, "there is no endpoint") }
        let pointers = map { endpoint in endpoint.handle.use { Optional($0) } }
        return try withExtendedLifetime(self) {
            try first.runtime.handle.use { runtime in try body(runtime, pointers, pointers.count) }
        }
    }
}
