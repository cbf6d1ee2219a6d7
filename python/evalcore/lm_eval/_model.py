"""The model that lm-eval asks."""

from __future__ import annotations

import collections
import json
import pathlib
from typing import Any, Dict, List, Mapping, Optional, Sequence, Tuple, Union

from lm_eval.api.instance import Instance
from lm_eval.api.model import LM
from lm_eval.api.registry import register_model

# It also has lm-eval register its own models, which it does only as long as there is none.
from lm_eval.models.api_models import JsonChatStr

from evalcore.backend import Backend
from evalcore.errors import InvalidArgumentError, UnsupportedError
from evalcore.lm_eval._answers import ask
from evalcore.lm_eval._arguments import split
from evalcore.lm_eval._params import params_of
from evalcore.options import Path


@register_model("evalcore")
class Model(LM):
    """A backend of evalcore as lm-eval's model.

    backend: a selector (default: "openai-url" with a base_url, else "embedded"), a Backend, or several of the same
    model. Further options are those of a Backend, of a Pool and of a run, by their names there. out: the folder of the
    runs' files, one folder in it for each type of request; the same evaluation again goes on from what is there.
    max_gen_toks, seed: for tasks that do not say. prefix: text that stands before what is scored without a context, as
    the model's first token is spelled; empty: what the backend puts there itself. lm-eval gives batch_size,
    max_batch_size and device to every model; they mean nothing here, as how many requests are out is `concurrency`.

    The backend is opened at the first request, for turns or for text completions, whichever lm-eval asks; a Backend
    that is given answers what it was opened for, which must fit. Errors: InvalidArgumentError for an option that does not exist; then as Backend.
    """

    def __init__(
        self,
        backend: Union[str, Backend, Sequence[Backend], None] = None,
        *,
        out: Path = "out/lm-eval",
        max_gen_toks: int = 256,
        seed: int = 1234,
        prefix: str = "",
        batch_size: Optional[object] = None,
        max_batch_size: Optional[object] = None,
        device: Optional[object] = None,
        **options: Any,
    ) -> None:
        super().__init__()
        self._of_backend, self._run = split(options)
        if backend is None:
            backend = "openai-url" if "base_url" in self._of_backend else "embedded"
        if not isinstance(backend, str) and self._of_backend:
            raise InvalidArgumentError(f"a Backend that is open takes no option: {', '.join(self._of_backend)}")
        self._backend = backend
        self._opened: Dict[bool, Union[Backend, Sequence[Backend]]] = {}
        self._out = pathlib.Path(out)
        self._max_gen_toks = max_gen_toks
        self._seed = seed
        self._prefix = prefix

    @property
    def tokenizer_name(self) -> str:
        return "evalcore"

    def apply_chat_template(
        self, chat_history: List[Dict[str, str]], add_generation_prompt: bool = True
    ) -> Union[str, JsonChatStr]:
        """The turns as they are: the backend has the template."""
        return JsonChatStr(json.dumps(chat_history, ensure_ascii=False))

    def generate_until(self, requests: List[Instance], disable_tqdm: bool = False) -> List[str]:
        chat = bool(requests) and isinstance(requests[0].args[0], JsonChatStr)
        if requests and not isinstance(self._backend, str):
            _check_api(_first(self._backend).info, chat)
        items = [self._generation(number, one, chat) for number, one in enumerate(requests)]
        replies = self._ask("generate_until", chat, items, [_name(one) for one in requests], disable_tqdm)
        return [str(reply["text"]) for reply in replies]

    def loglikelihood(self, requests: List[Instance], disable_tqdm: bool = False) -> List[Tuple[float, bool]]:
        pairs = [one.args for one in requests]
        if any(isinstance(context, JsonChatStr) for context, _ in pairs):
            raise UnsupportedError("likelihoods are those of plain text: leave --apply_chat_template out")
        scores = self._score("loglikelihood", pairs, requests, disable_tqdm)
        return [(score["sum_logprob"], _is_greedy(score, one)) for score, one in zip(scores, requests)]

    def loglikelihood_rolling(self, requests: List[Instance], disable_tqdm: bool = False) -> List[float]:
        # Of nothing it is certain, and no request.
        full = [one for one in requests if one.args[0]]
        scores = self._score("loglikelihood_rolling", [("", one.args[0]) for one in full], full, disable_tqdm)
        sums = iter(score["sum_logprob"] for score in scores)
        return [next(sums) if one.args[0] else 0.0 for one in requests]

    def _generation(self, number: int, asked: Instance, chat: bool) -> Dict[str, Any]:
        if len(asked.args) > 2:
            raise UnsupportedError(f"{_name(asked)} has images or audio, which the model evalcore does not send")
        context, gen_kwargs = asked.args
        prompt = {"messages": json.loads(context.prompt)} if chat else {"prompt": context}
        params = params_of(gen_kwargs, self._max_gen_toks, self._seed, chat)
        return {"id": number, **prompt, "params": params, "scorer": "none"}

    def _score(
        self, kind: str, pairs: Sequence[Tuple[str, str]], requests: Sequence[Instance], quiet: bool
    ) -> List[Mapping[str, Any]]:
        """The likelihood of each continuation after its context."""
        # An engine in this process computes a context once for all that may follow it; for a server each is a request
        # of its own.
        branches = _first(self._backends(chat=False)).info["selector"] == "embedded"
        together: Dict[Any, List[int]] = collections.defaultdict(list)
        for at, (context, _) in enumerate(pairs):
            together[context if branches else at].append(at)
        places = list(together.values())
        items = [
            {"id": number, "prompt": pairs[at[0]][0] or self._prefix, "choices": [pairs[one][1] for one in at],
             "scorer": "none"}
            for number, at in enumerate(places)
        ]  # fmt: skip
        replies = self._ask(kind, False, items, [_name(requests[at[0]]) for at in places], quiet)
        scores: List[Mapping[str, Any]] = [{} for _ in pairs]
        for at, reply in zip(places, replies):
            for one, score in zip(at, reply["choices"]):
                scores[one] = score
        return scores

    def _ask(
        self, kind: str, chat: bool, items: Sequence[Dict[str, Any]], names: Sequence[str], quiet: bool
    ) -> List[Mapping[str, Any]]:
        return ask(items, names, self._backends(chat), self._out / kind, self._run, quiet) if items else []

    def _backends(self, chat: bool) -> Union[Backend, Sequence[Backend]]:
        if not isinstance(self._backend, str):
            return self._backend
        if chat not in self._opened:
            options = dict(self._of_backend)
            if "base_url" in options:
                # As lm-eval's own models ask. Servers spell a character that max_tokens cut another way in a stream.
                options.setdefault("stream", False)
            if not chat:
                options["api"] = "completions"
            self._opened[chat] = Backend(self._backend, **options)
        return self._opened[chat]


def _check_api(about: Mapping[str, Any], chat: bool) -> None:
    """Of a Backend that is given: a prompt that goes out in a template, or turns that go out without, are others."""
    if about["selector"] not in ("openai-url", "embedded"):
        return
    plain = (about["identity"] or {}).get("api") == "completions"
    if plain == chat:
        raise UnsupportedError(
            f"this Backend answers {'text completions' if plain else 'turns, in a template'}: open it with"
            ' api="completions" if, and only if, --apply_chat_template is not given'
        )


def _first(backends: Union[Backend, Sequence[Backend]]) -> Backend:
    return backends if isinstance(backends, Backend) else backends[0]


def _name(asked: Instance) -> str:
    return f"{asked.task_name}, document {asked.doc_id}"


def _is_greedy(score: Mapping[str, Any], asked: Instance) -> bool:
    if score.get("is_greedy") is None:
        raise UnsupportedError(
            f"{_name(asked)}: the backend does not tell the likeliest tokens of a prompt, without which lm-eval cannot"
            " know whether a continuation is greedy"
        )
    return bool(score["is_greedy"])
