import CEvalCore

/// What scoring replies gave.
public struct ScoredReplies: Sendable {
    /// Of the replies; items without one are ``RunSummary/notRun``.
    public let summary: RunSummary
    /// A line of JSON for each verdict, as `evalcore score --verdicts` writes them.
    public let verdictsJSONL: String
    /// Replies to no item of the suite.
    public let unknown: Int
}

extension Suite {
    /// Scores replies that are there already, without a backend: what `evalcore score` does.
    ///
    /// - Parameters:
    ///   - path: A file of JSON lines, or of BFCL's results (`docs/suite.md`).
    ///   - scorer: In the place of the items' own: a name, or JSON with its options (`docs/scoring.md`).
    ///   - limit: Only the first so many items.
    /// - Throws: ``EvalError``: `notFound`, `storage`; `badSuite`, which names file and line.
    public func score(repliesAt path: String, scorer: String? = nil, limit: Int? = nil) async throws -> ScoredReplies {
        try await withoutBlocking { [handle] in
            let options = try Handle(evc_score_options_new(), freedBy: evc_score_options_free)
            let write = OptionWriter(handle: options, refusal: evc_score_options_refusal)
            try write.text("scorer", scorer, evc_score_options_set_scorer)
            try write.count("limit", limit, evc_score_options_set_limit)
            var verdicts: OpaquePointer?
            var unknown: UInt64 = 0
            var summary: OpaquePointer?
            try handle.use { suite in
                try options.use { options in
                    try withText(path) { path in
                        try check { evc_suite_score(suite, path, options, &verdicts, &unknown, &summary, $0) }
                    }
                }
            }
            let lines = String(taking: verdicts)
            return ScoredReplies(
                summary: try RunSummary(json: String(taking: summary)), verdictsJSONL: lines, unknown: Int(unknown))
        }
    }
}
