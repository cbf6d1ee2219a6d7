import CEvalCore

/// How many items a gate needs, and what so many can show: what `evalcore power` says (`docs/statistics.md`).
public struct GatePower: Sendable, Decodable {
    /// The fewest items; nil: none are enough.
    public let itemsNeeded: Int?
    /// The power of the items that were given.
    public let powerOfItems: Double?
    /// The smallest margin that they show.
    public let detectableEffect: Double?
    /// All of it as a JSON object.
    public private(set) var json = ""

    private enum CodingKeys: CodingKey { case itemsNeeded, powerOfItems, detectableEffect }

    /// What is nil is at its default. `spread`, the standard deviation of the items' differences, takes the place of
    /// `differing`, the share of items that only one of the two gets right.
    ///
    /// - Throws: ``EvalError``: `invalidArgument`.
    public init(
        margin: Double? = nil, alpha: Double? = nil, power: Double? = nil, difference: Double? = nil,
        differing: Double? = nil, spread: Double? = nil, items: Int? = nil, looks: Int? = nil
    ) throws {
        let options = try Handle(evc_power_options_new(), freedBy: evc_power_options_free)
        let write = OptionWriter(handle: options, refusal: evc_power_options_refusal)
        try write.value("margin", margin, evc_power_options_set_margin)
        try write.value("alpha", alpha, evc_power_options_set_alpha)
        try write.value("power", power, evc_power_options_set_power)
        try write.value("difference", difference, evc_power_options_set_difference)
        try write.value("differing", differing, evc_power_options_set_differing)
        try write.value("spread", spread, evc_power_options_set_spread)
        try write.count("items", items, evc_power_options_set_items)
        try write.count("looks", looks, evc_power_options_set_looks)
        var told: OpaquePointer?
        try options.use { options in try check { evc_power_plan(options, &told, $0) } }
        let text = String(taking: told)
        self = try decoded(text)
        json = text
    }
}
