import CEvalCore

/// Why something failed: a request, a run, a backend that does not open.
public struct EvalError: Error, Sendable, Hashable, CustomStringConvertible {
    /// What went wrong, as a program tells cases apart.
    public enum Code: Int32, Sendable, CaseIterable {
        /// The caller's mistake.
        case invalidArgument = -1
        /// The backend or the build cannot do this.
        case unsupported = -2
        /// What was named does not exist.
        case notFound = -3
        /// No room now.
        case busy = -4
        /// The object was shut down.
        case closed = -5
        /// A file cannot be read or written.
        case storage = -6
        /// A suite that cannot be read.
        case badSuite = -7
        /// Out of memory.
        case noMemory = -8
        /// A bug in evalcore, or a class of errors that this version does not know.
        case internalError = -9
        /// Too many requests.
        case rateLimited = -20
        /// The queue is full.
        case overloaded = -21
        /// No connection, or a broken one.
        case transport = -22
        /// A deadline passed.
        case timeout = -23
        /// An answer without its end.
        case truncated = -24
        /// Bytes that are no answer.
        case badReply = -25
        /// The engine failed.
        case backendFault = -26
        /// The same request would fail again.
        case invalidRequest = -40
        /// The prompt does not fit the model's context.
        case contextOverflow = -41
        /// Not allowed.
        case auth = -42
        /// Out of an allowance.
        case quota = -43
        /// A filter refused.
        case refusedContent = -44
        /// It was cancelled, though not through the task that waits for it.
        case cancelled = -45

        /// The word for it in rows, summaries and scripts, such as `context_overflow`.
        public var name: String { String(cString: evc_status_name(rawValue)) }
    }

    /// At what it went wrong.
    public enum Stage: String, Sendable, CaseIterable {
        /// Reading options.
        case config
        /// Reading the suite.
        case suite
        /// Starting or reaching the backend.
        case start
        /// Resolving and connecting.
        case connect
        /// Writing the request.
        case send
        /// Waiting for the first byte of the answer.
        case firstByte = "first_byte"
        /// Reading the answer.
        case body
        /// Understanding the answer.
        case decode
        case store
        case score
    }

    /// The class of the error.
    public let code: Code
    /// At what it failed; nil: that does not matter, or this version does not know it.
    public let stage: Stage?
    /// A sentence for a person.
    public let message: String
    /// A finer word than the class, such as `queue_full`; maybe empty.
    public let detail: String
    /// What the backend itself said, at most 1 KiB; maybe empty. It may hold words of the request.
    public let backendWords: String
    /// Whether the same request may succeed later.
    public let isRetryable: Bool
    /// The HTTP status that goes with it; nil: none.
    public let httpStatus: Int?

    public var description: String { "\(code.name): \(message)" }

    init(_ code: Code, _ message: String) {
        self.code = code
        stage = nil
        self.message = message
        detail = ""
        backendWords = ""
        isRetryable = false
        httpStatus = nil
    }

    /// A copy of an error that the library lends.
    init(copying error: OpaquePointer) {
        code = Code(rawValue: evc_error_status(error)) ?? .internalError
        stage = Stage(rawValue: String(evc_error_stage(error)))
        message = String(evc_error_message(error))
        detail = String(evc_error_detail(error))
        backendWords = String(evc_error_backend_words(error))
        isRetryable = evc_error_is_retryable(error) != 0
        let status = Int(evc_error_http_status(error))
        httpStatus = status == 0 ? nil : status
    }
}

/// Throws what a C function says of its failure.
func check(_ call: (UnsafeMutablePointer<OpaquePointer?>) -> evc_status) throws {
    var error: OpaquePointer?
    let status = call(&error)
    defer { evc_error_free(error) }
    if let error { throw EvalError(copying: error) }
    try check(status)
}

/// Throws the class of a failure where a C function gives nothing more.
func check(_ status: evc_status, _ message: @autoclosure () -> String? = nil) throws {
    guard Int(status) != EVC_OK else { return }
    let code = EvalError.Code(rawValue: status) ?? .internalError
    throw EvalError(code, message() ?? code.name)
}
