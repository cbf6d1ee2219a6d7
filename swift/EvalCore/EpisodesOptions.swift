import CEvalCore

/// Limits of one episode, and how requests go out. Nil is the default: no limit. A value out of its range is refused
/// when the episodes are opened.
public struct EpisodesOptions: Sendable {
    /// How requests go out.
    public var pool = PoolOptions()
    /// Replies of one episode, at least 1.
    public var maxTurns: Int?
    /// Prompts and answers of all turns of one episode together, at least 1.
    public var maxTokens: Int?
    /// From an episode's first request, above 0.
    public var maxTime: Duration?
    /// What one episode may cost by ``Episode/addCost(_:)``, in a unit of your own, 0 or more.
    public var maxCost: Double?

    /// Everything at its default.
    public init() {}

    func makeHandle(suite: String) throws -> Handle {
        let handle = try Handle(evc_episodes_options_new(), freedBy: evc_episodes_options_free)
        let write = OptionWriter(handle: handle, refusal: evc_episodes_options_refusal)
        try write.text("suite", suite, evc_episodes_options_set_suite)
        let pool = try pool.makeHandle()
        try check(handle.use { episodes in pool.use { evc_episodes_options_set_pool(episodes, $0) } })
        try write.count("maxTurns", maxTurns, evc_episodes_options_set_max_turns)
        try write.count("maxTokens", maxTokens, evc_episodes_options_set_max_tokens)
        try write.seconds("maxTime", maxTime, evc_episodes_options_set_max_time_s)
        try write.value("maxCost", maxCost, evc_episodes_options_set_max_cost)
        return handle
    }
}
