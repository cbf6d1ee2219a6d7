"""The official SDKs' side, in the form that tests/tools/ask.cpp prints; what it has no word for is left out.

Streams are read with the SDKs' own accumulators. There is none for completions, whose chunks are added up here.
"""

import anthropic
import openai

TURNS = [{"role": "user", "content": "hi"}]
ONCE = {"api_key": "none", "max_retries": 0, "timeout": 30}


def ask(url, kind, stream, prompts=1):
    """What becomes of one request to `url`; the SDKs raise what they have to say of a failure."""
    if kind == "messages":
        with anthropic.Anthropic(base_url=url, **ONCE) as client:
            return messages(client, stream)
    with openai.OpenAI(base_url=url + "/v1", **ONCE) as client:
        return chat(client, stream) if kind == "chat" else completions(client, stream, ["hi"] * prompts)


def chat(client, stream):
    if not stream:
        reply = client.chat.completions.create(model="m", messages=TURNS)
        return chat_reply(reply.choices[0], reply.usage)
    try:
        with client.chat.completions.stream(model="m", messages=TURNS) as events:
            reply = events.get_final_completion()
    except openai.LengthFinishReasonError as cut:
        reply = cut.completion
    return chat_reply(reply.choices[0], usage_in_chunks(client))


def usage_in_chunks(client):
    """The accumulator passes over chunks that call themselves "chat.completion", as mlx_lm's last one does."""
    counted = None
    for chunk in client.chat.completions.create(model="m", messages=TURNS, stream=True):
        counted = chunk.usage or counted
    return counted


def chat_reply(choice, counted):
    message = choice.message
    extra = message.model_extra or {}
    return {
        "text": message.content or "",
        "reasoning": extra.get("reasoning_content") or extra.get("reasoning") or "",
        "calls": [
            {"id": call.id, "name": call.function.name, "arguments": call.function.arguments}
            for call in message.tool_calls or []
        ],
        "finish_raw": choice.finish_reason,
        "usage": usage(counted),
        "logprobs": tokens(choice),
    }


def completions(client, stream, prompts):
    # A list even of one prompt, as evalcore sends a text in that case.
    asked = client.completions.create(model="m", prompt=prompts, stream=stream)
    if not stream:
        return {"completions": [completion(one.text, one) for one in asked.choices], "usage": usage(asked.usage)}
    texts, last, counts = [""] * len(prompts), [None] * len(prompts), None
    for chunk in asked:
        counts = chunk.usage or counts
        for choice in chunk.choices:
            texts[choice.index] += choice.text
            last[choice.index] = choice
    return {"completions": [completion(text, one) for text, one in zip(texts, last) if one], "usage": usage(counts)}


def completion(text, choice):
    return {"text": text, "finish_raw": choice.finish_reason, "logprobs": tokens(choice)}


def messages(client, stream):
    asked = {"model": "m", "max_tokens": 100, "messages": TURNS}
    if stream:
        with client.messages.stream(**asked) as events:
            reply = events.get_final_message()
    else:
        reply = client.messages.create(**asked)
    blocks = reply.content
    counted = reply.usage
    cached = counted.cache_read_input_tokens
    return {
        "text": "".join(one.text for one in blocks if one.type == "text"),
        "reasoning": "".join(one.thinking for one in blocks if one.type == "thinking"),
        "calls": [{"id": one.id, "name": one.name, "arguments": one.input} for one in blocks if one.type == "tool_use"],
        "finish_raw": reply.stop_reason,
        "stop_string": reply.stop_sequence or "",
        "usage": {
            "prompt": counted.input_tokens + (cached or 0) + (counted.cache_creation_input_tokens or 0),
            "cached": cached,
            "completion": counted.output_tokens,
        },
    }


def usage(counted):
    if counted is None:
        return {"prompt": None, "cached": None, "completion": None}
    details = counted.prompt_tokens_details
    return {
        "prompt": counted.prompt_tokens,
        "cached": details.cached_tokens if details else None,
        "completion": counted.completion_tokens,
    }


def tokens(choice):
    """Of the generated tokens: these servers answer in the form of chat on both routes."""
    logprobs = choice.logprobs
    content = getattr(logprobs, "content", None) if logprobs else None
    named = [one if isinstance(one, dict) else one.to_dict() for one in content or []]
    return [[one.get("token", ""), one["logprob"]] for one in named]


def words_of(failure):
    """What the server said, in an error that an SDK raised for a status."""
    body = failure.body
    if isinstance(body, dict):
        body = body.get("error", body)
    if isinstance(body, dict):
        return body.get("message", "")
    return body or ""
