"""The parser as data: what training produces and a model file stores."""

from __future__ import annotations

import dataclasses
import threading
from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from duilian import _native
from duilian.errors import ConfigError
from duilian.labels.encoding import names_of
from duilian.models.base.estimator import Arrays, State, StoredModel
from duilian.models.base.precision import STEP, Precision, codebook_of, dequantise, quantise
from duilian.models.base.table_codec import below, typed
from duilian.models.crf.predictor import CrfPredictor
from duilian.models.crf.storage import CrfModel
from duilian.models.parser.config import ParserConfig, TreeConfig
from duilian.models.parser.tree_packing import TreePacker, Weights

FEATURES = 2
"""The version of the features: with others, the weights would give wrong answers without an error."""
NO_WEIGHTS = np.zeros(0, np.float32)
ROOT = "root"  # the relation of roots in UD
MOST_TRIMMED_PRUNING = 0.03
STEPS = {"tree": 0.15, "pruning": STEP}
"""In `int4`: a tree is the sum of so many weights that coarser ones do."""
HINTER = "hinter."  # begins the names of the hint tagger's arrays in a model file


class StoredWeights:
    """Weights of one byte as a file has them, checked. A search's tables are made when first needed: most of
    the time and memory of loading a parser, which many texts do without.
    """

    def __init__(self, make: Callable[[], Weights | _native.CodedWeights]) -> None:
        self._make: Callable[[], Weights | _native.CodedWeights] | None = make
        self._lock = threading.Lock()

    def made(self) -> Weights | _native.CodedWeights:
        """Return the weights for a search, always the same ones; any thread may ask first."""
        with self._lock:
            if self._make is not None:
                self._found = self._make()
                self._make = None
            return self._found


@dataclasses.dataclass(frozen=True, kw_only=True, eq=False)
class ParserModel(StoredModel):
    """Weights of a parser, with the tags and relations of its standard."""

    kind: ClassVar[str] = "parser"
    config_type: ClassVar[type[TreeConfig]] = ParserConfig
    search_settings: ClassVar[Mapping[str, str]] = {"trees": "max_length", "pruning": "threshold"}
    """Settings that may be changed after training, by their groups."""
    takes_codes: ClassVar[bool] = True
    """Whether its search can use 8-bit weights as they are in a file."""

    config: TreeConfig
    tags: tuple[str, ...]
    relations: tuple[str, ...]
    tag_class: npt.NDArray[np.uint8]
    root_relations: tuple[str, ...]  # of roots only
    lifted: int  # words with crossing arcs in the training data, which were lifted
    weights: Weights | _native.CodedWeights | StoredWeights  # of trees and relations
    pruning: Weights
    hinter: CrfModel | None = None  # a tagger of words, whose tags features see besides the parser's own

    def packer(self) -> TreePacker:
        """How sentences become trees."""
        labels = (self.tags, self.relations, self.tag_class)
        return TreePacker(self.config, *labels, root_relations=self.root_relations, hinter=self.hint_tagger())

    def hint_tagger(self) -> CrfPredictor | None:
        """The tagger that finds hints, ready to answer."""
        return None if self.hinter is None else CrfPredictor(self.hinter)

    @property
    def search_weights(self) -> Weights | _native.CodedWeights:
        """The weights of trees and relations as a search uses them."""
        return self.weights.made() if isinstance(self.weights, StoredWeights) else self.weights

    def dense_weights(self) -> Weights:
        """The weights of trees and relations as an array."""
        found = self.search_weights
        return found.dense() if isinstance(found, _native.CodedWeights) else found

    def searching_as(self, config: TreeConfig) -> Self:
        """The same weights with the search settings of another config."""
        changed = {
            group: {name: getattr(getattr(config, group), name)}
            for group, name in self.search_settings.items()
        }
        return dataclasses.replace(self, config=self.config.updated(changed))

    def trimmed(self, min_weight: float) -> Self:
        """The model without weights smaller than `min_weight`."""
        # Pruning weights are log odds, however large the others are; without them nothing is pruned.
        least = (min_weight, min(min_weight, MOST_TRIMMED_PRUNING))
        weights, pruning = (
            np.where(np.abs(each) < low, np.float32(0), each)
            for each, low in zip((self.dense_weights(), self.pruning), least, strict=True)
        )
        return dataclasses.replace(self, weights=weights, pruning=pruning)

    def state(self, precision: Precision = "float32") -> State:
        """The model as a file stores it, with only the weights that are not 0."""
        header = {
            "kind": self.kind,
            "features": FEATURES,
            "config": self.config.to_dict(),
            "tags": self.tags,
            "relations": self.relations,
            "lifted": self.lifted,
        }
        if self.root_relations != usual_root_relations(self.relations):
            header["root_relations"] = self.root_relations
        arrays: Arrays = {"tag_class": self.tag_class}
        for name, weights in (("tree", self.dense_weights()), ("pruning", self.pruning)):
            is_used = weights != 0.0
            arrays[f"{name}.used"] = np.packbits(is_used)
            kept = quantise(weights[is_used], precision, STEPS[name])
            arrays |= {f"{name}.{key}": array for key, array in kept.items()}
        if self.hinter is not None:
            header["hinter"], inner = self.hinter.state(precision)
            arrays |= {HINTER + name: array for name, array in inner.items()}
        return header, arrays

    @classmethod
    def from_state(cls, header: Mapping[str, Any], arrays: Arrays) -> Self:
        if header.get("features") != FEATURES:
            raise ValueError("it has older features of relations; train it again")
        empty = cls(**cls.parts_of(header, arrays), weights=NO_WEIGHTS, pruning=NO_WEIGHTS)
        packer = empty.packer()
        return dataclasses.replace(
            empty,
            weights=_stored(arrays, packer, takes_codes=cls.takes_codes),
            pruning=_unpacked(arrays, "pruning", packer.native.pruning_weights),
        )

    @classmethod
    def parts_of(cls, header: Mapping[str, Any], arrays: Arrays) -> dict[str, Any]:
        """Everything apart from the weights."""
        tags, relations = names_of(header["tags"]), names_of(header["relations"])
        if not tags:
            raise ConfigError("a parser must know some tags")
        return {
            "config": cls.config_type().updated(header["config"]),
            "tags": tags,
            "relations": relations,
            "root_relations": names_of(header.get("root_relations", usual_root_relations(relations))),
            "tag_class": np.array(arrays["tag_class"], np.uint8),
            "lifted": int(header["lifted"]),
            "hinter": _hinter(header, arrays),
        }


def _hinter(header: Mapping[str, Any], arrays: Arrays) -> CrfModel | None:
    if "hinter" not in header:
        return None
    hinter = CrfModel.from_state(header["hinter"], below(arrays, HINTER))
    check_hinter(hinter)
    return hinter


def check_hinter(hinter: CrfModel) -> None:
    """Raise ConfigError unless the model tags words and reads nothing else."""
    is_plain = type(hinter) is CrfModel and hinter.config.level == "word" and not hinter.templates.columns
    if not is_plain:
        raise ConfigError("hints come from a plain tagger of words (kind crf, level = 'word', no columns)")


def usual_root_relations(relations: tuple[str, ...]) -> tuple[str, ...]:
    """The relations of roots that a model file need not name."""
    return tuple(name for name in relations if name == ROOT)


def _stored(arrays: Arrays, packer: TreePacker, *, takes_codes: bool) -> Weights | StoredWeights:
    """The weights of trees and relations, checked; those of one byte are made into tables later."""
    parts = below(arrays, "tree.")
    if "code" not in parts:
        return _unpacked(arrays, "tree", packer.weights)
    used, (code, places) = typed(parts, "used", np.uint8), codebook_of(parts)
    _native.CodedWeights.check(used, len(places), packer.weights)
    trees, size = packer.native.tree_weights, packer.weights
    kept = {"used": used, "weight": places, "code": code}  # nothing else, so that the file can be closed

    def make() -> Weights | _native.CodedWeights:
        found = _native.CodedWeights.decode(used, places, code, trees, size) if takes_codes else None
        # A codebook that is used up has no place for 0.
        return _unpacked(kept, "", size) if found is None else found

    return StoredWeights(make)


def _unpacked(arrays: Arrays, name: str, size: int) -> Weights:
    parts = below(arrays, f"{name}." if name else "")
    used = parts["used"]
    if used.dtype != np.uint8 or used.shape != (-(-size // 8),):
        raise ValueError(f"the table {name!r} does not have {size} places")
    if "code" in parts:
        code, places = codebook_of(parts)
        return _native.CodedWeights.spread(used, places, code, size)
    is_used = np.unpackbits(used, count=size).view(np.bool_)
    weights = np.zeros(size, np.float32)
    weights[is_used] = dequantise(parts)  # fails for any other number of weights
    return weights
