"""The tagger with dynamic features (kind `dynamic`): Zhao et al. (2012), for Chinese-English mixed text.

Words and tags from characters, where a run of letters is one unit. Besides the usual window of units its
templates see the *words* of the best path so far, with their tags and lengths. What they learn from Chinese
text holds for mixed text too, and a foreign word gets the tag that its context asks for.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, Literal, Self

import numpy as np
import numpy.typing as npt

from duilian import _native
from duilian.corpus import Layer
from duilian.errors import ConfigError, StandardError, TemplateError
from duilian.features import Templates
from duilian.learning import AdaGrad, LearnConfig, PassiveAggressive
from duilian.models.base.precision import Precision
from duilian.models.base.table_codec import Arrays
from duilian.models.crf.model import Columns, Sentences
from duilian.models.crf.uncalibrated import UncalibratedTagger
from duilian.models.dynamic.english_uses import COLUMNS, EnglishUses
from duilian.text import Folding, Letters

WORD_ENTRIES = "by kind"  # a feature of words has an entry for labels that begin words, one for the others


class DynamicTagger(UncalibratedTagger):
    """Cuts text into words and tags them, with an eye on the words it has found so far.

    `words` names the templates about words; None leaves them out (the static tagger of the paper). `english`
    names a dictionary in the format of CC-CEDICT for templates that ask for the uses and the case of English
    words. `letters` is `unified` if every run of letters looks the same to features, or `as-is`. The words
    are those of the best path so far: one for all labels (`margin` below 0, the paper's search), or the best
    that ends a word for labels that begin one, and the best in the middle of one for the others, if it is no
    more than `margin` behind (None: always). A path that is more than `hearing` behind the best is not heard
    (None: all are), which spares looking up its words. `beam` is the number of paths that speak for
    themselves when tagging. The algorithm is `adagrad` (a conditional random field), or `pa`, the paper's
    passive-aggressive steps (one thread; `rate` is their C). `min_word_count` is to templates about words
    what `min_count` is to the others. The rest is as in `Tagger`.
    """

    kind: ClassVar[str] = "dynamic"
    word_templates_: Templates | None
    english_: EnglishUses | None

    def __init__(
        self,
        standard: str = "tags",
        *,
        level: Literal["char"] = "char",
        templates: str | None = None,
        words: str | None = "mixed-words",
        english: str | None = None,
        letters: Letters = "unified",
        beam: int = 1,
        margin: float | None = None,
        hearing: float | None = None,
        scheme: str = "BIES",
        join_letters: bool = True,
        join_digits: bool = False,
        script: Any = "as-is",
        min_count: int = 1,
        min_word_count: int = 1,
        full_from: int = 2,
        algorithm: Literal["adagrad", "pa"] = "adagrad",
        rate: float | None = None,
        batch: int | None = None,
        sample: int | None = None,
        iterations: int = 10,
        patience: int = 30,
        average: bool = True,
        seed: int = 1,
        threads: int = 1,
    ) -> None:
        super().__init__(
            standard,
            level=level,
            templates=templates,
            scheme=scheme,
            join_letters=join_letters,
            join_digits=join_digits,
            script=script,
            min_count=min_count,
            full_from=full_from,
            algorithm=algorithm,
            rate=rate,
            batch=batch,
            sample=sample,
            iterations=iterations,
            patience=patience,
            average=average,
            seed=seed,
            threads=threads,
        )
        self.words = words
        self.english = english
        self.letters = letters
        self.beam = beam
        self.margin = margin
        self.hearing = hearing
        self.min_word_count = min_word_count

    def _default_templates(self) -> str:
        return "mixed-static"

    def _prepare(self, layers: Sequence[Layer]) -> None:
        if self.level != "char":
            raise ConfigError(f"a dynamic tagger is for level 'char', got {self.level!r}")
        if self.algorithm not in ("adagrad", "pa"):
            raise ConfigError(f"a dynamic tagger learns by 'adagrad' or 'pa', got {self.algorithm!r}")
        if self.beam < 1:
            raise ConfigError(f"beam must be at least 1, got {self.beam!r}")
        super()._prepare(layers)
        b = self.encoding_.boundaries
        if len({b.begin, b.inside, b.end, b.single}) < 4:
            raise ConfigError(f"the scheme {self.scheme!r} does not say where words end; choose BIES")
        self.word_templates_ = _word_templates(self.words)
        self._check_columns()
        self.english_ = None if self.english is None else EnglishUses.read(self.english)

    def _check_columns(self) -> None:
        asked = [name for name in self.templates_.columns if name not in COLUMNS]
        if asked:
            raise TemplateError(f"{self.templates_.name}: there is no column {asked[0]!r} for characters")
        if self.templates_.columns and self.english is None:
            raise ConfigError(
                f"the templates {self.templates_.name!r} need a dictionary", "name it with english = '…'"
            )

    def _unit_columns(self, units: Sequence[Sequence[str]], layers: Sequence[Layer]) -> list[Columns]:
        """The uses and the case of English words."""
        uses = self.english_ or EnglishUses({})
        found = [uses.columns(each) for each in units]
        return [{name: each[name] for name in self.templates_.columns} for each in found]

    def _set_folding(self) -> None:
        self.folding_ = Folding(script=self.script, letters=self.letters)

    def _native_words(self) -> _native.TemplateSet:
        return _native.TemplateSet() if self.word_templates_ is None else self.word_templates_.native

    def _label_words(self) -> _native.LabelWords:
        encoding = self.encoding_
        tags = [str(encoding.boundaries.split(label)[1]) for label in encoding.labels]
        return _native.LabelWords(encoding.succession.start.tolist(), encoding.succession.end.tolist(), tags)

    def _data(self, layers: Sequence[Layer]) -> tuple[_native.DynamicTraining, npt.NDArray[np.uint64]]:
        encoded = self.encoding_.encode(layers)
        if (encoded.label < 0).any():
            raise StandardError("a dynamic tagger learns from whole annotations: every word needs one tag")
        self._training = _native.DynamicTraining(
            len(self.encoding_.labels),
            self.encoding_.succession.native(),
            self._label_words(),
            self.templates_.native,
            self._native_words(),
            self._pack(encoded.units, layers),
            encoded.label,
            self.min_count,
            self.min_word_count,
            self.full_from,
            _limit(self.margin),
            _limit(self.hearing),
            self.threads,
        )
        self.layout_, self.unit_rows_ = self._training.layout, self._training.unit_rows
        return self._training, self._training.keys

    def _rule(self, data: Any, examples: int, config: LearnConfig) -> AdaGrad | PassiveAggressive:
        if config.algorithm == "pa":
            return PassiveAggressive(data, config)
        return AdaGrad(_native.DynamicObjective(data), config)

    def _dev_labels(
        self, packed: _native.Sentences, keys: npt.NDArray[np.uint64]
    ) -> Callable[[npt.NDArray[np.float32]], npt.NDArray[np.int32]]:
        training = self._training
        rows = training.rows(self.templates_.native, packed, self.threads)
        return lambda weights: training.tag(weights, packed, rows, self.threads)

    def fit(self, X: Sentences, *arguments: Any, **options: Any) -> Self:  # noqa: N803
        """As `Tagger.fit`."""
        super().fit(X, *arguments, **options)
        del self._training  # the sentences
        return self

    def trim(self, least: float) -> Self:
        """As `Tagger.trim`; weights of words are dropped up to five times the size."""
        self._set_predictor(
            _native.compile_dynamic(
                self.layout_, self.weights_, self.keys_, self.unit_rows_, self._label_words(), least
            )
        )
        return self

    def _set_predictor(self, compiled: _native.CompiledWeights) -> None:
        self.predictor_ = _native.DynamicPredictor(  # type: ignore[assignment]
            len(self.encoding_.labels),
            self.encoding_.succession.native(),
            compiled,
            self.templates_.native,
            self._native_words(),
            self.folding_.native,
            self._label_words(),
            self.beam,
            _limit(self.margin),
            _limit(self.hearing),
        )

    def state(self, precision: Precision = "float32") -> tuple[dict[str, Any], Arrays]:
        """As `Tagger.state`, with the templates about words."""
        header, arrays = super().state(precision)
        words = self.word_templates_
        header["word_templates"] = None if words is None else [words.name, words.text]
        header["word_entries"] = WORD_ENTRIES
        header["parameters"]["english"] = None if self.english is None else "own"  # no path of this machine
        return header, arrays if self.english_ is None else arrays | {"english": self.english_.to_array()}

    @classmethod
    def from_state(cls, header: Mapping[str, Any], arrays: Arrays) -> Self:
        """The tagger again, with what it knows of English."""
        if header["word_entries"] != WORD_ENTRIES:
            raise ValueError(f"entries of words {header['word_entries']!r}, expected {WORD_ENTRIES!r}")
        tagger = super().from_state(header, arrays)
        tagger.english_ = EnglishUses.from_array(arrays["english"]) if "english" in arrays else None
        return tagger

    @classmethod
    def _restore(cls, tagger: Self, header: Mapping[str, Any]) -> None:
        super()._restore(tagger, header)
        kept = header["word_templates"]
        tagger.word_templates_ = None if kept is None else Templates(kept[1], name=kept[0])


def _limit(value: float | None) -> float:
    return math.inf if value is None else value


def _word_templates(name: str | None) -> Templates | None:
    """Templates about words; none at all if there is no name."""
    if name is None:
        return None
    found = Templates.load(name)
    if found.has_transitions:
        raise TemplateError(f"{found.name}: t[-1] is not about words; it belongs to the other templates")
    try:
        _native.word_template_columns(found.native)
    except ValueError as error:
        raise TemplateError(f"{found.name}: {error}") from None
    return found
