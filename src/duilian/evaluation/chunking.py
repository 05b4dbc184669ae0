"""Chunks in sequences of labels, read as conlleval, the program of the CoNLL shared tasks, reads them.

Labels are `O`, or a letter and a type: `B-NP`, `B@NN`, a bare `B`. Any sequence of labels has chunks, even an
illegal one: a chunk goes from one cut to the next, and there is a cut
    before t  <=>  t starts the sentence, or t is B or S, or t - 1 is E or S, or their types differ,
                   or one of them is O.
So an I after O or after another type starts a chunk. For the letters B, I and O this is conlleval's rule;
conlleval has no S, and for E and S we follow the usual extension (as in seqeval).
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from duilian.corpus.sentence import Entity
from duilian.errors import ConfigError
from duilian.evaluation.score import BoolArray, IntArray, Score, counts_per_sentence, token_pairs

# M is the inner letter of BMES.
_LABEL = re.compile(r"(?P<letter>[BIMES])(?:[-@](?P<type>.*))?", re.DOTALL)
_TYPED = re.compile(r"[BIMES][-@].+", re.DOTALL)
OUTSIDE = "O"
_NO_TYPE = -1


@dataclasses.dataclass(frozen=True)
class ChunkScore:
    """Scores of all chunks, and of each type by name."""

    overall: Score
    by_type: Mapping[str, Score]


def chunks(labels: Sequence[str]) -> list[Entity]:
    """The chunks of one sentence; the type of a bare letter is empty."""
    reader = _ChunkReader()
    rows = reader.read([labels], np.array([len(labels)], dtype=np.int64))
    types = list(reader.types)
    triples = zip(rows.start.tolist(), rows.end.tolist(), rows.type.tolist(), strict=True)
    return [Entity(start, end, types[type_id]) for start, end, type_id in triples]


def chunk_score(gold: Iterable[Sequence[str]], guess: Iterable[Sequence[str]]) -> ChunkScore:
    """Precision, recall and F1 of chunks: the same tokens and the same type.

    >>> chunk_score([["B-NP", "I-NP", "O"]], [["B-NP", "I-NP", "B-VP"]]).overall.precision
    50.0
    """
    matched = _match(gold, guess)
    types = len(matched.types)
    columns = [
        np.bincount(found, minlength=types)
        for found in (matched.gold.type, matched.guess.type, matched.gold.type[matched.is_correct])
    ]
    table = np.stack(columns, axis=1).astype(np.int64)
    by_type = {name: Score(*row) for name, row in zip(matched.types, table.tolist(), strict=True)}
    return ChunkScore(Score.of(table), dict(sorted(by_type.items())))


def chunk_counts(gold: Iterable[Sequence[str]], guess: Iterable[Sequence[str]]) -> IntArray:
    """[N, 3] chunks in gold, in the guess, and in both, per sentence: for `significance`."""
    matched = _match(gold, guess)
    owner = np.repeat(np.arange(len(matched.sizes)), matched.sizes)
    of_gold, of_guess = owner[matched.gold.start], owner[matched.guess.start]
    return counts_per_sentence(of_gold, of_guess, of_gold[matched.is_correct], len(matched.sizes))


def are_chunk_labels(labels: Iterable[object]) -> bool:
    """Whether these must be chunk labels: all are `O` or a letter with a type, and not all are `O`."""
    found = set(labels) - {OUTSIDE}
    return bool(found) and all(isinstance(label, str) and _TYPED.fullmatch(label) for label in found)


@dataclasses.dataclass(frozen=True, eq=False)
class _Chunks:
    """The chunks of all sentences; tokens are counted through all of them."""

    start: IntArray  # [chunks]
    end: IntArray  # [chunks]
    type: IntArray  # [chunks]


@dataclasses.dataclass(frozen=True, eq=False)
class _Matched:
    gold: _Chunks
    guess: _Chunks
    is_correct: BoolArray  # [gold chunks]
    sizes: IntArray  # [N] labels of each sentence
    types: list[str]


def _match(gold: Iterable[Sequence[str]], guess: Iterable[Sequence[str]]) -> _Matched:
    gold_rows, guess_rows = [], []
    for left, right in token_pairs(gold, guess, "labels"):
        gold_rows.append(left)
        guess_rows.append(right)
    sizes = np.fromiter(map(len, gold_rows), np.int64, len(gold_rows))
    reader = _ChunkReader()
    found, guessed = reader.read(gold_rows, sizes), reader.read(guess_rows, sizes)
    # The chunks of one side do not overlap, so at most one starts at each token.
    end_at = np.zeros(int(sizes.sum()), np.int64)
    type_at = np.zeros_like(end_at)
    end_at[guessed.start], type_at[guessed.start] = guessed.end, guessed.type
    is_correct = (end_at[found.start] == found.end) & (type_at[found.start] == found.type)
    return _Matched(found, guessed, is_correct, sizes, list(reader.types))


class _ChunkReader:
    """Finds chunks; numbers labels and types, with the same numbers for gold and guess."""

    def __init__(self) -> None:
        self.types: dict[str, int] = {}
        self._labels: dict[str, int] = {}
        self._opens: list[bool] = []  # [labels] B, S
        self._closes: list[bool] = []  # [labels] E, S
        self._type: list[int] = []  # [labels] the type, or _NO_TYPE outside

    def read(self, rows: Sequence[Sequence[str]], sizes: IntArray) -> _Chunks:
        for number, row in enumerate(rows, 1):
            for label in set(row).difference(self._labels):
                self._add(label, number)
        total = int(sizes.sum())
        labels = np.fromiter((self._labels[label] for row in rows for label in row), np.int64, total)
        opens = np.array(self._opens, dtype=np.bool_)[labels]
        closes = np.array(self._closes, dtype=np.bool_)[labels]
        kind = np.array(self._type, dtype=np.int64)[labels]
        # [T + 1] whether there is a cut before t; the end of the text is one.
        cut = np.ones(total + 1, np.bool_)
        cut[1:-1] = opens[1:] | closes[:-1] | (kind[1:] != kind[:-1])
        cut[np.cumsum(sizes)] = True
        places = np.flatnonzero(cut)
        is_chunk = kind[places[:-1]] != _NO_TYPE
        start, end = places[:-1][is_chunk], places[1:][is_chunk]
        return _Chunks(start, end, kind[start])

    def _add(self, label: str, number: int) -> None:
        # conlleval also takes a full stop for outside.
        is_outside = label == "." or label.split("-", 1)[0] == OUTSIDE
        found = _LABEL.fullmatch(label)
        if found is None and not is_outside:
            raise ConfigError(
                f"sentence {number}: {label!r} is not a chunk label",
                "expected O, or B, I, M, E or S with a type after - or @, for instance B-NP",
            )
        letter = OUTSIDE if found is None else found["letter"]
        name = "" if found is None else found["type"] or ""
        self._labels[label] = len(self._labels)
        self._opens.append(letter in "BS")
        self._closes.append(letter in "ES")
        self._type.append(_NO_TYPE if found is None else self.types.setdefault(name, len(self.types)))
