"""The plain tagger (kind `crf`): a linear-chain CRF for words or for characters.

At word level it labels words (parts of speech, chunks, any column); at character level it cuts text into
words and, if there are tags, tags them. Parameters stand in the constructor, `fit` returns the tagger, what
it learns ends in an underscore: scikit-learn's grid search and cross-validation work with it.
"""

from __future__ import annotations

import dataclasses
import hashlib
import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from duilian import _native, evaluation, learning
from duilian.corpus import Layer, Sentence
from duilian.errors import ConfigError, StandardError
from duilian.features import Templates, pack
from duilian.lexicon import Lexicon
from duilian.models.compiled import compiled_of, keep_compiled
from duilian.models.encoding import Encoding, Level
from duilian.models.kept_tables import Arrays
from duilian.models.line_options import line_options
from duilian.models.precision import Precision
from duilian.models.stored import Stored
from duilian.models.wishing import NO_WISHES, wishes_for
from duilian.text import Folding, Script

Sentences = Iterable[Layer] | Iterable[Sentence] | Iterable[Sequence[str]]
Columns = Mapping[str, Sequence[str]]

DEFAULT_TEMPLATES = {"word": "pos-word", "char": "segpos-char"}

_log = logging.getLogger("duilian")


def layer_of(sentence: Layer | Sentence | Sequence[str], standard: str) -> Layer:
    """What a tagger for `standard` is given: a layer, a sentence that has it, or words."""
    if isinstance(sentence, Layer):
        return sentence
    return sentence[standard] if isinstance(sentence, Sentence) else Layer(tuple(sentence))


@dataclasses.dataclass(frozen=True)
class Answer:
    """One analysis of a sentence with its score and its probability."""

    layer: Layer
    score: float
    probability: float


def tags_of(layers: Sequence[Layer], standard: str) -> tuple[str, ...]:
    """All tags that annotated sentences have, in alphabetical order."""
    known = {tag for layer in layers for tag in layer.tags or () if tag is not None}
    seen = {name for tag in known for name in ((tag,) if isinstance(tag, str) else tag)}
    if not seen:
        raise StandardError(f"the corpus has no tags in {standard!r} to learn from")
    return tuple(sorted(seen))


class Tagger(Stored):
    """Labels units after one standard; see the module's text for the levels.

    `segment_only` (characters) leaves tags out. `full_from`: features seen so many times get a weight for
    every label, rarer ones only for labels they were seen with. `min_count`: rarer features are left out.
    `batch` is None for batches that suit the size of the corpus.
    """

    kind: ClassVar[str] = "crf"
    weights_: npt.NDArray[np.float32]
    keys_: npt.NDArray[np.uint64]

    def __init__(
        self,
        standard: str = "tags",
        *,
        level: Level = "word",
        templates: str | None = None,
        segment_only: bool = False,
        scheme: str = "BIES",
        join_letters: bool = False,
        join_digits: bool = False,
        script: Script = "as-is",
        min_count: int = 1,
        full_from: int = 2,
        algorithm: learning.Algorithm = "adagrad",
        rate: float | None = None,
        l2: float = 0.1,
        batch: int | None = None,
        sample: int | None = None,
        iterations: int = 10,
        patience: int = 30,
        average: bool = True,
        seed: int = 1,
        threads: int = 1,
    ) -> None:
        self.standard = standard
        self.level = level
        self.templates = templates
        self.segment_only = segment_only
        self.scheme = scheme
        self.join_letters = join_letters
        self.join_digits = join_digits
        self.script = script
        self.min_count = min_count
        self.full_from = full_from
        self.algorithm = algorithm
        self.rate = rate
        self.l2 = l2
        self.batch = batch
        self.sample = sample
        self.iterations = iterations
        self.patience = patience
        self.average = average
        self.seed = seed
        self.threads = threads

    def _default_templates(self) -> str:
        return DEFAULT_TEMPLATES[self.level]

    def _learn_config(self, sentences: int) -> learning.LearnConfig:
        names = [field.name for field in dataclasses.fields(learning.LearnConfig)]
        chosen = {name: getattr(self, name) for name in names if hasattr(self, name)}
        if self.batch is None:
            chosen["batch"] = learning.suitable_batch(min(sentences, self.sample or sentences))
        return learning.LearnConfig(**chosen)

    def fit(
        self,
        X: Sentences,  # noqa: N803  (scikit-learn's name)
        y: Iterable[Sequence[str]] | None = None,
        *,
        dev: Sentences | None = None,
        on_iteration: Callable[[learning.IterationReport], None] | None = None,
        checkpoint: str | Path | None = None,
        resume: bool = False,
    ) -> Self:
        """Learns from annotated sentences, or from words `X` and their tags `y`.

        With `checkpoint` the state is saved after each iteration; with `resume` training goes on from there.
        """
        layers = self.layers(X, y)
        config = self._learn_config(len(layers))
        self._prepare(layers)
        data, keys = self._data(layers)
        trainer = learning.Trainer(
            self._rule(data, len(layers), config), self.layout_.weights, len(layers), config
        )
        evaluate = self._evaluator(self.layers(dev), keys) if dev is not None else None
        trainer.run_kept(
            evaluate,
            lambda: self._fingerprint(keys),
            on_iteration=on_iteration,
            checkpoint=checkpoint,
            resume=resume,
        )
        self.best_score_ = None if evaluate is None else float(trainer.best_score)
        self.iterations_ = trainer.iteration
        self.weights_, self.keys_ = trainer.best, keys
        del trainer, data, evaluate  # before the compiled weights need their room
        return self.trim(0.0)

    def layers(self, X: Sentences, y: Iterable[Sequence[str]] | None = None) -> list[Layer]:  # noqa: N803
        """Annotated sentences in any of the accepted forms, as layers."""
        if y is not None:
            return [Layer(tuple(words), tuple(tags)) for words, tags in zip(X, y, strict=True)]  # type: ignore[arg-type]
        return [layer_of(each, self.standard) for each in X]

    def _prepare(self, layers: Sequence[Layer]) -> None:
        if not layers:
            raise ConfigError("there is no sentence to learn from")
        for name, least in (("min_count", 1), ("full_from", 1)):
            if getattr(self, name) < least:
                raise ConfigError(f"{name} must be at least {least}, got {getattr(self, name)!r}")
        tags = None if self.segment_only else tags_of(layers, self.standard)
        self.encoding_ = Encoding(self.level, tags, self.scheme, self.join_letters, self.join_digits)
        self.templates_ = Templates.load(self.templates or self._default_templates())
        self._set_folding()

    def _set_folding(self) -> None:
        self.folding_ = Folding(script=self.script)

    def _pack(self, units: Sequence[Sequence[str]], layers: Sequence[Layer]) -> _native.Sentences:
        if not self.templates_.columns:
            return pack(units, self.folding_)
        return pack(units, self.folding_, self._unit_columns(units, layers))

    def _unit_columns(self, units: Sequence[Sequence[str]], layers: Sequence[Layer]) -> list[Columns]:
        """What the templates want beside the units; here the columns of the corpus."""
        for layer in layers:
            missing = [name for name in self.templates_.columns if name not in layer.columns]
            if missing:
                have = ", ".join(layer.columns) or "none"
                raise ConfigError(f"the templates need the column {missing[0]!r}; the corpus has: {have}")
        return [{name: layer.columns[name] for name in self.templates_.columns} for layer in layers]

    def _data(self, layers: Sequence[Layer]) -> tuple[Any, npt.NDArray[np.uint64]]:
        """What the learning rule learns from, and the keys of its features."""
        encoded = self.encoding_.encode(layers)
        packed = self._pack(encoded.units, layers)
        templates, least = self.templates_.native, self.min_count
        keys, rows = _native.index_features(templates, packed, least, self.threads)
        data = _native.TaggingData(rows, packed.first, encoded.label, encoded.sets)
        rules, labels = self.encoding_.succession.native(), len(self.encoding_.labels)
        self.layout_ = _native.lay_out_tagger(labels, rules, len(keys), data, self.full_from)
        return data, keys

    def _rule(self, data: Any, examples: int, config: learning.LearnConfig) -> learning.Rule:
        if config.algorithm == "eg":
            return learning.Exponentiated(
                lambda c: _native.ExponentiatedGradient(self.layout_, data, c), config
            )
        if config.algorithm == "pa":
            return learning.PassiveAggressive(_structure(self.layout_, data), config)
        objective = _native.TaggingObjective(self.layout_, data)
        return (
            learning.Sgd(objective, examples, config)
            if config.algorithm == "sgd"
            else learning.AdaGrad(objective, config)
        )

    def _fingerprint(self, keys: npt.NDArray[np.uint64]) -> str:
        settings = [
            pair for pair in sorted(self.get_params().items()) if pair[0] not in ("threads", "iterations")
        ]
        digest = hashlib.blake2b(repr(settings).encode(), digest_size=16)
        for part in (keys, self.layout_.first, self.layout_.label):
            digest.update(np.ascontiguousarray(part).tobytes())
        return digest.hexdigest()

    def _evaluator(
        self, layers: Sequence[Layer], keys: npt.NDArray[np.uint64]
    ) -> Callable[[npt.NDArray[np.float32]], float]:
        """Accuracy of words, or F1 of words with their tags, on a dev set: its features are taken once."""
        split = [self.encoding_.split(layer.words) for layer in layers]
        packed = self._pack([units for units, _ in split], layers)
        labels_by = self._dev_labels(packed, keys)
        tags = (
            None
            if self.segment_only
            else [tag for layer in layers for tag in layer.tags or (None,) * len(layer)]
        )
        sizes = [size for _, counts in split for size in counts]
        scorer = evaluation.LabelScorer(self.encoding_.meaning, packed.first, sizes, tags)

        return lambda weights: scorer.score(labels_by(weights)).f1

    def _dev_labels(
        self, packed: _native.Sentences, keys: npt.NDArray[np.uint64]
    ) -> Callable[[npt.NDArray[np.float32]], npt.NDArray[np.int32]]:
        """The labels that weights under training give."""
        index = _native.FeatureIndex(keys)
        rows = _native.extract_rows(self.templates_.native, packed, index, self.threads)
        return lambda weights: _native.tag_units(self.layout_, weights, rows, packed.first, self.threads)

    def _decode(
        self, units: Sequence[Sequence[str]], labels: npt.NDArray[np.int32], first: npt.NDArray[np.int64]
    ) -> list[Layer]:
        flat, at = labels.tolist(), first.tolist()
        return [self.encoding_.decode(each, flat[at[k] : at[k + 1]]) for k, each in enumerate(units)]

    def trim(self, least: float) -> Self:
        """Feature selection: drops the state weights smaller than `least`. Needs the state of training."""
        self._set_predictor(_native.compile_weights(self.layout_, self.weights_, self.keys_, least))
        return self

    def _set_predictor(self, compiled: _native.CompiledWeights) -> None:
        encoding = self.encoding_
        self.predictor_ = _native.Predictor(
            len(encoding.labels),
            encoding.succession.native(),
            compiled,
            self.templates_.native,
            self.folding_.native,
        )

    def predict_layers(
        self,
        X: Sentences,  # noqa: N803
        *,
        lexicon: Lexicon | None = None,
        is_text: bool = False,
    ) -> list[Layer]:
        """The analysis of each sentence. At character level the words given are joined and cut anew; if
        they are text, white space in them ends a word, and parts that stay whole (`text.whole_spans`) are not
        cut.
        """
        layers = self.layers(X)
        units = [self.encoding_.split(layer.words)[0] for layer in layers]
        packed = self._pack(units, layers)
        wishes = wishes_for(self.encoding_, lexicon, units, layers, standard=self.standard, is_text=is_text)
        labels, impossible = self.predictor_.predict(packed, wishes, self.threads)
        if impossible:
            _log.warning("%d sentences could not be analysed as the lexicon asks", impossible)
        return self._decode(units, labels, packed.first)

    def predict(self, X: Sentences, *, lexicon: Lexicon | None = None) -> list[list[str]]:  # noqa: N803
        """Tags of each sentence's words; words themselves if the tagger only segments."""
        return [
            [str(tag) for tag in layer.tags] if layer.tags is not None else list(layer.words)
            for layer in self.predict_layers(X, lexicon=lexicon)
        ]

    def score(self, X: Sentences, y: Iterable[Sequence[str]] | None = None) -> float:  # noqa: N803
        """Accuracy of tags at word level, F1 of words (with tags, if any) at character level; from 0 to 1."""
        gold = self.layers(X, y)
        return evaluation.main_score(gold, self.predict_layers(gold), is_cut=self.level == "char") / 100.0

    def marginals(
        self,
        X: Sentences,  # noqa: N803
        *,
        lexicon: Lexicon | None = None,
        is_text: bool = False,
    ) -> list[npt.NDArray[np.float64]]:
        """For each sentence the probability of every label (`encoding_.labels`) at every unit, [T, L]."""
        layers = self.layers(X)
        units = [self.encoding_.split(layer.words)[0] for layer in layers]
        packed = self._pack(units, layers)
        wishes = wishes_for(self.encoding_, lexicon, units, layers, standard=self.standard, is_text=is_text)
        found = self.predictor_.predict_marginals(packed, wishes, self.threads)
        return np.split(found, packed.first[1:-1])

    def k_best(
        self,
        sentence: Layer | Sentence | Sequence[str],
        k: int,
        *,
        lexicon: Lexicon | None = None,
        is_text: bool = False,
    ) -> list[Answer]:
        """The k most probable analyses of a sentence, best first."""
        layer = layer_of(sentence, self.standard)
        units = self.encoding_.split(layer.words)[0]
        wishes = wishes_for(
            self.encoding_, lexicon, [units], [layer], standard=self.standard, is_text=is_text
        )
        chain = self.predictor_.chain(self._pack([units], [layer]), wishes, 0)
        log_z = chain.log_partition()
        tags = chain.tags
        return [
            Answer(self.encoding_.decode(units, tags[states].tolist()), score, float(np.exp(score - log_z)))
            for score, states in chain.k_best(k)
        ]

    def k_best_labels(
        self, units: Sequence[str], wishes: Sequence[_native.Constraints], k: int
    ) -> list[tuple[float, npt.NDArray[np.int32]]]:
        """The same for a sentence that was split already, under wishes (one, or none): probability and
        labels."""
        chain = self.predictor_.chain(self._pack([units], []), wishes[0] if wishes else NO_WISHES, 0)
        log_z, tags = chain.log_partition(), chain.tags
        return [(float(np.exp(score - log_z)), tags[states]) for score, states in chain.k_best(k)]

    def tag_lines(self, text: bytes, *, between: str = " ", before_tag: str = "_") -> bytes:
        """Lines of UTF-8 in, tagged lines out: the fast way of whole files.

        At word level a line holds words separated by blanks, at character level raw text.
        """
        options = line_options(self.encoding_, between, before_tag)
        return self.predictor_.tag_lines(text, options, self.threads)

    def tag_rows(self, text: bytes, columns: Sequence[str], *, between: str = " ") -> bytes:
        """Rows of white-space fields in, the same rows with a label behind each out; the fast way for words
        with further columns. `columns` names the fields, the word first; blank lines part sentences.
        """
        missing = [name for name in self.templates_.columns if name not in columns[1:]]
        if self.level != "word" or missing:
            raise ConfigError(
                f"rows of {', '.join(columns)} do not suit this tagger", hint=f"it needs {missing}"
            )
        field = [list(columns).index(name) for name in self.templates_.columns]
        return _native.tag_rows(
            self.predictor_, text, field, line_options(self.encoding_, between, ""), self.threads
        )

    def predict_labels(self, units: Sequence[Sequence[str]]) -> list[list[str]]:
        """The label of every unit, for units that were split already (no further columns)."""
        packed = self._pack(units, [])
        labels, _ = self.predictor_.predict(packed, NO_WISHES, self.threads)
        flat, first = [self.encoding_.labels[k] for k in labels], packed.first.tolist()
        return [flat[first[k] : first[k + 1]] for k in range(len(units))]

    def state(self, precision: Precision = "float32") -> tuple[dict[str, Any], Arrays]:
        """What a model file keeps of the tagger: plain values and arrays."""
        header = {
            "kind": self.kind,
            "parameters": self.get_params() | {"threads": 1},  # how it was made must not show in the bytes
            "tags": self.encoding_.tags,
            "templates": self.templates_.text,
            "templates_name": self.templates_.name,
        }
        return header, keep_compiled(self.predictor_.weights, precision)

    @classmethod
    def from_state(cls, header: Mapping[str, Any], arrays: Arrays) -> Self:
        """The tagger again."""
        tagger = cls(**header["parameters"])
        cls._restore(tagger, header)
        tagger._set_predictor(compiled_of(arrays))
        return tagger

    @classmethod
    def _restore(cls, tagger: Self, header: Mapping[str, Any]) -> None:
        """What the header tells besides the parameters."""
        tags = None if header["tags"] is None else tuple(header["tags"])
        tagger.encoding_ = Encoding(
            tagger.level, tags, tagger.scheme, tagger.join_letters, tagger.join_digits
        )
        tagger.templates_ = Templates(header["templates"], name=header["templates_name"])
        tagger._set_folding()


def _structure(layout: _native.TaggerLayout, data: _native.TaggingData) -> _native.TaggingStructure:
    try:
        return _native.TaggingStructure(layout, data)
    except ValueError as error:
        raise ConfigError(
            str(error), hint="use algorithm = 'adagrad' for partly annotated sentences"
        ) from None
