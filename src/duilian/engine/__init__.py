"""The analyser that users call: text in, `Doc` out."""

from __future__ import annotations

from pathlib import Path

from duilian.engine.analyzer import Analyzer
from duilian.errors import ConfigError, ModelFileError
from duilian.lexicon import Lexicon
from duilian.modelfile import read_model
from duilian.models import CoupledTagger, Suite, Tagger
from duilian.models.registry import restored

__all__ = ["BUNDLED", "Analyzer", "existing", "load"]

BUNDLED = Path(__file__).parents[1] / "bundled" / "zh.model"
"""Where the model that comes with the package stands; `recipes/bundled.toml` makes it."""


def existing(path: str | Path | None) -> Path:
    """The path of a model that is there; without one that of the model that comes with the package."""
    chosen = BUNDLED if path is None else Path(path)
    if chosen.exists():
        return chosen
    if path is None:
        hint = "name a model of your own, or make the bundled one: duilian train recipes/bundled.toml"
        raise ConfigError("this copy of Duilian came without its model", hint)
    hint = "load() takes the path of a model from `duilian train`, or nothing for the bundled one"
    raise ConfigError(f"{path}: there is no such file", hint)


def load(path: str | Path | None = None, *, lexicon: Lexicon | None = None) -> Analyzer:
    """The analyser in a model file; without a path the one that comes with the package."""
    chosen = existing(path)
    model = restored(chosen, *read_model(chosen))
    if isinstance(model, Suite):
        return Analyzer(model.tagger, model.parser, segmenter=model.segmenter, lexicon=lexicon)
    if isinstance(model, Tagger | CoupledTagger):
        return Analyzer(model, lexicon=lexicon)
    raise ModelFileError(
        str(chosen), f"an analyser cannot stand on a model of kind {model.kind} yet", "use the command for it"
    )
