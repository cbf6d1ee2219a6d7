"""What lm-eval's --model_args may name: evalcore's options, each by its own name."""

from __future__ import annotations

import re
from typing import Any, Dict, Mapping, Tuple

from evalcore.errors import InvalidArgumentError
from evalcore.options import BackendOptions, PoolOptions

# The others are lm-eval's affair.
OF_A_RUN = ("store", "order", "prompt_cache", "cache", "cache_sampled", "price", "max_cost", "probe")
# Names that lm-eval's own models use.
ELSEWHERE = {
    "num_concurrent": "concurrency",
    "max_retries": "retries",
    "timeout": "attempt_timeout_s",
    "pretrained": "model",
    "api_key": "api_key_env, the name of an environment variable that has it",
    "verify_certificate": "insecure",
    "ca_cert_path": "ca_file",
}


def split(given: Mapping[str, Any]) -> Tuple[Dict[str, Any], Dict[str, Any]]:
    """Options of the backend and of a run. InvalidArgumentError: a name that is neither's."""
    backend: Dict[str, Any] = {}
    pool: Dict[str, Any] = {}
    run: Dict[str, Any] = {}
    for name, value in given.items():
        if name in BackendOptions.__annotations__:
            backend[name] = value
        elif name in PoolOptions.__annotations__:
            pool[name] = value
        elif name in OF_A_RUN:
            run[name] = value
        elif name in ELSEWHERE:
            raise InvalidArgumentError(f"the model evalcore has no {name!r}: say {ELSEWHERE[name]}")
        else:
            known = sorted({*BackendOptions.__annotations__, *PoolOptions.__annotations__, *OF_A_RUN})
            raise InvalidArgumentError(f"the model evalcore has no {name!r}; there are: {', '.join(known)}")
    if "base_url" in backend:
        # As lm-eval's own models name a server.
        backend["base_url"] = re.sub(r"/(chat/)?completions/?$", "", str(backend["base_url"]))
    return backend, {**run, "pool": pool}
