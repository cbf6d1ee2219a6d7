import CEvalCore

/// Lends a text to a C function, which copies it.
func withText<Value>(_ text: String, _ body: (evc_str) throws -> Value) rethrows -> Value {
    var text = text
    return try text.withUTF8 { bytes in
        try bytes.withMemoryRebound(to: CChar.self) { try body(evc_str(data: $0.baseAddress, size: $0.count)) }
    }
}

/// Lends texts to a C function, which copies them.
func withTexts<Value>(_ texts: ArraySlice<String>, _ lent: [evc_str] = [], _ body: ([evc_str]) throws -> Value) rethrows
    -> Value
{
    guard let first = texts.first else { return try body(lent) }
    return try withText(first) { try withTexts(texts.dropFirst(), lent + [$0], body) }
}

extension String {
    /// A copy of a text that the library lends.
    init(_ text: evc_str) {
        self = String(decoding: UnsafeRawBufferPointer(start: text.data, count: text.size), as: UTF8.self)
    }

    /// A copy of a text that the library made, which is freed.
    init(taking text: OpaquePointer?) {
        self = String(evc_text_view(text))
        evc_text_free(text)
    }
}
