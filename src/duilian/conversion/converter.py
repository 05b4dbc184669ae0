"""Conversion of corpora of any length from one standard to another.

The answers of the model are put back into the user's sentences; an error names the line of a tag that the
model has never seen. At word level, a sentence keeps everything but its tags. At character level, text is
segmented again; a sentence whose words stay the same keeps its other annotation.
"""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from duilian.annotation.selection import probable_tags
from duilian.arguments import checked
from duilian.conversion.tree_conversion import convert_treebank
from duilian.corpus import Corpus, Layer, Sentence
from duilian.corpus.batches import batches
from duilian.corpus.cut import cut_sentences
from duilian.corpus.files import display_name
from duilian.corpus.formats.lookup import Format, FormatOptions
from duilian.corpus.formats.rows import TAG_COLUMNS, tag_column
from duilian.corpus.paired_layers import with_tags_of
from duilian.corpus.places import PlacedSentence, read_placed
from duilian.corpus.storage import ReadReport
from duilian.corpus.tag_spelling import UNKNOWN_FIELD, format_tags
from duilian.document import Doc
from duilian.document.text_lines import line_layer
from duilian.engine.analyzer import Analyzer
from duilian.engine.word_tables import word_tables
from duilian.errors import ConfigError, CorpusError
from duilian.labels.encoding import Encoding
from duilian.labels.segmentation import Segmentation
from duilian.labels.units import UnitBatch, units_of_layers
from duilian.models.offers import conversions_of
from duilian.models.registry import reading_of
from duilian.models.roles import Ability, Ask, SideLabels, TreeTranslator, chosen_standard, refuse


class Converter:
    """Converts in one direction with a model of kind coupled or guided, or with its analyser.

    `unknown_tags` treats tags new to the model as unknown.
    """

    def __init__(
        self,
        model: Any,
        source: str,
        target: str,
        *,
        mapping: str | None = None,
        unknown_tags: bool = False,
        threads: int = 1,
    ) -> None:
        if isinstance(model, Analyzer):
            model = model.model
        if not conversions_of(model):
            raise refuse(model, Ability.CONVERSION, "use a model of kind coupled or guided")
        names = list(dict.fromkeys(name for pair in conversions_of(model) for name in pair))
        source, target = (chosen_standard(name, names) for name in (source, target))
        if source == target:
            raise ConfigError(f"there is nothing to convert from {source!r} to {target!r}")
        self.model, self.unknown_tags, self.threads = model, unknown_tags, threads
        self.source, self.target = source, target
        self.plan = model.conversion(source, target, mapping=mapping)
        self._reading = reading_of(model, source)

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
        """Return the format of an annotated file and an iterator over its sentences.

        With a report, malformed sentences are skipped and counted there.
        """
        options = FormatOptions(
            standard=self.source,
            column=self._reading.get("column"),
            names=tuple(self._reading["columns"]) if "columns" in self._reading else None,
        )
        form, sentences = read_placed(path, options, format=format, encoding=encoding, report=report)
        if form.name == "segmented" and self.model.level == "word":
            raise ConfigError(
                f"{display_name(path)}: words without tags cannot be converted",
                f"tag them with duilian tag --standard {self.target}",
            )
        return form, sentences

    def run(
        self, sentences: Iterable[PlacedSentence], *, with_candidates: bool = False
    ) -> Iterator[tuple[Sentence, Doc]]:
        """Yield each sentence with its converted analysis, in order.

        The analysis has the words in the target standard with their confidence. With candidates, the
        marginals are the shares of each word's most probable tags among all words that begin there.
        """
        source, target = self.plan.encodings
        if with_candidates and target.tags is None:
            raise ConfigError("the model only segments: there are no tags to review", "leave out --review")
        ask = Ask(confidence=True, marginals=with_candidates)
        for batch in batches(sentences):
            layers = [each.sentence[self.source] for each in batch]
            self._check_tags(batch, layers)
            units = units_of_layers(layers, source, [self._pieces(layer) for layer in layers])
            found = self._words(units, self.plan.label(units, ask, self.threads))
            for each, words in zip(batch, word_tables(found, None), strict=True):
                yield each.sentence, Doc(each.sentence[self.source].text, {self.target: words})

    def _words(self, units: UnitBatch, labels: SideLabels) -> Segmentation:
        """Decode labels. A word across white space becomes two, both with its confidence."""
        target = self.plan.encodings[1]
        whole = Segmentation.from_labels(target.meaning, units.joined(), labels.label, labels.p)
        found = Segmentation.from_labels(target.meaning, units, labels.label, None)
        assert whole.confidence is not None
        owner = np.searchsorted(whole.first, found.first, "right") - 1
        candidates = None
        if labels.marginals is not None:
            rows = labels.table(len(target.labels))[whole.first[owner]]
            candidates = [_candidates(row, target) for row in rows]
        return dataclasses.replace(found, confidence=whole.confidence[owner], marginals=candidates)

    def count_unknown(self, sentence: Sentence) -> int:
        """Count the tags of a sentence that the model has never seen."""
        return len(self.plan.unknown_tags([sentence[self.source]]))

    def _check_tags(self, batch: Sequence[PlacedSentence], layers: Sequence[Layer]) -> None:
        for sentence, word, tag in () if self.unknown_tags else self.plan.unknown_tags(layers):
            raise CorpusError(
                batch[sentence].path,
                batch[sentence].line_of(word),
                f"the model has never seen the tag {tag!r} of {self.source!r}",
                "--unknown-tags treats such tags as unknown",
            )

    def _pieces(self, layer: Layer) -> list[Layer]:
        """Cut a line into sentences, if the training corpus was cut that way."""
        if self._reading.get("cut") != "sentence":
            return [layer]
        cut = cut_sentences([Sentence({self.source: layer})], self.source)
        return [piece[self.source] for piece in cut]

    def layer(self, sentence: Sentence, answer: Doc) -> Layer:
        """Return the converted words and tags; words that stayed the same keep their other annotation."""
        (_, found), given = line_layer(answer, self.target), sentence[self.source]
        return with_tags_of(given, found) if given.words == found.words else found

    def layer_of_rows(self, sentence: Sentence, answer: Doc) -> Layer:
        """Return the same for a row format; the source's tags stay if the new ones use the other column."""
        layer, given = self.layer(sentence, answer), sentence[self.source]
        # A layer read from rows keeps the tag column that its own tags are not in.
        free = [column for column in TAG_COLUMNS if column not in given.columns]
        if layer.words != given.words or len(free) != 1 or free[0] in (self.target_column, *layer.columns):
            return layer
        tags = tuple(format_tags(given.tags, len(given), UNKNOWN_FIELD))
        return dataclasses.replace(layer, columns={**layer.columns, free[0]: tags})


@checked
def convert(
    model: Any,
    corpus: Corpus,
    to: str,
    *,
    mapping: str | None = None,
    unknown_tags: bool = False,
    threads: int = 1,
) -> Corpus:
    """Convert a corpus to another standard of a model; see `CoupledTagger.convert` for the options.

    >>> from duilian import CoupledTagger, demo
    >>> corpora = [demo.load("ctb", "ctb"), demo.load("pku", "pku")]
    >>> model = CoupledTagger(("ctb", "pku")).set_params(learning__iterations=2).fit(corpora)
    >>> convert(model, demo.load("both-pku", "pku"), to="ctb")[0]["ctb"].tags[:3]
    ('PN', 'NT', 'P')
    """
    if isinstance(model, TreeTranslator):
        return convert_treebank(model, corpus, to, threads=threads)
    converter = Converter(
        model, corpus.standard, to, mapping=mapping, unknown_tags=unknown_tags, threads=threads
    )
    found = converter.run(PlacedSentence(sentence, corpus.source) for sentence in corpus)
    sentences = [
        dataclasses.replace(sentence, layers={converter.target: converter.layer(sentence, answer)})
        for sentence, answer in found
    ]
    return Corpus(sentences, standard=converter.target, source=corpus.source)


def _candidates(row: npt.NDArray[np.float64], encoding: Encoding) -> dict[str, float]:
    """Return the most probable tags of a word whose first unit has labels of these probabilities."""
    tags = encoding.tags or ()
    begins = np.where(encoding.succession.start, row, 0.0)
    shares = begins.reshape(-1, len(tags)).sum(axis=0)  # labels go letter by letter, each with all tags
    shares /= max(float(shares.sum()), 1e-300)
    return {tag: float(shares[tags.index(tag)]) for tag in probable_tags(shares, tags)}
