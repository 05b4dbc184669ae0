"""An analysis as sentences of a corpus, and these in CoNLL-U."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from duilian.corpus import FORMATS, Layer, Sentence
from duilian.corpus.formats.lookup import FormatOptions
from duilian.corpus.paired_layers import split_pairs
from duilian.corpus.sentence import NO_COLUMNS
from duilian.corpus.tag_spelling import UNKNOWN_FIELD
from duilian.document.word_table import PLACES, WordTable
from duilian.standards import conll_column, universal_features, universal_tags, universal_under

if TYPE_CHECKING:
    from duilian.document.doc import Doc


def corpus_sentences(text: str, tables: Mapping[str, WordTable], given: Sentence | None) -> list[Sentence]:
    """The sentences of a text, or the given sentence completed."""
    parts = {name: _layers(text, table) for name, table in tables.items()}
    if given is not None:
        found = {name: layer for name, layers in parts.items() for layer in layers}
        return [dataclasses.replace(given, layers={**found, **_completed(given, found)})]
    return [Sentence(dict(zip(parts, layers, strict=True))) for layers in zip(*parts.values(), strict=True)]


def _layers(text: str, table: WordTable) -> list[Layer]:
    words = tuple(table.words(text))
    tags = None if table.tags is None else tuple(table.tags)
    heads = None if table.heads is None else tuple(table.heads_or_none())
    relations = None if table.relations is None else tuple(table.relations)
    xpos = None if table.xpos is None else tuple(tag or UNKNOWN_FIELD for tag in table.xpos)
    gaps = []
    if sum(map(len, words)) < len(text):
        gaps = [text[a:b] for a, b in zip(table.end.tolist(), table.start[1:].tolist(), strict=False)]
    found = []
    for a, b in itertools.pairwise(table.sentence.tolist()):
        found.append(
            Layer(
                words[a:b],
                None if tags is None else tags[a:b],
                None if heads is None else heads[a:b],
                None if relations is None else relations[a:b],
                (*gaps[a : b - 1], "") if any(gaps[a : b - 1]) else None,
                columns=NO_COLUMNS if xpos is None else {"xpos": xpos[a:b]},
            )
        )
    return found


def _completed(given: Sentence, found: Mapping[str, Layer]) -> dict[str, Layer]:
    """The layers of a partly annotated sentence, completed by what was found."""
    layers = dict(given.layers)
    for name, layer in found.items():
        if name in layers and layers[name].words == layer.words:
            own = layers[name] if "xpos" not in layer.columns else split_pairs(layers[name])
            layers[name] = dataclasses.replace(
                own,
                tags=_merged(own.tags, layer.tags),
                heads=_merged(own.heads, layer.heads),
                relations=_merged(own.relations, layer.relations),
                columns={**own.columns, **_merged_xpos(own, layer)},
            )
    return layers


def _merged_xpos(given: Layer, found: Layer) -> dict[str, tuple[str, ...]]:
    """The specific tags, if any were found: those given, and where one is missing, the one found."""
    own, new = given.columns.get("xpos"), found.columns.get("xpos")
    if new is None or own is None:
        return {} if new is None else {"xpos": new}
    return {"xpos": tuple(b if a == UNKNOWN_FIELD else a for a, b in zip(own, new, strict=True))}


def _merged(given: tuple[Any, ...] | None, found: tuple[Any, ...] | None) -> tuple[Any, ...] | None:
    """The given values; where one is missing or a set of alternatives, the value found."""
    if given is None or found is None:
        return found if given is None else given
    is_open = [each is None or isinstance(each, frozenset) for each in given]
    return tuple([new if choose else old for old, new, choose in zip(given, found, is_open, strict=True)])


def conllu_blocks(
    doc: Doc, standard: str, column: str | None = None, *, first: int = 1, paragraph: tuple[str, ...] = ()
) -> Iterator[str]:
    """Write each sentence in CoNLL-U. Sentences are numbered from `first`; `paragraph` comments come before
    it. A given sentence that comes from CoNLL-U gets neither.

    `column` has the tags and defaults to xpos, or upos for universal tags; if it is xpos, upos has the
    universal tags that follow from them. MISC has each word's span and confidence.
    """
    write = FORMATS["conllu"].write
    assert write is not None
    if doc.given is not None and "misc" in doc.given[standard].columns:
        sentences = iter([_given_sentence(doc, standard)])
    else:
        sentences = _numbered_sentences(doc, standard, column, first, paragraph)
    yield from write(sentences, FormatOptions(standard=standard))


def _numbered_sentences(
    doc: Doc, standard: str, column: str | None, first: int, paragraph: tuple[str, ...]
) -> Iterator[Sentence]:
    numbers = itertools.count(first)
    for piece in doc.only(standard).pieces():
        table = piece.layer()
        misc, edges = _misc(doc.text, table), itertools.pairwise(table.sentence.tolist())
        for sentence, (a, b) in zip(piece.to_sentences(), edges, strict=True):
            layer, id = sentence[standard], sentence.id or str(next(numbers))
            layer = _agreeing_with_tree(layer)
            columns = {**with_universal_tags(layer, standard, column).columns, **_lemmas_and_features(layer)}
            layer = dataclasses.replace(layer, columns={**columns, "misc": misc[a:b]})
            comments = (*paragraph, f"# sent_id = {id}", f"# text = {_text_of_rows(layer.words, misc[a:b])}")
            yield Sentence({standard: layer}, id, comments)
            paragraph = ()


def _text_of_rows(words: tuple[str, ...], misc: tuple[str, ...]) -> str:
    """The text without invisible characters between words, which validators refuse."""
    gaps = ("" if note.startswith("SpaceAfter=No") else " " for note in misc)
    return " ".join("".join(itertools.chain.from_iterable(zip(words, gaps, strict=True))).split())


def _agreeing_with_tree(layer: Layer) -> Layer:
    """The layer with the universal tags that validators demand for its relations. Which words are concerned
    depends on their specific tags; without those, nothing changes.
    """
    if "xpos" not in layer.columns or layer.relations is None:
        return layer
    rows = zip(layer.relations, layer.tags or (), layer.columns["xpos"], strict=True)
    return dataclasses.replace(layer, tags=tuple(universal_under(name, str(u), x) for name, u, x in rows))


def _lemmas_and_features(layer: Layer) -> dict[str, tuple[str, ...]]:
    """The lemma, which is the word itself, and the features that follow from a pair of tags."""
    if "xpos" not in layer.columns:
        return {}
    rows = zip(layer.words, layer.tags or (), layer.columns["xpos"], strict=True)
    return {"lemma": layer.words, "feats": tuple(universal_features(w, str(u), x) for w, u, x in rows)}


def _misc(text: str, table: WordTable) -> tuple[str, ...]:
    start, end = table.start.tolist(), table.end.tolist()
    # The text may end here.
    is_apart = [not text[b : b + 1].strip() for b in end]
    notes = [
        f"TokenRange={a}:{b}" if apart else f"SpaceAfter=No|TokenRange={a}:{b}"
        for a, b, apart in zip(start, end, is_apart, strict=True)
    ]
    if table.confidence is None:
        return tuple(notes)
    confidence = table.confidence.tolist()
    return tuple([f"{note}|Conf={p:.{PLACES}f}" for note, p in zip(notes, confidence, strict=True)])


def _given_sentence(doc: Doc, standard: str) -> Sentence:
    """A given sentence, completed. Its annotation is unchanged; MISC has the confidence of each tag added."""
    assert doc.given is not None
    (sentence,) = doc.only(standard).to_sentences()
    layer = sentence[standard]
    given = doc.given[standard].tags or (None,) * len(layer)
    column = "xpos" if "upos" in layer.columns else "upos"
    columns = dict(with_universal_tags(layer, standard, column).columns)
    columns["misc"] = tuple(
        misc if isinstance(tag, str) or token.confidence is None else _with_confidence(misc, token.confidence)
        for tag, misc, token in zip(given, columns["misc"], doc.tokens(standard), strict=True)
    )
    return dataclasses.replace(sentence, layers={standard: dataclasses.replace(layer, columns=columns)})


def with_universal_tags(layer: Layer, standard: str, column: str | None) -> Layer:
    """If the tags of a layer go to xpos (see `column` and the standard), add the universal tags that follow
    from them as upos where these are missing; else return the layer unchanged.
    """
    if "xpos" in layer.columns or (column or conll_column(standard)) != "xpos":
        return layer
    universal, unknown = universal_tags(standard), (UNKNOWN_FIELD,) * len(layer)
    upos = tuple(
        universal.get(str(tag), UNKNOWN_FIELD) if given == UNKNOWN_FIELD else given
        for tag, given in zip(layer.tags or unknown, layer.columns.get("upos", unknown), strict=True)
    )
    return dataclasses.replace(layer, columns={**layer.columns, "upos": upos})


def _with_confidence(misc: str, confidence: float) -> str:
    notes = [note for note in misc.split("|") if note != UNKNOWN_FIELD and not note.startswith("Conf=")]
    return "|".join([*notes, f"Conf={confidence:.{PLACES}f}"])
