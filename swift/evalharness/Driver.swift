import EvalCore
import EvalHarnessSupport
import Foundation

/// Where harnesses are checked out.
func externalFolder(_ name: String) -> String {
    FileManager.default.homeDirectoryForCurrentUser.path + "/.cache/posttrainllm/datasets/_external/" + name
}

/// The Python that runs harnesses: the first on PATH, else the system's.
func pythonProgram() -> URL {
    EvalHarnessSupport.resolveExecutable("python3") ?? URL(fileURLWithPath: "/usr/bin/python3")
}

func fail(_ message: String, _ status: Int32) -> Never {
    EvalHarnessSupport.complain(message)
    exit(status)
}

/// Of a driver that could not do its work at all: as the `evalcore` command tells a mistake of the caller's (2) from a
/// backend that is not available (3).
func exitStatus(of error: EvalError) -> Int32 {
    if error.code == .cancelled { return 128 + SIGINT }
    switch error.stage {
    case nil, .config, .suite, .store, .score: return 2
    case .start, .connect, .send, .firstByte, .body, .decode:
        return [.invalidArgument, .badSuite].contains(error.code) ? 2 : 3
    }
}

extension EvalHarnessSupport.Served {
    /// Where its API is. A client that is told nothing would ask the vendor's own server.
    var address: String {
        if let baseURL { return baseURL }
        fail("the backend does not tell its address", 3)
    }
}
