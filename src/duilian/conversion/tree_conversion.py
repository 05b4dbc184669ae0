"""Conversion of treebanks of any length: each sentence needs a complete tree and gets a new one."""

from __future__ import annotations

import dataclasses
import os
from collections import Counter
from collections.abc import Iterable, Iterator

from duilian.corpus import Corpus, Layer, Sentence
from duilian.corpus.batches import batches
from duilian.corpus.formats.lookup import Format, FormatOptions
from duilian.corpus.formats.rows import tag_column
from duilian.corpus.places import ROW_FORMATS, PlacedSentence, read_placed
from duilian.corpus.storage import ReadReport
from duilian.errors import ConfigError, CorpusError
from duilian.models.registry import reading_of
from duilian.models.roles import ConvertedTree, TreeTranslator, chosen_standard
from duilian.wording import counted

MAX_WORDS = 1000  # of a sentence; the search takes cubic time


@dataclasses.dataclass
class TreeConversion:
    """Converts with a model of kind tree-converter; counts what it leaves out.

    With `is_lenient`, relations that the model has never seen count as unknown.
    """

    model: TreeTranslator
    source: str
    target: str
    is_lenient: bool = False
    threads: int = 1
    counts: Counter[str] = dataclasses.field(default_factory=Counter)

    def __post_init__(self) -> None:
        names = self.model.standards
        self.source, self.target = (chosen_standard(name, names) for name in (self.source, self.target))
        if (self.source, self.target) not in self.model.conversions:
            (own,) = self.model.conversions
            raise ConfigError(
                f"the model cannot convert from {self.source!r} to {self.target!r}",
                f"it was trained for --from {own[0]} --to {own[1]}",
            )

    @property
    def target_column(self) -> str:
        """The column of the target's tags in row formats."""
        return tag_column(reading_of(self.model, self.target).get("column"), self.target)

    def open(
        self,
        path: str | os.PathLike[str],
        *,
        format: str | None = None,
        encoding: str = "utf-8",
        report: ReadReport | None = None,
    ) -> tuple[Format, Iterator[PlacedSentence]]:
        """Return the format of a treebank and an iterator over its sentences, all with complete trees."""
        column = reading_of(self.model, self.source).get("column")
        options = FormatOptions(standard=self.source, column=column, trees="whole")
        form, sentences = read_placed(path, options, format=format, encoding=encoding, report=report)
        if form.name not in ROW_FORMATS:
            raise ConfigError(
                f"a file in the format {form.name} has no trees to convert",
                f"give a treebank in one of {', '.join(ROW_FORMATS)}",
            )
        return form, self._usable(sentences, report)

    def _usable(
        self, sentences: Iterator[PlacedSentence], report: ReadReport | None
    ) -> Iterator[PlacedSentence]:
        for placed in sentences:
            try:
                self.check(placed)
            except CorpusError as error:
                if report is None:
                    raise
                report.skip(error, "sentence")
                continue
            yield placed

    def check(self, placed: PlacedSentence) -> None:
        """Refuse a sentence without a complete tree and, unless lenient, unknown relations."""
        layer = placed.sentence[self.source]
        if len(layer) > MAX_WORDS:
            raise CorpusError(
                placed.path, placed.line_of(0), f"a sentence of {len(layer)} words is too long to convert"
            )
        for what, row in (("tag", layer.tags), ("head", layer.heads), ("relation", layer.relations)):
            values = row or (None,) * len(layer)
            if None in values:
                word = values.index(None)
                raise CorpusError(placed.path, placed.line_of(word), f"word {word + 1} has no {what}")
        for word, name in self.model.unknown_relations(layer):
            if not self.is_lenient:
                raise CorpusError(
                    placed.path,
                    placed.line_of(word),
                    f"the model has never seen the relation {name!r} of {self.source!r}",
                    "--lenient treats such relations as unknown",
                )
            self.counts["unknown relation"] += 1

    def run(self, sentences: Iterable[PlacedSentence]) -> Iterator[tuple[Sentence, ConvertedTree]]:
        """Yield each sentence with its converted tree, in order."""
        for batch in batches(sentences):
            layers = [self._without_enhanced(each.sentence[self.source]) for each in batch]
            found = self.model.convert_trees(layers, self.threads)
            for placed, answer in zip(batch, found, strict=True):
                yield placed.sentence, answer

    def _without_enhanced(self, layer: Layer) -> Layer:
        """Drop and count what belongs to the source's tree only: enhanced dependencies, empty nodes."""
        deps = layer.columns.get("deps", ())
        self.counts["enhanced dependency"] += sum(field != "_" for field in deps)
        kept = tuple(row for row in layer.extra_rows if "." not in row[1].partition("\t")[0])
        self.counts["empty node"] += len(layer.extra_rows) - len(kept)
        return dataclasses.replace(layer, extra_rows=kept)

    @property
    def warnings(self) -> list[str]:
        """What was left out, a line each."""
        texts = {
            "unknown relation": "ignored {} that the model has never seen",
            "enhanced dependency": "dropped {}, valid only in the source's trees",
            "empty node": "dropped {}, valid only in the source's trees",
        }
        plurals = {"enhanced dependency": "enhanced dependencies"}
        return [
            text.format(counted(self.counts[what], what, plurals.get(what, "")))
            for what, text in texts.items()
            if self.counts[what]
        ]


def convert_treebank(model: TreeTranslator, corpus: Corpus, to: str, *, threads: int = 1) -> Corpus:
    """Convert a corpus with complete trees to the target standard."""
    conversion = TreeConversion(model, corpus.standard, to, threads=threads)
    given = [PlacedSentence(sentence, corpus.source) for sentence in corpus]
    for placed in given:
        conversion.check(placed)
    sentences = [
        dataclasses.replace(sentence, layers={conversion.target: answer.layer})
        for sentence, answer in conversion.run(given)
    ]
    return Corpus(sentences, standard=conversion.target, source=corpus.source)
