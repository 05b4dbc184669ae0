"""Trains a small neural parser (kind `neural-parser`), from treebanks and from machine-made trees.

    pip install torch numpy; pip download --no-deps cnsyn==1.2.0
    python tools/neural_parser.py gsd-train.conllu gsdsimp-teach.conllu gsdsimp-teach.conllu
        --machine machine.conllu --vectors cnsyn-1.2.0-py3-none-any.whl
        --frequencies ../lists/cedict-words.txt -o neural.model

A treebank that is named twice counts twice. Machine-made trees are those of tools/neural_teacher.py: each
head and relation counts as much as it is probable. Their words get the tags that an analyser finds in the
text (`--analyzer`), because those are what the parser sees in use; gold tags are hidden from it half of the
time. Every tenth sentence of the first treebank is held out and scored after training, unless `--all` is
given.

The network is that of docs/explanation/neural-parser.md. PyTorch is only needed here, not to parse.
"""

from __future__ import annotations

import argparse
import collections
import random
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from neural_network import Array, locked, read_vectors, with_one
from neural_teacher import Tree, batches, read_trees
from torch import Tensor, nn
from torch.nn.functional import cross_entropy, dropout, leaky_relu
from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn

import duilian as dl
from duilian.corpus import Layer
from duilian.evaluation import tree_score
from duilian.models.neural_parser.config import NeuralParserConfig
from duilian.models.neural_parser.model import NeuralParser
from duilian.models.neural_parser.packing import UNKNOWN, WordPacker
from duilian.models.neural_parser.storage import FEATURES, LENGTHS, SHAPES, NeuralParserModel

RATE, DECAY = 3e-3, 0.992  # Adam's step; of the average of the weights, in four steps
BATCH, MACHINE_BATCH = 500, 800  # words
DROPOUT, INPUT_DROPOUT = 0.2, 0.1
GOLD_TAGS, FOUND_TAGS = 0.5, 0.75  # how often the network sees them
LEAST_SURE = 0.7  # mean probability of the heads of a machine-made tree
FAR = 33
PAIRS = 8192  # rows for pairs of characters
WIDTHS = {
    "word": 64, "first": 32, "last": 32, "second": 16, "suffix": 20, "prefix": 16,
    "length": 6, "shape": 6, "tag": 24,
}  # fmt: skip


@dataclass(frozen=True)
class Sizes:
    """How large a network is."""

    hidden: int = 144
    arc: int = 160
    relation: int = 48
    tag: int = 96
    vectors: int = 30_000
    vector: int = 40


@dataclass(frozen=True)
class Known:
    """What the network knows by name."""

    words: tuple[str, ...]
    characters: tuple[str, ...]
    tags: tuple[str, ...]
    pairs: tuple[str, ...]
    relations: tuple[str, ...]
    vector_words: tuple[str, ...]
    frequency: collections.Counter[str]


class Network(nn.Module):
    """Two LSTMs, and a choice of head, relation and tags for each word."""

    def __init__(self, known: Known, vectors: Array, sizes: Sizes) -> None:
        super().__init__()
        characters = len(known.characters) + 2
        rows = {
            "word": len(known.words) + 2, "first": characters, "last": characters, "second": characters,
            "suffix": PAIRS, "prefix": PAIRS, "length": LENGTHS, "shape": SHAPES, "tag": len(known.tags) + 2,
        }  # fmt: skip
        self.tables = nn.ModuleDict({name: nn.Embedding(rows[name], width) for name, width in WIDTHS.items()})
        for table in self.tables.values():
            nn.init.normal_(table.weight, std=0.3)
        self.vectors = torch.from_numpy(vectors)
        seen, wide = sum(WIDTHS.values()) + 2 * vectors.shape[1], 2 * sizes.hidden
        self.root = nn.Parameter(torch.randn(seen) * 0.1)
        self.lstms = nn.ModuleList(nn.LSTM(size, sizes.hidden, bidirectional=True) for size in (seen, wide))
        for lstm in self.lstms:
            prepare(lstm, sizes.hidden)
        ends = (sizes.arc, sizes.arc, sizes.relation, sizes.relation)
        self.ends = nn.ModuleList(nn.Linear(wide, size) for size in ends)
        self.arc = nn.Parameter(torch.randn(sizes.arc + 1, sizes.arc) * 0.02)
        self.distance = nn.Parameter(torch.zeros(2, FAR + 1))
        wide_end = sizes.relation + 1
        self.relation = nn.Parameter(torch.randn(wide_end, len(known.relations) * wide_end) * 0.02)
        self.tag = nn.Sequential(
            nn.Linear(wide, sizes.tag),
            nn.LeakyReLU(0.1),
            nn.Dropout(DROPOUT),
            nn.Linear(sizes.tag, len(known.pairs)),
        )

    def states(self, features: Tensor, frequency: Tensor) -> Tensor:
        """A state for the root and each word; features are of position, sentence and kind."""
        numbers = dict(zip(FEATURES, features.unbind(-1), strict=True))
        with_vector = torch.ones_like(frequency)
        if self.training:  # as if a rare word had not been seen, or had no vector
            word = numbers["word"]
            unseen = torch.rand_like(frequency) < 0.35 / (0.35 + frequency) + 0.03
            numbers["word"] = torch.where(unseen & (word > UNKNOWN), UNKNOWN, word)
            with_vector = (torch.rand_like(frequency) > 0.1).float()
        parts = [table(numbers[name]) for name, table in self.tables.items()]
        ends = (numbers["vector_suffix"], numbers["vector_prefix"])
        parts += [self.vectors[end] * with_vector[..., None] for end in ends]
        x = dropout(torch.cat(parts, -1), 0.06, self.training)
        x = torch.cat((self.root.expand(1, x.shape[1], -1), locked(x, INPUT_DROPOUT, self.training)))
        for lstm in self.lstms:
            x = locked(lstm(x)[0], DROPOUT, self.training)
        return x

    def end(self, kind: int, states: Tensor) -> Tensor:
        """One end of an arc: sentences first."""
        return locked(leaky_relu(self.ends[kind](states), 0.1), DROPOUT, self.training).transpose(0, 1)

    def arcs(self, states: Tensor, lengths: Tensor) -> Tensor:
        """Scores of heads: sentence, dependent, head."""
        head, dependent = self.end(0, states), self.end(1, states)
        places = torch.arange(len(states))
        ahead = places[None] - places[:, None]
        distance = self.distance[torch.where(ahead > 0, 0, 1), ahead.abs().clamp(max=FAR)]
        scores = (with_one(dependent) @ self.arc @ head.transpose(1, 2) + distance).float()
        is_none = (ahead == 0)[None] | (places[None, None] > lengths[:, None, None])
        return scores.masked_fill(is_none, -1e9)

    def relations(self, states: Tensor, heads: Tensor) -> Tensor:
        """Scores of relations to these heads."""
        head, dependent = with_one(self.end(2, states)), with_one(self.end(3, states))
        head = torch.gather(head, 1, heads[..., None].expand(-1, -1, head.shape[-1]))
        weighed = (dependent @ self.relation).view(*heads.shape, -1, head.shape[-1])
        return torch.einsum("bnre,bne->bnr", weighed, head).float()


def prepare(lstm: nn.LSTM, hidden: int) -> None:
    """Start with orthogonal recurrent weights, and gates that do not forget."""
    for name, weight in lstm.named_parameters():
        if "weight_hh" in name:
            for gate in weight.data.split(hidden):
                nn.init.orthogonal_(gate)
        if "bias" in name:
            nn.init.zeros_(weight)
        if "bias_ih" in name:
            weight.data[hidden : 2 * hidden] = 1


def exported(network: Network, known: Known, sizes: Sizes) -> NeuralParserModel:
    """The network as a model."""
    weights = {name: value.detach().numpy().copy() for name, value in network.state_dict().items()}

    def direction(k: int, suffix: str) -> tuple[Array, Array, Array]:
        own = f"lstms.{k}.{{}}_l0{suffix}"
        bias = weights[own.format("bias_ih")] + weights[own.format("bias_hh")]
        return weights[own.format("weight_ih")], weights[own.format("weight_hh")], bias

    def linear(name: str) -> tuple[Array, Array]:
        return weights[f"{name}.weight"], weights[f"{name}.bias"]

    tables = {name: weights[f"tables.{name}.weight"] for name in WIDTHS}
    config = NeuralParserConfig(
        standard="ud",
        script="simplified",
        chooses_tags=False,
    )
    return NeuralParserModel(
        config=config,
        words=known.words,
        characters=known.characters,
        tags=known.tags,
        relations=known.relations,
        vector_words=known.vector_words,
        output_tags=known.pairs,
        tables=tables | {"vectors": network.vectors.numpy()},
        root=weights["root"],
        layers=tuple((direction(k, ""), direction(k, "_reverse")) for k in range(len(network.lstms))),
        arc_head=linear("ends.0"),
        arc_dependent=linear("ends.1"),
        relation_head=linear("ends.2"),
        relation_dependent=linear("ends.3"),
        arc_weight=weights["arc"],
        distance=weights["distance"],
        relation_weight=weights["relation"],
        tag_hidden=linear("tag.0"),
        tag_scores=linear("tag.3"),
    )


class Teaching:
    """Sentences as tensors, and what they teach."""

    def __init__(self, model: NeuralParserModel, known: Known, seed: int) -> None:
        self.packer, self.known = WordPacker(model), known
        self.pairs = {pair.replace("+", "|", 1): k for k, pair in enumerate(known.pairs)}
        self.relation = {name: k for k, name in enumerate(known.relations)}
        self.rng = random.Random(seed)

    def loss(self, network: Network, batch: Sequence[Tree], found: dict[Tree, list[str]]) -> Tensor:
        """Cross entropy of heads, relations and tags; padding weighs nothing."""
        n = max(len(tree.words) for tree in batch) + 1
        shape = (len(batch), n)
        features = torch.zeros(n - 1, len(batch), len(FEATURES), dtype=torch.long)
        frequency = torch.zeros(n - 1, len(batch))
        gold, weights = torch.zeros(3, *shape, dtype=torch.long), torch.zeros(3, *shape)
        lengths = torch.tensor([len(tree.words) for tree in batch])
        for k, tree in enumerate(batch):
            m, is_gold = len(tree.words), tree not in found
            sees = self.rng.random() < (GOLD_TAGS if is_gold else FOUND_TAGS)
            tags = ([row[4] for row in tree.rows] if is_gold else found[tree]) if sees else [""] * m
            numbers = np.array([self.seen_tag(tag, is_gold) for tag in tags], np.int32)
            features[:m, k] = torch.from_numpy(self.packer.features([tree.words], numbers).astype(np.int64))
            frequency[:m, k] = torch.tensor([float(self.known.frequency[word]) for word in tree.words])
            gold[0, k, 1 : m + 1] = torch.tensor(tree.heads)
            gold[1, k, 1 : m + 1] = torch.tensor([self.relation.get(name, 0) for name in tree.relations])
            gold[2, k, 1 : m + 1] = torch.tensor([self.pairs.get(pair, 0) for pair in tree.pairs])
            own = torch.from_numpy(tree.weights.T.copy())
            weights[:, k, 1 : m + 1] = torch.stack((own[1], own[2], 0.5 * own[0] * (not (sees and is_gold))))
        with torch.autocast("cpu", torch.bfloat16):
            states = network.states(features, frequency)
            scores = (
                network.arcs(states, lengths),
                network.relations(states, gold[0]),
                network.tag(states).transpose(0, 1),
            )
        each = (
            cross_entropy(score.float().flatten(0, 1), target.flatten(), reduction="none") * weight.flatten()
            for score, target, weight in zip(scores, gold, weights, strict=True)
        )
        return torch.stack([part.sum() for part in each]).sum() / lengths.sum()

    def seen_tag(self, tag: str, is_gold: bool) -> int:
        """The number of a tag; now and then none, or instead of a gold tag a wrong one."""
        if self.rng.random() < (0.08 if is_gold else 0.03):
            return UNKNOWN
        if tag and is_gold and self.rng.random() < 0.03:
            tag = self.rng.choice(self.known.tags)
        return self.packer.tag_number(tag)


def found_tags(trees: Sequence[Tree], analyzer: Path | None) -> dict[Tree, list[str]]:
    """The language-specific tags that an analyser finds in the text, where it finds the same words."""
    zh = dl.load(analyzer) if analyzer else dl.load()
    docs = zh.pipe(("".join(tree.words) for tree in trees), ask=dl.Ask(standards=("ud",), trees=False))
    found = {}
    for tree, doc in zip(trees, docs, strict=True):
        tags = {(token.start, token.end): token.xpos or token.tag for token in doc.tokens("ud")}
        ends = np.cumsum([len(word) for word in tree.words]).tolist()
        found[tree] = [
            tags.get((end - len(word), end), "") for word, end in zip(tree.words, ends, strict=True)
        ]
    return found


def names_of(gold: Sequence[Tree], machine: Sequence[Tree]) -> dict[str, Any]:
    """What the network is to know by name, apart from vectors."""
    counts = collections.Counter(word for tree in gold for word in tree.words)
    further = collections.Counter(word for tree in machine for word in tree.words)
    words = {word for word, n in counts.items() if n >= 2} | {word for word, n in further.items() if n >= 3}
    characters = collections.Counter(c for tree in (*gold, *machine) for word in tree.words for c in word)
    pairs = collections.Counter("+".join(pair.split("|")) for tree in gold for pair in tree.pairs)
    return {
        "words": tuple(sorted(words)),
        "characters": tuple(sorted(c for c, n in characters.items() if n >= 2)),
        "tags": tuple(sorted({row[4] for tree in gold for row in tree.rows})),
        "pairs": tuple(sorted(pair for pair, n in pairs.items() if n >= 4)),
        "relations": tuple(sorted({name for tree in gold for name in tree.relations})),
        "frequency": collections.Counter({word: counts[word] + further[word] // 5 for word in words}),
    }


def chosen_vectors(
    wheel: Path, frequencies: Path, words: Iterable[str], sizes: Sizes
) -> tuple[tuple[str, ...], Array]:
    """The vectors of the most frequent words along their principal axes; row 0 is for words without one."""
    numbers, vectors = read_vectors(wheel)
    lines = (line.split() for line in frequencies.read_text(encoding="utf-8").splitlines())
    frequency = {parts[0]: float(parts[1]) for parts in lines if len(parts) == 3 and parts[0] != "#"}
    first = dict.fromkeys(words, 1000000000.0)
    ranked = sorted(numbers, key=lambda word: (-first.get(word, frequency.get(word, 0.0)), numbers[word]))
    chosen = tuple(ranked[: sizes.vectors])
    kept = vectors[[numbers[word] for word in chosen]]
    kept = kept - kept.mean(0)
    axes = np.linalg.svd(kept[:20_000], full_matrices=False)[2][: sizes.vector]
    kept = kept @ axes.T
    kept /= kept.std() * 1.5
    return chosen, np.concatenate((np.zeros((1, sizes.vector)), kept)).astype(np.float32)


def train(options: argparse.Namespace) -> NeuralParserModel:
    """Train a network; the model has the mean of its weights."""
    torch.manual_seed(options.seed)
    rng, sizes = random.Random(options.seed), Sizes(hidden=options.hidden)
    treebanks = [read_trees(path) for path in options.treebanks]
    machine = [tree for path in options.machine for tree in read_trees(path)]
    machine = [tree for tree in machine if tree.weights[:, 1].mean() > LEAST_SURE]
    found = found_tags(machine, options.analyzer)
    held = [] if options.all else treebanks[0][9::10]
    gold = [
        tree for treebank in treebanks for tree in treebank if tree not in set(held) and len(tree.words) > 1
    ]
    names = names_of(gold, machine)
    vector_words, vectors = chosen_vectors(options.vectors, options.frequencies, names["words"], sizes)
    known = Known(**names, vector_words=vector_words)
    network = Network(known, vectors, sizes)
    teaching = Teaching(exported(network, known, sizes), known, options.seed)
    adam = torch.optim.Adam(network.parameters(), lr=RATE, betas=(0.9, 0.95), fused=True)
    mean = AveragedModel(network, multi_avg_fn=get_ema_multi_avg_fn(DECAY))
    print(f"{len(gold)} gold and {len(machine)} machine-made trees", flush=True)
    for epoch in range(options.epochs):
        start, total = time.time(), 0.0
        some = rng.sample(machine, min(len(machine), options.more))
        todo = batches(gold, BATCH, rng) + batches(some, MACHINE_BATCH, rng)
        rng.shuffle(todo)
        network.train()
        for k, batch in enumerate(todo):
            done, step = (epoch + k / len(todo)) / options.epochs, epoch * len(todo) + k + 1
            adam.param_groups[0]["lr"] = RATE * min(1.0, step / 150, max(0.01, (1 - done) / 0.7))
            adam.zero_grad()
            value = teaching.loss(network, batch, found)
            value.backward()
            nn.utils.clip_grad_norm_(network.parameters(), 5.0)
            adam.step()
            if step % 4 == 0:
                mean.update_parameters(network)
            total += value.item() / len(todo)
        print(f"epoch {epoch + 1}: loss {total:.3f}, {time.time() - start:.0f} s", flush=True)
        if options.every and (epoch + 1) % options.every == 0:
            report(exported(mean.module, known, sizes), held)
    model = exported(mean.module, known, sizes)
    report(model, held)
    return model


def report(model: NeuralParserModel, held: Sequence[Tree]) -> None:
    """Print the scores of held-out sentences, with gold tags and without."""
    if not held:
        return
    parser = NeuralParser.with_model(model)
    layers = [
        Layer(
            tuple(tree.words),
            tuple(row[4] for row in tree.rows),
            tuple(tree.heads),
            tuple(tree.relations),
        )
        for tree in held
    ]
    for name, bare in (
        ("gold tags", [Layer(layer.words, layer.tags) for layer in layers]),
        ("no tags", [Layer(layer.words) for layer in layers]),
    ):
        score = tree_score(layers, parser.predict_layers(bare))
        assert score is not None
        scores = f"UAS {score.uas:.2f}, LAS {score.las:.2f}"
        print(f"held out, {len(held)} sentences, {name}: {scores}", flush=True)


def main() -> None:
    """Train a parser and write its file."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("treebanks", type=Path, nargs="+")
    add("--machine", type=Path, nargs="*", default=[], help="machine-made trees")
    add("--vectors", type=Path, required=True, help="the wheel of cnsyn 1.2.0")
    add("--frequencies", type=Path, required=True, help="a list of words with their frequencies")
    add("--analyzer", type=Path, help="tags the machine-made sentences; by default the bundled one")
    add("--all", action="store_true", help="hold nothing out")
    add("--more", type=int, default=4000, help="machine-made trees in an epoch")
    add("--epochs", type=int, default=24)
    add("--every", type=int, default=0, help="score held-out sentences after so many epochs, too")
    add("--hidden", type=int, default=Sizes.hidden)
    add("--seed", type=int, default=1)
    add("-o", "--output", type=Path, required=True)
    options = parser.parse_args()
    torch.set_num_threads(1)
    NeuralParser.with_model(train(options)).save(options.output, precision="int8")


if __name__ == "__main__":
    main()
