/// How an episode ended.
public struct EpisodeOutcome<Value: Sendable>: Sendable {
    /// What was returned by what played it.
    public let value: Value
    /// It was ended another time, and nothing was played now.
    public let isFromBefore: Bool
}

/// There will be no further turn. What plays the episode may catch it and return an outcome all the same.
public struct EpisodeStopped: Error, Sendable, Hashable, CustomStringConvertible {
    /// What it came to: a limit, which is no failure, or an error.
    public enum Why: String, Sendable, CaseIterable {
        /// It had as many replies as it may have.
        case turns
        /// It used as many tokens as it may.
        case tokens
        /// It took as long as it may.
        case time
        /// It cost as much as it may.
        case cost
        /// It no longer fits the model's context.
        case context
        /// A request failed for good.
        case errored
        /// A reason that this version does not know.
        case other
    }

    public let why: Why
    /// What became of the request; nil: a limit was reached.
    public let cause: EvalError?

    public var description: String { "the episode was stopped: \(cause?.description ?? why.rawValue)" }
}

/// What came of all episodes of an ``Episodes``.
public struct EpisodesSummary: Sendable, Decodable {
    /// Episodes that were begun.
    public let episodes: Int
    /// Of these, that were ended now, by why: `done`, `cancelled`, or the words of ``EpisodeStopped/Why``.
    public let ended: [String: Int]
    /// Of these, that had been ended another time.
    public let finishedBefore: Int
    /// Of these, that were not over.
    public let left: Int
    /// Requests that went out, all attempts; of these, that were sent again.
    public let sent, retried: Int
    /// Replies; of these, from the store.
    public let replies, reused: Int
    /// Episodes whose requests were not those of another time.
    public let diverged: Int
    /// Sums of what the backend reported; nil where it reports none.
    public let promptTokens, cachedTokens, completionTokens: Int?
    /// Requests that were out when an earlier process ended, and were sent again.
    public let possiblyPaidTwice: Int
    /// Since they were opened.
    public var wall: Duration { .seconds(wallS) }

    private let wallS: Double

    init(json: String) throws { self = try decoded(json) }
}
