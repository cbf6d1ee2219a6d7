import CEvalCore

/// A whole answer.
public struct Reply: Sendable {
    /// Why an answer ended.
    public enum FinishReason: Int32, Sendable {
        /// The model's own end, or a stop string.
        case stop = 1
        /// Cut by `maxTokens` or the context.
        case length
        /// It calls tools.
        case toolCalls
        /// A filter cut it.
        case contentFilter
        /// Another reason, or none was given.
        case other
    }

    /// Tokens as the backend counts them; nil where it does not tell.
    public struct Tokens: Sendable, Hashable {
        /// Cached ones included.
        public let prompt: Int?
        /// Of the prompt: not computed again.
        public let cached: Int?
        /// Reasoning included.
        public let completion: Int?
        /// Of the completion.
        public let reasoning: Int?
        /// Of the prompt: put into a paid cache.
        public let cacheWrite: Int?
    }

    /// A tool that the model wants called.
    public struct ToolCall: Sendable, Hashable {
        public let id: String
        public let name: String
        /// As the model wrote them, which need not be JSON.
        public let arguments: String
    }

    /// How likely one continuation is.
    public struct Score: Sendable, Hashable {
        /// The sum of the natural logarithms of its tokens' probabilities, 0 or less.
        public let sumLogprob: Double
        /// Whether each of its tokens is the likeliest in its place; nil where the backend does not tell.
        public let isGreedy: Bool?
    }

    /// The answer's text, without reasoning.
    public let text: String
    /// What the model thought before it, where the backend tells.
    public let reasoning: String
    public let toolCalls: [ToolCall]
    public let finishReason: FinishReason
    public let tokens: Tokens
    /// From sending the last attempt to its first token; nil: not seen.
    public let firstToken: Duration?
    /// From sending the last attempt to its end; nil: not known.
    public let total: Duration?
    /// One for each continuation of the request, in their order.
    public let scores: [Score]

    private let event: Handle

    /// All of it as a JSON object, with what the properties above leave out, such as `logprobs`, `model` and
    /// `metadata`. Empty: out of memory.
    public var json: String { withPointer { String(evc_reply_json($0)) } }

    /// A copy of the reply of an event, which is kept for what is asked later.
    init(of event: Handle) throws {
        self.event = event
        let reply = event.use { evc_event_reply($0) }
        text = String(evc_reply_text(reply))
        reasoning = String(evc_reply_reasoning(reply))
        toolCalls = try ToolCall.list(String(evc_reply_tool_calls(reply)))
        finishReason = FinishReason(rawValue: evc_reply_finish_reason(reply)) ?? .other
        tokens = Tokens(reply)
        firstToken = Duration(known: evc_reply_first_token_s(reply))
        total = Duration(known: evc_reply_total_s(reply))
        scores = (0..<evc_reply_score_count(reply)).map { index in
            let greedy = evc_reply_is_greedy(reply, index)
            return Score(sumLogprob: evc_reply_sum_logprob(reply, index), isGreedy: greedy < 0 ? nil : greedy == 1)
        }
    }

    func withPointer<Value>(_ body: (OpaquePointer?) throws -> Value) rethrows -> Value {
        try event.useAlone { try body(evc_event_reply($0)) }
    }
}

extension Reply.Tokens {
    fileprivate init(_ reply: OpaquePointer?) {
        func count(_ kind: Int) -> Int? {
            let tokens = evc_reply_tokens(reply, Int32(kind))
            return tokens < 0 ? nil : Int(tokens)
        }
        prompt = count(EVC_TOKENS_PROMPT)
        cached = count(EVC_TOKENS_CACHED)
        completion = count(EVC_TOKENS_COMPLETION)
        reasoning = count(EVC_TOKENS_REASONING)
        cacheWrite = count(EVC_TOKENS_CACHE_WRITE)
    }
}

extension Reply.ToolCall {
    private struct Wire: Decodable {
        struct Function: Decodable {
            let name: String
            let arguments: String
        }
        let id: String?
        let function: Function
    }

    fileprivate static func list(_ json: String) throws -> [Self] {
        guard !json.isEmpty, json != "[]" else { return [] }
        return try decoded(json, as: [Wire].self).map {
            Self(id: $0.id ?? "", name: $0.function.name, arguments: $0.function.arguments)
        }
    }
}
