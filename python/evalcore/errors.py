"""What may go wrong, as a tree: catch EvalcoreError for all of it, RequestError for what became of a request."""

from __future__ import annotations

from typing import Dict, Type


class EvalcoreError(Exception):
    """A call or a request failed.

    message: a sentence for a person. code: the name of its class in C ("rate_limited"). detail: a finer word,
    maybe empty. stage: at what it failed ("connect", "decode", "store", …), maybe empty.
    retryable: the same request may succeed later. http_status: None where there is none. backend_words: what the backend itself said, maybe empty; it may hold words of the request.
    """

    code = "internal"

    def __init__(
        self,
        message: str,
        *,
        detail: str = "",
        stage: str = "",
        retryable: bool = False,
        http_status: int | None = None,
        backend_words: str = "",
    ) -> None:
        super().__init__(message)
        self.message = message
        self.detail = detail
        self.stage = stage
        self.retryable = retryable
        self.http_status = http_status
        self.backend_words = backend_words

    def __reduce__(self) -> tuple[object, ...]:
        return (type(self), (self.message,), self.__dict__)


class InvalidArgumentError(EvalcoreError, ValueError):
    """The caller's mistake."""

    code = "invalid_argument"


class UnsupportedError(EvalcoreError):
    """The engine or the build cannot do this."""

    code = "unsupported"


class NotFoundError(EvalcoreError):
    """What was named does not exist: a file, a program, a model."""

    code = "not_found"


class BusyError(EvalcoreError):
    """No room now, or another process has the store."""

    code = "busy"


class ClosedError(EvalcoreError):
    """The object was closed or has stopped, or belongs to a process that forked."""

    code = "closed"


class StorageError(EvalcoreError):
    """A file cannot be read or written."""

    code = "storage"


class BadSuiteError(EvalcoreError, ValueError):
    """A suite that cannot be read; the message names the line."""

    code = "bad_suite"


class NoMemoryError(EvalcoreError, MemoryError):
    """Out of memory."""

    code = "no_memory"


class InternalError(EvalcoreError):
    """A bug in evalcore."""

    code = "internal"


class RequestError(EvalcoreError):
    """What became of a request."""


class TransientError(RequestError):
    """The same request may succeed another time."""


class RateLimitedError(TransientError):
    """Too many requests."""

    code = "rate_limited"


class OverloadedError(TransientError):
    """The queue is full."""

    code = "overloaded"


class TransportError(TransientError, ConnectionError):
    """No connection, or a broken one."""

    code = "transport"


class DeadlineError(TransientError, TimeoutError):
    """A deadline passed."""

    code = "timeout"


class TruncatedError(TransientError):
    """An answer without its end."""

    code = "truncated"


class BadReplyError(TransientError):
    """Bytes that are no answer."""

    code = "bad_reply"


class BackendFaultError(TransientError):
    """The engine failed."""

    code = "backend_fault"


class PermanentError(RequestError):
    """The same request would fail again."""


class InvalidRequestError(PermanentError, ValueError):
    """The backend cannot be asked that."""

    code = "invalid_request"


class ContextOverflowError(PermanentError):
    """The prompt does not fit the model's context."""

    code = "context_overflow"


class AuthError(PermanentError):
    """Not allowed."""

    code = "auth"


class QuotaError(PermanentError):
    """Out of an allowance."""

    code = "quota"


class RefusedContentError(PermanentError):
    """A filter refused."""

    code = "refused_content"


class CancelledError(PermanentError):
    """The host asked for it. Unlike asyncio.CancelledError it is an ordinary exception."""

    code = "cancelled"


BY_STATUS: Dict[int, Type[EvalcoreError]] = {
    -1: InvalidArgumentError,
    -2: UnsupportedError,
    -3: NotFoundError,
    -4: BusyError,
    -5: ClosedError,
    -6: StorageError,
    -7: BadSuiteError,
    -8: NoMemoryError,
    -9: InternalError,
    -20: RateLimitedError,
    -21: OverloadedError,
    -22: TransportError,
    -23: DeadlineError,
    -24: TruncatedError,
    -25: BadReplyError,
    -26: BackendFaultError,
    -40: InvalidRequestError,
    -41: ContextOverflowError,
    -42: AuthError,
    -43: QuotaError,
    -44: RefusedContentError,
    -45: CancelledError,
}
