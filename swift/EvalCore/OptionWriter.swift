import CEvalCore

/// Sets options of the C ABI from optional values: what is nil stays at its default. A value that the library
/// refuses is named in the error.
struct OptionWriter {
    let handle: Handle
    /// Why the library refused the last; empty: it does not say.
    var refusal: (OpaquePointer?) -> evc_str = { _ in evc_str() }

    /// Runs a setter of the library's. `subject` begins the sentence that says what is refused.
    private func set(_ subject: @autoclosure () -> String, _ call: (OpaquePointer) -> evc_status) throws {
        try handle.use { options in
            let status = call(options)
            guard Int(status) != EVC_OK else { return }
            let why = String(refusal(options))
            try check(status, why.isEmpty ? subject() : "\(subject()): \(why)")
        }
    }

    func value<Value>(
        _ name: String, _ value: Value?, _ set: (OpaquePointer?, Value) -> evc_status
    ) throws {
        guard let value else { return }
        try self.set("\(name) cannot be \(value)") { set($0, value) }
    }

    func count<Number: FixedWidthInteger>(
        _ name: String, _ value: Int?, _ set: (OpaquePointer?, Number) -> evc_status
    ) throws {
        guard let value else { return }
        guard let number = Number(exactly: value) else {
            throw EvalError(.invalidArgument, "\(name) cannot be \(value)")
        }
        try self.value(name, number, set)
    }

    func text(_ name: String, _ value: String?, _ set: (OpaquePointer?, evc_str) -> evc_status) throws {
        guard let value else { return }
        try withText(value) { text in try self.set("\(name) cannot be '\(value)'") { set($0, text) } }
    }

    /// The value may be a secret: an error has its name only.
    func pair(
        _ kind: String, _ pair: (name: String, value: String), _ set: (OpaquePointer?, evc_str, evc_str) -> evc_status
    ) throws {
        try withText(pair.name) { name in
            try withText(pair.value) { value in
                try self.set("this \(kind) cannot be sent: \(pair.name)") { set($0, name, value) }
            }
        }
    }

    func json(
        _ value: String?,
        _ set: (OpaquePointer?, evc_str, UnsafeMutablePointer<OpaquePointer?>?) -> evc_status
    ) throws {
        guard let value else { return }
        try withText(value) { text in try handle.use { options in try check { set(options, text, $0) } } }
    }

    func flag(_ name: String, _ value: Bool?, _ set: (OpaquePointer?, Int32) -> evc_status) throws {
        try self.value(name, value.map { $0 ? 1 : 0 }, set)
    }

    func seconds(_ name: String, _ value: Duration?, _ set: (OpaquePointer?, Double) -> evc_status) throws {
        try self.value(name, value?.inSeconds, set)
    }
}

extension Duration {
    var inSeconds: Double {
        Double(components.seconds) + Double(components.attoseconds) * 1e-18
    }

    /// nil for a negative time, which in the C ABI is one that is not known.
    init?(known seconds: Double) {
        guard seconds >= 0 else { return nil }
        self = .seconds(seconds)
    }
}
