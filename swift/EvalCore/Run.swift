import CEvalCore

/// One run of a suite, on a thread of evalcore's: what `evalcore run` does. Any thread.
///
/// When the last reference to it goes, it is cancelled: what is done is kept.
public final class Run: Sendable {
    /// Where the run stands, whenever something happened, until its end; a consumer that is slow gets the newest only.
    /// For one consumer; the run does not wait for it.
    public var progress: AsyncStream<RunProgress> { core.progress.stream }
    /// Sentences for a person, until the run's end. For one consumer.
    public var notes: AsyncStream<String> { core.notes.stream }

    private let core: RunCore

    /// Begins a run and does not wait for it. What is wrong with the suite, the files or the backend is thrown by
    /// ``summary()``.
    ///
    /// - Parameters:
    ///   - endpoints: Backends of the same model on the same runtime, at least one.
    ///   - configure: Sets options, of which `out` must be set.
    /// - Throws: ``EvalError``: `invalidArgument` for an option that is out of its range or left out, or endpoints that
    ///   do not go together.
    public init(_ suite: Suite, on endpoints: [Backend], configure: (inout RunOptions) -> Void) throws {
        var options = RunOptions()
        configure(&options)
        let written = try options.makeHandle()
        core = RunCore(try makeHandle(suite, endpoints, written))
        core.startPump()
    }

    /// A run with one endpoint.
    public convenience init(_ suite: Suite, on backend: Backend, configure: (inout RunOptions) -> Void) throws {
        try self.init(suite, on: [backend], configure: configure)
    }

    deinit { core.cancel() }

    /// Waits for the end. Cancelling the task cancels the run, whose summary, with `interrupted`, comes soon after.
    ///
    /// - Throws: ``EvalError``: why there is no summary, or why it could not be written to its file.
    public func summary() async throws -> RunSummary {
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { core.end.wait($0) }
        } onCancel: {
            core.cancel()
        }
    }

    /// Ends it early: what is in flight is cancelled, what is done is kept, and the same run goes on from there another
    /// time.
    public func cancel() { core.cancel() }

    /// Requests in flight at most, at each endpoint: 1 to 10,000. Without effect while nothing is sent.
    public func setConcurrency(_ requests: Int) throws {
        try OptionWriter(handle: core.run).count("concurrency", requests, evc_run_set_concurrency)
    }
}

private func makeHandle(_ suite: Suite, _ endpoints: [Backend], _ options: Handle) throws -> Handle {
    try endpoints.withPointers { runtime, endpoints, count in
        try makeHandle(freedBy: evc_run_free) { out, error in
            suite.handle.use { suite in
                options.use { evc_run_start(runtime, suite, endpoints, count, $0, out, error) }
            }
        }
    }
}
