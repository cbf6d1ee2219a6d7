"""BFCL's own decoder and checker, from the installed bfcl-eval package.

Only two of its modules are wanted; what they import for other purposes (model clients, Java and JavaScript
parsers, retries) is replaced by empty modules, so that none of the package's dependencies is needed.
"""

import json
import sys
from types import ModuleType, SimpleNamespace
from unittest.mock import MagicMock

TEXT, NATIVE = "text", "native"


def _stub(name, **members):
    module = ModuleType(name)
    module.__dict__.update(members)
    sys.modules[name] = module


_stub("bfcl_eval.constants.model_config",
      MODEL_CONFIG_MAPPING={TEXT: SimpleNamespace(underscore_to_dot=False),
                            NATIVE: SimpleNamespace(underscore_to_dot=True)})
_stub("bfcl_eval.utils")
_stub("bfcl_eval.model_handler.parser.java_parser", parse_java_function_call=None)
_stub("bfcl_eval.model_handler.parser.js_parser", parse_javascript_function_call=None)
sys.modules["tenacity"] = MagicMock()

from bfcl_eval.constants.enums import Language  # noqa: E402
from bfcl_eval.eval_checker.ast_eval.ast_checker import ast_checker  # noqa: E402
from bfcl_eval.model_handler.utils import default_decode_ast_prompting  # noqa: E402


def decode(text):
    """The calls of a text, or None where BFCL's decoder raises."""
    try:
        return default_decode_ast_prompting(text)
    except Exception:
        return None


def decode_native(calls):
    """The calls of a reply with native calls, as BFCL's handler for OpenAI's API reads them."""
    try:
        decoded = [{call["name"]: json.loads(call["arguments"])} for call in calls]
    except ValueError:
        return None
    return decoded if all(isinstance(arguments, dict) for call in decoded for arguments in call.values()) else None


def verdict(item, category, form, decoded):
    """Whether BFCL counts the decoded calls as right. An item on which the checker itself raises would stop
    BFCL's evaluation; it counts as wrong here."""
    if decoded is None:
        return False
    try:
        return ast_checker(item["function"], decoded, item["target"], Language.PYTHON, category, form)["valid"]
    except Exception:
        return False


def listing(decoded):
    """The calls as source text, the way evalcore shows what it compared."""
    def one(call):
        (name, arguments), = call.items()
        return f"{name}({', '.join(f'{key}={value!r}' for key, value in arguments.items())})"
    return f"[{', '.join(one(call) for call in decoded)}]"
