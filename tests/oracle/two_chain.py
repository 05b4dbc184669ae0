"""Two coupled chains by definition (Qiu et al. 2012, Eq. 3): all pairs of label rows, listed and scored.

Features are looked up template by template at every unit, without patterns: a sentence is put between pseudo
units, so that a template moved to any place finds what it should. Learning is Algorithm 1 with dense vectors.
"""

from __future__ import annotations

import dataclasses
import itertools
import re
from collections.abc import Iterator

import numpy as np

from duilian import _native
from duilian.features import Templates, pack
from duilian.labels.segments import label_letters
from duilian.models.two_chain.storage import TwoChainPacker

PAD = 8
Path = tuple[tuple[int, ...], tuple[int, ...] | None]
NEVER = -np.inf


def keys_of(template: str, units: list[str], packer: TwoChainPacker) -> list[int]:
    """The key of a template at each unit, as that of its form that looks at no unit before this one."""
    offsets = [int(k) for k in re.findall(r"\[(-?\d+)", template)]
    shift = min(offsets)
    moved = re.sub(r"\[(-?\d+)", lambda found: f"[{int(found[1]) - shift}", template)
    padded = ["<s>"] * PAD + units + ["</s>"] * PAD
    first, keys = _native.extract_keys(Templates(moved).native, pack([padded], packer.reading))
    assert (np.diff(first) == 1).all()
    return [int(keys[PAD + t + shift]) for t in range(len(units))]


@dataclasses.dataclass
class NaiveTwoChains:
    """A model as a dictionary from feature and labels to weight, read from the layout of the native one."""

    packer: TwoChainPacker
    layout: _native.TwoChainLayout
    keys: list[int]

    def __post_init__(self) -> None:
        self.row = {key: k for k, key in enumerate(self.keys)}
        self.first, self.slot = self.layout.first.tolist(), self.layout.slot.tolist()
        self.letters, self.tags = (
            len(label_letters(self.packer.encoding.scheme)),
            len(self.packer.encoding.kinds),
        )
        self.cliques = self.packer.shape.clique_weights

    def weights_of(self, units: list[str], path: Path) -> Iterator[int]:
        """The number of every weight that a path uses, once for each use."""
        letters, tags = path
        for t in range(len(units)):
            yield from self._clique_weights(letters, tags, t)
        templates = self.packer.templates
        for cliques, template in templates.lines:
            keys = keys_of(template, units, self.packer)
            shift = min(int(k) for k in re.findall(r"\[(-?\d+)", template))
            for clique, t in itertools.product(cliques, range(len(units))):
                value = self._value(clique, letters, tags, t)
                row = self.row.get(keys[t])
                if value is None or row is None:
                    continue
                wanted = self.packer.shape.first_slot(templates.places.index((clique, shift))) + value
                entries = self.slot[self.first[row] : self.first[row + 1]]
                if wanted in entries:
                    yield self.cliques + self.first[row] + entries.index(wanted)

    def _value(self, clique: str, s: tuple[int, ...], t: tuple[int, ...] | None, i: int) -> int | None:
        if clique == "s":
            return s[i]
        if clique == "ss":
            return None if i == 0 else s[i - 1] * self.letters + s[i]
        if t is None or (clique == "tt" and i == 0):
            return None
        return {"t": t[i], "st": s[i] * self.tags + t[i], "tt": t[i - 1] * self.tags + t[i]}[clique]

    def _clique_weights(self, s: tuple[int, ...], t: tuple[int, ...] | None, i: int) -> Iterator[int]:
        m, n, edge = self.letters, self.tags, self.packer.has_edge
        yield s[0] if i == 0 else m + s[i - 1] * m + s[i]
        if t is None:
            return
        start = m + m * m
        c1 = start + (m * n if edge else n)
        c2 = c1 + (m * m * n if edge else 0)
        if not edge:
            yield c2 + n * n + s[i] * n + t[i]
        if i == 0:
            yield start + (s[0] * n if edge else 0) + t[0]
            return
        if edge:
            yield c1 + (s[i - 1] * m + s[i]) * n + t[i - 1]
        yield c2 + ((s[i] * n if edge else 0) + t[i - 1]) * n + t[i]

    def vector(self, units: list[str], path: Path) -> np.ndarray:
        """Φ(x, s, t), or Φ(x, s) without tags."""
        found = np.zeros(self.layout.weights)
        for weight in self.weights_of(units, path):
            found[weight] += 1.0
        return found

    def paths(self, length: int, given: Path | None, has_tags: bool) -> Iterator[Path]:
        """Every legal pair of rows that agrees with what is given (-1: not known)."""
        letters = label_letters(self.packer.encoding.scheme)
        rules = self.packer.encoding.boundaries
        for s in itertools.product(range(self.letters), repeat=length):
            if given is not None and s != given[0]:
                continue
            try:
                words = rules.decode([letters[k] for k in s])
            except Exception:
                continue
            if not has_tags:
                yield s, None
                continue
            for t in itertools.product(range(self.tags), repeat=length):
                if self.packer.has_edge and any(len(set(t[a:b])) > 1 for a, b, _ in words):
                    continue
                if given is not None and given[1] is not None:
                    known = zip(given[1], t, strict=True)
                    if any(tag not in (-1, found) for tag, found in known):
                        continue
                yield s, t

    def best(
        self, weights: np.ndarray, units: list[str], given: Path | None = None, *, has_tags: bool = True
    ) -> tuple[float, Path]:
        """The best path; a tie would make the test worthless, and is an error."""
        found = sorted(
            (
                (float(self.vector(units, path) @ weights), path)
                for path in self.paths(len(units), given, has_tags)
            ),
            reverse=True,
            key=lambda pair: pair[0],
        )
        assert len(found) == 1 or found[0][0] > found[1][0] + 1e-6
        return found[0]
