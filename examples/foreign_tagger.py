"""Words from jieba, or from any function that cuts text; tags and trees from the bundled model.

    python examples/foreign_tagger.py 他把书借给了国务院新闻办公室。

Whatever has the role of a `Labeler` can stand in an analyser, with our parser behind it.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable

import duilian as dl
from duilian.labels.encoding import Encoding
from duilian.labels.units import UnitBatch
from duilian.lexicon.constraint_builder import ConstraintBuilder
from duilian.models.roles import Ability, Ask, Constraints, Labeler, Labels, Ranked, refuse


class ForeignWords:
    """A labeler that takes words from a function, and their tags from a tagger of ours."""

    kind, reads = "foreign-words", "text"
    abilities = frozenset({Ability.WORDS, Ability.TAGS})

    def __init__(self, cut: Callable[[str], Iterable[str]], tagger: Labeler, standard: str) -> None:
        self.cut, self.tagger, self.standards = cut, tagger, (standard,)
        self.builder = ConstraintBuilder({standard: tagger.encoding(standard)})

    def encoding(self, standard: str) -> Encoding:
        return self.tagger.encoding(standard)

    def label(self, batch: UnitBatch, ask: Ask, constraints: Constraints, threads: int) -> Labels:
        (standard,) = self.standards
        words = [list(self.cut("".join(units))) for units in batch.pieces]
        return self.tagger.label(
            batch, ask, {standard: self.builder.of_words(batch, words, standard)}, threads
        )

    def k_best_labels(self, *_: object, **__: object) -> list[Ranked]:
        raise refuse(self, Ability.NBEST, "ask the tagger itself")


def analyzer(cut: Callable[[str], Iterable[str]]) -> dl.Analyzer:
    """Return the bundled analyser with words of this function."""
    zh = dl.load()
    assert zh.parser is not None
    return dl.Analyzer(ForeignWords(cut, zh.labeler, zh.parser.standard), zh.parser)


if __name__ == "__main__":
    import jieba  # pip install jieba

    for text in sys.argv[1:] or ["他把书借给了国务院新闻办公室。"]:
        print(analyzer(jieba.lcut)(text).to_conllu())
