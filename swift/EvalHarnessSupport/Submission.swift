import EvalCore

extension EvalHarnessSupport {
    /// Asks many requests side by side, as many at a time as the pool sends, and gives what came of each in the order of
    /// the requests. A failure stands for itself and is never an answer; it leaves the others alone.
    ///
    /// - Parameters:
    ///   - requests: Taken one by one as others end, so their number is no matter.
    ///   - window: Requests handed to the pool at once; more than it sends, so that it never waits for the next.
    /// - Throws: `CancellationError` when the task was cancelled; what is in flight is then cancelled, too.
    public static func submit(
        _ requests: some Sequence<Request>, to pool: Pool, window: Int = 1024
    ) async throws -> [Result<Reply, EvalError>] {
        typealias Outcome = Result<Reply, EvalError>
        return try await withThrowingTaskGroup(of: (Int, Outcome).self) { group in
            var outcomes: [Outcome?] = []
            for request in requests {
                let place = outcomes.count
                if place >= max(window, 1), let (ended, outcome) = try await group.next() { outcomes[ended] = outcome }
                outcomes.append(nil)
                group.addTask {
                    do { return (place, .success(try await pool.ask(request))) } catch let error as EvalError {
                        return (place, .failure(error))
                    }
                }
            }
            for try await (ended, outcome) in group { outcomes[ended] = outcome }
            return outcomes.compactMap { $0 }
        }
    }
}
