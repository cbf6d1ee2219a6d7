/// What a run of a suite would send, and what the backend's cache can be expected to give.
public struct Plan: Sendable {
    /// Items that share the beginning of their prompts.
    public struct Group: Sendable, Hashable, Decodable {
        /// How many.
        public let items: Int
        /// How much they share at the beginning, in the plan's unit.
        public let prefix: Int
        /// The sum of their prompts.
        public let prompt: Int
        /// Of it, what the cache can be expected to give; nil where that is not known.
        public let predictedCached: Int?
        /// The id of the first of them that is sent.
        public let firstItem: String
    }

    /// The number of items.
    public let items: Int
    /// What lengths are counted in: `tokens` of the backend, or `bytes`.
    public let unit: String
    public let groups: [Group]
    /// The ids of the items, in the order in which they are sent.
    public let order: [String]
    /// All of it as a JSON object: what `evalcore plan --json` prints.
    public let json: String

    private struct Wire: Decodable {
        let items: Int
        let unit: String
        let groups: [Group]
        let order: [String]
    }

    init(json: String) throws {
        let wire = try decoded(json, as: Wire.self)
        items = wire.items
        unit = wire.unit
        groups = wire.groups
        order = wire.order
        self.json = json
    }
}
