"""Two chains as data: what training produces and a model file stores."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np

from duilian import _native
from duilian.corpus import Layer
from duilian.errors import ConfigError
from duilian.features import CliqueTemplates, Dictionary, Reading, pack
from duilian.labels.encoding import names_of
from duilian.labels.segments import ChunkSegments, WordSegments, label_letters, letter_rules
from duilian.models.base.dictionary_settings import check_dictionary, dictionary_of, keep_dictionary
from duilian.models.base.estimator import Arrays, State, StoredModel
from duilian.models.base.named_weights import LabelWeights, NamedFeature, entries
from duilian.models.base.packing import corpus_columns
from duilian.models.base.precision import Precision, dequantise, quantise, weights_of
from duilian.models.base.table_codec import typed
from duilian.models.two_chain.config import TwoChainConfig


@dataclasses.dataclass(frozen=True)
class TwoChainPacker:
    """Layers → units → packed sentences."""

    encoding: WordSegments | ChunkSegments
    templates: CliqueTemplates
    reading: Reading
    has_edge: bool

    @classmethod
    def of(
        cls,
        config: TwoChainConfig,
        tags: Sequence[str],
        templates: CliqueTemplates,
        dictionary: Dictionary | None = None,
    ) -> TwoChainPacker:
        """A packer for words with these tags, or chunks of these types."""
        features, kinds = config.features, tuple(tags)
        encoding = (
            WordSegments("char", kinds, features.scheme, features.join_letters, features.join_digits)
            if config.level == "char"
            else ChunkSegments(kinds, features.scheme)
        )
        return cls(encoding, templates, Reading(features.folding(), dictionary), config.edge)

    @cached_property
    def shape(self) -> _native.TwoChainShape:
        """Sizes and rules of both chains, for the native core."""
        rules, continues = letter_rules(self.encoding.scheme)
        kinds, places = len(self.encoding.kinds), self.templates.native_places()
        return _native.TwoChainShape(len(continues), kinds, rules.native(), continues, self.has_edge, places)

    def pack(self, units: Sequence[Sequence[str]], layers: Sequence[Layer]) -> _native.Sentences:
        """Pack the units of sentences with the columns that the templates use."""
        names = self.templates.columns
        return pack(units, self.reading, corpus_columns(names, layers) if names else None)


@dataclasses.dataclass(frozen=True)
class TwoChainModel(StoredModel):
    """Weights of both chains with their tags (types, for chunks) and templates.

    The log of a path's probability is its score times `scale`, up to a constant.
    """

    kind: ClassVar[str] = "two-chain"

    config: TwoChainConfig
    tags: tuple[str, ...]
    templates: CliqueTemplates
    weights: _native.TwoChainWeights
    scale: float = 1.0
    dictionary: Dictionary | None = None

    def __post_init__(self) -> None:
        if not (isinstance(self.scale, float) and 0.0 < self.scale < np.inf):
            raise ConfigError(f"scale must be a number greater than 0, got {self.scale!r}")

    def packer(self) -> TwoChainPacker:
        """How sentences become units and labels become words."""
        return TwoChainPacker.of(self.config, self.tags, self.templates, self.dictionary)

    def named_weights(self, feature: str) -> dict[str, LabelWeights]:
        """The weights of a feature by clique and its labels: `B`, `B E`, `NN`, `B@NN`, `NN VV`."""
        cliques = {template: names for names, template in self.templates.lines}
        named, packer = NamedFeature.parse(feature, cliques), self.packer()
        # Templates that differ by a shift are one pattern, and its weights are in several places.
        ((pattern, places),) = CliqueTemplates(f"s: {named.template}").uses.items()
        ((_, shift),) = places
        found = entries(self.weights, named._replace(template=pattern).key(packer.reading.folding))
        out = {}
        for clique in cliques[named.template]:
            names = _clique_labels(clique, label_letters(packer.encoding.scheme), packer.encoding.kinds)
            first = packer.shape.first_slot(self.templates.places.index((clique, shift)))
            out[clique] = {name: found[first + k] for k, name in enumerate(names) if first + k in found}
        return out

    def state(self, precision: Precision = "float32") -> State:
        words, kept = keep_dictionary(self.dictionary)
        header = {
            "kind": self.kind,
            "config": self.config.to_dict(),
            "tags": self.tags,
            "templates": self.templates.text,
            "templates_name": self.templates.name,
            "scale": self.scale,
        }
        weights = self.weights
        arrays: Arrays = {"slot": weights.slot, "label": weights.label, "clique": weights.clique}
        return header | words, arrays | quantise(weights.weight, precision) | kept

    @classmethod
    def from_state(cls, header: Mapping[str, Any], arrays: Arrays) -> Self:
        templates, dictionary = (
            CliqueTemplates(header["templates"], header["templates_name"]),
            dictionary_of(header, arrays),
        )
        check_dictionary(templates, dictionary)
        return cls(
            TwoChainConfig().updated(header["config"]),
            names_of(header["tags"]),
            templates,
            _native.TwoChainWeights(
                typed(arrays, "slot", np.uint64),
                typed(arrays, "label", np.uint16),
                dequantise(arrays),
                weights_of(arrays, "clique"),
            ),
            header.get("scale", 1.0),
            dictionary,
        )


def _clique_labels(clique: str, letters: Sequence[str], tags: Sequence[str]) -> list[str]:
    """The labels of a clique, in the order of its values."""
    if len(clique) == 1:
        return list(letters if clique == "s" else tags)
    first, second = (letters if name == "s" else tags for name in clique)
    between = "@" if clique == "st" else " "
    return [f"{a}{between}{b}" for a in first for b in second]
