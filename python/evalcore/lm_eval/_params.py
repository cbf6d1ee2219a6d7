"""How a task of lm-eval wants its answers, in the names of a suite's `params` (docs/suite.md)."""

from __future__ import annotations

from typing import Any, Dict, Mapping

from lm_eval.models.utils import handle_stop_sequences


def params_of(gen_kwargs: Mapping[str, Any], max_gen_toks: int, seed: int, chat: bool) -> Dict[str, Any]:
    """What lm-eval's local-completions, or local-chat-completions, would send. A name that a suite does not know stays,
    and the suite is then refused with it."""
    left = dict(gen_kwargs)
    left.pop("do_sample", None)
    most = left.pop("max_gen_toks", max_gen_toks)
    until = left.pop("until", None)
    stop = handle_stop_sequences(list(until) if isinstance(until, list) else until, None)
    fixed = {
        "max_tokens": left.pop("max_tokens", most),
        "temperature": left.pop("temperature", 0),
        # A chat API takes four.
        "stop": stop[:4] if chat else stop,
        "seed": seed,
    }
    return {**fixed, **left}
