"""What tools/neural_teacher.py is made of: words as numbers, a network over them, and the best trees."""

from __future__ import annotations

import collections
import pickletools
import unicodedata
import zipfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn
from torch.nn.functional import dropout, leaky_relu

PAD, UNKNOWN = 0, 1
BUCKETS = 16384  # of pairs of characters
FAR = 33  # longer arcs share a weight
DROPOUT = 0.33
VECTORS, VECTOR_SHAPE = "cnsyn/query/words_tree_mini.m", (129_691, 75)
NUMERALS = frozenset("零一二三四五六七八九十百千万亿〇两")
Array = npt.NDArray[Any]


class Names:
    """Numbers of strings; 0 is padding, 1 is unknown."""

    def __init__(self, names: Iterable[str], least: int = 1) -> None:
        counts = collections.Counter(names)
        self.names = ["", "?", *sorted(name for name, count in counts.items() if count >= least)]
        self.numbers = {name: number for number, name in enumerate(self.names)}

    def __call__(self, name: str) -> int:
        return self.numbers.get(name, UNKNOWN)

    def __len__(self) -> int:
        return len(self.names)


def read_vectors(wheel: Path) -> tuple[dict[str, int], Array]:
    """Read the word vectors from the wheel, without running what is pickled there."""
    data = zipfile.ZipFile(wheel).read(VECTORS)
    start = data.index(b"allow_mmap\x94\x88ub") + len(b"allow_mmap\x94\x88ub")
    rows, width = VECTOR_SHAPE
    vectors = np.frombuffer(data, "<f8", rows * width, start).reshape(rows, width).astype(np.float32)
    tail = data[data.rindex(b"\x8c\x05words\x94") + 8 :]
    operations = (op for op in pickletools.genops(tail) if "UNICODE" in op[0].name or "GET" in op[0].name)
    words = {str(op[1]): number + 1 for number, op in enumerate(operations) if "UNICODE" in op[0].name}
    return words, np.concatenate((np.zeros((1, width), np.float32), vectors / vectors.std()))


def shape(word: str) -> int:
    """Number, letters, other ASCII, Chinese numeral, punctuation, or anything else."""
    if word.isascii():
        return 1 if word.isdigit() else 2 if word.isalpha() else 3
    if NUMERALS.issuperset(word):
        return 4
    return 5 if unicodedata.category(word[0])[0] == "P" else 6


def bucket(pair: str) -> int:
    """The number of a pair of characters, the same on every machine."""
    return 1 + (ord(pair[0]) * 1_000_003 + ord(pair[1])) % (BUCKETS - 1)


class Words:
    """What the network sees of words."""

    def __init__(self, data: Path, vectors: dict[str, int], frequency: dict[str, float]) -> None:
        self.vectors, self.frequency = vectors, frequency
        self.names = Names(frequency)
        self.characters = Names((c for word in frequency for c in word), 2)
        lines = (data / "lists/cedict-words.txt").read_text(encoding="utf-8").splitlines()
        self.listed = {p[0]: p[2] for p in map(str.split, lines) if len(p) == 3 and p[0] != "#"}
        self.list_tags = Names(self.listed.values())
        self.seen: dict[str, tuple[float, ...]] = {}

    def vector(self, parts: Iterable[str]) -> int:
        """The first part that has a vector."""
        return next((self.vectors[part] for part in parts if part in self.vectors), 0)

    def features(self, word: str) -> tuple[float, ...]:
        """The frequency in training, then numbers for the tables of the network."""
        if word not in self.seen:
            c, n = self.characters, len(word)
            pairs = (bucket(word[:2]), bucket(word[-2:])) if n > 2 else (0, 0)
            ends = (self.vector(word[k:] for k in range(n)), self.vector(word[:k] for k in range(n, 0, -1)))
            tag = self.list_tags(self.listed[word]) if word in self.listed else PAD
            about = (min(n, 6), shape(word), tag)
            spelling = (c(word[0]), c(word[-1]), c(word[1]) if n > 2 else PAD)
            number = self.names(word)
            self.seen[word] = (self.frequency.get(word, 0.0), number, *spelling, *pairs, *about, *ends)
        return self.seen[word]

    def batch(self, sentences: Sequence[Sequence[str]]) -> Tensor:
        """Features by position, sentence and kind."""
        found = torch.zeros(max(map(len, sentences)), len(sentences), 12)
        for column, words in enumerate(sentences):
            found[: len(words), column] = torch.tensor([self.features(word) for word in words])
        return found


def locked(x: Tensor, share: float, training: bool) -> Tensor:
    """Dropout that is the same for all words of a sentence."""
    return x * dropout(torch.ones_like(x[:1]), share, training)


class Network(nn.Module):
    """Two LSTMs, and a choice of head, relation and tags for each word."""

    def __init__(self, words: Words, pairs: int, relations: int, vectors: Array, hidden: int = 256) -> None:
        super().__init__()
        c, wide = len(words.characters), 2 * hidden
        sizes = [(len(words.names), 100), (c, 48), (c, 48), (c, 24), (BUCKETS, 24), (BUCKETS, 32)]
        sizes += [(7, 8), (7, 8), (len(words.list_tags), 8)]
        tables = [nn.Embedding(rows, width) for rows, width in sizes]
        for table in tables:
            nn.init.normal_(table.weight, std=0.3)
        self.tables = nn.ModuleList(tables)
        self.vectors = torch.from_numpy(vectors)
        self.from_vectors = nn.Linear(2 * vectors.shape[1], 100)
        seen = sum(width for _, width in sizes) + 100
        self.root = nn.Parameter(torch.randn(seen) * 0.1)
        self.lstms = nn.ModuleList(nn.LSTM(size, hidden, bidirectional=True) for size in (seen, wide))
        self.ends = nn.ModuleList(nn.Linear(wide, size) for size in (400, 400, 100, 100))
        self.arc = nn.Parameter(torch.randn(401, 400) * 0.02)
        self.distance = nn.Parameter(torch.zeros(2, FAR + 1))
        self.relation = nn.Parameter(torch.randn(101, relations * 101) * 0.02)
        self.tag = nn.Sequential(
            nn.Linear(wide, 256), nn.LeakyReLU(0.1), nn.Dropout(DROPOUT), nn.Linear(256, pairs)
        )

    def states(self, features: Tensor) -> Tensor:
        """A state for the root and each word."""
        frequency, numbers = features[..., 0], features[..., 1:].long()
        with_vector = torch.ones_like(frequency)
        if self.training:  # as if a rare word had not been seen, or had no vector
            unseen = torch.rand_like(frequency) < 0.35 / (0.35 + frequency) + 0.05
            numbers[..., 0] = torch.where(unseen & (numbers[..., 0] > UNKNOWN), UNKNOWN, numbers[..., 0])
            with_vector = (torch.rand_like(frequency) > 0.1).float()
        vectors = self.vectors[numbers[..., 9:11]].flatten(-2) * with_vector[..., None]
        parts = [table(numbers[..., k]) for k, table in enumerate(self.tables)]
        x = dropout(torch.cat((*parts, self.from_vectors(vectors)), -1), 0.1, self.training)
        x = torch.cat((self.root.expand(1, x.shape[1], -1), locked(x, 0.2, self.training)))
        for lstm in self.lstms:
            x = locked(lstm(x)[0], DROPOUT, self.training)
        return x

    def end(self, kind: int, states: Tensor) -> Tensor:
        """One end of an arc: sentences first."""
        return locked(leaky_relu(self.ends[kind](states), 0.1), DROPOUT, self.training).transpose(0, 1)

    def arcs(self, states: Tensor) -> Tensor:
        """Scores of heads: sentence, dependent, head."""
        head, dependent = self.end(0, states), self.end(1, states)
        places = torch.arange(len(states))
        ahead = places[None] - places[:, None]
        side = torch.where(ahead > 0, 0, 1)
        scores = (
            with_one(dependent) @ self.arc @ head.transpose(1, 2)
            + self.distance[side, ahead.abs().clamp(max=FAR)]
        )
        return scores.float().masked_fill(ahead == 0, -1e9)

    def relations(self, states: Tensor, heads: Tensor) -> Tensor:
        """Scores of relations to these heads."""
        head, dependent = with_one(self.end(2, states)), with_one(self.end(3, states))
        head = torch.gather(head, 1, heads[..., None].expand(-1, -1, head.shape[-1]))
        weighed = (dependent @ self.relation).view(*heads.shape, -1, head.shape[-1])
        return torch.einsum("bnre,bne->bnr", weighed, head).float()


def with_one(x: Tensor) -> Tensor:
    """Append a constant feature."""
    return torch.cat((x, torch.ones_like(x[..., :1])), -1)


def best_trees(scores: Array) -> Array:
    """Heads of the best projective trees with one root (Eisner); scores are of sentence, dependent, head."""
    count, n = len(scores), scores.shape[1] - 1
    complete, split = np.zeros((2, count, n + 1, n + 1)), np.zeros((4, count, n + 1, n + 1), dtype=int)
    open_ = np.full((2, count, n + 1, n + 1), -np.inf)
    for width in range(1, n):
        for i in range(1, n - width + 1):
            j = i + width
            halves = complete[0, :, i, i:j] + complete[1, :, i + 1 : j + 1, j]
            split[0, :, i, j] = i + halves.argmax(1)
            open_[0, :, i, j] = halves.max(1) + scores[:, j, i]
            open_[1, :, i, j] = halves.max(1) + scores[:, i, j]
            right = open_[0, :, i, i + 1 : j + 1] + complete[0, :, i + 1 : j + 1, j]
            left = complete[1, :, i, i:j] + open_[1, :, i:j, j]
            split[2, :, i, j], complete[0, :, i, j] = i + 1 + right.argmax(1), right.max(1)
            split[3, :, i, j], complete[1, :, i, j] = i + left.argmax(1), left.max(1)
    roots = complete[1, :, 1, 1:] + complete[0, :, 1:, n] + scores[:, 1:, 0]
    heads = np.zeros((count, n + 1), dtype=np.int64)
    for k, root in enumerate(1 + roots.argmax(1)):
        todo = [(3, 1, root), (2, root, n)]
        while todo:
            kind, i, j = todo.pop()
            if i == j:
                continue
            middle = split[kind, k, i, j]
            a, b = (i, middle) if kind == 2 else (middle, j)  # the arc's two ends
            heads[k, b if kind == 2 else a] = a if kind == 2 else b
            inside = split[0, k, a, b]
            todo += [(2, a, inside), (3, inside + 1, b), (2, b, j) if kind == 2 else (3, i, a)]
    return heads
