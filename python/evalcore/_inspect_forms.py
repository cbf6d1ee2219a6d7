"""Requests and answers as inspect-ai has them, and as evalcore has them."""

from __future__ import annotations

import json
from typing import Any, Mapping, Sequence

from inspect_ai.model import (
    ChatCompletionChoice,
    ChatMessage,
    ChatMessageAssistant,
    Content,
    ContentReasoning,
    ContentText,
    GenerateConfig,
    Logprob,
    Logprobs,
    ModelOutput,
    ModelUsage,
    StopDetails,
    TopLogprob,
)
from inspect_ai.model._call_tools import parse_tool_call
from inspect_ai.model._reasoning import parse_content_with_reasoning
from inspect_ai.tool import ToolChoice, ToolFunction, ToolInfo

from evalcore.errors import UnsupportedError
from evalcore.request import Reply, Request

# Members of a GenerateConfig that go to the model, under the names that a Request has for them.
SENT = {
    "max_tokens": "max_tokens",
    "temperature": "temperature",
    "top_p": "top_p",
    "top_k": "top_k",
    "seed": "seed",
    "stop_seqs": "stop",
    "logprobs": "logprobs",
    "top_logprobs": "top_logprobs",
    "reasoning_effort": "reasoning_effort",
}
# Those that are inspect-ai's own business, or advice that changes no answer.
NOT_SENT = {
    "max_retries", "timeout", "attempt_timeout", "stream_idle_timeout", "max_connections", "adaptive_connections",
    "system_message", "max_tool_output", "internal_tools", "reasoning_history", "fail_on_refusal", "cache",
    "cache_prompt",
}  # fmt: skip
# Those that need a look at the rest of the request.
PLACED = {"num_choices", "parallel_tool_calls", "response_schema", "reasoning_tokens"}

STOP_REASONS = {
    "stop": "stop",
    "length": "max_tokens",
    "tool_calls": "tool_calls",
    "content_filter": "content_filter",
}


def params(config: GenerateConfig, has_tools: bool) -> dict[str, Any]:
    """Errors: UnsupportedError for what evalcore has no place for, since leaving it out could change an answer."""
    given = config.model_dump(exclude_none=True)
    sent = {SENT[name]: value for name, value in given.items() if name in SENT}
    unknown = given.keys() - SENT.keys() - NOT_SENT - PLACED
    if unknown:
        raise UnsupportedError(
            f"evalcore does not send {', '.join(sorted(unknown))}; leave it out of the configuration"
        )
    if given.get("num_choices", 1) != 1:
        raise UnsupportedError("evalcore gives one choice a request; use epochs in place of num_choices")
    if has_tools and config.parallel_tool_calls is not None:
        sent["parallel_tool_calls"] = config.parallel_tool_calls
    if config.reasoning_tokens is not None:
        sent["thinking"] = {"type": "enabled", "budget_tokens": config.reasoning_tokens}
    schema = config.response_schema
    if schema is not None:
        if schema.description is not None:
            raise UnsupportedError("evalcore does not send the description of a response_schema; leave it out")
        form = {"name": schema.name, "schema": schema.json_schema.model_dump(exclude_none=True)}
        if schema.strict is not None:
            form["strict"] = schema.strict
        sent["response_format"] = {"type": "json_schema", "json_schema": form}
    return sent


def tool(info: ToolInfo) -> dict[str, Any]:
    parameters = info.parameters.model_dump(exclude_none=True)
    return {
        "type": "function",
        "function": {"name": info.name, "description": info.description, "parameters": parameters},
    }


def tool_choice(choice: ToolChoice) -> Any:
    if isinstance(choice, ToolFunction):
        return {"type": "function", "function": {"name": choice.name}}
    return "required" if choice == "any" else choice


def _part(content: Content) -> dict[str, Any]:
    if content.type == "text":
        return {"type": "text", "text": content.text}
    if content.type == "image":
        return {"type": "image_url", "image_url": {"url": content.image}}
    raise UnsupportedError(f"evalcore sends text and images; a message holds {content.type}")


def _said(message: ChatMessage) -> str:
    if isinstance(message.content, str):
        return message.content
    said = []
    for part in message.content:
        if part.type == "text":
            said.append(part.text)
        elif part.type == "reasoning" and message.role == "assistant":
            said.append(f"<think>\n{part.reasoning}\n</think>\n")
        else:
            raise UnsupportedError(f"evalcore sends text in a message of role {message.role}; one holds {part.type}")
    return "\n".join(said)


def turn(message: ChatMessage) -> dict[str, Any]:
    """One message as OpenAI's chat API has it."""
    if message.role == "user":
        content = message.content
        return {"role": "user", "content": content if isinstance(content, str) else [_part(part) for part in content]}
    if message.role == "tool":
        text = f"Error: {message.error.message}" if message.error else _said(message)
        return {"role": "tool", "content": text, "tool_call_id": str(message.tool_call_id)}
    if message.role == "assistant":
        answer: dict[str, Any] = {"role": "assistant", "content": _said(message)}
        if message.tool_calls:
            answer["tool_calls"] = [_call(one.id, one.function, one.arguments) for one in message.tool_calls]
        return answer
    return {"role": message.role, "content": _said(message)}


def _call(identifier: str, name: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
    return {"type": "function", "id": identifier, "function": {"name": name, "arguments": json.dumps(arguments)}}


def request(
    messages: Sequence[ChatMessage], tools: Sequence[ToolInfo], choice: ToolChoice, config: GenerateConfig
) -> Request:
    sent = params(config, bool(tools))
    if tools:
        sent["tool_choice"] = tool_choice(choice)
    return Request([turn(one) for one in messages], [tool(one) for one in tools] or None, sent)


def _token(told: Mapping[str, Any]) -> dict[str, Any]:
    return {"token": told["token"], "logprob": told["logprob"], "bytes": told.get("bytes")}


def _logprobs(told: Sequence[Mapping[str, Any]] | None) -> Logprobs | None:
    # inspect-ai has no place for a token whose probability is not known.
    known = [one for one in told or [] if one["logprob"] is not None]
    if not known:
        return None
    tops = [[TopLogprob(**_token(other)) for other in one["top"] if other["logprob"] is not None] for one in known]
    return Logprobs(content=[Logprob(**_token(one), top_logprobs=top or None) for one, top in zip(known, tops)])


def usage(told: Mapping[str, Any]) -> ModelUsage | None:
    """None where the backend does not tell both: 0 would be taken for a count."""
    prompt, completion = told.get("prompt_tokens"), told.get("completion_tokens")
    if prompt is None or completion is None:
        return None
    cached, written = told.get("cached_tokens"), told.get("cache_write_tokens")
    return ModelUsage(
        input_tokens=prompt - (cached or 0) - (written or 0),
        output_tokens=completion,
        total_tokens=prompt + completion,
        input_tokens_cache_read=cached,
        input_tokens_cache_write=written,
        reasoning_tokens=told.get("reasoning_tokens"),
    )


def output(reply: Reply, model: str, tools: Sequence[ToolInfo]) -> ModelOutput:
    """Errors: UnsupportedError for an answer without what was asked for, which may be another one."""
    dropped = reply.raw.get("dropped")
    if dropped:
        raise UnsupportedError(f"the backend has no place for {', '.join(dropped)}; leave it out of the configuration")
    refusal = reply.raw.get("refusal")
    text = refusal or reply.text
    thought = reply.reasoning
    if not thought:
        # Some servers leave it in the text, and evalcore leaves it there, too.
        text, found = parse_content_with_reasoning(text)
        thought = found.reasoning if found else ""
    content: str | list[Content] = text
    if thought or refusal:
        content = [ContentText(text=text, refusal=True if refusal else None)]
        if thought:
            content.insert(0, ContentReasoning(reasoning=thought))
    calls = [
        parse_tool_call(call["id"], call["function"]["name"], call["function"]["arguments"], list(tools))
        for call in reply.tool_calls
    ]
    named = reply.raw.get("model") or model
    choice = ChatCompletionChoice(
        message=ChatMessageAssistant(content=content, model=named, source="generate", tool_calls=calls or None),
        stop_reason=STOP_REASONS.get(reply.finish_reason, "unknown"),  # type: ignore[arg-type]
        stop_details=StopDetails(type="refusal", explanation=refusal) if refusal else None,
        logprobs=_logprobs(reply.raw.get("logprobs")),
    )
    return ModelOutput(model=named, choices=[choice], usage=usage(reply.usage))
