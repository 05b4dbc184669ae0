"""Text in, `Doc` out.

An analyser stands on a character-level tagger, plain (one standard) or coupled (several), and may have a
parser for one of the standards. Texts go through it in batches; which texts share a batch, and how many
threads there are, never shows in the answers.
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
from duilian.doc import Doc, Words
from duilian.errors import ConfigError, DuilianError, TextError
from duilian.lexicon import Finding, Lexicon
from duilian.models import CoupledTagger, Parser, Tagger, standards_of
from duilian.models.encoding import Encoding
from duilian.models.wishing import NO_WISHES
from duilian.pipeline.constraints import Constraints, uncut_spans
from duilian.pipeline.filling import Gaps
from duilian.pipeline.found import Found
from duilian.pipeline.k_best import KBest
from duilian.pipeline.marginals import Marginals, with_marginals
from duilian.pipeline.outcomes import outcomes
from duilian.pipeline.segmenting import segment_fast
from duilian.pipeline.trees import TreeStage
from duilian.pipeline.units import Units, packed_for, units_of_layers, units_of_texts
from duilian.standards import LabelMeaning
from duilian.text import WHOLE_KINDS, Errors, WholeKind, check_text

BATCH_CHARACTERS = 100_000

Item = TypeVar("Item")
Labels = npt.NDArray[np.int32]
_log = logging.getLogger("duilian")


class Analyzer:
    """Words and tags of raw text after every standard of a model, and trees after the parser's.

    `lexicon` has words of the user's own; `whole` says which kinds of parts of mixed text are never cut (see
    `text.whole_spans`). It holds no state between calls: one analyser serves any number of threads.
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
                "an analyser needs a character-level model, for it finds the words itself",
                hint="train with level = 'char', or use `duilian tag` on words",
            )
        self.model = model
        self.parser = parser
        self.segmenter = segmenter
        self.lexicon = lexicon
        self.whole = tuple(whole)
        self.standards = standards_of(model)
        self._encodings: list[Encoding] = (
            model.encodings_ if isinstance(model, CoupledTagger) else [model.encoding_]
        )
        self._meanings: list[LabelMeaning] = [each.meaning for each in self._encodings]
        self._constraints = Constraints(dict(zip(self.standards, self._encodings, strict=True)), lexicon)
        self._marginals = Marginals(model)
        self._trees: TreeStage | None = None
        if parser is not None:
            if parser.standard not in self.standards:
                names = ", ".join(self.standards)
                raise ConfigError(f"the parser's standard {parser.standard!r} is none of {names}")
            self._tree_side = self.standards.index(parser.standard)
            self._trees = TreeStage(parser, self._meanings[self._tree_side].tags)

    def __getstate__(self) -> dict[str, Any]:
        """For other processes: the models as a file would have them, and the lexicon's words."""
        names = ("model", "parser", "segmenter", "lexicon", "whole")
        return {name: getattr(self, name) for name in names}

    def __setstate__(self, kept: dict[str, Any]) -> None:
        self.__init__(**kept)  # type: ignore[misc]

    def __call__(self, text: str, *, marginals: bool = False, errors: Errors = "strict") -> Doc:
        """The analysis of a text of any length; `errors="replace"` reads lone surrogates as U+FFFD.

        With `marginals` tokens have the probabilities of all tags that they might have, from a search that
        leaves out less, and their confidence is from there too.
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
        """The analyses of many texts, in their order; memory stays flat however many there are.

        Texts of about `batch` characters go through together. With `batch=1` each is answered before the next
        is asked for, which is slower, and right for a source that makes one wait.
        """
        for several in self._batches(texts, threads, batch, errors):
            yield from self._analyse(several, threads, marginals)

    def _batches(
        self, texts: Iterable[str], threads: int, batch: int | None, errors: Errors
    ) -> Iterator[list[str]]:
        if threads < 1:
            raise ConfigError(f"threads must be at least 1, got {threads}")
        if isinstance(texts, str | bytes):
            raise TextError("many texts are asked for, and this is one", "put it into a list: [text]")
        if errors != "strict":
            texts = (check_text(text, errors) for text in texts)
        return _batches(texts, _characters, BATCH_CHARACTERS if batch is None else batch)

    def with_lexicon(self, lexicon: Lexicon | None) -> Analyzer:
        """The same analyser with other words of the user's own."""
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
        """Nothing but the words of many texts after one standard, in order.

        If the model has a segmenter for it, whose standard is the one that need not be named, and there is no
        lexicon, this is many times as fast as `pipe` and a little less accurate.
        """
        own = self.segmenter
        if own is None or self.lexicon is not None or standard not in (None, own.standard):
            name = self.standards[self._side(standard)]
            for doc in self.pipe(texts, threads=threads, batch=batch, errors=errors):
                yield doc.words(name)
            return
        for several in self._batches(texts, threads, batch, errors):
            yield from segment_fast(own, several, threads)

    def explain(self, text: str | Doc) -> list[Finding]:
        """Every place where a text has a word of the lexicon, and what its analysis has there; an analysis
        may be given as it is, from `fill` and `nbest` too.
        """
        if self.lexicon is None:
            return []
        doc = self(text) if isinstance(text, str) else text
        units = units_of_texts([doc.text], self._encodings[0], self.whole)
        tags = {name: each.tags for name, each in zip(self.standards, self._encodings, strict=True)}
        return outcomes(self.lexicon.trace_units(doc.text, uncut_spans(units)), doc, tags)

    def fill(
        self, sentences: Iterable[Sentence], standard: str | None = None, *, threads: int = 1
    ) -> Iterator[Doc]:
        """Annotated sentences with their gaps filled: words, tags, heads and relations that they have in a
        standard stay as they are, tags that are unknown or one of several are decided (so that they go with a
        universal tag that is given), heads too if the parser is of that standard, and other standards follow
        from the words. `to_sentences` of an answer has everything that its sentence had.
        """
        side = self._side(standard)
        name = self.standards[side]
        gaps, answered = Gaps(name, self._encodings[side].tags or ()), 0
        for batch in _batches(sentences, lambda sentence: len(sentence[name].text), BATCH_CHARACTERS):
            layers = [gaps.bound(sentence[name]) for sentence in batch]
            try:
                docs = self._fill(layers, side, threads)
            except DuilianError:
                for number, layer in enumerate(layers, answered):
                    try:
                        self._fill([layer], side, threads)
                    except DuilianError as error:
                        raise gaps.fault(number, layer, error) from None
                raise
            for doc, sentence in zip(docs, batch, strict=True):
                doc.given = sentence
                yield doc
            answered += len(batch)

    def nbest(self, text: str, k: int, standard: str | None = None) -> list[Doc]:
        """The k best ways to cut and tag a text after one standard, most probable first, each with its
        `probability`. What is said of one sentence does not depend on what is said of another. More is tried
        here than where only the best one is asked for, so that this one may be another.
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
            best.add(self._marginals.k_best(side, sentence, self._constraints.wishes(sentence), k))
        meaning, docs = self._meanings[side], []
        for probability, labels in best.answers():
            (words,) = Found.of(meaning, units, labels, None).words(None)
            docs.append(Doc(text, {name: words}, probability=probability))
        return docs

    def _side(self, standard: str | None) -> int:
        """The number of a standard among the analyser's, the first if none is named."""
        name = self.standards[0] if standard is None else standard
        if name not in self.standards:
            raise ConfigError(f"there is no standard {name!r}, only {', '.join(self.standards)}")
        return self.standards.index(name)

    def _fill(self, layers: Sequence[Layer], side: int, threads: int) -> list[Doc]:
        units = units_of_layers(layers, self._encodings[0])
        wishes = self._constraints.wishes(units) or [NO_WISHES] * len(self.standards)
        nothing = (np.array([], np.int64), np.array([], np.int32), np.array([], np.float32))
        wishes[side] = _native.Constraints(self._encodings[side].limits(layers), *nothing)
        return self._docs([layer.text for layer in layers], units, wishes, threads, (side, layers))

    def _analyse(self, batch: Sequence[str], threads: int, marginals: bool) -> list[Doc]:
        units = units_of_texts(batch, self._encodings[0], self.whole)
        return self._docs(batch, units, self._constraints.wishes(units), threads, marginals=marginals)

    def _docs(
        self,
        batch: Sequence[str],
        units: Units,
        wishes: Sequence[_native.Constraints],
        threads: int,
        given: tuple[int, Sequence[Layer]] | None = None,
        marginals: bool = False,
    ) -> list[Doc]:
        if not len(units):
            return [Doc(text, self._nothing(marginals)) for text in batch]
        sides = []
        rows = self._marginals.rows(units, wishes, threads) if marginals else ()
        for side, (labels, sure) in enumerate(self._label(units, wishes, threads)):
            known = given[1] if given is not None and given[0] == side else ()
            # A given word is one, even with white space in it.
            own = dataclasses.replace(units, is_apart=np.zeros_like(units.is_apart)) if known else units
            found = Found.of(self._meanings[side], own, labels, sure)
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

    def _nothing(self, marginals: bool) -> dict[str, Words]:
        """What is said of a text without words: the same rows as of any other, with nothing in them."""
        places, found = np.zeros(0, np.int64), {}
        for side, (name, meaning) in enumerate(zip(self.standards, self._meanings, strict=True)):
            tree: tuple[()] | None = () if self._trees is not None and side == self._tree_side else None
            found[name] = Words(
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
        self, units: Units, wishes: Sequence[_native.Constraints], threads: int
    ) -> list[tuple[Labels, npt.NDArray[np.float32] | None]]:
        """For each standard the labels of all units, and how sure they are if the model says it for free."""
        if isinstance(self.model, CoupledTagger):
            answers, impossible = self.model.label_packed(packed_for(self.model, units), wishes, threads)
            _warn(impossible)
            return [(answers.label(side), answers.p(side)) for side in range(len(self.standards))]
        labels, impossible = self.model.predictor_.predict(
            packed_for(self.model, units), wishes[0] if wishes else NO_WISHES, threads
        )
        _warn(impossible)
        return [(labels, None)]


def _characters(text: str) -> int:
    return len(text if isinstance(text, str) else check_text(text))


def _batches(items: Iterable[Item], size: Callable[[Item], int], enough: int) -> Iterator[list[Item]]:
    batch: list[Item] = []
    total = 0
    for item in items:
        batch.append(item)
        total += size(item) + 1
        if total >= enough:
            yield batch
            batch, total = [], 0
    if batch:
        yield batch


def _warn(impossible: int) -> None:
    if impossible:
        _log.warning("%d sentences could not be analysed as the lexicon asks", impossible)


def _with_given_trees(words: list[Words], given: Sequence[Layer]) -> list[Words]:
    """Heads of a standard that has no parser are those that were given; an annotated sentence is a text."""
    if not given:
        return words
    return [
        dataclasses.replace(each, heads=layer.heads, relations=layer.relations)
        for each, layer in zip(words, given, strict=True)
    ]
