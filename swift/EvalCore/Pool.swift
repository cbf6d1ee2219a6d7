import CEvalCore

/// Requests in flight: bounded concurrency, retries, rate limits.
///
/// Any thread, any number of tasks at once. When the last reference to it goes, it takes nothing more, and answers
/// that are still iterated go on to their end.
public final class Pool: Sendable {
    private let core: PoolCore

    /// - Parameters:
    ///   - endpoints: Backends of the same model on the same runtime, at least one.
    ///   - configure: Sets options.
    /// - Throws: ``EvalError``: `invalidArgument` for an option out of its range, or endpoints that do not go together.
    public init(_ endpoints: [Backend], configure: (inout PoolOptions) -> Void = { _ in }) throws {
        var options = PoolOptions()
        configure(&options)
        let written = try options.makeHandle()
        core = PoolCore(try makeHandle(endpoints, written))
        core.startPump()
    }

    /// A pool with one endpoint.
    public convenience init(_ backend: Backend, configure: (inout PoolOptions) -> Void = { _ in }) throws {
        try self.init([backend], configure: configure)
    }

    deinit { core.shutDown(cancelling: false) }

    /// Asks, and waits for the whole answer. Cancelling the task cancels the request.
    ///
    /// - Throws: ``EvalError``: why there is no answer, after all retries; `overloaded` where too many are outstanding,
    ///   `closed` where the pool was closed or has stopped. `CancellationError` when the task was cancelled.
    public func ask(_ request: Request) async throws -> Reply {
        let tag = core.begin()
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { core.submit(request, as: tag, to: .whole($0)) }
        } onCancel: {
            core.cancel(tag)
        }
    }

    /// Asks, and gives the answer as it comes. The request goes out at once; whatever fails is thrown by the sequence.
    public func stream(_ request: Request) -> AnswerParts {
        let (parts, continuation) = AsyncThrowingStream<AnswerPart, any Error>.makeStream()
        let tag = core.begin()
        continuation.onTermination = { [core] why in
            if case .cancelled = why { core.cancel(tag) }
        }
        core.submit(request, as: tag, to: .parts(continuation))
        return AnswerParts(parts: parts)
    }

    /// Requests in flight at most, at each endpoint, from now on: 1 to 10,000. What is in flight above it goes on.
    public func setConcurrency(_ requests: Int) throws {
        try OptionWriter(handle: core.pool).count("concurrency", requests, evc_pool_set_concurrency)
    }

    /// Takes nothing more, and waits until everything has ended. Cancelling the task cancels what is in flight.
    ///
    /// - Throws: ``EvalError`` where the pool had stopped by itself: no endpoint left, its time limit, too many errors.
    public func close() async throws {
        core.shutDown(cancelling: false)
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { core.end.wait($0) }
        } onCancel: {
            core.shutDown(cancelling: true)
        }
    }

    /// A JSON list, one object an endpoint: `address`, `limit`, `in_flight`, `sent`, `answered`, `failed`,
    /// `completion_tokens`, `paused_s`, `ejections`.
    public func figuresJSON() throws -> String {
        var text: OpaquePointer?
        try core.pool.use { pool in try check { evc_pool_figures(pool, &text, $0) } }
        return String(taking: text)
    }
}

private func makeHandle(_ endpoints: [Backend], _ options: Handle) throws -> Handle {
    try endpoints.withPointers { runtime, endpoints, count in
        try makeHandle(freedBy: evc_pool_free) { out, error in
            options.use { evc_pool_new(runtime, endpoints, count, $0, out, error) }
        }
    }
}
