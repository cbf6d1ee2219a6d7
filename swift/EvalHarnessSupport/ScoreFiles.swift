import Foundation

extension EvalHarnessSupport {
    /// The file under a folder, at any depth, whose name ends in `.json` and that was changed last; nil: none.
    public static func latestJSON(under root: URL) -> URL? {
        latestFile(under: root) { $0.pathExtension == "json" }
    }

    /// The file under a folder, at any depth, that was changed last of those that are wanted; nil: none.
    public static func latestFile(under root: URL, where isWanted: (URL) -> Bool) -> URL? {
        files(under: root).filter(isWanted).max { changed($0) < changed($1) }
    }

    /// The files under a folder, at any depth.
    public static func files(under root: URL) -> [URL] {
        let found = FileManager.default.enumerator(at: root, includingPropertiesForKeys: [.contentModificationDateKey])
        return found?.compactMap { $0 as? URL } ?? []
    }

    private static func changed(_ file: URL) -> Date {
        (try? file.resourceValues(forKeys: [.contentModificationDateKey]).contentModificationDate) ?? .distantPast
    }

    /// A whole file as JSON; nil: it cannot be read, or is not one JSON text.
    public static func jsonObject(_ file: URL) -> Any? {
        (try? Data(contentsOf: file)).flatMap { try? JSONSerialization.jsonObject(with: $0) }
    }

    /// Metrics anywhere in a JSON value, depth first, members in the order of their names: `path/to/name`, the value, and
    /// the count that stands beside it (`n`, `num`, `count` or `total`; else 0).
    ///
    /// A member is a metric if its name contains `acc` or `pass` or is `reward`, `score` or `avg_reward`, and its
    /// value is a number or a text that is one.
    public static func numericScores(_ value: Any, path: [String] = []) -> [(String, Double, Int)] {
        if let list = value as? [Any] {
            return list.enumerated().flatMap { numericScores($1, path: path + ["\($0)"]) }
        }
        guard let object = value as? [String: Any] else { return [] }
        let count = ["n", "num", "count", "total"].lazy.compactMap { object[$0] }.first.flatMap { intValue($0) }
        return object.sorted { $0.key < $1.key }.flatMap { name, member in
            if looksLikeMetric(name), let score = doubleValue(member) {
                return [((path + [name]).joined(separator: "/"), score, count ?? 0)]
            }
            return numericScores(member, path: path + [name])
        }
    }

    /// A number of JSON, or a text that is one.
    public static func doubleValue(_ value: Any?) -> Double? {
        if let text = value as? String { return Double(text) }
        return value as? Double ?? (value as? Int).map { Double($0) }
    }

    private static func intValue(_ value: Any) -> Int? {
        if let text = value as? String { return Int(text) }
        return value as? Int ?? (value as? Double).flatMap { Int(exactly: $0.rounded(.towardZero)) }
    }

    private static func looksLikeMetric(_ name: String) -> Bool {
        let name = name.lowercased()
        return name.contains("acc") || name.contains("pass") || ["reward", "score", "avg_reward"].contains(name)
    }
}
