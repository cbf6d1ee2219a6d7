"""lm-eval's command, which knows the model `evalcore`."""

from lm_eval.__main__ import cli_evaluate

import evalcore.lm_eval  # noqa: F401

cli_evaluate()
