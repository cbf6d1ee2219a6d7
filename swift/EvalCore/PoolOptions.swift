import CEvalCore

/// How requests go out. Each is named after the option of the `evalcore` command that means the same
/// (`docs/requests.md`), and nil is its default. A value out of its range is refused when the pool is made.
public struct PoolOptions: Sendable {
    /// Requests in flight at most, at each endpoint: 1 to 10,000. Default 16.
    public var concurrency: Int?
    /// In its place: as many as serve best, found while the pool runs, up to so many.
    public var autoConcurrency: Int?
    /// How often a failed request is sent again. Default 7.
    public var retries: Int?
    /// The longest wait that a server may ask for. Default 120 s.
    public var maxWait: Duration?
    /// How long an endpoint may be away before it is given up; 0: for ever. Default 600 s.
    public var maxOutage: Duration?
    /// When more requests than this have failed for good, the pool stops. Default: no bound.
    public var maxErrors: Int?
    /// At each endpoint. Default: what the server says of its own limits.
    public var requestsPerMinute: Int?
    /// Of prompts and answers together, at each endpoint. Default: what the server says.
    public var tokensPerMinute: Int?
    /// Requests that begin in a second, whatever became of those before. Default: as fast as the concurrency allows.
    public var rate: Double?
    /// For one request, all its attempts together; 0 (the default): none.
    public var itemTimeout: Duration?
    /// After it nothing more is sent, and the pool stops; 0 (the default): none.
    public var timeLimit: Duration?
    /// Requests that have not ended; more are refused with `overloaded`. Default 65,536. A run has no use for it.
    public var maxOutstanding: Int?

    /// Everything at its default.
    public init() {}

    func makeHandle() throws -> Handle {
        let handle = try Handle(evc_pool_options_new(), freedBy: evc_pool_options_free)
        let write = OptionWriter(handle: handle, refusal: evc_pool_options_refusal)
        try write.count("concurrency", concurrency, evc_pool_options_set_concurrency)
        try write.count("autoConcurrency", autoConcurrency, evc_pool_options_set_auto_concurrency)
        try write.count("retries", retries, evc_pool_options_set_retries)
        try write.seconds("maxWait", maxWait, evc_pool_options_set_max_wait_s)
        try write.seconds("maxOutage", maxOutage, evc_pool_options_set_max_outage_s)
        try write.count("maxErrors", maxErrors, evc_pool_options_set_max_errors)
        try write.count("requestsPerMinute", requestsPerMinute, evc_pool_options_set_requests_per_minute)
        try write.count("tokensPerMinute", tokensPerMinute, evc_pool_options_set_tokens_per_minute)
        try write.value("rate", rate, evc_pool_options_set_rate)
        try write.seconds("itemTimeout", itemTimeout, evc_pool_options_set_item_timeout_s)
        try write.seconds("timeLimit", timeLimit, evc_pool_options_set_time_limit_s)
        try write.count("maxOutstanding", maxOutstanding, evc_pool_options_set_max_outstanding)
        return handle
    }
}
