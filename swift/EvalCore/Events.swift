import CEvalCore

/// Waits for the next event of a pool, a run or episodes; nil: the last was taken, or a wake found that it is no longer
/// wanted.
func nextEvent(
    of source: Handle, while isWanted: () -> Bool = { true },
    _ poll: (OpaquePointer?, Int32, UnsafeMutablePointer<OpaquePointer?>?) -> evc_status
) -> Handle? {
    while isWanted() {
        var event: OpaquePointer?
        let status = source.use { poll($0, -1, &event) }
        if event != nil { return try? Handle(event, freedBy: evc_event_free) }
        if Int(status) != EVC_E_TIMEOUT { return nil }
    }
    return nil
}

extension Handle {
    /// What went wrong, of an event.
    var error: EvalError? {
        use { evc_event_error($0) }.map { EvalError(copying: $0) }
    }

    /// What an event has as JSON.
    var json: String { use { String(evc_event_json($0)) } }
}
