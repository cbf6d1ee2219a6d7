/// What is asked of a backend: turns of a conversation to be answered, or continuations of a context to be scored.
///
/// What is left nil is the backend's own default: many then sample.
public struct Request: Sendable {
    /// Who speaks in a turn of text.
    public enum Role: Int32, Sendable {
        case system = 1
        case developer
        case user
        case assistant
    }

    /// The model to ask. Default: the backend's.
    public var model: String?
    /// Tokens of the answer, at least 1.
    public var maxTokens: Int?
    /// 0 is greedy; finite, not negative.
    public var temperature: Double?
    /// 0 to 1.
    public var topP: Double?
    /// At least 1.
    public var topK: Int?
    public var seed: Int?
    /// The answer ends before the first of these that occurs. None of them is empty.
    public var stop: [String] = []
    /// The tools, as a JSON list in the form of OpenAI's chat API, or the bare functions.
    public var toolsJSON: String?
    /// Further parameters as a JSON object, by their names in OpenAI's chat API, such as `response_format`,
    /// `tool_choice`, `logprobs`, `reasoning_effort`. The properties above take precedence.
    public var parametersJSON: String?
    /// Requests of one key share the beginning of their prompts: they go to the same of several endpoints where they
    /// can, and a backend that takes a cache key is told it. Never changes an answer.
    public var cacheKey: String?

    private(set) var turns: [Turn] = []
    private(set) var likelihood: Likelihood?

    enum Turn: Sendable {
        case text(Role, String)
        case reply(Reply)
        case toolResult(callID: String, text: String, isError: Bool)
        case messagesJSON(String)
    }

    enum Likelihood: Sendable {
        case texts(context: String, continuations: [String])
        case tokens(context: [Int32], continuations: [[Int32]])
    }

    /// Nothing asked yet.
    public init() {}

    /// One question, below a system turn if there is one.
    public init(_ question: String, system: String? = nil) {
        if let system { append(.system, system) }
        append(.user, question)
    }

    /// How likely does the model find each continuation after this context? Nothing is generated; the reply has one
    /// score for each, in their order. No continuation is empty.
    public init(context: String, continuations: [String]) {
        likelihood = .texts(context: context, continuations: continuations)
    }

    /// The same by the ids of the model's own tokenizer, none of them negative.
    public init(contextTokens: [Int32], continuations: [[Int32]]) {
        likelihood = .tokens(context: contextTokens, continuations: continuations)
    }

    /// Adds a turn of text.
    public mutating func append(_ role: Role, _ text: String) { turns.append(.text(role, text)) }

    /// Adds an answer as the assistant's turn, with its calls and its reasoning as they came.
    public mutating func append(_ reply: Reply) { turns.append(.reply(reply)) }

    /// Adds what a tool gave for the call of this id. `isError`: it failed, and `text` says how.
    public mutating func appendToolResult(_ text: String, forCall callID: String, isError: Bool = false) {
        turns.append(.toolResult(callID: callID, text: text, isError: isError))
    }

    /// Adds turns given as a JSON list in the form of OpenAI's chat API: `role`, `content` (a text, or parts of type
    /// `text` and `image_url`), `tool_calls`, `tool_call_id`. What cannot be read is refused when it is asked.
    public mutating func append(messagesJSON: String) { turns.append(.messagesJSON(messagesJSON)) }
}
