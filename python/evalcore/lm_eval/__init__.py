"""A model of lm-eval that asks through evalcore (docs/lm-eval.md).

Importing this registers the model `evalcore`; `python -m evalcore.lm_eval` is lm-eval's own command with it.
"""

from evalcore.lm_eval._model import Model

__all__ = ["Model"]
