import Foundation
import Synchronization

extension EvalHarnessSupport {
    /// Runs a program and waits for its end. It has this process's environment with `env` laid over it, and its
    /// input and outputs.
    ///
    /// - Returns: Its exit status; 127 where it cannot be launched, which is told on standard error.
    @discardableResult
    public static func runProcess(
        _ executable: URL, _ arguments: [String], cwd: URL? = nil, env: [String: String] = [:]
    ) -> Int32 {
        do { return try launch(executable, arguments, cwd: cwd, env: env) } catch {
            complain("could not launch \(executable.path): \(error)")
            return 127
        }
    }

    /// The same, where it matters whether it was launched.
    ///
    /// - Throws: The system's error where it cannot be launched.
    public static func launch(
        _ executable: URL, _ arguments: [String], cwd: URL? = nil, env: [String: String] = [:]
    ) throws -> Int32 {
        let process = Process()
        process.executableURL = executable
        process.arguments = arguments
        process.currentDirectoryURL = cwd
        process.environment = ProcessInfo.processInfo.environment.merging(env) { $1 }
        try process.runUnblocked()
        RunningChildren.add(process.processIdentifier)
        process.waitUntilExit()
        RunningChildren.remove(process.processIdentifier)
        return process.terminationStatus
    }

    /// Where a program is: a path with `/` must be executable, another name is looked up on PATH. Nil: nowhere.
    public static func resolveExecutable(_ name: String) -> URL? {
        if name.contains("/") {
            return FileManager.default.isExecutableFile(atPath: name) ? URL(fileURLWithPath: name) : nil
        }
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["which", name]
        let output = Pipe()
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        guard (try? process.runUnblocked()) != nil else { return nil }
        let found = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        let path = String(decoding: found, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
        return path.isEmpty ? nil : URL(fileURLWithPath: path)
    }
}

extension Process {
    /// Runs it with no signal blocked. It would inherit the mask of the thread that starts it, and threads of Swift's tasks
    /// block all on Linux: it could then be ended by nothing but a SIGKILL.
    func runUnblocked() throws {
        var none = sigset_t()
        var before = sigset_t()
        sigemptyset(&none)
        pthread_sigmask(SIG_SETMASK, &none, &before)
        defer { pthread_sigmask(SIG_SETMASK, &before, nil) }
        try run()
    }
}

/// The programs that this process has started and that have not ended. They are ended when it exits, however early.
enum RunningChildren {
    private static let identifiers = Mutex<Set<pid_t>>([])
    private static let endedAtExit: Void = { atexit { RunningChildren.terminateAll() } }()

    static func add(_ identifier: pid_t) {
        endedAtExit
        identifiers.withLock { _ = $0.insert(identifier) }
    }

    static func remove(_ identifier: pid_t) { identifiers.withLock { _ = $0.remove(identifier) } }

    private static func terminateAll() {
        for identifier in identifiers.withLock({ $0 }) { kill(identifier, SIGTERM) }
    }
}
