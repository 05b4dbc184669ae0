"""The guide-feature tagger (kind `guided`): Jiang et al. (2009), as Li et al. (2017) re-implement it.

A source tagger learns from a corpus of another standard; its labels on the target's sentences are features
of the target tagger. With `folds`, the target's own plain tagger guides too: on the training data its labels
come from jack-knifing, so that they are as good there as they will be on new text. One model file, one call.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, Self

from duilian.corpus import Layer
from duilian.errors import ConfigError
from duilian.learning import IterationReport, jackknifed
from duilian.models.base.precision import Precision
from duilian.models.base.table_codec import Arrays
from duilian.models.crf.model import Columns, Sentences, Tagger

GUIDE_TEMPLATES = {"word": "guide-word", "char": "guide-char"}
OWN_GUIDE_TEMPLATES = {"word": "guide-own-word", "char": "guide-own-char"}


class GuidedTagger(Tagger):
    """A tagger for `standard` that listens to one for `source_standard`; otherwise as `Tagger`."""

    kind: ClassVar[str] = "guided"
    source_: Tagger
    own_: Tagger
    _jackknifed: list[list[str]] | None = None

    def __init__(
        self, standard: str = "tags", *, source_standard: str = "source", folds: int = 0, **parameters: Any
    ) -> None:
        super().__init__(standard, **parameters)
        self.source_standard = source_standard
        self.folds = folds
        if folds == 1 or folds < 0:
            raise ConfigError(f"folds must be 0 or at least 2, got {folds!r}")

    @classmethod
    def _parameter_names(cls) -> list[str]:
        return ["source_standard", "folds", *Tagger._parameter_names()]

    def _default_templates(self) -> str:
        return (OWN_GUIDE_TEMPLATES if self.folds else GUIDE_TEMPLATES)[self.level]

    def _plain_parameters(self) -> dict[str, Any]:
        """The parameters that source and own taggers share with this one."""
        return {
            name: getattr(self, name)
            for name in Tagger._parameter_names()
            if name not in ("standard", "templates")
        }

    def fit(
        self,
        X: Sentences,  # noqa: N803
        y: Iterable[Sequence[str]] | None = None,
        *,
        source: Sentences | Tagger | None = None,
        dev: Sentences | None = None,
        on_iteration: Callable[[IterationReport], None] | None = None,
        checkpoint: str | Path | None = None,
        resume: bool = False,
    ) -> Self:
        """Learns from target sentences, guided by a tagger of the source corpus (or one that is there)."""
        if source is None:
            raise ConfigError("a guided tagger needs a source: a corpus of the other standard, or a tagger")
        self.source_ = source if isinstance(source, Tagger) else self._fit_source(source)
        layers = self.layers(X, y)
        self._jackknifed = self._jackknife(layers) if self.folds else None
        super().fit(layers, dev=dev, on_iteration=on_iteration, checkpoint=checkpoint, resume=resume)
        self._jackknifed = None
        return self

    def _fit_source(self, source: Sentences) -> Tagger:
        return Tagger(self.source_standard, **self._plain_parameters()).fit(source)

    def _jackknife(self, layers: list[Layer]) -> list[list[str]]:
        """Labels of the training sentences by taggers that did not see them; and the tagger for new ones."""
        self.own_ = Tagger(self.standard, **self._plain_parameters()).fit(layers)

        def answer(train: list[Layer], held_out: list[Layer]) -> list[list[str]]:
            tagger = Tagger(self.standard, **self._plain_parameters()).fit(train)
            return tagger.predict_labels([self.own_.encoding_.split(layer.words)[0] for layer in held_out])

        return list(itertools.chain.from_iterable(jackknifed(layers, self.folds, answer)))

    def _unit_columns(self, units: Sequence[Sequence[str]], layers: Sequence[Layer]) -> list[Columns]:
        guide = self.source_.predict_labels(units)
        if not self.folds:
            return [{"guide": labels} for labels in guide]
        # The training data come first, and once.
        known, self._jackknifed = self._jackknifed, None
        own = known if known is not None else self.own_.predict_labels(units)
        return [{"guide": a, "own": b} for a, b in zip(guide, own, strict=True)]

    def state(self, precision: Precision = "float32") -> tuple[dict[str, Any], Arrays]:
        """The target's state with those of the taggers that guide it."""
        header, arrays = super().state(precision)
        for name in ("source", "own")[: 2 if self.folds else 1]:
            inner, parts = getattr(self, f"{name}_").state(precision)
            header[name] = inner
            arrays |= {f"{name}.{key}": array for key, array in parts.items()}
        return header, arrays

    @classmethod
    def from_state(cls, header: Mapping[str, Any], arrays: Arrays) -> Self:
        """The tagger again, with its guides."""
        tagger = super().from_state(header, arrays)
        for name in ("source", "own")[: 2 if tagger.folds else 1]:
            parts = {
                key.removeprefix(f"{name}."): a for key, a in arrays.items() if key.startswith(f"{name}.")
            }
            setattr(tagger, f"{name}_", Tagger.from_state(header[name], parts))
        return tagger
