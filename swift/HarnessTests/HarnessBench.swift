import Foundation
import Synchronization
import Testing

/// The tests that run `evalharness`, one after the other: each starts several programs, and many of them at once would take
/// the processor from tests of time.
@Suite(.serialized) enum DriverTests {}

/// What a driver did.
struct DriverRun {
    let status: Int32
    let output: String
    let errors: String
    /// What the stand-ins saw, in order, each a JSON object with sorted members.
    let records: [String]
    /// The lines of `--out`.
    let rows: [String]
    /// The stand-ins that were started.
    let children: [pid_t]
}

/// A folder in which `evalharness` runs with stand-ins for the programs that it starts. What differs from run to run is named
/// in what it gives back: `{FOLDER}`, `{PORT}`, `{WORK}`.
final class HarnessBench: Sendable {
    let folder: String
    let port: Int
    private let running = Mutex<pid_t?>(nil)
    private let server = Mutex<pid_t?>(nil)

    init() throws {
        port = try freePort()
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("evalharness-\(UUID().uuidString)").path
        for name in ["bfcl", "tau", "results"] {
            try FileManager.default.createDirectory(
                atPath: folder + "/" + name, withIntermediateDirectories: true)
        }
    }

    deinit {
        if let server = server.withLock({ $0 }) { kill(server, SIGKILL) }
        try? FileManager.default.removeItem(atPath: folder)
    }

    /// Starts the stand-in for a server with OpenAI's API on the port, which gives these replies. What it is asked goes to
    /// `server.jsonl`.
    func serve(_ replies: String) async throws {
        try write(replies, to: "replies.json")
        try await start("openai_server", ["\(port)", folder + "/replies.json"])
    }

    /// Starts one on the port that gives the answers of this name in `tests/data/captures`, whatever it is asked.
    func serve(captured answer: String) async throws {
        try await start("captured_server", ["--port", "\(port)"] + captured(answer))
    }

    /// The arguments with which `captured_server` gives those.
    func captured(_ answer: String) -> [String] {
        ["--answer", Files.repository("tests/data/captures/" + answer), "--record", folder + "/server.jsonl"]
    }

    private func start(_ name: String, _ arguments: [String]) async throws {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: Files.path("bin/" + name))
        process.arguments = arguments
        process.environment = ["RECORD": folder + "/server.jsonl"]
        try process.run()
        server.withLock { $0 = process.processIdentifier }
        while read("server.jsonl").isEmpty && process.isRunning { try await Task.sleep(for: .milliseconds(20)) }
    }

    /// What the stand-in for a server was asked, each a JSON object with sorted members.
    func asked() throws -> [String] {
        try read("server.jsonl").split(separator: "\n").dropFirst().map {
            try canonical(JSONSerialization.jsonObject(with: Data($0.utf8)))
        }
    }

    /// The flags that lead a driver to that server.
    var served: [String] { ["--backend", "openai-url", "--base-url", "http://127.0.0.1:\(port)"] }

    func write(_ text: String, to name: String) throws {
        try text.write(toFile: folder + "/" + name, atomically: true, encoding: .utf8)
    }

    func read(_ name: String) -> String { (try? String(contentsOfFile: folder + "/" + name, encoding: .utf8)) ?? "" }

    /// Runs `evalharness` in the folder, rows going to `rows.jsonl` there.
    func run(_ arguments: [String], environment: [String: String] = [:]) async throws -> DriverRun {
        var surroundings = [
            "PATH": Files.path("bin") + ":/usr/bin:/bin", "HOME": folder, "LC_ALL": "C.UTF-8",
            "RECORD": folder + "/records.jsonl", "PWD": folder,
        ]
        surroundings["LD_LIBRARY_PATH"] = ProcessInfo.processInfo.environment["LD_LIBRARY_PATH"]
        surroundings.merge(environment) { $1 }
        let process = Process()
        process.executableURL = program
        process.arguments = arguments
        process.environment = surroundings
        process.currentDirectoryURL = URL(fileURLWithPath: folder)
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = try emptyFile("output")
        process.standardError = try emptyFile("errors")
        try await withCheckedThrowingContinuation { continuation in
            process.terminationHandler = { _ in continuation.resume() }
            do { try process.run() } catch { continuation.resume(throwing: error) }
            running.withLock { $0 = process.processIdentifier }
        }
        let seen = try records()
        return DriverRun(
            status: process.terminationStatus, output: read("output"), errors: read("errors"),
            records: onceAsked(try seen.map { try named(record: $0, in: surroundings) }),
            rows: read("rows.jsonl").split(separator: "\n").map { named(row: String($0)) },
            children: try children())
    }

    /// The driver that runs, or ran last.
    var driver: pid_t? { running.withLock { $0 } }

    /// The stand-ins that were started so far.
    func children() throws -> [pid_t] { try records().compactMap { ($0["pid"] as? Int).map { pid_t($0) } } }

    private func records() throws -> [[String: Any]] {
        try read("records.jsonl").split(separator: "\n").map {
            try #require(try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any])
        }
    }

    private var program: URL {
        let tests = ProcessInfo.processInfo.arguments[0]
        return URL(fileURLWithPath: tests).deletingLastPathComponent().appendingPathComponent("evalharness")
    }

    private func emptyFile(_ name: String) throws -> FileHandle {
        try write("", to: name)
        return try #require(FileHandle(forWritingAtPath: folder + "/" + name))
    }

    /// A server may need several questions before it is ready, or more time for one than it has: that is chance.
    private func onceAsked(_ records: [String]) -> [String] {
        records.enumerated().filter { $0 == 0 || $1 != records[$0 - 1] }.map(\.element)
    }

    /// Of the environment only what was laid over the driver's own.
    private func named(record: [String: Any], in surroundings: [String: String]) throws -> String {
        var record = record
        record["pid"] = nil
        if let environment = record["env"] as? [String: String] {
            record["env"] = environment.filter { $0.key != "PWD" && surroundings[$0.key] != $0.value }
        }
        if var arguments = record["argv"] as? [String], arguments.first == "-c" {
            arguments[1] = "{LAUNCHER}"
            record["argv"] = arguments
        }
        return named(try canonical(record))
    }

    private func named(row: String) -> String {
        row.replacing(/"run_id":"[0-9A-F]{8}(-[0-9A-F]{4}){3}-[0-9A-F]{12}"/, with: #""run_id":"{RUN}""#)
            .replacing(/"timestamp":"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ"/, with: #""timestamp":"{TIME}""#)
            .replacing(/"wall_seconds":[0-9.e-]+/, with: #""wall_seconds":{WALL}"#)
    }

    private func named(_ text: String) -> String {
        text.replacingOccurrences(of: folder, with: "{FOLDER}").replacingOccurrences(of: "\(port)", with: "{PORT}")
            .replacing(/\/tmp\/posttrainllm-(bfcl-|tau-|lm-eval\/)[0-9A-F]{8}/, with: "{WORK}")
    }
}

/// The repository's files for these tests.
enum Files {
    private static let root = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    /// Ten answers by heart: "hi" gives "Hello!".
    static let canned = repository("tests/data/models/canned/canned-q8_0.gguf")

    static func repository(_ name: String) -> String { root.appendingPathComponent(name).path }

    static func path(_ name: String) -> String { repository("tests/data/harness/" + name) }

    /// The lines of a file of expected records, as `DriverRun` gives them.
    static func records(_ name: String) throws -> [String] {
        try String(contentsOfFile: path(name), encoding: .utf8).split(separator: "\n").map {
            try canonical(JSONSerialization.jsonObject(with: Data($0.utf8)))
        }
    }

    static func lines(_ name: String) throws -> [String] {
        try String(contentsOfFile: path(name), encoding: .utf8).split(separator: "\n").map(String.init)
    }
}

func canonical(_ json: Any) throws -> String {
    let data = try JSONSerialization.data(withJSONObject: json, options: [.sortedKeys, .withoutEscapingSlashes])
    return String(decoding: data, as: UTF8.self)
}

/// A port of 127.0.0.1 that nobody listens on.
func freePort() throws -> Int {
    #if os(Linux)
        let kind = Int32(SOCK_STREAM.rawValue)
    #else
        let kind = SOCK_STREAM
    #endif
    let descriptor = socket(AF_INET, kind, 0)
    defer { close(descriptor) }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    let status = withUnsafeMutablePointer(to: &address) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
            bind(descriptor, $0, size) == 0 && getsockname(descriptor, $0, &size) == 0
        }
    }
    try #require(status)
    return Int(UInt16(bigEndian: address.sin_port))
}

/// Whether a process has ended, or does so soon. One that nobody has waited for yet has ended, too.
func hasEnded(_ process: pid_t) async throws -> Bool {
    for _ in 0..<100 {
        let ps = Process()
        ps.executableURL = URL(fileURLWithPath: "/bin/ps")
        ps.arguments = ["-o", "stat=", "-p", "\(process)"]
        let output = Pipe()
        ps.standardOutput = output
        try ps.run()
        let state = try output.fileHandleForReading.readToEnd() ?? Data()
        if state.isEmpty || state.first == UInt8(ascii: "Z") { return true }
        try await Task.sleep(for: .milliseconds(20))
    }
    return false
}
