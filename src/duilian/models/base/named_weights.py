"""Weights by name: a feature as templates write it, `w[0] c[1,0]=国务院 新`, and the weights that it has.

Models store the keys of features, not their names. A key is computed from a name as in the native core
(features/sentences.hpp) and looked up as there (score/weight_table.hpp). An unseen feature is mistaken for a
seen one with a probability of about 2^-32.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from duilian.errors import ConfigError, did_you_mean
from duilian.models.base.table_codec import LAST_ENTRY, NO_SLOT
from duilian.text import Folding

LabelWeights = dict[str, float]
"""Label → weight; labels without one are left out."""

START, STOP = "<s>", "</s>"
PREVIOUS = "t[-1]="
NOT_FOLDED = ("@", "lx[", "jg[")  # atoms whose values are not text
_ATOM = re.compile(r"bias|@?\w+\[[^\]]*\]")
_WORD = (1 << 64) - 1


class KeyedWeights(Protocol):
    """A table of compiled weights; see score/weight_table.hpp."""

    @property
    def slot(self) -> npt.NDArray[np.uint64]:
        """[slots] Check bits of the key, and its first entry."""

    @property
    def label(self) -> npt.NDArray[np.uint16]:
        """[entries] Labels; the last of a feature is marked."""

    @property
    def weight(self) -> npt.NDArray[np.float32]:
        """[entries] Weights."""


class NamedFeature(NamedTuple):
    """A template with its values."""

    template: str
    values: tuple[str, ...]

    @classmethod
    def parse(cls, feature: str, templates: Iterable[str]) -> NamedFeature:
        """Split the name of a feature, which belongs to one of these templates."""
        known = list(templates)
        template = template_of(feature, known)
        if template is None:
            hint = did_you_mean(feature.rpartition("=")[0], known)
            raise ConfigError(f"the model has no template for the feature {feature!r}", hint)
        count = len([name for name in atoms_of(template) if name != "bias"])
        rest = feature[len(template) + 1 :]
        values = rest.split(" ") if count > 1 else [rest][:count]
        if len(values) != count or (count > 0 and feature == template):
            hint = f"a feature looks like {template}={' '.join(['…'] * count)}"
            raise ConfigError(f"{feature!r} does not give the {count} values of its template", hint)
        return cls(template, tuple(values))

    def key(self, folding: Folding, about: int | None = None) -> int:
        """The key of the feature; `about` distinguishes templates about words from those about units."""
        key, values = hash_text(self.template), iter(self.values)
        if about is not None:
            key = mix(key, about)
        for atom in atoms_of(self.template):
            value = "" if atom == "bias" else next(values)
            key = mix(key, hash_text(value if atom.startswith(NOT_FOLDED) else folding(value)))
        return key


def template_of(feature: str, templates: Iterable[str]) -> str | None:
    """The template of a feature, if it is among these."""
    own = [text for text in templates if feature == text or feature.startswith(f"{text}=")]
    return max(own, key=len, default=None)


def atoms_of(template: str) -> list[str]:
    """The atoms of a template, without its conditions."""
    return _ATOM.findall(template.partition(" if ")[0])


def mix(key: int, value: int) -> int:
    """Mix a value into a key, as `mix` of the native core does."""
    product = (key ^ 0x9E3779B97F4A7C15) * (value ^ 0xD1B54A32D192ED03)
    return (product & _WORD) ^ (product >> 64)


def hash_text(text: str) -> int:
    """Hash a text, as `hash_text` of the native core does."""
    return functools.reduce(mix, map(ord, text), 0x2545F4914F6CDD1D)


def entries(table: KeyedWeights, key: int) -> dict[int, float]:
    """The weights of a key by number of label; empty if the table does not have the key."""
    slots = table.slot
    at = ((key * 0x9E3779B97F4A7C15 & _WORD) * len(slots)) >> 64
    while len(slots) and slots[at] != NO_SLOT:
        slot = int(slots[at])
        if slot >> 32 == key & 0xFFFFFFFF:
            begin, labels = slot & 0xFFFFFFFF, table.label
            end = begin + int(np.argmax(labels[begin:] & LAST_ENTRY > 0)) + 1
            numbers = labels[begin:end] & ~LAST_ENTRY
            return dict(zip(numbers.tolist(), table.weight[begin:end].tolist(), strict=True))
        at = (at + 1) % len(slots)
    return {}


def transition_weights(
    transition: npt.NDArray[np.float32], labels: Sequence[str], before: str
) -> LabelWeights:
    """The weights of labels after another, or after the start `<s>`; `</s>` is the end of a sentence.

    `transition` is [L + 1, L + 1], start and end last.
    """
    row = len(labels) if before == START else labels.index(before)
    found = transition.reshape(len(labels) + 1, -1)[row].tolist()
    names = [*labels, *([] if before == START else [STOP])]
    return {name: weight for name, weight in zip(names, found, strict=False) if weight}


def check_previous(before: str, labels: Sequence[str]) -> None:
    """Raise ConfigError if the model does not have a label."""
    if before not in (START, *labels):
        raise ConfigError(f"the model has no label {before!r}", did_you_mean(before, labels))
