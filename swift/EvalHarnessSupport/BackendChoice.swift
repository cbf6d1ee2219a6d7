import EvalCore
import Foundation

extension EvalHarnessSupport {
    /// Who serves the model that is evaluated.
    public enum BackendName: String, CaseIterable, Sendable {
        /// `posttrainllm serve`, one request at a time: the default.
        case posttrainllm
        case omlx
        case mlxServer = "mlx-server"
        case llamaServer = "llama-server"
        /// A server that is running, with OpenAI's API.
        case openaiURL = "openai-url"
        /// A server that is running, with Anthropic's API.
        case anthropicURL = "anthropic-url"
        /// The model in this process.
        case embedded
    }

    /// What the command line says of the backend.
    public struct BackendChoice: Sendable {
        public var name = BackendName.posttrainllm
        /// Requests in flight at most, at least 1. Default 16.
        public var concurrency = 16
        /// How it is reached or started, but for the model.
        public var options = BackendOptions()

        public init() {}
    }

    /// Takes the flags that choose a backend out of a command line, and hands back the others in order. Without any
    /// of them the choice is `posttrainllm` and the line comes back as it was.
    ///
    /// Ends the process through `usage` for a value that cannot be, and for flags that `posttrainllm`, which is driven
    /// as ever, has no use for.
    public static func takeBackend(_ arguments: [String], usage: () -> Never) -> (BackendChoice, [String]) {
        var choice = BackendChoice()
        var rest: [String] = []
        var others: [String] = []
        var reader = ArgumentReader(arguments)
        while let argument = reader.next() {
            func text() -> String { reader.value(of: argument, usage: usage) }
            func number() -> Int {
                let word = text()
                guard let number = Int(word), number >= 1 else {
                    refuse("\(argument) must be a number from 1, not \(word)", usage: usage)
                }
                return number
            }
            if argument != "--backend" { others.append(argument) }
            switch argument {
            case "--backend":
                let word = text()
                guard let name = BackendName(rawValue: word) else {
                    let names = BackendName.allCases.map(\.rawValue).joined(separator: ", ")
                    refuse("--backend must be one of \(names), not \(word)", usage: usage)
                }
                choice.name = name
            case "--concurrency": choice.concurrency = number()
            case "--base-url": choice.options.baseURL = text()
            case "--api-key-env": choice.options.apiKeyEnv = text()
            case "--server-program": choice.options.serverProgram = text()
            case "--backend-arg": choice.options.backendArguments.append(text())
            case "--slots": choice.options.slots = number()
            case "--context-per-slot": choice.options.contextPerSlot = number()
            case "--ready-timeout": choice.options.readyTimeout = .seconds(number())
            default:
                rest.append(argument)
                others.removeLast()
            }
        }
        if choice.name == .posttrainllm, let flag = others.first {
            refuse(
                "\(flag) has no use for posttrainllm, which answers one request at a time: name another --backend",
                usage: usage)
        }
        return (choice, rest)
    }

    /// The lines about these flags in a driver's help.
    public static let backendHelp = """
        --backend NAME          posttrainllm (default), omlx, mlx-server, llama-server, openai-url, anthropic-url,
                                embedded; with all but the first:
        --concurrency N         requests in flight (default: 16)
        --base-url URL          of openai-url and anthropic-url; <model> is then its name there
        --api-key-env NAME      environment variable with the key
        --server-program PATH   the server to start
        --backend-arg ARG       passed on to it (repeatable)
        --slots N               requests that it computes side by side
        --context-per-slot N    tokens of one request, prompt and answer together
        --ready-timeout N       seconds that it may take to load
        """

    /// A model that is there to be evaluated. A server that was started for it ends with the last reference.
    public struct Served: Sendable {
        public let backend: Backend
        /// Its name in requests to the server; in this process, as it calls itself.
        public let model: String
        /// Where OpenAI's or Anthropic's API is, such as `http://127.0.0.1:8080/v1`; nil: nowhere.
        public let baseURL: String?
        /// The key, out of the environment variable that was named; nil: none was. Not to be printed.
        public let key: String?
    }

    /// Reaches or starts any backend but `posttrainllm`, and waits until it is ready.
    ///
    /// - Parameter port: Of 127.0.0.1, for a server that is started.
    /// - Throws: ``EvalError``, as `Backend.open` does.
    public static func startServe(
        modelPath: String, port: Int = 8097, on choice: BackendChoice
    ) async throws -> Served {
        let key = choice.options.apiKeyEnv.flatMap { ProcessInfo.processInfo.environment[$0] }
        let isStarted = [.omlx, .mlxServer, .llamaServer].contains(choice.name)
        let backend = try await Backend.open(choice.name.rawValue) {
            $0 = choice.options
            $0.model = modelPath
            if isStarted { $0.port = port }
        }
        let info = try JSONDecoder().decode(BackendInfo.self, from: Data(backend.infoJSON().utf8))
        return Served(
            backend: backend, model: info.sentModel ?? info.model, baseURL: info.address.map { $0 + "/v1" }, key: key)
    }
}

private struct BackendInfo: Decodable {
    let model: String
    let sentModel: String?
    let address: String?

    enum CodingKeys: String, CodingKey {
        case model
        case sentModel = "sent_model"
        case address
    }
}
