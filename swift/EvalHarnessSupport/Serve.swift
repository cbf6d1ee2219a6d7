import Foundation
import Synchronization

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

extension EvalHarnessSupport {
    /// Starts `posttrainllm serve` on 127.0.0.1 and waits until it is ready. Ends the process with 1 where there is no
    /// such program or it does not get ready. The server ends with this process, if it was not terminated before.
    ///
    /// - Parameters:
    ///   - maxContext: Tokens; nil: the server's own default.
    ///   - programs: The first that there is is started. By default this program itself, then `posttrainllm` and
    ///     `posttrainllm-cli` on PATH.
    public static func startServe(
        modelPath: String, port: Int, maxContext: Int? = 4096, extraArgs: [String] = [], programs: [String]? = nil
    ) -> Process {
        let candidates = programs ?? ProcessInfo.processInfo.arguments.prefix(1) + servePrograms
        guard let program = candidates.lazy.compactMap({ resolveExecutable($0) }).first else {
            complain("posttrainllm CLI not found for serve. Build with `swift build -c release`.")
            exit(1)
        }
        let process = Process()
        process.executableURL = program
        let context = maxContext.map { ["--max-context", "\($0)"] } ?? []
        process.arguments = ["serve", modelPath, "--host", "127.0.0.1", "--port", "\(port)"] + context + extraArgs
        let output = OutputTail()
        process.standardOutput = output.pipe
        process.standardError = output.pipe
        process.terminationHandler = { RunningChildren.remove($0.processIdentifier) }
        do { try process.runUnblocked() } catch {
            complain("could not start posttrainllm serve: \(error)")
            exit(1)
        }
        RunningChildren.add(process.processIdentifier)
        if !becomesReady(port: port, process: process) {
            complain("posttrainllm serve did not become ready on port \(port)")
            complain(output.text)
            exit(1)
        }
        return process
    }

    /// The names of the program that serves a model.
    public static let servePrograms = ["posttrainllm", "posttrainllm-cli"]

    /// Waits until a server on 127.0.0.1 is ready, a minute and more. Ends the process with 1 where it is not, or where
    /// `process` dies before.
    public static func waitForServe(port: Int, process: Process) {
        if becomesReady(port: port, process: process) { return }
        complain("posttrainllm serve did not become ready on port \(port)")
        exit(1)
    }

    private static func becomesReady(port: Int, process: Process) -> Bool {
        ReadinessWait(
            sleep: { Thread.sleep(forTimeInterval: $0) },
            status: { exchange($0, within: 3)?.status },
            isRunning: { process.isRunning }
        ).isReady(port: port)
    }
}

/// When a server that loads its model is asked whether it is ready: at most sixty times, a second before each.
struct ReadinessWait {
    let sleep: (TimeInterval) -> Void
    /// The HTTP status of the answer to a request; nil: none came.
    let status: (URLRequest) -> Int?
    let isRunning: () -> Bool

    func isReady(port: Int) -> Bool {
        var request = URLRequest(url: URL(string: "http://127.0.0.1:\(port)/v1/models")!)
        request.timeoutInterval = 2
        for _ in 0..<60 {
            sleep(1)
            if let status = status(request), status < 500 { return true }
            if !isRunning() { return false }
        }
        return false
    }
}

/// Takes what a program prints, so that it is never held up, and keeps the end of it.
private final class OutputTail: Sendable {
    private static let kept = 4096
    let pipe = Pipe()
    private let tail = Mutex(Data())

    init() {
        pipe.fileHandleForReading.readabilityHandler = { [weak self] handle in
            let more = handle.availableData
            if more.isEmpty { handle.readabilityHandler = nil }
            self?.tail.withLock { $0 = ($0 + more).suffix(Self.kept) }
        }
    }

    var text: String { String(decoding: tail.withLock { $0 }, as: UTF8.self) }
}
