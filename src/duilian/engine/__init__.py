"""The analyser that users call: text in, `Doc` out."""

from typing import TYPE_CHECKING

from duilian.lazy import lazily

if TYPE_CHECKING:
    from duilian.engine.analyzer import Analyzer
    from duilian.engine.comparing import compare
    from duilian.engine.loading import BUNDLED, find_model, load
    from duilian.engine.measuring import evaluate

__all__ = ["BUNDLED", "Analyzer", "compare", "evaluate", "find_model", "load"]

# Commands that only tag do not need the analyser and all models it knows.
__getattr__ = lazily(
    __name__,
    {
        "duilian.engine.analyzer": "Analyzer",
        "duilian.engine.comparing": "compare",
        "duilian.engine.loading": "BUNDLED find_model load",
        "duilian.engine.measuring": "evaluate",
    },
)
