"""BFCL's own decoders and checker, from the installed bfcl-eval package.

Only a few of its modules are wanted; what they import for other purposes (model clients, retries, locks) is replaced by
empty modules, so that of the package's dependencies only the parsers of Java and JavaScript are needed.
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
_stub("filelock", FileLock=MagicMock())
sys.modules["tenacity"] = MagicMock()

from bfcl_eval.constants.enums import Language, ReturnFormat  # noqa: E402
from bfcl_eval.eval_checker.ast_eval.ast_checker import ast_checker  # noqa: E402
from bfcl_eval.model_handler.utils import default_decode_ast_prompting  # noqa: E402
from bfcl_eval.utils import is_empty_output, is_function_calling_format_output  # noqa: E402

LANGUAGES = {"simple_java": (Language.JAVA, ReturnFormat.JAVA),
             "simple_javascript": (Language.JAVASCRIPT, ReturnFormat.JAVASCRIPT)}


def decode(text, category="simple_python"):
    """The calls of a text, or None where BFCL's decoder raises."""
    _, form = LANGUAGES.get(category, (Language.PYTHON, ReturnFormat.PYTHON))
    try:
        return default_decode_ast_prompting(text, form)
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
    if category.endswith("relevance"):
        called = decoded is not None and not is_empty_output(decoded)
        return called != category.endswith("irrelevance")
    if not is_function_calling_format_output(decoded):
        return False
    language, _ = LANGUAGES.get(category, (Language.PYTHON, None))
    try:
        return ast_checker(item["function"], decoded, item["target"], language, category, form)["valid"]
    except Exception:
        return False


def listing(decoded):
    """The calls as source text, the way evalcore shows what it compared."""
    def one(call):
        (name, arguments), = call.items()
        return f"{name}({', '.join(f'{key}={value!r}' for key, value in arguments.items())})"
    return f"[{', '.join(one(call) for call in decoded)}]"
