"""Two coupled chains (kind `two-chain`): boundaries and tags in one model, three uses (Qiu et al. 2012).

At character level the chains are the boundaries of words and their tags; at word level those of chunks and
their types. `mode` says what is asked of the same weights: `joint` finds both, `segment` the boundaries by
their own chain, which is much faster, `tag` the tags of words (types of chunks) whose boundaries are given.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, Literal, Self, get_args

import numpy as np
import numpy.typing as npt

from duilian import _native
from duilian.corpus import Layer, Sentence
from duilian.errors import ConfigError
from duilian.features import CliqueTemplates, pack
from duilian.labels.encoding import Level
from duilian.labels.segments import ChunkSegments, Ints, WordSegments, letter_numbers, letter_rules
from duilian.learning import IterationReport
from duilian.lexicon import Lexicon
from duilian.models.base.precision import Precision, dequantise, quantise
from duilian.models.base.storable import Arrays, Stored
from duilian.models.crf.model import Answer, Sentences
from duilian.models.two_chain.training import TwoChainTraining
from duilian.text import Folding, Script

Mode = Literal["joint", "segment", "tag"]
MODES: tuple[Mode, ...] = get_args(Mode)
Cost = Literal["once", "label"]
DEFAULT_TEMPLATES = {"word": "chunk", "char": "segpos-char"}
NO_LETTERS = np.zeros(0, np.int32)


class TwoChainTagger(Stored):
    """Boundaries and tags of segments; see the module's text for levels and modes.

    `modes` are the uses that training optimises. Without `edge` (the one between a tag and the next
    boundary) it is the factorial model. `cost` is what gold must win by: 1 `once`, or 1 for every wrong
    `label`, found with that in view. `rate` is the largest step of the passive-aggressive learner.
    `full_from` and `min_count` are as in `Tagger`.
    """

    kind: ClassVar[str] = "two-chain"
    weights_: npt.NDArray[np.float32]
    keys_: npt.NDArray[np.uint64]

    def __init__(
        self,
        standard: str = "tags",
        *,
        level: Level = "char",
        templates: str | None = None,
        edge: bool = True,
        modes: Sequence[Mode] = MODES,
        mode: Mode = "joint",
        scheme: str = "BIES",
        join_letters: bool = False,
        join_digits: bool = False,
        script: Script = "as-is",
        min_count: int = 1,
        full_from: int = 2,
        cost: Cost = "once",
        rate: float | None = None,
        sample: int | None = None,
        iterations: int = 20,
        patience: int = 30,
        average: bool = True,
        seed: int = 1,
        threads: int = 1,
    ) -> None:
        self.standard = standard
        self.level = level
        self.templates = templates
        self.edge = edge
        self.modes = modes
        self.mode = mode
        self.scheme = scheme
        self.join_letters = join_letters
        self.join_digits = join_digits
        self.script = script
        self.min_count = min_count
        self.full_from = full_from
        self.cost = cost
        self.rate = rate
        self.sample = sample
        self.iterations = iterations
        self.patience = patience
        self.average = average
        self.seed = seed
        self.threads = threads

    @property
    def segment_only(self) -> bool:
        """Whether answers have no tags."""
        return self.mode == "segment"

    def of(self, mode: Mode) -> Self:
        """The same trained model, used in another way."""
        if mode not in MODES:
            raise ConfigError(f"mode must be one of {', '.join(MODES)}, got {mode!r}")
        other = type(self)(**self.get_params() | {"mode": mode})
        other.__dict__.update({name: value for name, value in self.__dict__.items() if name.endswith("_")})
        return other

    def fit(
        self,
        X: Sentences,  # noqa: N803  (scikit-learn's name)
        y: Iterable[Sequence[str]] | None = None,
        *,
        segmented: Sentences = (),
        dev: Sentences | None = None,
        on_iteration: Callable[[IterationReport], None] | None = None,
        checkpoint: str | Path | None = None,
        resume: bool = False,
    ) -> Self:
        """Learns from annotated sentences, and from `segmented` ones, of which only boundaries are used.

        A sentence without tags among the annotated ones is used for its boundaries too.
        """
        training = TwoChainTraining(self, self.layers(X, y), self.layers(segmented))
        trainer = training.run(
            None if dev is None else self.layers(dev), on_iteration, checkpoint, resume=resume
        )
        self.best_score_ = None if dev is None else float(trainer.best_score)
        self.iterations_ = trainer.iteration
        self.layout_, self.keys_, self.weights_ = training.layout, training.keys, trainer.best
        return self.trim(0.0)

    def layers(self, X: Sentences, y: Iterable[Sequence[str]] | None = None) -> list[Layer]:  # noqa: N803
        """Sentences in any of the accepted forms, as layers."""
        if y is not None:
            return [Layer(tuple(words), tuple(tags)) for words, tags in zip(X, y, strict=True)]  # type: ignore[arg-type]
        return [self._layer(each) for each in X]

    def _layer(self, sentence: Layer | Sentence | Sequence[str]) -> Layer:
        if isinstance(sentence, Layer):
            return sentence
        return sentence[self.standard] if isinstance(sentence, Sentence) else Layer(tuple(sentence))

    def prepare(self, kinds: Sequence[str]) -> None:
        """Sets up what stands before learning: templates, and how segments with these tags become labels."""
        self.templates_ = CliqueTemplates.load(self.templates or DEFAULT_TEMPLATES[self.level])
        self._set_encoding(kinds)

    def _set_encoding(self, kinds: Sequence[str]) -> None:
        self.encoding_: WordSegments | ChunkSegments = (
            WordSegments("char", tuple(kinds), self.scheme, self.join_letters, self.join_digits)
            if self.level == "char"
            else ChunkSegments(tuple(kinds), self.scheme)
        )
        rules, continues = letter_rules(self.scheme)
        self.folding_ = Folding(script=self.script)
        self.shape_ = _native.TwoChainShape(
            len(continues),
            len(kinds),
            rules.native(),
            continues,
            self.edge,
            self.templates_.native_places(),
        )

    def pack(self, units: Sequence[Sequence[str]], layers: Sequence[Layer]) -> _native.Sentences:
        """Sentences as the native core reads them, with the columns that the templates want."""
        names = self.templates_.columns
        if not names:
            return pack(units, self.folding_)
        for layer in layers:
            missing = [name for name in names if name not in layer.columns]
            if missing:
                have = ", ".join(layer.columns) or "none"
                raise ConfigError(f"the templates need the column {missing[0]!r}; the corpus has: {have}")
        return pack(units, self.folding_, [{name: layer.columns[name] for name in names} for layer in layers])

    def trim(self, least: float) -> Self:
        """Feature selection: drops weights smaller than `least`. Needs the state of training."""
        self._set_predictor(_native.compile_two_chain(self.layout_, self.weights_, self.keys_, least))
        return self

    def _set_predictor(self, weights: _native.TwoChainWeights) -> None:
        self.predictor_ = _native.TwoChainPredictor(
            self.shape_, self.templates_.native, weights, self.folding_.native
        )

    def predict_layers(self, X: Sentences, *, lexicon: Lexicon | None = None) -> list[Layer]:  # noqa: N803
        """The analysis of each sentence as `mode` says; in mode `tag` the boundaries are those given."""
        _refuse(lexicon)
        layers = self.layers(X)
        given = NO_LETTERS
        if self.mode == "tag":
            segmented = self.encoding_.segment(layers, is_given=True)
            units, given = segmented.units, letter_numbers(self.scheme, segmented.sizes)
        else:
            units = [self.encoding_.split(layer.words)[0] for layer in layers]
        packed = self.pack(units, layers)
        letters, tags = self.label(packed, given)
        found = self._decode(units, packed.first, letters, None if self.mode == "segment" else tags)
        if self.mode == "tag":  # invisible characters stay in the words given
            return [dataclasses.replace(a, tags=b.tags) for a, b in zip(layers, found, strict=True)]
        return found

    def label(self, packed: _native.Sentences, given: Ints = NO_LETTERS) -> tuple[Ints, Ints]:
        """Letters and tags of all units, by number."""
        return self.predictor_.predict(packed, _native.TwoChainMode[self.mode], given, self.threads)

    def _decode(
        self, units: Sequence[Sequence[str]], first: npt.NDArray[np.int64], letters: Ints, tags: Ints | None
    ) -> list[Layer]:
        at, s, t = first.tolist(), letters.tolist(), None if tags is None else tags.tolist()
        return [
            self.encoding_.layer(each, s[at[k] : at[k + 1]], None if t is None else t[at[k] : at[k + 1]])
            for k, each in enumerate(units)
        ]

    def predict(self, X: Sentences) -> list[list[str]]:  # noqa: N803
        """Tags of each sentence's words; words themselves if only they are asked for."""
        return [
            [str(tag) for tag in layer.tags] if layer.tags is not None else list(layer.words)
            for layer in self.predict_layers(X)
        ]

    def score(self, X: Sentences, y: Iterable[Sequence[str]] | None = None) -> float:  # noqa: N803
        """F1 of words with their tags, or of chunks; from 0 to 1."""
        gold = self.layers(X, y)
        return self.encoding_.score(gold, self.predict_layers(gold)) / 100.0

    def marginals(
        self,
        X: Sentences,  # noqa: N803
        *,
        lexicon: Lexicon | None = None,
    ) -> list[npt.NDArray[np.float64]]:
        """For each sentence the probability of every label (`encoding_.labels`) at every unit, [T, L]."""
        _refuse(lexicon)
        if self.mode != "joint":
            raise ConfigError(f"there are no probabilities in mode {self.mode!r}", "use mode 'joint'")
        layers = self.layers(X)
        packed = self.pack([self.encoding_.split(layer.words)[0] for layer in layers], layers)
        found = self.encoding_.label_marginals(self.predictor_.predict_marginals(packed, self.threads))
        return np.split(found, packed.first[1:-1])

    def k_best(
        self, sentence: Layer | Sentence | Sequence[str], k: int, *, lexicon: Lexicon | None = None
    ) -> list[Answer]:
        """The k best analyses of a sentence, best first. In mode `segment` they are those of the chain of
        boundaries alone, and have no probability (it is not a number).
        """
        _refuse(lexicon)
        if self.mode == "tag":
            raise ConfigError("there is no list of best analyses in mode 'tag'", "use mode 'joint'")
        layer = self._layer(sentence)
        units = self.encoding_.split(layer.words)[0]
        packed, is_alone = self.pack([units], [layer]), self.mode == "segment"
        found = self.predictor_.k_best(packed, 0, k, is_alone)
        log_z = np.nan if is_alone else self.predictor_.log_partition(packed, 0)
        return [
            Answer(
                self.encoding_.layer(units, letters.tolist(), None if is_alone else tags.tolist()),
                score,
                float(np.exp(score - log_z)),
            )
            for score, letters, tags in found
        ]

    def segments_of(self, layer: Layer) -> Layer:
        """The segments alone, as words: for scores of boundaries."""
        (units,), (sizes,) = dataclasses.astuple(self.encoding_.segment([layer], is_given=True))[:2]
        ends = np.cumsum(sizes).tolist()
        return Layer(tuple("".join(units[a:b]) for a, b in itertools.pairwise([0, *ends])))

    def state(self, precision: Precision = "float32") -> tuple[dict[str, Any], Arrays]:
        """What a model file keeps of the tagger: plain values and arrays."""
        weights = self.predictor_.weights
        header = {
            "kind": self.kind,
            # How it was made and is used must not show in the bytes.
            "parameters": self.get_params() | {"threads": 1, "mode": "joint", "modes": list(self.modes)},
            "tags": self.encoding_.kinds,
            "templates": self.templates_.text,
            "templates_name": self.templates_.name,
        }
        arrays: Arrays = {"slot": weights.slot, "label": weights.label, "clique": weights.clique}
        return header, arrays | quantise(weights.weight, precision)

    @classmethod
    def from_state(cls, header: Mapping[str, Any], arrays: Arrays) -> Self:
        """The tagger again."""
        tagger = cls(**header["parameters"])
        tagger.templates_ = CliqueTemplates(header["templates"], header["templates_name"])
        tagger._set_encoding([str(tag) for tag in header["tags"]])
        tagger._set_predictor(
            _native.TwoChainWeights(arrays["slot"], arrays["label"], dequantise(arrays), arrays["clique"])
        )
        return tagger


def _refuse(lexicon: Lexicon | None) -> None:
    if lexicon is not None:
        raise ConfigError("a lexicon (--lexicon) is not for two chains yet", "use a model of kind crf")
