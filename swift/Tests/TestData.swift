import EvalCore
import Foundation
import Testing

/// The repository's files for tests.
enum TestData {
    private static let root = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .appendingPathComponent("tests/data")

    /// Known answers: any prompt with "count" gives "counted", most others "hello".
    static let script = path("capi/script.jsonl")
    /// Ten answers by heart: "hi" gives "Hello!".
    static let model = path("models/canned/canned-q8_0.gguf")

    static func path(_ name: String) -> String { root.appendingPathComponent(name).path }
}

/// A folder that goes with its last reference.
final class TemporaryFolder: Sendable {
    let path: String

    init() throws {
        path = FileManager.default.temporaryDirectory.appendingPathComponent("swift-evalcore-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    func write(_ text: String, to name: String, mode: Int = 0o600) throws -> String {
        let file = path + "/" + name
        try text.write(toFile: file, atomically: true, encoding: .utf8)
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: file)
        return file
    }
}

/// A pool that plays the repository's script.
func scriptedPool(configure: (inout PoolOptions) -> Void = { _ in }) async throws -> Pool {
    try Pool(try await Backend.open("scripted") { $0.script = TestData.script }, configure: configure)
}

/// What a pool of one endpoint counts.
struct Figures: Decodable {
    let sent: Int
    let inFlight: Int

    init(of pool: Pool) throws {
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        let endpoints = try decoder.decode([Figures].self, from: Data(try pool.figuresJSON().utf8))
        self = try #require(endpoints.first)
    }
}

/// Waits until a pool has come so far; tests that use it have a time limit.
func wait(for pool: Pool, until hasComeSoFar: (Figures) -> Bool) async throws {
    while try !hasComeSoFar(Figures(of: pool)) { try await Task.sleep(for: .milliseconds(2)) }
}
