import EvalHarnessSupport
import Foundation

/// Where harnesses are checked out.
func externalFolder(_ name: String) -> String {
    FileManager.default.homeDirectoryForCurrentUser.path + "/.cache/posttrainllm/datasets/_external/" + name
}

func fail(_ message: String, _ status: Int32) -> Never {
    EvalHarnessSupport.complain(message)
    exit(status)
}

func refuse(_ message: String, usage: () -> Never) -> Never {
    EvalHarnessSupport.complain(message)
    usage()
}

extension EvalHarnessSupport.Served {
    /// Where its API is. A client that is told nothing would ask the vendor's own server.
    var address: String {
        if let baseURL { return baseURL }
        fail("the backend does not tell its address", 3)
    }
}
