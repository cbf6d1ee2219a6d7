import CEvalCore

/// How a backend is reached or started. Each is named after the option of the `evalcore` command that means the same
/// (`docs/backends.md`), and nil is its default. An option that the backend has no use for is refused when it is
/// opened, and so is a value out of its range.
public struct BackendOptions: Sendable {
    /// A model's file or folder, or its name at a server.
    public var model: String?

    // Servers at a URL.

    /// Such as `http://127.0.0.1:8080/v1`.
    public var baseURL: String?
    /// The server's ways by name. Default: those that all servers of its API have.
    public var dialect: String?
    /// `chat` (the default) or `responses`; of `openai-url` only.
    public var api: String?
    /// Such as `2023-06-01`, the default; of `anthropic-url` only.
    public var anthropicVersion: String?
    /// The name of the environment variable that holds the key.
    public var apiKeyEnv: String?
    /// A file that holds the key and that only its owner can read.
    public var apiKeyFile: String?
    /// A program and its arguments, parted by blanks, that prints the key.
    public var apiKeyCommand: String?
    /// How the key travels: `bearer` or `x-api-key`.
    public var apiKeyHeader: String?
    /// Headers of every request. A value `env:NAME` is what the environment variable holds.
    public var headers: [(name: String, value: String)] = []
    /// Parameters in the query of every request; values as those of headers.
    public var query: [(name: String, value: String)] = []
    /// A PEM file of the only authorities to trust. Default: the system's.
    public var caFile: String?
    /// The name that the server's certificate must hold. Default: the URL's host.
    public var tlsServerName: String?
    /// True: who answers is not checked, so anybody in between can read the key and change the answers.
    public var insecure: Bool?
    /// False: answers are asked for in one piece, and no first token is seen.
    public var stream: Bool?

    // Models on this machine.

    /// Requests that are computed side by side. Default 4.
    public var slots: Int?
    /// Tokens of one request, prompt and answer together. Default 4096.
    public var contextPerSlot: Int?
    /// Compute threads. Default 1.
    public var threads: Int?
    /// Of `embedded`: `parity` (the default) or `fast`.
    public var evaluation: String?
    /// Of `embedded`: a folder where what the comparison of bits at a model's load found is kept, so that a model is
    /// compared once on a machine; made where it is missing. Without it each load compares, which takes seconds.
    public var verdictFolder: String?
    /// Of `embedded`: bytes that kept prefixes may take. Default: a quarter of the working set, at most 8 GiB.
    public var cacheMaxBytes: Int?

    // Servers that evalcore starts.

    /// A name on PATH, or a path.
    public var serverProgram: String?
    /// 0 (the default): a free one.
    public var port: Int?
    /// Passed on to the program as they are.
    public var backendArguments: [String] = []
    /// False: a computed prefix is not copied between slots.
    public var sharePrefix: Bool?
    /// Until it must be ready, in whole seconds. Default 120 s.
    public var readyTimeout: Duration?

    /// Of `scripted`: a file of replies, delays and faults (`docs/suite.md`).
    public var script: String?

    // Deadlines of each request to a server; 0 is none.

    /// Resolve and connect. Default 5 s.
    public var connectTimeout: Duration?
    /// Until the answer begins. Default 600 s.
    public var firstByteTimeout: Duration?
    /// Between two pieces of the answer. Default 120 s.
    public var idleTimeout: Duration?
    /// The whole request. Default 900 s.
    public var attemptTimeout: Duration?

    /// Everything at its default.
    public init() {}

    func makeHandle() throws -> Handle {
        let handle = try Handle(evc_backend_options_new(), freedBy: evc_backend_options_free)
        let write = OptionWriter(handle: handle, refusal: evc_backend_options_refusal)
        try write.text("model", model, evc_backend_options_set_model)
        try writeServer(write)
        try writeLocal(write)
        try write.text("script", script, evc_backend_options_set_script)
        try write.seconds("connectTimeout", connectTimeout, evc_backend_options_set_connect_timeout_s)
        try write.seconds("firstByteTimeout", firstByteTimeout, evc_backend_options_set_first_byte_timeout_s)
        try write.seconds("idleTimeout", idleTimeout, evc_backend_options_set_idle_timeout_s)
        try write.seconds("attemptTimeout", attemptTimeout, evc_backend_options_set_attempt_timeout_s)
        return handle
    }

    private func writeServer(_ write: OptionWriter) throws {
        try write.text("baseURL", baseURL, evc_backend_options_set_base_url)
        try write.text("dialect", dialect, evc_backend_options_set_dialect)
        try write.text("api", api, evc_backend_options_set_api)
        try write.text("anthropicVersion", anthropicVersion, evc_backend_options_set_anthropic_version)
        try write.text("apiKeyEnv", apiKeyEnv, evc_backend_options_set_api_key_env)
        try write.text("apiKeyFile", apiKeyFile, evc_backend_options_set_api_key_file)
        try write.text("apiKeyCommand", apiKeyCommand, evc_backend_options_set_api_key_command)
        try write.text("apiKeyHeader", apiKeyHeader, evc_backend_options_set_api_key_header)
        for header in headers { try write.pair("header", header, evc_backend_options_add_header) }
        for parameter in query { try write.pair("parameter", parameter, evc_backend_options_add_query) }
        try write.text("caFile", caFile, evc_backend_options_set_ca_file)
        try write.text("tlsServerName", tlsServerName, evc_backend_options_set_tls_server_name)
        try write.flag("insecure", insecure, evc_backend_options_set_insecure)
        try write.flag("stream", stream, evc_backend_options_set_stream)
    }

    private func writeLocal(_ write: OptionWriter) throws {
        try write.count("slots", slots, evc_backend_options_set_slots)
        try write.count("contextPerSlot", contextPerSlot, evc_backend_options_set_context_per_slot)
        try write.count("threads", threads, evc_backend_options_set_threads)
        try write.text("evaluation", evaluation, evc_backend_options_set_evaluation)
        try write.text("verdictFolder", verdictFolder, evc_backend_options_set_verdict_folder)
        try write.count("cacheMaxBytes", cacheMaxBytes, evc_backend_options_set_cache_max_bytes)
        try write.text("serverProgram", serverProgram, evc_backend_options_set_server_program)
        try write.count("port", port, evc_backend_options_set_port)
        for argument in backendArguments {
            try write.text("backendArguments", argument, evc_backend_options_add_backend_arg)
        }
        try write.flag("sharePrefix", sharePrefix, evc_backend_options_set_share_prefix)
        try write.count(
            "readyTimeout", readyTimeout.map { Int($0.components.seconds) },
            evc_backend_options_set_ready_timeout_s)
    }
}
