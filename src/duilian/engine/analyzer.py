"""Text in, `Doc` out.

An analyser has a character-level tagger, plain (one standard) or coupled (several), and may have a parser for
one of the standards. Answers depend neither on how texts are batched nor on the number of threads.
"""

from __future__ import annotations

import dataclasses
import logging
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from duilian import _native
from duilian.corpus import Layer, Sentence
from duilian.document import Doc, WordTable
from duilian.engine.completion import OpenAnnotation
from duilian.engine.fast_segmentation import segment_fast
from duilian.engine.k_best import KBest
from duilian.engine.lexicon_report import lexicon_report
from duilian.engine.marginals import Marginals, with_marginals
from duilian.engine.segmentation import Segmentation
from duilian.engine.text_constraints import TextConstraints, uncut_spans
from duilian.engine.tree_stage import TreeStage
from duilian.labels.units import UnitBatch, packed_for, units_of_layers, units_of_texts
from duilian.errors import ConfigError, DuilianError, TextError
from duilian.labels.encoding import Encoding
from duilian.lexicon import Finding, Lexicon
from duilian.lexicon.constraint_builder import NO_CONSTRAINTS
from duilian.models import CoupledTagger, Parser, Tagger, standards_of
from duilian.standards import LabelMeaning
from duilian.text import WHOLE_KINDS, Errors, WholeKind, check_text

BATCH_CHARACTERS = 100_000

Item = TypeVar("Item")
Labels = npt.NDArray[np.int32]
_log = logging.getLogger("duilian")


class Analyzer:
    """Finds words and tags of raw text in every standard of a model, and trees in the parser's standard.

    `lexicon` holds the user's own words; `whole` lists the kinds of spans that are never cut (see
    `text.whole_spans`). An analyser keeps no state between calls and can serve any number of threads.
    """

    def __init__(
        self,
        model: Tagger | CoupledTagger,
        parser: Parser | None = None,
        *,
        segmenter: Tagger | None = None,
        lexicon: Lexicon | None = None,
        whole: Sequence[WholeKind] = WHOLE_KINDS,
    ) -> None:
        if model.level != "char":
            raise ConfigError(
                "an analyser needs a character-level model, because it finds the words itself",
                hint="train with level = 'char', or use `duilian tag` on words",
            )
        self.model = model
        self.parser = parser
        self.segmenter = segmenter
        self.lexicon = lexicon
        self.whole = tuple(whole)
        self.standards = standards_of(model)
        self._encodings: Sequence[Encoding] = (
            model.encodings_ if isinstance(model, CoupledTagger) else [model.encoding_]
        )
        self._meanings: list[LabelMeaning] = [each.meaning for each in self._encodings]
        self._constraints = TextConstraints(dict(zip(self.standards, self._encodings, strict=True)), lexicon)
        self._marginals = Marginals(model)
        self._trees: TreeStage | None = None
        if parser is not None:
            if parser.standard not in self.standards:
                names = ", ".join(self.standards)
                raise ConfigError(f"the parser's standard {parser.standard!r} is none of {names}")
            self._tree_side = self.standards.index(parser.standard)
            self._trees = TreeStage(parser, self._meanings[self._tree_side].tags)

    def __getstate__(self) -> dict[str, Any]:
        """Return the models, as their files store them, and the lexicon, for other processes."""
        names = ("model", "parser", "segmenter", "lexicon", "whole")
        return {name: getattr(self, name) for name in names}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(**state)  # type: ignore[misc]

    def __call__(self, text: str, *, marginals: bool = False, errors: Errors = "strict") -> Doc:
        """Analyse a text of any length; `errors="replace"` reads lone surrogates as U+FFFD.

        With `marginals`, tokens carry the probabilities of all their possible tags; these and the confidence
        then come from a search that prunes less.
        """
        return self._analyse([check_text(text, errors)], 1, marginals)[0]

    def pipe(
        self,
        texts: Iterable[str],
        *,
        threads: int = 1,
        marginals: bool = False,
        batch: int | None = None,
        errors: Errors = "strict",
    ) -> Iterator[Doc]:
        """Analyse many texts, in order and in constant memory.

        A batch has about `batch` characters. With `batch=1`, each text is answered before the next is read:
        slower, but right for live input.
        """
        for texts_of_batch in self._text_batches(texts, threads, batch, errors):
            yield from self._analyse(texts_of_batch, threads, marginals)

    def _text_batches(
        self, texts: Iterable[str], threads: int, batch: int | None, errors: Errors
    ) -> Iterator[list[str]]:
        if threads < 1:
            raise ConfigError(f"threads must be at least 1, got {threads}")
        if isinstance(texts, str | bytes):
            raise TextError("expected several texts, got one", "put it in a list: [text]")
        if errors != "strict":
            texts = (check_text(text, errors) for text in texts)
        return _batches(texts, _text_size, BATCH_CHARACTERS if batch is None else batch)

    def with_lexicon(self, lexicon: Lexicon | None) -> Analyzer:
        """Return the same analyser with another lexicon."""
        return Analyzer(self.model, self.parser, segmenter=self.segmenter, lexicon=lexicon, whole=self.whole)

    def segment(
        self,
        texts: Iterable[str],
        standard: str | None = None,
        *,
        threads: int = 1,
        batch: int | None = None,
        errors: Errors = "strict",
    ) -> Iterator[list[str]]:
        """Segment many texts in one standard, in order.

        In the standard of the model's segmenter (the default, if there is one) and without a lexicon, this is
        many times as fast as `pipe` and a little less accurate.
        """
        segmenter = self.segmenter
        if segmenter is None or self.lexicon is not None or standard not in (None, segmenter.standard):
            name = self.standards[self._side(standard)]
            for doc in self.pipe(texts, threads=threads, batch=batch, errors=errors):
                yield doc.words(name)
            return
        for texts_of_batch in self._text_batches(texts, threads, batch, errors):
            yield from segment_fast(segmenter, texts_of_batch, threads)

    def explain(self, text: str | Doc) -> list[Finding]:
        """Report every occurrence of a lexicon word in a text, and what the analysis has there.

        The argument may be an analysis, also from `fill` or `nbest`.
        """
        if self.lexicon is None:
            return []
        doc = self(text) if isinstance(text, str) else text
        units = units_of_texts([doc.text], self._encodings[0], self.whole)
        tags = {name: each.tags for name, each in zip(self.standards, self._encodings, strict=True)}
        return lexicon_report(self.lexicon.trace_units(doc.text, uncut_spans(units)), doc, tags)

    def fill(
        self, sentences: Iterable[Sentence], standard: str | None = None, *, threads: int = 1
    ) -> Iterator[Doc]:
        """Fill the gaps of annotated sentences.

        Words, tags, heads and relations given in a standard stay. Unknown and ambiguous tags are decided
        (consistently with a given universal tag), heads too if the parser has that standard; other standards
        follow from the words. `to_sentences` of an answer keeps everything that its sentence had.
        """
        side = self._side(standard)
        name = self.standards[side]
        annotation, answered = OpenAnnotation(name, self._encodings[side].tags or ()), 0
        for batch in _batches(sentences, lambda each: len(each[name].text), BATCH_CHARACTERS):
            layers = [annotation.restrict(sentence[name]) for sentence in batch]
            try:
                docs = self._fill(layers, side, threads)
            except DuilianError:
                for number, layer in enumerate(layers, answered):
                    try:
                        self._fill([layer], side, threads)
                    except DuilianError as error:
                        raise annotation.locate(number, layer, error) from None
                raise
            for doc, sentence in zip(docs, batch, strict=True):
                doc.given = sentence
                yield doc
            answered += len(batch)

    def nbest(self, text: str, k: int, standard: str | None = None) -> list[Doc]:
        """Return the k best analyses of a text in one standard, most probable first, with `probability`.

        Sentences are independent of each other. This search prunes less than that of a single analysis, which
        may therefore differ from the best of these.
        """
        side = self._side(standard)
        name = self.standards[side]
        if k < 1:
            raise ConfigError(f"the number of analyses must be at least 1, got {k}")
        units = units_of_texts([text], self._encodings[0], self.whole)
        if not len(units):
            return []
        best = KBest(k)
        for sentence in units.sentences():
            best.add(self._marginals.k_best(side, sentence, self._constraints.constraints(sentence), k))
        meaning, docs = self._meanings[side], []
        for probability, labels in best.answers():
            (words,) = Segmentation.from_labels(meaning, units, labels, None).words(None)
            docs.append(Doc(text, {name: words}, probability=probability))
        return docs

    def _side(self, standard: str | None) -> int:
        """Return the index of a standard; the default is the first."""
        name = self.standards[0] if standard is None else standard
        if name not in self.standards:
            raise ConfigError(f"there is no standard {name!r}, only {', '.join(self.standards)}")
        return self.standards.index(name)

    def _fill(self, layers: Sequence[Layer], side: int, threads: int) -> list[Doc]:
        units = units_of_layers(layers, self._encodings[0])
        constraints = self._constraints.constraints(units) or [NO_CONSTRAINTS] * len(self.standards)
        no_bonus = (np.array([], np.int64), np.array([], np.int32), np.array([], np.float32))
        constraints[side] = _native.Constraints(self._encodings[side].limits(layers), *no_bonus)
        return self._docs([layer.text for layer in layers], units, constraints, threads, (side, layers))

    def _analyse(self, batch: Sequence[str], threads: int, marginals: bool) -> list[Doc]:
        units = units_of_texts(batch, self._encodings[0], self.whole)
        return self._docs(batch, units, self._constraints.constraints(units), threads, marginals=marginals)

    def _docs(
        self,
        batch: Sequence[str],
        units: UnitBatch,
        constraints: Sequence[_native.Constraints],
        threads: int,
        given: tuple[int, Sequence[Layer]] | None = None,
        marginals: bool = False,
    ) -> list[Doc]:
        if not len(units):
            return [Doc(text, self._empty_layers(marginals)) for text in batch]
        sides = []
        rows = self._marginals.rows(units, constraints, threads) if marginals else ()
        for side, (labels, p) in enumerate(self._label(units, constraints, threads)):
            known = given[1] if given is not None and given[0] == side else ()
            # A given word stays one word, even with white space in it.
            own = dataclasses.replace(units, is_apart=np.zeros_like(units.is_apart)) if known else units
            found = Segmentation.from_labels(self._meanings[side], own, labels, p)
            if marginals:
                found = with_marginals(found, self._encodings[side], rows[side])
            if self._trees is not None and side == self._tree_side:
                sides.append(found.words(self._trees(found.sentences(), found.labels, known, threads)))
            else:
                sides.append(_with_given_trees(found.words(None), known))
        return [
            Doc(text, dict(zip(self.standards, layers, strict=True)))
            for text, layers in zip(batch, zip(*sides, strict=True), strict=True)
        ]

    def _empty_layers(self, marginals: bool) -> dict[str, WordTable]:
        """Return the layers of a text without words."""
        places, found = np.zeros(0, np.int64), {}
        for side, (name, meaning) in enumerate(zip(self.standards, self._meanings, strict=True)):
            tree: tuple[()] | None = () if self._trees is not None and side == self._tree_side else None
            found[name] = WordTable(
                places,
                places,
                np.zeros(1, np.int64),
                tags=None if None in meaning.tags else (),
                confidence=np.zeros(0) if isinstance(self.model, CoupledTagger) else None,
                heads=tree,
                relations=tree,
                marginals=() if marginals else None,
            )
        return found

    def _label(
        self, units: UnitBatch, constraints: Sequence[_native.Constraints], threads: int
    ) -> list[tuple[Labels, npt.NDArray[np.float32] | None]]:
        """Return for each standard the labels of all units and, for a coupled model, their probabilities."""
        if isinstance(self.model, CoupledTagger):
            answers, impossible = self.model.label_packed(packed_for(self.model, units), constraints, threads)
            _warn_of_impossible(impossible)
            return [(answers.label(side), answers.p(side)) for side in range(len(self.standards))]
        labels, impossible = self.model.predictor_.native.predict(
            packed_for(self.model, units), constraints[0] if constraints else NO_CONSTRAINTS, threads
        )
        _warn_of_impossible(impossible)
        return [(labels, None)]


def _text_size(text: str) -> int:
    return len(text if isinstance(text, str) else check_text(text))


def _batches(items: Iterable[Item], size: Callable[[Item], int], limit: int) -> Iterator[list[Item]]:
    batch: list[Item] = []
    total = 0
    for item in items:
        batch.append(item)
        total += size(item) + 1
        if total >= limit:
            yield batch
            batch, total = [], 0
    if batch:
        yield batch


def _warn_of_impossible(impossible: int) -> None:
    if impossible:
        _log.warning("%d sentences could not be analysed as the lexicon asks", impossible)


def _with_given_trees(words: list[WordTable], given: Sequence[Layer]) -> list[WordTable]:
    """Copy given trees in a standard without a parser; each annotated sentence is one text."""
    if not given:
        return words
    return [
        dataclasses.replace(each, heads=layer.heads, relations=layer.relations)
        for each, layer in zip(words, given, strict=True)
    ]
