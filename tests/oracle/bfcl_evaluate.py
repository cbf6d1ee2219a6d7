"""`bfcl evaluate` of the bfcl-eval package with two models that it does not have: `evalcore-FC`, whose handler reads native
calls, and `evalcore`, whose handler reads text. Run with the Python of scripts/requirements/bfcl-run.txt; the arguments are
those of `bfcl`.

BFCL finds a model in a table whose import needs the libraries of every vendor; this stands in its place.
"""

import sys
from types import ModuleType, SimpleNamespace

table = ModuleType("bfcl_eval.constants.model_config")
table.MODEL_CONFIG_MAPPING = {}
sys.modules[table.__name__] = table
from bfcl_eval.model_handler.api_inference.openai_completion import OpenAICompletionsHandler  # noqa: E402

for name, native in (("evalcore-FC", True), ("evalcore", False)):
    table.MODEL_CONFIG_MAPPING[name] = SimpleNamespace(
        model_name=name, display_name=name, url="", org="", license="", model_handler=OpenAICompletionsHandler,
        input_price=None, output_price=None, is_fc_model=native, underscore_to_dot=native)

from bfcl_eval.__main__ import cli  # noqa: E402

cli()
