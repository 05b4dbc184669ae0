"""Recipes with several sides: their corpora, checked before hours of training, and their notes."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable, Sequence
from typing import Any

from duilian.corpus import Corpus, Sentence
from duilian.errors import ConfigError, StandardError
from duilian.labels.encoding import Level
from duilian.models.coupled.label_pairs import MAPPINGS
from duilian.recipes.parts import Side
from duilian.recipes.recipe import Recipe
from duilian.recipes.run import Run
from duilian.recipes.steps import corpora_of, scorable, side_notes, warn_of_overlap
from duilian.standards.mapping_table import TABLE_KINDS, MappingTable


@dataclasses.dataclass(frozen=True)
class SideCorpora:
    """Train and dev of every side."""

    sides: Sequence[Side]
    parts: Sequence[tuple[Corpus, Corpus | None]]
    level: Level

    @property
    def train(self) -> list[Corpus]:
        """The training corpus of each side."""
        return [corpus for corpus, _ in self.parts]

    @property
    def dev(self) -> list[list[Sentence] | None] | None:
        """The dev sentences of each side; None if no side has any."""
        found = [scorable(dev, self.level) for _, dev in self.parts]
        return found if any(dev is not None for dev in found) else None

    def notes(self, score: Callable[[str], float | None]) -> dict[str, Any]:
        """Notes for the model file: how each side was read, its corpora, and its score on its dev set."""
        return {
            "sides": {
                side.standard: side_notes(side, corpus, dev)
                | {"dev_score": None if dev is None else score(side.standard)}
                for side, (corpus, dev) in zip(self.sides, self.parts, strict=True)
            }
        }


def read_sides(recipe: Recipe, run: Run, level: Level, mapping: str) -> SideCorpora:
    """Read the corpora of a recipe; raise an error or warn if they do not fit together."""
    found = SideCorpora(recipe.sides, [corpora_of(recipe, side) for side in recipe.sides], level)
    _check_standards(found.train)
    check_mapping(mapping, found.train)
    warn_of_overlap(found.parts, level, run)
    _warn_of_missing_dev([(corpus.standard, dev) for corpus, dev in found.parts], run)
    return found


def _tags(corpus: Corpus) -> set[str]:
    found = {tag for sentence in corpus for tag in sentence[corpus.standard].tags or () if tag is not None}
    return {name for tag in found for name in ((tag,) if isinstance(tag, str) else tag)}


def _check_standards(corpora: list[Corpus]) -> None:
    for a, b in itertools.combinations(corpora, 2):
        if a.standard != b.standard:
            continue
        if _tags(a).isdisjoint(_tags(b)):
            raise StandardError(
                f"two corpora declared as {a.standard!r} have no tag in common ({a.source} and {b.source})",
                "give one of them another standard name",
            )
        raise ConfigError(
            f"two sides have the same standard {a.standard!r}",
            "list the files of one standard in one side: train = ['a.txt', 'b.txt']",
        )


def check_mapping(mapping: str, corpora: list[Corpus]) -> None:
    """Raise an error, before hours of training, if a table is missing or does not fit the corpora."""
    if mapping in MAPPINGS and mapping not in TABLE_KINDS:
        return
    if mapping.startswith("automatic"):
        raise ConfigError(f"there is no mapping {mapping!r}", f"choose one of: {', '.join(MAPPINGS)}")
    for a, b in itertools.combinations(corpora, 2):
        name = f"{a.standard}-{b.standard}.{mapping}" if mapping in TABLE_KINDS else mapping
        table = MappingTable.load(name)
        for side, (corpus, standard) in enumerate(((a, table.left), (b, table.right))):
            known = _tags(corpus) if standard is None else None  # a declared standard has checked its tags
            for pair, (path, line) in table.pairs.items():
                if known is not None and pair[side] not in known:
                    raise StandardError(
                        f"{path}:{line}: the mapping names the tag {pair[side]!r}, "
                        f"which the corpus of {corpus.standard!r} does not have"
                    )


def _warn_of_missing_dev(sides: list[tuple[str, Corpus | None]], run: Run) -> None:
    missing = [repr(standard) for standard, dev in sides if dev is None]
    if len(missing) == len(sides):
        run.warn("no side has a dev set: the weights of the last iteration are kept")
    elif missing:
        has = "has" if len(missing) == 1 else "have"
        run.warn(f"{', '.join(missing)} {has} no dev set: the best weights are chosen without it")
