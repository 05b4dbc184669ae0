"""Units that bring their own features: attributes with strengths, and the weights learned for them.

A unit is a dict of features or a list of attributes, as python-crfsuite takes them. Attributes are kept by
name, not as hashed keys, because users of such models read the weights of their attributes.
"""

from __future__ import annotations

import dataclasses
import math
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from itertools import pairwise
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from duilian import _native
from duilian.errors import ConfigError
from duilian.labels.encoding import no_sets
from duilian.lattice import Chain, Lattice, Succession

Unit = Mapping[Any, Any] | Iterable[Any]
UnitSentences = Iterable[Iterable[Unit]]
Floats = npt.NDArray[np.float32]
Doubles = npt.NDArray[np.float64]

SEPARATOR = ":"
TEXTS = (str, bytes)  # tuples: a union would be rebuilt for every attribute
COLLECTIONS = (list, tuple, set, frozenset)
NEVER = 2**62  # as `full_from`: no attribute is seen this often
ARRAYS = {"first": np.int64, "label": np.uint16, "weights": np.float32, "names": np.uint8, "ends": np.int64}


def attributes(unit: Unit) -> Iterator[tuple[str, float]]:
    """The attributes of a unit and their strengths, named as python-crfsuite names them.

    `{"w": "东"}` gives `w:东`; a bool or a number is the strength of its name; nested names follow the outer
    one. In anything other than a dict, every member is an attribute.
    """
    if not isinstance(unit, Mapping):
        if isinstance(unit, TEXTS) or not isinstance(unit, Iterable):
            raise ConfigError(f"a unit must be a dict or a list of attributes, got {unit!r:.80}")
        for name in unit:
            yield _text(name), 1.0
        return
    for key, value in unit.items():
        name = _text(key)
        if isinstance(value, TEXTS):
            yield name + SEPARATOR + _text(value), 1.0
        elif isinstance(value, COLLECTIONS):
            for inner in value:
                yield name + SEPARATOR + _text(inner), 1.0
        elif isinstance(value, Mapping):
            for inner, strength in attributes(value):
                yield name + SEPARATOR + inner, strength
        else:
            yield name, _strength(name, value)


def _text(name: object) -> str:
    if isinstance(name, str):
        return name
    if isinstance(name, bytes):
        return name.decode("utf-8")
    raise ConfigError(f"the name of an attribute must be a string, got {name!r:.80}")


def _strength(name: str, value: Any) -> float:
    try:
        strength = float(value)
    except (TypeError, ValueError):
        strength = math.nan
    if not math.isfinite(strength):
        raise ConfigError(f"the feature {name!r} must be a string or a finite number, got {value!r:.80}")
    return strength


@dataclasses.dataclass(frozen=True)
class Units:
    """Units of sentences as rows of the weights. Attributes without a row or of strength 0 are left out."""

    sentence: npt.NDArray[np.int64]  # [sentences + 1]  in units
    first: npt.NDArray[np.int64]  # [units + 1]
    row: npt.NDArray[np.uint32]  # [attributes]
    strength: Floats  # [attributes]

    @classmethod
    def of(cls, sentences: UnitSentences, find: Callable[[str], int | None]) -> Units:
        """Collect the attributes of sentences; `find` gives the row of an attribute, or None."""
        sentence, first, row, strength = array("q", [0]), array("q", [0]), array("I"), array("f")
        for number, units in enumerate(sentences, 1):
            for position, unit in enumerate(units, 1):
                found: dict[int, float] = {}
                try:
                    for name, value in attributes(unit):
                        if value and (at := find(name)) is not None:
                            found[at] = found.get(at, 0.0) + value
                except ConfigError as error:
                    raise ConfigError(f"sentence {number}, unit {position}: {error.message}") from None
                row.extend(found)
                strength.extend(found.values())
                first.append(len(row))
            sentence.append(len(first) - 1)
        return cls(
            np.array(sentence, np.int64),
            np.array(first, np.int64),
            np.array(row, np.uint32),
            np.array(strength, np.float32),
        )

    def keep(self, kept: npt.NDArray[np.bool_]) -> Units:
        """The units with only the rows that are kept, renumbered."""
        stays = kept[self.row]
        first = np.concatenate(([0], np.cumsum(stays)))[self.first]
        number = (np.cumsum(kept) - 1).astype(np.uint32)
        return Units(self.sentence, first, number[self.row[stays]], self.strength[stays])

    def native(self) -> _native.FeatureRows:
        is_plain = bool((self.strength == 1.0).all())
        return _native.FeatureRows(self.first, self.row, self.strength[:0] if is_plain else self.strength)


class Numbering(dict[str, int]):
    """Gives every new attribute the next number."""

    def __missing__(self, name: str) -> int:
        self[name] = number = len(self)
        return number


@dataclasses.dataclass(frozen=True)
class Learned:
    """What a CRF knows: transitions [L + 1, L + 1] (start and stop last), then the weights of each attribute.

    Attribute r has the weights `state[first[r] : first[r + 1]]`, each for a label. A pickle has arrays and
    plain values only; the rest is rebuilt on demand.
    """

    classes: list[str]
    attributes: list[str]
    first: npt.NDArray[np.int64]  # [attributes + 1]
    label: npt.NDArray[np.uint16]  # [state weights]
    weights: Floats  # [(L + 1)² + state weights]

    def __getstate__(self) -> dict[str, Any]:
        return {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}

    @cached_property
    def row(self) -> dict[str, int]:
        return {name: k for k, name in enumerate(self.attributes)}

    @cached_property
    def transition(self) -> Floats:
        edge = len(self.classes) + 1
        return self.weights[: edge * edge].reshape(edge, edge)

    @cached_property
    def state(self) -> Floats:
        return self.weights[(len(self.classes) + 1) ** 2 :]

    @cached_property
    def layout(self) -> _native.TaggerLayout:
        """The native layout, rebuilt from a corpus with one unit per label that has all its attributes."""
        labels = len(self.classes)
        owner = np.repeat(np.arange(len(self.attributes)), np.diff(self.first)).astype(np.uint32)
        first = np.concatenate(([0], np.cumsum(np.bincount(self.label, minlength=labels))))
        rows = _native.FeatureRows(first, owner[np.argsort(self.label)], np.array([], np.float32))
        every = np.arange(labels, dtype=np.int32)
        data = _native.TaggingData(rows, np.array([0, labels], np.int64), every, no_sets())
        rules = Succession.free(labels).native()
        return _native.lay_out_tagger(labels, rules, len(self.attributes), data, NEVER)

    def tag(self, units: Units, threads: int) -> list[list[str]]:
        """The best labels of each sentence."""
        found = _native.tag_units(self.layout, self.weights, units.native(), units.sentence, threads)
        names, at = [self.classes[k] for k in found.tolist()], units.sentence.tolist()
        return [names[begin:end] for begin, end in pairwise(at)]

    def state_scores(self, units: Units) -> Doubles:
        """[units, L] the scores of labels, without start and stop."""
        sizes = np.diff(self.first)[units.row]
        begin = np.repeat(self.first[units.row] - np.cumsum(sizes) + sizes, sizes)
        entry = begin + np.arange(int(sizes.sum()))
        unit = np.repeat(np.arange(len(units.first) - 1), np.diff(units.first))
        cell = np.repeat(unit, sizes) * len(self.classes) + self.label[entry]
        worth = self.state[entry].astype(np.float64) * np.repeat(units.strength, sizes)
        shape = (len(units.first) - 1, len(self.classes))
        # bincount gives integers if there is no attribute at all
        return np.bincount(cell, worth, minlength=shape[0] * shape[1]).astype(np.float64).reshape(shape)

    def marginals(self, units: Units, threads: int = 1) -> list[Doubles]:
        """[T, L] the probabilities of labels, for each sentence."""
        scores = np.split(self.state_scores(units), units.sentence[1:-1])
        with ThreadPoolExecutor(threads) as pool:
            return list(pool.map(self._sentence_marginals, scores))

    def _sentence_marginals(self, score: Doubles) -> Doubles:
        if not len(score):
            return score
        score[0] += self.transition[-1, :-1]
        score[-1] += self.transition[:-1, -1]
        lattice = Lattice.complete(len(score), [len(self.classes)])
        chain = Chain(lattice, score.reshape(-1), [self.transition[:-1, :-1]])
        return chain.unit_marginals().reshape(score.shape)

    def arrays(self) -> dict[str, npt.NDArray[Any]]:
        """The arrays of a model file; names are in UTF-8, end to end, with the places where they end."""
        names = [name.encode("utf-8", "surrogatepass") for name in self.attributes]
        return {
            "first": self.first,
            "label": self.label,
            "weights": self.weights,
            "names": np.frombuffer(b"".join(names), np.uint8),
            "ends": np.cumsum([len(name) for name in names], dtype=np.int64),
        }

    @classmethod
    def from_arrays(cls, classes: list[str], arrays: Mapping[str, npt.NDArray[Any]]) -> Self:
        """Restore from arrays; raise KeyError or ValueError if they are not as `arrays` makes them."""
        for name, dtype in ARRAYS.items():
            if arrays[name].dtype != dtype or arrays[name].ndim != 1:
                raise ValueError(f"{name} must be a row of {np.dtype(dtype)}")
        names, ends = arrays["names"].tobytes(), [0, *arrays["ends"].tolist()]
        if ends[-1] != len(names) or ends != sorted(ends):
            raise ValueError("the names of the attributes do not fill their array")
        texts = [names[begin:end].decode("utf-8", "surrogatepass") for begin, end in pairwise(ends)]
        learned = cls(classes, texts, *(np.array(arrays[name]) for name in ("first", "label", "weights")))
        learned._check()
        return learned

    def _check(self) -> None:
        """Raise ValueError unless the layout rebuilt from the arrays has the same arrays."""
        first = self.first
        if len(first) != len(self.attributes) + 1 or first[0] != 0 or first[-1] != len(self.label):
            raise ValueError("attributes and weights do not fit together")
        if len(self.row) != len(self.attributes) or len(set(self.classes)) != len(self.classes):
            raise ValueError("a name occurs twice")
        same = self.layout if (np.diff(first) >= 0).all() else None
        if (
            same is None
            or same.weights != len(self.weights)
            or not np.array_equal(same.first, first)
            or not np.array_equal(same.label, self.label)
        ):
            raise ValueError("the weights do not belong to the attributes and labels")
