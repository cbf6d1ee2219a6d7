/// Where a run stands.
public struct RunProgress: Sendable, Hashable {
    /// Items of the run.
    public let items: Int
    /// Of these, answered without a request.
    public let reused: Int
    /// Of these, that have ended.
    public let done: Int
    /// Requests in flight.
    public let running: Int
    /// Requests that wait to be sent again.
    public let retrying: Int
    /// Items whose request failed for good.
    public let errors: Int
    /// Sums of what the backend reported; nil where it reports none.
    public let promptTokens: Int?
    public let cachedTokens: Int?
    public let completionTokens: Int?
    /// Since the run began.
    public let elapsed: Duration?
    /// For so long nothing is sent; nil: it is not paused.
    public let paused: Duration?

    private struct Wire: Decodable {
        let items, reused, done, running, retrying, errors: Int
        let promptTokens, cachedTokens, completionTokens: Int?
        let elapsedS, pausedS: Double?
    }

    init(json: String) throws {
        let wire = try decoded(json, as: Wire.self)
        items = wire.items
        reused = wire.reused
        done = wire.done
        running = wire.running
        retrying = wire.retrying
        errors = wire.errors
        promptTokens = wire.promptTokens
        cachedTokens = wire.cachedTokens
        completionTokens = wire.completionTokens
        elapsed = wire.elapsedS.map { .seconds($0) }
        paused = wire.pausedS.map { .seconds($0) }
    }
}

/// What came of a run.
public struct RunSummary: Sendable, Decodable {
    /// Items of the suite, or of `limit`: those answered, in error and not run.
    public let items: Int
    /// Items answered without a request.
    public let reused: Int
    /// Requests that went out, all attempts.
    public let sent: Int
    /// Items with a reply.
    public let answered: Int
    /// Items whose last attempt failed: no answers, and asked again by the same run.
    public let errors: Int
    /// Items that were answered, but whose checker failed.
    public let unscored: Int
    /// Items that are left over.
    public let notRun: Int
    /// Whether it was cancelled.
    public let interrupted: Bool
    /// Why nothing more was sent; nil where everything was.
    public let stopped: String?
    /// 0 to 1: the mean over all items, missing ones wrong; nil where there is no item.
    public let score: Double?
    /// All of it: what stands in `summary.json` (`docs/run-files.md`).
    public private(set) var json = ""

    private enum CodingKeys: CodingKey {
        case items, reused, sent, answered, errors, unscored, notRun, interrupted, stopped, score
    }

    init(json: String) throws {
        self = try decoded(json)
        self.json = json
    }
}
