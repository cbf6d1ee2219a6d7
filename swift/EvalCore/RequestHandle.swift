import CEvalCore

extension Request {
    /// The request as the C ABI takes it. `inParts`: text comes as it is written.
    func makeHandle(inParts: Bool) throws -> Handle {
        let handle = try Handle(evc_request_new(), freedBy: evc_request_free)
        let write = OptionWriter(handle: handle, refusal: evc_request_refusal)
        try write.text("model", model, evc_request_set_model)
        for turn in turns { try turn.add(to: write) }
        try likelihood?.add(to: write)
        // Parameters need the tools, and take the place of all that was set before.
        try write.json(toolsJSON, evc_request_set_tools)
        try write.json(parametersJSON, evc_request_set_params)
        try write.count("maxTokens", maxTokens, evc_request_set_max_tokens)
        try write.value("temperature", temperature, evc_request_set_temperature)
        try write.value("topP", topP, evc_request_set_top_p)
        try write.count("topK", topK, evc_request_set_top_k)
        try write.count("seed", seed, evc_request_set_seed)
        for text in stop { try write.text("stop", text, evc_request_add_stop) }
        try write.text("cacheKey", cacheKey, evc_request_set_cache_key)
        try write.flag("inParts", inParts, evc_request_set_stream)
        return handle
    }
}

extension Request.Turn {
    fileprivate func add(to write: OptionWriter) throws {
        switch self {
        case .text(let role, let text):
            try write.text("a turn", text) { evc_request_add_message($0, role.rawValue, $1) }
        case .reply(let reply):
            try reply.withPointer { pointer in
                try check(write.handle.use { evc_request_add_reply($0, pointer) }, "this reply cannot be a turn")
            }
        case .toolResult(let callID, let text, let isError):
            try write.text("a tool's result", text) { request, text in
                withText(callID) { evc_request_add_tool_result(request, $0, text, isError ? 1 : 0) }
            }
        case .messagesJSON(let json):
            try write.json(json, evc_request_add_messages)
        }
    }
}

extension Request.Likelihood {
    fileprivate func add(to write: OptionWriter) throws {
        switch self {
        case .texts(let context, let continuations):
            try write.text("the context", context, evc_request_set_context)
            for text in continuations { try write.text("a continuation", text, evc_request_add_continuation) }
        case .tokens(let context, let continuations):
            try Self.add(context, to: write, evc_request_set_context_tokens)
            for tokens in continuations { try Self.add(tokens, to: write, evc_request_add_continuation_tokens) }
        }
    }

    private static func add(
        _ tokens: [Int32], to write: OptionWriter, _ set: (OpaquePointer?, evc_tokens) -> evc_status
    ) throws {
        try tokens.withUnsafeBufferPointer { buffer in
            try write.value("tokens", evc_tokens(data: buffer.baseAddress, size: buffer.count), set)
        }
    }
}
