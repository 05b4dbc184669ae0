"""`Doc` and `Token`: what an analyser says about a text.

Words are spans of the user's own text: `text[token.start:token.end] == token.text` holds for every token, and
only white space and invisible characters are between tokens. So the text can always be reconstructed.
"""

from __future__ import annotations

import importlib
import itertools
import json
import numbers
from collections.abc import Collection, Iterator, Mapping
from typing import Any, NamedTuple, overload

import numpy as np

from duilian.arguments import checked
from duilian.corpus import Sentence
from duilian.document.as_json import document_json
from duilian.document.search_words import SearchWord, search_terms, search_words
from duilian.document.word_table import WordTable
from duilian.errors import ArgumentError, ConfigError
from duilian.models.roles import chosen_standard
from duilian.result_tables import frame
from duilian.text import is_traditional
from duilian.wording import counted

MAX_WORDS_IN_REPR = 12
MAX_CHARACTERS_IN_REPR = 80
MAX_WORDS_IN_HTML = 200
WORDS_OF_A_PIECE = 10_000
PARTS = ("tags", "trees")  # what `unasked` may name besides standards


class Token(NamedTuple):
    """A word of a text in one standard.

    >>> token = Token("北京", 3, 5, tag="ns", head=2)
    >>> token.text, token.tag, "我们去北京"[token.start : token.end], token.relation
    ('北京', 'ns', '北京', None)
    """

    text: str
    start: int  # in characters of the text
    end: int
    tag: str | None = None
    confidence: float | None = None  # probability of word and tag: that of the least certain character
    head: int | None = None  # number of the head in the sentence, counted from 1; 0 for the root
    relation: str | None = None
    marginals: Mapping[str, float] | None = None  # the probability of each likely tag, if requested
    xpos: str | None = None  # the language-specific tag, if `tag` is a universal one and there are both


FRAME_TITLES = ("standard", "sentence", *Token._fields[:-2], "xpos")


class Group(NamedTuple):
    """The fewest words, `a` in one standard and `b` in another, that cover the same characters."""

    a: range
    b: range


class Doc:
    """A text with its words in every standard of the analysis; the first standard is the default.

    Analysers return it. As a sequence, it has the tokens of the first standard.

    >>> pku = WordTable([0, 2, 3, 5], [2, 3, 5, 6], sentence=[0, 4], tags=["r", "v", "ns", "w"])
    >>> doc = Doc("我们去北京。", {"pku": pku})  # or zh("我们去北京。")
    >>> doc
    Doc(pku='我们/r 去/v 北京/ns 。/w')
    >>> doc.words(), doc.tags("PKU")
    (['我们', '去', '北京', '。'], ['r', 'v', 'ns', 'w'])
    >>> len(doc), doc[2].text, doc[2].start, [token.tag for token in doc[-2:]]
    (4, '北京', 3, ['ns', 'w'])

    `given` is the partly annotated sentence that the analysis completes, if any. `unasked` names what the
    analyser could have found but was not asked for: "tags", "trees", standards.
    """

    def __init__(
        self,
        text: str,
        layers: Mapping[str, WordTable],
        *,
        probability: float | None = None,
        given: Sentence | None = None,
        unasked: Collection[str] = (),
    ) -> None:
        self.text = text
        self.probability = probability  # if this is one of several analyses
        self.given = given
        self.unasked = unasked
        self._layers = dict(layers)

    def __repr__(self) -> str:
        shown = [f"{name}={self._abbreviated(layer)!r}" for name, layer in self._layers.items()]
        if self.probability is not None:
            shown.append(f"probability={self.probability:.4g}")
        return f"Doc({', '.join(shown or [repr(self.text[:MAX_CHARACTERS_IN_REPR])])})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Doc):
            return NotImplemented
        # As lists, because the first standard is the default.
        is_same = (self.text, self.probability) == (other.text, other.probability)
        return is_same and list(self._layers.items()) == list(other._layers.items())

    __hash__ = None  # type: ignore[assignment]

    def __len__(self) -> int:
        return len(self.layer())

    def __iter__(self) -> Iterator[Token]:
        for piece in self.pieces():
            yield from piece.tokens()

    @overload
    def __getitem__(self, place: int) -> Token: ...

    @overload
    def __getitem__(self, place: slice) -> list[Token]: ...

    def __getitem__(self, place: int | slice) -> Token | list[Token]:
        if isinstance(place, slice):
            return self._tokens(self.layer()[place])
        if not isinstance(place, numbers.Integral):
            hint = "the words of a standard are in doc.words('pku')"
            raise ArgumentError(f"place must be a whole number or a slice, got {place!r}", hint)
        number = range(len(self))[place]  # counted from the end if negative, or an IndexError
        return self._tokens(self.layer()[number : number + 1])[0]

    @property
    def standards(self) -> tuple[str, ...]:
        """The standards of this analysis."""
        return tuple(self._layers)

    @property
    def is_traditional(self) -> bool:
        """Whether the text is in traditional characters."""
        return is_traditional(self.text)

    def layer(self, standard: str | None = None) -> WordTable:
        """The words of one standard, as arrays."""
        return self._layers[self._name(standard)]

    def only(self, standard: str) -> Doc:
        """The same text in one standard only."""
        name = self._name(standard)
        return self._with_layers({name: self._layers[name]})

    @checked
    def pieces(self, words: int = WORDS_OF_A_PIECE) -> Iterator[Doc]:
        """Cut a long analysis after sentences, about every `words` words; offsets stay those of the text."""
        layer = self.layer()
        if len(layer) <= words:
            yield self
            return
        starts = np.arange(0, len(layer), words)
        cuts = np.unique([*np.searchsorted(layer.sentence, starts), len(layer.sentence) - 1])
        for a, b in itertools.pairwise(cuts.tolist()):
            yield self._with_layers({name: each.part(a, b) for name, each in self._layers.items()})

    def words(self, standard: str | None = None) -> list[str]:
        """The words."""
        return self.layer(standard).words(self.text)

    def tags(self, standard: str | None = None) -> list[str]:
        """The tags of the words."""
        found = self.layer(standard).tags
        if found is None:
            raise self._missing("tags", "the analyser was trained without tags")
        return found.tolist()

    def tokens(self, standard: str | None = None) -> list[Token]:
        """The words with everything known about them."""
        return self._tokens(self.layer(standard))

    def sentences(self, standard: str | None = None) -> list[list[Token]]:
        """The tokens of each sentence."""
        tokens, edges = self.tokens(standard), self.layer(standard).sentence.tolist()
        return [tokens[a:b] for a, b in itertools.pairwise(edges)]

    @property
    def tree_standard(self) -> str | None:
        """The standard whose words have heads."""
        return next((name for name, layer in self._layers.items() if layer.heads is not None), None)

    @property
    def heads(self) -> list[int | None]:
        """For each word of `tree_standard`: the number of its head in the sentence, 0 for the root."""
        return self._tree().heads_or_none()

    @property
    def relations(self) -> list[str | None]:
        """For each word of `tree_standard`: its relation to its head."""
        found = self._tree().relations
        if found is None:
            raise ConfigError("the trees have no relations")
        return found.tolist()

    def align(self, a: str, b: str) -> list[Group]:
        """Align the words of two standards: the smallest groups that cover the same characters."""
        # Both segment the same characters, so every sentence ends with a word of each.
        _, ends_a, ends_b = np.intersect1d(
            self.layer(a).end, self.layer(b).end, assume_unique=True, return_indices=True
        )
        pairs = itertools.pairwise([(0, 0), *zip((ends_a + 1).tolist(), (ends_b + 1).tolist(), strict=True)])
        return [Group(range(i, k), range(j, m)) for (i, j), (k, m) in pairs]

    @checked
    def search_words(self, *, parts: bool = True, fold: bool = True) -> list[SearchWord]:
        """The words of all standards and their parts, overlapping, with positions for a search engine.

        Without `parts`, there are only whole words, as for a query that must match exactly. Words are folded
        to half-width, lower case and simplified characters, unless `fold` is False.
        """
        return search_words(self.text, self._layers, parts=parts, fold=fold)

    @checked
    def search_terms(self, *, parts: bool = True, fold: bool = True) -> list[str]:
        """The texts of the same words, for engines without positions."""
        return search_terms(self.text, self._layers, parts=parts, fold=fold)

    def to_sentences(self) -> list[Sentence]:
        """The sentences for a corpus, each with a layer for every standard; a given sentence keeps all its
        annotation.

        White space before the first word of a sentence is only in `text`.
        """
        from duilian.document.export import corpus_sentences  # slow: it needs the formats of corpora

        return corpus_sentences(self.text, self._layers, self.given)

    def to_conllu(self, standard: str | None = None) -> str:
        """The sentences in CoNLL-U, as written by `duilian analyze`; by default in `tree_standard`."""
        from duilian.document.export import conllu_blocks

        name = self._name(standard or self.tree_standard)
        return "".join(conllu_blocks(self, name, paragraph=("# newpar id = 1",)))

    def to_dict(self) -> dict[str, Any]:
        """The text and, for each standard, words, tags, spans and everything else known, as plain lists."""
        ranked = {} if self.probability is None else {"probability": self.probability}
        layers = {name: layer.to_dict(self.text) for name, layer in self._layers.items()}
        return {"text": self.text, **ranked, "standards": layers}

    def to_json(self) -> str:
        """The same as `to_dict`, as a line of JSON."""
        return self.to_json_bytes().decode("utf-8", "surrogatepass")

    def to_json_bytes(self) -> bytes:
        """The same as `to_json`, in UTF-8, for files and services."""
        if self.probability is None:
            return document_json(self.text, self._layers)
        return json.dumps(self.to_dict(), ensure_ascii=False).encode("utf-8", "surrogatepass")

    def to_frame(self, standard: str | None = None) -> Any:
        """A pandas DataFrame with a row for each word of one standard, or of all."""
        names = self.standards if standard is None else (self._name(standard),)
        rows = (
            (name, number, *token[: Token._fields.index("marginals")], token.xpos)
            for name in names
            for number, tokens in enumerate(self.sentences(name))
            for token in tokens
        )
        return frame(FRAME_TITLES, rows)

    def _repr_html_(self) -> str:
        """The couplet and the tree, for notebooks; a long text is cut short."""
        first = next(self.pieces(MAX_WORDS_IN_HTML))
        rest = len(self) - len(first)
        more = f"<p>… and {counted(rest, 'more word')}</p>" if rest else ""
        # Notebooks call this method of the object itself; so, as an exception, it imports from views.
        drawn = importlib.import_module("duilian.views.pictures").picture([first])
        return f'<div style="overflow-x:auto">{drawn}{more}</div>'

    def _name(self, standard: str | None) -> str:
        if isinstance(standard, str) and standard in self._layers:
            return standard
        if not self._layers:
            raise ConfigError("the text has not been analysed")
        others = (each for each in self.unasked if each not in PARTS)
        name = chosen_standard(standard, (*self._layers, *others))
        if name not in self._layers:
            hint = f"use `zh(text)`, or name it in `Ask(standards=[{name!r}])`"
            raise ConfigError(f"the standard {name!r} was not asked for", hint)
        return name

    def _with_layers(self, layers: Mapping[str, WordTable]) -> Doc:
        return Doc(self.text, layers, probability=self.probability, given=self.given, unasked=self.unasked)

    def _tokens(self, layer: WordTable) -> list[Token]:
        lists: tuple[list[Any] | None, ...] = (
            layer.words(self.text),
            layer.start.tolist(),
            layer.end.tolist(),
            None if layer.tags is None else layer.tags.tolist(),
            None if layer.confidence is None else layer.confidence.tolist(),
            None if layer.heads is None else layer.heads_or_none(),
            None if layer.relations is None else layer.relations.tolist(),
            None if layer.marginals is None else list(layer.marginals),
            None if layer.xpos is None else layer.xpos.tolist(),
        )
        columns = (itertools.repeat(None) if each is None else each for each in lists)
        return list(map(Token._make, zip(*columns, strict=False)))

    def _tree(self) -> WordTable:
        if self.tree_standard is None:
            raise self._missing("trees", "the analyser has no parser")
        return self._layers[self.tree_standard]

    def _missing(self, what: str, impossible: str) -> ConfigError:
        """The error for something that was not asked for, or that the analyser cannot find."""
        if what not in self.unasked:
            return ConfigError(impossible)
        where = " with the parser's standard" if what == "trees" else ""
        return ConfigError(f"{what} were not asked for", f"use `zh(text)`, or `Ask({what}=True)`{where}")

    def _abbreviated(self, layer: WordTable) -> str:
        first = self._tokens(layer[:MAX_WORDS_IN_REPR])
        line = " ".join(token.text if token.tag is None else f"{token.text}/{token.tag}" for token in first)
        if len(layer) <= MAX_WORDS_IN_REPR and len(line) <= MAX_CHARACTERS_IN_REPR:
            return line
        return f"{line[:MAX_CHARACTERS_IN_REPR]} … ({counted(len(layer), 'word')})"
