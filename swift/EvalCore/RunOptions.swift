import CEvalCore

/// How a suite is run. Each is named after the option of `evalcore run` that means the same, and nil is its default.
/// A value out of its range is refused when the run is made.
public struct RunOptions: Sendable {
    /// The folder for `summary.json`, `rows.jsonl` and `run.db` (`docs/run-files.md`). A run must have one; one that
    /// finds its own `run.db` there goes on from it.
    public var out: String?
    /// The store. Default: `run.db` in the folder.
    public var store: String?
    /// What the rows are named after. Default: the suite's task.
    public var task: String?
    /// `prefix` (the default): in the order of a plan; `suite`: as the items stand.
    public var order: String?
    /// Only the first so many items.
    public var limit: Int?
    /// Only part `index` of `count`, from 1 (`docs/shards.md`).
    public var shard: (index: Int, count: Int)?
    /// How requests go out.
    public var pool = PoolOptions()
    /// Parameters for what an item leaves open, as a JSON object: `temperature`, `top_p`, `top_k`, `max_tokens`, `seed`,
    /// `stop`.
    public var parametersJSON: String?
    /// How declared tools reach the model: `auto` (the default), `native`, `text`.
    public var tools: String?
    /// False: the backend's prompt cache is left alone.
    public var promptCache: Bool?
    /// Another store to take replies from; empty: only the run's own.
    public var cache: String?
    /// True: also replies that may come out otherwise each time.
    public var cacheSampled: Bool?
    /// A price file (`docs/cost.md`). Default: costs are not counted.
    public var price: String?
    /// US dollars: nothing more is sent that could exceed it. Needs a price file.
    public var maxCost: Double?
    /// Asks so many items twice (`docs/noise.md`).
    public var noiseFloor: Int?
    /// True: the backend is asked first what it can do.
    public var probe: Bool?
    /// In the rows. Default: as the backend names the model.
    public var modelName: String?
    /// In the rows: the step of training.
    public var modelStep: Int?
    /// In the rows, true: this is the baseline.
    public var isBaseline: Bool?

    /// Everything at its default.
    public init() {}

    func makeHandle() throws -> Handle {
        let handle = try Handle(evc_run_options_new(), freedBy: evc_run_options_free)
        let write = OptionWriter(handle: handle, refusal: evc_run_options_refusal)
        try write.text("out", out, evc_run_options_set_out)
        try write.text("store", store, evc_run_options_set_store)
        try write.text("task", task, evc_run_options_set_task)
        try write.text("order", order, evc_run_options_set_order)
        try write.count("limit", limit, evc_run_options_set_limit)
        if let shard {
            try write.count("shard.count", shard.count) { (options: OpaquePointer?, count: UInt32) in
                guard let index = UInt32(exactly: shard.index) else { return Int32(EVC_E_INVALID_ARGUMENT) }
                return evc_run_options_set_shard(options, index, count)
            }
        }
        let pool = try pool.makeHandle()
        try check(handle.use { run in pool.use { evc_run_options_set_pool(run, $0) } })
        try write.json(parametersJSON, evc_run_options_set_params)
        try write.text("tools", tools, evc_run_options_set_tools)
        try write.flag("promptCache", promptCache, evc_run_options_set_prompt_cache)
        try write.text("cache", cache, evc_run_options_set_cache)
        try write.flag("cacheSampled", cacheSampled, evc_run_options_set_cache_sampled)
        try write.text("price", price, evc_run_options_set_price)
        try write.value("maxCost", maxCost, evc_run_options_set_max_cost)
        try write.count("noiseFloor", noiseFloor, evc_run_options_set_noise_floor)
        try write.flag("probe", probe, evc_run_options_set_probe)
        try write.text("modelName", modelName, evc_run_options_set_model_name)
        try write.count("modelStep", modelStep, evc_run_options_set_model_step)
        try write.flag("isBaseline", isBaseline, evc_run_options_set_baseline)
        return handle
    }
}
