"""The joint parser (kind `joint-parser`) of order 1, 2 or 3: Li et al. (2014), Section III.

Words in, tags and a tree out, from one search that weighs both. A plain tagger, which the model brings along,
says which tags each word may have and what the tags around a part of a tree are. `joint_training.py` is a run
of training.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, NoReturn, Self

import numpy as np

from duilian import _native
from duilian.corpus import Layer
from duilian.errors import ConfigError
from duilian.features import Templates
from duilian.models.base.precision import Precision
from duilian.models.base.storable import Arrays
from duilian.models.crf.model import Tagger
from duilian.models.joint_parser.tag_candidates import TagCandidates, allowed_tags, candidates, marginals_of
from duilian.models.joint_parser.training import JointRun
from duilian.models.parser.model import Ids, Parser, Sentences, Weights

TAGGER = "tagger."  # before the names of its arrays in a model file


class JointParser(Parser):
    """Finds tags and tree of words at once; otherwise as `Parser`.

    `templates` are the features of a word with a tag, in a table of 2^tag_bits weights. `tag_threshold`: a
    tag is tried if it is at least so probable, compared with the word's likeliest; on the training sentences
    after taggers that learned from other parts of them, cut in `folds`. With `likelihoods` it is a feature of
    the tag how probable it is, which the paper's model has not.
    """

    kind: ClassVar[str] = "joint-parser"
    tagger_: Tagger
    templates_: Templates

    def __init__(
        self,
        standard: str = "tags",
        *,
        templates: str = "pos-word",
        tag_bits: int = 22,
        tag_threshold: float = 0.01,
        folds: int = 10,
        likelihoods: bool = True,
        tagger_iterations: int = 10,
        **parameters: Any,
    ) -> None:
        super().__init__(standard, **parameters)
        self.templates = templates
        self.tag_bits = tag_bits
        self.tag_threshold = tag_threshold
        self.folds = folds
        self.likelihoods = likelihoods
        self.tagger_iterations = tagger_iterations

    @classmethod
    def _parameter_names(cls) -> list[str]:
        own = ["templates", "tag_bits", "tag_threshold", "folds", "likelihoods", "tagger_iterations"]
        return [*Parser._parameter_names(), *own]

    def set_params(self, **params: Any) -> Self:
        """As for every estimator; a threshold that the trained model cannot bear is refused."""
        self._check_threshold(params.get("tag_threshold", self.tag_threshold))
        return super().set_params(**params)

    def _check_threshold(self, wanted: float) -> None:
        """Tags that were not tried in training: the search takes many, because it has not learned not to."""
        least = getattr(self, "trained_threshold_", 0.0)
        if wanted < least:
            raise ConfigError(
                f"tag_threshold {wanted} is below {least}, which the model was trained with",
                "train with the lower one",
            )

    def _check_settings(self) -> None:
        if not 0 <= self.tag_threshold <= 1:
            raise ConfigError(f"tag_threshold must be from 0 to 1, got {self.tag_threshold!r}")
        if self.folds < 2:
            raise ConfigError(f"folds must be at least 2, got {self.folds!r}")

    @property
    def least_share(self) -> float:
        """The threshold of pruning, which pays at every order here."""
        return self.threshold

    def new_tagger(self) -> Tagger:
        """A plain tagger that has not learned yet."""
        return Tagger(
            self.standard,
            templates=self.templates,
            script=self.script,
            iterations=self.tagger_iterations,
            seed=self.seed,
            threads=self.threads,
        )

    def _new_run(self, layers: list[Layer]) -> JointRun:
        self._check_settings()
        self.trained_threshold_ = self.tag_threshold
        return JointRun(self, layers)

    def set_labels(self, tags: Sequence[str], relations: Sequence[str], classes: Sequence[int]) -> None:
        """What the parser knows of a standard; `classes`: which tags are verbs, conjunctions and marks."""
        super().set_labels(tags, relations, classes)
        if not hasattr(self, "templates_"):
            self.templates_ = Templates.load(self.templates)
        self.joint_ = _native.JointParser(self.native_, self.tag_bits, self.templates_.native)

    def _table_size(self) -> int:
        return self.joint_.weights

    def joint_data(self, layers: Sequence[Layer], found: TagCandidates, gold: Ids) -> _native.JointData:
        """The sentences as the native core reads them: heads and relations of the layers, these tags."""
        named = self.with_tags(layers, found.best)
        likelihood = found.likelihood if self.likelihoods else np.zeros_like(found.likelihood)
        sizes = (len(self.tags_), len(self.relations_))
        return _native.JointData(self.data(named), found.first, found.tag, likelihood, gold, *sizes)

    def with_tags(self, layers: Sequence[Layer], numbers: Ids) -> list[Layer]:
        """The sentences with these tags, given by number for all words in a row."""
        flat, at, found = [self.tags_[k] for k in numbers.tolist()], 0, []
        for layer in layers:
            found.append(dataclasses.replace(layer, tags=tuple(flat[at : at + len(layer)])))
            at += len(layer)
        return found

    def pruning_tags(self, layers: list[Layer]) -> list[Layer]:
        """Those of the plain tagger."""
        return self.tagger_.predict_layers(layers)

    def check_tags(self, layers: Sequence[Layer], first: int = 1) -> None:
        """Refuses nothing: the parser finds the tags itself."""

    def predict_layers(self, X: Sentences, *, keep_heads: bool = False) -> list[Layer]:  # noqa: N803
        """The sentences with their tags and trees; with `keep_heads` given tags, heads and relations stay."""
        return self._parsed(self.weights_, self.layers(X), keep_heads)

    def _parsed(self, weights: Weights, layers: Sequence[Layer], keep_heads: bool = False) -> list[Layer]:
        self._check_threshold(self.tag_threshold)
        self.tagger_.set_params(threads=self.threads)
        marginals = marginals_of(self.tagger_, layers, self.tags_)
        given = allowed_tags(layers, self.tags_) if keep_heads else None
        found = candidates(marginals, self.tag_threshold, given=given)
        unknown = np.full(len(found.best), -1, np.int32)
        tags, heads, relations, scores, simplified, impossible = self.joint_.parse(
            weights,
            self.pruning_,
            self.joint_data(layers, found, unknown),
            self.options(keep_heads=keep_heads),
            self.threads,
        )
        parsed = (heads, relations, scores, simplified, impossible)
        return self._with_trees(self.with_tags(layers, tags), parsed, keep_heads)

    def ranked_trees(self, layer: Layer, k: int, *, keep_heads: bool = False) -> NoReturn:
        """Refused: a joint parser gives one answer."""
        raise ConfigError("a joint parser has no k best trees", "tag first and ask a parser")

    def state(self, precision: Precision = "float32") -> tuple[dict[str, Any], Arrays]:
        """The parser's state with that of its tagger."""
        header, arrays = super().state(precision)
        header["templates"], header["templates_name"] = self.templates_.text, self.templates_.name
        header["trained_threshold"] = self.trained_threshold_
        header["tagger"], inner = self.tagger_.state(precision)
        return header, arrays | {TAGGER + name: array for name, array in inner.items()}

    def _restore(self, header: Mapping[str, Any], arrays: Arrays) -> None:
        self.templates_ = Templates(header["templates"], name=header["templates_name"])
        inner = {name.removeprefix(TAGGER): each for name, each in arrays.items() if name.startswith(TAGGER)}
        self.tagger_ = Tagger.from_state(header["tagger"], inner)
        super()._restore(header, arrays)
        self.trained_threshold_ = float(header["trained_threshold"])
        self._check_threshold(self.tag_threshold)
        if set(self.tagger_.encoding_.tags or ()) - set(self.tags_):
            raise ValueError("the tagger has tags that the parser lacks")
