"""Text in, `Doc` out: split → constrain → label → parse.

An analyser has a labeler, which finds words and tags in one standard or several, and may have a parser for
one of them. Text, given words and given annotation all go the same way, and `Ask` says what of it runs.
Answers depend neither on how texts are batched nor on the number of threads.
"""

from __future__ import annotations

import dataclasses
import functools
import logging
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from duilian import _native
from duilian import text as texts
from duilian.arguments import checked
from duilian.corpus import Layer, Sentence
from duilian.corpus.batches import batches, text_batches
from duilian.corpus.lines import sentences_only
from duilian.document import Doc, SearchWord
from duilian.document.text_lines import segmented_line
from duilian.engine.annotator import NOTHING, Annotator, Given
from duilian.engine.completion import OpenAnnotation
from duilian.engine.k_best import KBest
from duilian.engine.lexicon_report import lexicon_report
from duilian.engine.long_texts import LongTable, pieces
from duilian.engine.planning import Plan, Planner, labeler_of
from duilian.engine.word_tables import (
    BatchWords,
    batch_words,
    empty_table,
    word_tables,
)
from duilian.errors import ConfigError, DuilianError, TextError
from duilian.labels.encoding import Encoding
from duilian.labels.segmentation import Segmentation
from duilian.labels.units import UnitBatch, units_of_layers, units_of_texts, units_of_words
from duilian.lexicon import Finding, Lexicon
from duilian.lexicon.constraint_builder import ConstraintBuilder, uncut_spans
from duilian.lexicon.letter_words import English, LetterWords
from duilian.models.roles import (
    Ability,
    Ask,
    Constraints,
    TreeAnnotator,
    chosen_standard,
    letter_words,
    refuse,
)
from duilian.result_tables import html_table
from duilian.text import WHOLE_KINDS, Errors, WholeKind, check_text
from duilian.wording import counted

BATCH_CHARACTERS = 100_000
MAX_UNCUT = 15  # characters; a longer word in Chinese characters is text that nobody has cut
_MARK_IN_WORD = re.compile("[\u4e00-\u9fff][，。！？；]")  # nor is this: a mark is a word of its own

WORDS = Ask(tags=False, trees=False)
"""Words of all standards, and nothing else."""

_log = logging.getLogger("duilian")


class Analyzer:
    """Finds words and tags of text in every standard of a model, and trees in the parser's standard.

    `model` is a tagger of any kind, or whatever has the role of a `Labeler`; `parser` that of a
    `TreeAnnotator`. `segmenter` is a smaller model for one of the standards, which answers if asked for the
    fast way. `lexicon` holds the user's own words; `whole` lists the kinds of spans that are never cut (see
    `text.whole_spans`). `english` chooses the tags of alphabetic words: real ones (`tags`, the default), or
    the one that a standard has for them (`standard`); only models trained with `[mixing]` have the choice. An
    analyser keeps no state between calls and can serve any number of threads.

    A model that reads words takes text in which they are separated by blanks.

    >>> from duilian import load
    >>> zh = load()
    >>> zh("我们去北京。", ask=Ask(standards=("pku",), trees=False))
    Doc(pku='我们/r 去/v 北京/ns 。/w')
    """

    @checked
    def __init__(
        self,
        model: Any,
        parser: TreeAnnotator | None = None,
        *,
        segmenter: Any = None,
        lexicon: Lexicon | None = None,
        whole: Sequence[WholeKind] = WHOLE_KINDS,
        english: English | None = None,
    ) -> None:
        self.model, self.parser, self.segmenter = model, parser, segmenter
        self.lexicon, self.whole, self.english = lexicon, tuple(whole), english
        self.labeler = labeler_of(model)
        self.standards = self.labeler.standards
        self._annotator = Annotator(self.labeler, parser)
        self._encodings = self._annotator.encodings
        self._first: Encoding = self._encodings[self.standards[0]]
        self._takes_constraints = Ability.CONSTRAINTS in self.labeler.abilities
        if lexicon is not None and not self._takes_constraints:
            raise refuse(self.labeler, Ability.CONSTRAINTS, "use a model of kind crf, or no lexicon")
        self._builder = ConstraintBuilder(self._encodings, lexicon, self._letter_words(english))
        self._planner = Planner(self.labeler, parser, segmenter)

    def __repr__(self) -> str:
        parser = "" if self.parser is None else f", trees in {self.parser.standard}"
        names = ", ".join(self.standards)
        return f"<Analyzer: {self.labeler.kind} model, words and tags in {names}{parser}>"

    def _repr_html_(self) -> str:
        """What it can do, for notebooks."""
        rows = [
            ("model", self.labeler.kind),
            ("words and tags", ", ".join(self.standards)),
            ("trees", "none" if self.parser is None else self.parser.standard),
            ("fast segmenter", "no" if self.segmenter is None else "yes"),
            ("lexicon", "none" if self.lexicon is None else counted(len(self.lexicon), "word")),
            ("can also give", ", ".join(sorted(each.value for each in self.labeler.abilities))),
        ]
        return html_table(("", ""), rows, caption="Analyzer")

    def __getstate__(self) -> dict[str, Any]:
        """Return the models, as their files store them, and the lexicon, for other processes."""
        names = ("model", "parser", "segmenter", "lexicon", "whole", "english")
        return {name: getattr(self, name) for name in names}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(**state)  # type: ignore[misc]

    @checked
    def __call__(
        self, text: str, *, ask: Ask | None = None, marginals: bool = False, errors: Errors = "strict"
    ) -> Doc:
        """Analyse a text of any length; `errors="replace"` reads lone surrogates as U+FFFD.

        `ask` says what is wanted; the default is everything but probabilities. With `marginals`, tokens carry
        the probabilities of all their possible tags.
        """
        return self._analysed([check_text(text, errors)], self._planner.plan(ask, marginals), 1)[0]

    @checked
    def pipe(
        self,
        texts: Iterable[str],
        *,
        ask: Ask | None = None,
        threads: int = 1,
        marginals: bool = False,
        batch: int | None = None,
        errors: Errors = "strict",
    ) -> Iterator[Doc]:
        """Analyse many texts, in order and in constant memory.

        A batch has about `batch` characters. With `batch=1`, each text is answered before the next is read:
        slower, but right for live input.
        """
        plan = self._planner.plan(ask, marginals)
        for texts_of_batch in _text_batches(texts, batch, errors):
            yield from self._analysed(texts_of_batch, plan, threads)

    @checked
    def columns(
        self, texts: Sequence[str], *, ask: Ask | None = None, threads: int = 1
    ) -> dict[str, BatchWords]:
        """Analyse texts at once; the words of all of them are one table in each standard.

        This is what `pipe` finds, without an object per text: for those who go on with columns.
        """
        texts, plan = list(texts), self._planner.plan(ask)
        if self._is_long(texts):
            doc = self._in_pieces(texts[0], plan, threads)
            tables = {name: doc.layer(name) for name in plan.ask.standards}
            return {name: BatchWords(each, np.array([0, len(each)])) for name, each in tables.items()}
        if plan.ask.fast:
            return self._fast.columns(texts, ask=dataclasses.replace(plan.ask, fast=False), threads=threads)
        units = self._split(texts)
        if not len(units):
            none = np.zeros(len(texts) + 1, np.int64)
            empty = self._annotator.empty_table
            return {name: BatchWords(empty(name, plan.ask), none) for name in plan.ask.standards}
        found = self._annotator.annotated(units, self._constraints(units), plan.ask, threads)
        return {name: batch_words(words, trees, with_tags=plan.ask.tags) for name, words, trees in found}

    @checked
    def segment(
        self,
        texts: Iterable[str],
        standard: str | None = None,
        *,
        fast: bool = False,
        threads: int = 1,
        batch: int | None = None,
        errors: Errors = "strict",
    ) -> Iterator[list[str]]:
        """Segment many texts in one standard, in order; the words are those of `pipe`.

        `fast` uses the fast segmenter of the model: many times as fast, but less accurate, above all outside
        news.
        """
        plan = self._planner.plan(self._words_only(standard, fast=fast))
        for texts_of_batch in _text_batches(texts, batch, errors):
            if self._is_long(texts_of_batch):
                name = plan.ask.standards[0]
                yield from (doc.words(name) for doc in self._analysed(texts_of_batch, plan, threads))
            else:
                yield from (self._fast if fast else self)._cut(texts_of_batch, plan.ask, threads)

    @checked
    def spaced(
        self, texts: Iterable[str], standard: str | None = None, *, fast: bool = False, threads: int = 1
    ) -> Iterator[str]:
        """Put two blanks between the words of many texts, in order; the words are those of `segment`.

        White space of a text stays, padded to two characters. This is what `duilian segment` writes.
        """
        plan = self._planner.plan(self._words_only(standard, fast=fast))
        for batch in batches(texts, BATCH_CHARACTERS, _text_size):
            if self._is_long(batch):
                name = plan.ask.standards[0]
                yield from (segmented_line(doc, name) for doc in self._analysed(batch, plan, threads))
            else:
                yield from (self._fast if fast else self)._spaced(batch, plan.ask, threads)

    @checked
    def search_words(
        self, text: str, *, ask: Ask | None = None, parts: bool = True, fold: bool = True
    ) -> list[SearchWord]:
        """Return the words of a text in all standards and their parts, overlapping, for a search engine.

        `ask` may choose standards, or the fast segmenter. See `Doc.search_words` for the rest, and
        `duilian.integrations.search` for many texts and for the libraries that index them.
        """
        return self(text, ask=WORDS if ask is None else ask).search_words(parts=parts, fold=fold)

    def _words_only(self, standard: str | None, *, fast: bool) -> Ask:
        self.check_segments()
        return Ask((self.standard_for(standard, fast=fast),), tags=False, trees=False, fast=fast)

    def check_segments(self) -> None:
        """Refuse to segment text with a model that reads words."""
        if self.labeler.reads == "words":
            message = f"this model of kind {self.labeler.kind!r} reads words and does not segment text"
            raise ConfigError(message, "train a character-level model (level = 'char')")

    @checked
    def standard_for(self, name: str | None = None, *, fast: bool = False) -> str:
        """Return the standard of this name; the default is the first or, if `fast`, the segmenter's."""
        return self._planner.fast_standard(name) if fast else chosen_standard(name, self.standards)

    @checked
    def with_lexicon(self, lexicon: Lexicon | None) -> Analyzer:
        """Return the same analyser with another lexicon."""
        state = self.__getstate__() | {"lexicon": lexicon}
        return Analyzer(state.pop("model"), state.pop("parser"), **state)

    @checked
    def explain(self, text: str | Doc) -> list[Finding]:
        """Report every occurrence of a lexicon word in a text, and what the analysis has there.

        The argument may be an analysis, also from `fill` or `nbest`.
        """
        if self.lexicon is None:
            return []
        doc = self(text) if isinstance(text, str) else text
        units = units_of_texts([doc.text], self._first, self.whole)
        tags = {name: each.tags for name, each in self._encodings.items()}
        return lexicon_report(self.lexicon.trace_units(doc.text, uncut_spans(units)), doc, tags)

    @checked
    def anew(
        self,
        sentences: Iterable[Sentence],
        standard: str | None = None,
        *,
        ask: Ask | None = None,
        threads: int = 1,
    ) -> Iterator[Doc]:
        """Analyse the sentences of a corpus as if they had no annotation in one standard.

        A model that reads text finds their words anew, too; one that reads words keeps them. Each sentence
        stays one. If a sentence lacks that standard, the words are those of its first layer.
        """
        if isinstance(sentences, str):
            raise TextError("expected sentences, got a string", "call the analyser to analyse text")
        name, plan = chosen_standard(standard, self.standards), self._planner.plan(ask)
        layers = (own_layer(sentence, name) for sentence in sentences_only(sentences))
        for batch in batches(layers, BATCH_CHARACTERS, _layer_size):
            units = units_of_layers(batch, self._first)
            yield from self._docs(units, self._constraints(units), plan, threads)

    @checked
    def fill(
        self,
        sentences: Iterable[Sentence],
        standard: str | None = None,
        *,
        ask: Ask | None = None,
        threads: int = 1,
    ) -> Iterator[Doc]:
        """Fill the gaps of annotated sentences.

        Words, tags, heads and relations given in a standard stay. Unknown and ambiguous tags are decided
        (consistently with a given universal tag), heads too if the parser has that standard; other standards
        follow from the words. `to_sentences` of an answer keeps everything that its sentence had.
        """
        if isinstance(sentences, str):
            raise TextError("expected annotated sentences, got a string", "call the analyser to analyse text")
        if Ability.CONSTRAINTS not in self.labeler.abilities:
            raise refuse(self.labeler, Ability.CONSTRAINTS, "use a model of kind crf or coupled")
        name, plan = chosen_standard(standard, self.standards), self._planner.plan(ask)
        annotation, answered = OpenAnnotation(name, self._encodings[name].tags or ()), 0
        for batch in batches(
            sentences_only(sentences), BATCH_CHARACTERS, lambda each: _layer_size(each[name])
        ):
            layers = [annotation.restrict(sentence[name]) for sentence in batch]
            try:
                docs = self._filled(Given(name, layers), plan, threads)
            except DuilianError:
                for number, layer in enumerate(layers, answered):
                    try:
                        self._filled(Given(name, [layer]), plan, threads)
                    except DuilianError as error:
                        raise annotation.locate(number, layer, error) from None
                raise
            for doc, sentence in zip(docs, batch, strict=True):
                doc.given = sentence
                yield doc
            answered += len(batch)

    @checked
    def nbest(self, text: str | Sentence, k: int, standard: str | None = None) -> list[Doc]:
        """Return the k best analyses of a text, or of a sentence of a corpus, with `probability`.

        The first is that of a single analysis, the others follow by probability. Sentences are independent
        of each other. A text without words has one analysis, without words and with probability 1.
        """
        name = chosen_standard(standard, self.standards)
        if Ability.NBEST not in self.labeler.abilities:
            raise refuse(self.labeler, Ability.NBEST, "use a model of kind crf or coupled")
        if isinstance(text, Sentence):
            units = units_of_layers([own_layer(text, name)], self._first)
        else:
            units = self._split([check_text(text)])
        unasked = self._planner.plan(Ask((name,), trees=False)).unasked
        if not len(units):
            no_words = empty_table(self._encodings[name].tags)
            return [Doc(units.batch[0], {name: no_words}, probability=1.0, unasked=unasked)]
        best = KBest(k)
        for sentence in units.sentences():
            constraints = self._constraints(sentence)
            answer = self._annotator.best_labels(sentence, constraints, name)
            best.add(self.labeler.k_best_labels(sentence, name, constraints, k, first=answer))
        meaning, docs = self._encodings[name].meaning, []
        for probability, labels in best.answers():
            (words,) = word_tables(Segmentation.from_labels(meaning, units, labels, None), None)
            docs.append(Doc(units.batch[0], {name: words}, probability=probability, unasked=unasked))
        return docs

    def _letter_words(self, english: English | None) -> LetterWords | None:
        """What is known of alphabetic words, if the model has learned to tag them."""
        found = letter_words(self.labeler, english or "tags")
        if english == "tags" and found is None:
            hint = "train one with [mixing], see docs/howto/mixed-text.md"
            raise ConfigError("this model has not learned to tag alphabetic words by part of speech", hint)
        return found

    @functools.cached_property
    def _fast(self) -> Analyzer:
        """The same with the segmenter alone."""
        return Analyzer(self.segmenter, lexicon=self.lexicon, whole=self.whole)

    def _split(self, batch: Sequence[str]) -> UnitBatch:
        if self.labeler.reads == "text":
            return units_of_texts(batch, self._first, self.whole)
        units = units_of_words(batch, self._first)
        if any(map(is_uncut, units.layers)):
            _log.warning("the text is not segmented: a word-level model needs spaces between words")
        return units

    def _analysed(self, batch: Sequence[str], plan: Plan, threads: int) -> list[Doc]:
        if self._is_long(batch):
            return [self._in_pieces(batch[0], plan, threads)]
        return self._at_once(batch, plan, threads)

    def _is_long(self, batch: Sequence[str]) -> bool:
        return len(batch) == 1 and len(batch[0]) > 2 * BATCH_CHARACTERS and self.labeler.reads == "text"

    def _spaced(self, batch: Sequence[str], ask: Ask, threads: int) -> list[str]:
        found = self._segmented(batch, ask, threads)
        return list(batch) if found is None else _native.spaced_texts(list(batch), *found)

    def _cut(self, batch: Sequence[str], ask: Ask, threads: int) -> list[list[str]]:
        found = self._segmented(batch, ask, threads)
        return [[] for _ in batch] if found is None else _native.cut_texts(list(batch), *found)

    def _segmented(
        self, batch: Sequence[str], ask: Ask, threads: int
    ) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32], npt.NDArray[np.int64]] | None:
        """Return starts and ends of words in one standard, and the number of words before each text."""
        units = self._split(batch)
        if not len(units):
            return None
        (name,) = ask.standards
        found = self._annotator.segmented(units, self._constraints(units), name, threads)
        return found.start, found.end, found.sentence[units.text].astype(np.int64)

    def _constraints(self, units: UnitBatch) -> dict[str, _native.Constraints]:
        return self._builder.constraints(units) if self._takes_constraints else {}

    def _at_once(self, batch: Sequence[str], plan: Plan, threads: int) -> list[Doc]:
        if plan.ask.fast:
            own = plan._replace(ask=dataclasses.replace(plan.ask, fast=False))
            return self._fast._at_once(batch, own, threads)
        units = self._split(batch)
        return self._docs(units, self._constraints(units), plan, threads)

    def _in_pieces(self, text: str, plan: Plan, threads: int) -> Doc:
        """Analyse a long text piece by piece: sentences are independent of each other."""
        tables = {name: LongTable(len(text)) for name in plan.ask.standards}
        at, doc = 0, Doc("", {})
        # Smaller than batches, because the answer needs memory, too.
        for piece in pieces(text, BATCH_CHARACTERS // 2):
            (doc,) = self._at_once([piece], plan, threads)
            for name, table in tables.items():
                table.add(doc.layer(name), at)
            at += len(piece)
        layers = {name: table.table(doc.layer(name)) for name, table in tables.items()}
        return Doc(text, layers, unasked=plan.unasked)

    def _filled(self, given: Given, plan: Plan, threads: int) -> list[Doc]:
        units = units_of_layers(given.layers, self._first)
        constraints = dict(self._constraints(units))
        constraints[given.standard] = self._builder.given(given.layers, given.standard)
        return self._docs(units, constraints, plan, threads, given)

    def _docs(
        self,
        units: UnitBatch,
        constraints: Constraints,
        plan: Plan,
        threads: int,
        given: Given = NOTHING,
    ) -> list[Doc]:
        ask = plan.ask
        if not len(units):
            layers = {name: self._annotator.empty_table(name, ask) for name in ask.standards}
            return [Doc(text, layers, unasked=plan.unasked) for text in units.batch]
        sides = []
        for name, words, trees in self._annotator.annotated(units, constraints, ask, threads, given):
            known = given.layers_in(name)
            tables = word_tables(words, trees, with_tags=ask.tags)
            if known and trees is None:  # given trees in a standard without a parser
                pairs = zip(tables, known, strict=True)
                tables = [each.with_trees(layer.heads, layer.relations) for each, layer in pairs]
            sides.append(tables)
        return [
            Doc(text, dict(zip(ask.standards, layers, strict=True)), unasked=plan.unasked)
            for text, layers in zip(units.batch, zip(*sides, strict=True), strict=True)
        ]


def is_uncut(layer: Layer) -> bool:
    """Whether the words of a layer are probably text that nobody has segmented."""
    longest = max(layer.words, key=len, default="")
    is_long = (
        len(longest) > MAX_UNCUT
        and "han" in texts.char_types(longest)
        and 2 * _layer_size(layer) > MAX_UNCUT * len(layer.words)  # not one long word among others
        and 2 * len(set(longest)) > MAX_UNCUT  # nor 哈哈哈…
    )
    return is_long or _MARK_IN_WORD.search(" ".join(layer.words)) is not None


def own_layer(sentence: Sentence, standard: str) -> Layer:
    """Return the layer of a standard, or the first if there is none."""
    return sentence.layers[standard] if standard in sentence.layers else next(iter(sentence.layers.values()))


def _layer_size(layer: Layer) -> int:
    return sum(map(len, layer.words)) + 1


def _text_batches(texts: Iterable[str], batch: int | None, errors: Errors) -> Iterator[list[str]]:
    """Yield texts in batches of about `batch` characters."""
    if isinstance(texts, str | bytes):
        raise TextError("expected a list of texts, got a single string", "put it in a list: [text]")
    size = BATCH_CHARACTERS if batch is None else batch
    if errors == "strict" and type(texts) is list and set(map(type, texts)) == {str}:
        yield from text_batches(texts, size)
        return
    given = texts if errors == "strict" else (check_text(text, errors) for text in texts)
    yield from batches(given, size, _text_size)


def _text_size(text: str) -> int:
    return len(text if isinstance(text, str) else check_text(text)) + 1
