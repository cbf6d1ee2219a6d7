"""evalcore as a model provider of inspect-ai: `inspect eval task.py --model evalcore/openai-url/NAME`
(docs/inspect-ai.md). inspect-ai finds it through its entry point.
"""

from __future__ import annotations

import asyncio
import contextlib
import threading
from typing import Any

from inspect_ai.model import (
    ChatMessage,
    GenerateConfig,
    ModelAPI,
    ModelCall,
    ModelOutput,
    RetryDecision,
    modelapi,
)
from inspect_ai.tool import ToolChoice, ToolInfo

from evalcore import _inspect_forms as forms
from evalcore import errors
from evalcore.backend import Backend
from evalcore.options import PoolOptions
from evalcore.pool import Pool

# What a pool has in flight unless it is told otherwise.
CONCURRENCY = 16
# Failures that say something of the model and not of the infrastructure; inspect-ai has them as answers.
ANSWERS = {errors.ContextOverflowError: "model_length", errors.RefusedContentError: "content_filter"}


def _without_media(_: Any, value: Any) -> Any:
    return "(left out of the log)" if isinstance(value, str) and value.startswith("data:") else value


@modelapi(name="evalcore")
class EvalcoreAPI(ModelAPI):
    """One backend with one pool. Any thread, and any event loop of asyncio's.

    model_name: a selector of `evalcore backends`, and after a slash the model where one is needed. model_args: options
    of a backend and of a pool (evalcore.BackendOptions, evalcore.PoolOptions). The backend is opened with the first
    request. The pool asks again what failed by no fault of its own, and inspect-ai does not, unless retries=0.
    """

    def __init__(
        self,
        model_name: str,
        base_url: str | None = None,
        api_key: str | None = None,
        config: GenerateConfig = GenerateConfig(),
        **model_args: Any,
    ) -> None:
        super().__init__(model_name, base_url, api_key, [], config)
        if api_key is not None:
            raise ValueError("evalcore takes no key by value: name its variable with api_key_env, or give api_key_file")
        self._selector, _, model = model_name.partition("/")
        of_pool = PoolOptions.__annotations__.keys()
        self._backend_options = {name: value for name, value in model_args.items() if name not in of_pool}
        self._backend_options.update({"model": model or None, "base_url": base_url})
        asked = {
            "concurrency": config.max_connections,
            "retries": config.max_retries,
            "item_timeout_s": config.timeout,
        }
        self._pool_options = {name: value for name, value in asked.items() if value is not None}
        self._pool_options.update({name: value for name, value in model_args.items() if name in of_pool})
        self._pool: Pool | None = None
        self._backend: Backend | None = None
        self._opening = threading.Lock()

    async def generate(
        self, input: list[ChatMessage], tools: list[ToolInfo], tool_choice: ToolChoice, config: GenerateConfig
    ) -> ModelOutput | tuple[ModelOutput | Exception, ModelCall]:
        request = forms.request(input, tools, tool_choice, config)
        shown = {"messages": request.messages, "tools": request.tools, **request.params}
        call = ModelCall.create(shown, None, _without_media)
        pool = self._pool or await asyncio.get_running_loop().run_in_executor(None, self._open)
        try:
            reply = await pool.ask(request)
            call.set_response(reply.raw, reply.timings.get("total_s"))
            return forms.output(reply, self.model_name, tools), call
        except errors.EvalcoreError as why:
            if self.should_retry(why):
                raise
            call.set_error({"code": why.code, "message": why.message, "backend_words": why.backend_words})
            for kind, reason in ANSWERS.items():
                if isinstance(why, kind):
                    # Without a text: a scorer would take words of the failure for the model's.
                    return ModelOutput.from_content(self.model_name, "", reason, why.message), call  # type: ignore[arg-type]
            return why, call

    def should_retry(self, ex: Exception) -> bool | RetryDecision:
        if self._pool_options.get("retries") != 0 or not isinstance(ex, errors.TransientError):
            return False
        return RetryDecision.rate_limit() if isinstance(ex, errors.RateLimitedError) else RetryDecision.transient()

    def max_connections(self) -> int:
        return int(self._pool_options.get("concurrency", CONCURRENCY))

    def connection_key(self) -> str:
        return f"{self.base_url}:{self.model_name}"

    def auto_reasoning_history(self) -> str:  # type: ignore[override]
        return "none"

    async def aclose(self) -> None:
        await asyncio.get_running_loop().run_in_executor(None, self._close)

    def _open(self) -> Pool:
        with self._opening:
            if self._pool is None:
                backend = Backend(self._selector, **self._backend_options)  # type: ignore[arg-type]
                try:
                    self._pool = Pool(backend, **self._pool_options)  # type: ignore[arg-type]
                except BaseException:
                    # The next request opens another one.
                    backend.close()
                    raise
                self._backend = backend
            return self._pool

    def _close(self) -> None:
        with self._opening:
            pool, self._pool = self._pool, None
            backend, self._backend = self._backend, None
        # The pool first, and the backend whatever becomes of it.
        with contextlib.ExitStack() as closing:
            for one in (backend, pool):
                if one is not None:
                    closing.callback(one.close)
