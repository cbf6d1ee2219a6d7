import CEvalCore

/// A suite on disk (`docs/suite.md`), which must stay as it is while it is used. Any thread.
public final class Suite: Sendable {
    /// The number of its items.
    public let count: Int
    /// `bfcl` for BFCL files, else the file's name without its endings.
    public let task: String
    /// SHA-256 of its bytes, inflated, and of its answers.
    public let hash: String
    let handle: Handle

    /// Opens a suite and checks every line; blocks while it reads.
    ///
    /// - Parameters:
    ///   - path: A JSONL file, plain or gzipped, or BFCL files.
    ///   - answers: The file or folder with the answers of a BFCL suite; nil: beside it.
    /// - Throws: ``EvalError``: `notFound`, `storage`, or `badSuite`, which names file and line.
    public init(path: String, answers: String? = nil) throws {
        handle = try makeHandle(freedBy: evc_suite_free) { out, error in
            withText(path) { path in withText(answers ?? "") { evc_suite_open(path, $0, out, error) } }
        }
        count = Int(handle.use { evc_suite_size($0) })
        task = handle.use { String(evc_suite_task($0)) }
        hash = handle.use { String(evc_suite_hash($0)) }
    }

    /// What a run would send in which order, and what the backend's cache can be expected to give. Nothing is
    /// generated. Cancelling the task ends the wait.
    ///
    /// - Parameters:
    ///   - backend: Tells what the model sees and how its cache works; nil: prompts are counted in bytes, and a cache
    ///     is assumed that finds any common prefix.
    ///   - configure: Sets options, of which `limit`, `order`, `parametersJSON`, `tools`, `pool` and `price` count.
    /// - Throws: ``EvalError`` for options and for a backend that cannot count. `CancellationError` when the task was
    ///   cancelled.
    public func plan(
        for backend: Backend? = nil, configure: (inout RunOptions) -> Void = { _ in }
    ) async throws -> Plan {
        var options = RunOptions()
        configure(&options)
        let written = try options.makeHandle()
        let json = try await withoutBlocking(
            cancel: { _ = written.use { evc_run_options_cancel_plan($0) } },
            { [handle] in
                var text: OpaquePointer?
                try handle.use { suite in
                    try written.use { options in
                        try withExtendedLifetime(backend) {
                            let pointer = backend?.handle.use { $0 }
                            try check { evc_suite_plan(suite, pointer, options, &text, $0) }
                        }
                    }
                }
                return String(taking: text)
            })
        return try Plan(json: json)
    }
}
