"""A neural tagger and parser that writes machine-made treebanks, for linear models to learn from.

    pip install torch numpy; pip download --no-deps cnsyn==1.2.0
    python tools/news_sentences.py DIR/pd/train.txt 16000 > pd16.txt
    duilian convert bundled pd16.txt --from pku --to ud --confidence -o pd16.conllu
    python tools/neural_teacher.py train DIR 1.pt --vectors cnsyn-1.2.0-py3-none-any.whl --tagged pd16.conllu
    python tools/neural_teacher.py parse 1.pt pd16.conllu auto-pd16.conllu

`train` reads DIR/ud2/gsd-train.conllu and gsdsimp-teach.conllu (recipes/bundled.toml tells how to make them)
and DIR/lists/cedict-words.txt. Every tenth sentence of gsd-train is held out and scored. `--tagged` names
sentences that teach tags only, where the file is certain of them (`Conf=`); `--trees`, what `parse` wrote
earlier: its trees teach as far as they are probable. A network sees the characters of a word, its entry in
the dictionary and its word vector; two bidirectional LSTMs read the sentence; each word chooses a head, a
relation and a pair of tags (Dozat and Manning 2017).

`parse` keeps the words of the file, weighs its tags if it says how certain they are, and writes probabilities
to the last column: `Head=0.97|Rel=0.95|Tag=0.99`. Trees are projective and have one root. Models that were
trained with the same files vote: `parse 1.pt,2.pt`.

The vectors in `cnsyn` (Apache 2.0) are word2vec vectors of 129,691 words, reduced to 75 numbers each.
"""

from __future__ import annotations

import argparse
import collections
import random
import re
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import torch
from neural_network import UNKNOWN, Array, Names, Network, Words, best_trees, read_vectors
from torch import Tensor, nn
from torch.nn.functional import cross_entropy
from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn

CERTAIN = 0.85  # tags that are less certain teach nothing
RATE, DECAY = 2e-3, 0.998  # Adam's step; of the average of the weights
BATCH, ANSWERED = 500, 2500  # words of a batch, in training and later


@dataclass(eq=False)
class Tree:
    """Rows of a CoNLL-U file, and how much each word's tags, head and relation teach."""

    rows: list[list[str]]
    weights: Array = field(default_factory=lambda: np.ones((0, 3)))

    def __post_init__(self) -> None:
        misc = [dict(part.partition("=")[::2] for part in row[9].split("|")) for row in self.rows]
        shares = [[float(m.get(k, 1)) for k in ("Conf", "Tag", "Head", "Rel")] for m in misc]
        self.weights = np.array([[min(c, t) > CERTAIN, h, h * r] for c, t, h, r in shares], dtype=np.float32)
        self.words = [row[1] for row in self.rows]
        self.pairs = [f"{row[3]}|{row[4]}" for row in self.rows]
        self.heads = [int(row[6]) if row[6].isdigit() else 0 for row in self.rows]
        self.relations = [row[7] for row in self.rows]
        self.has_tree = all(row[6].isdigit() for row in self.rows)


def read_trees(path: Path) -> list[Tree]:
    """Read sentences; multiword tokens and empty nodes are left out."""
    blocks = path.read_text(encoding="utf-8").strip("\n").split("\n\n")
    lines = ((line.split("\t") for line in block.split("\n") if line[:1] != "#") for block in blocks)
    return [Tree([row for row in block if row[0].isdigit()]) for block in lines]


class Teacher:
    """Networks that vote, and the names of what they choose."""

    def __init__(self, words: Words, pairs: Names, relations: Names, networks: list[Network]) -> None:
        self.words, self.pairs, self.relations, self.networks = words, pairs, relations, networks

    @torch.no_grad()
    def answers(self, trees: Sequence[Tree]) -> dict[Tree, dict[str, Array]]:
        """Heads, relations, their probabilities, and those of pairs of tags."""
        found = {}
        for batch in batches(trees, ANSWERED):
            states = [
                network.eval().states(self.words.batch([tree.words for tree in batch]))
                for network in self.networks
            ]
            each = list(zip(self.networks, states, strict=True))
            arcs = torch.stack([network.arcs(s).softmax(-1) for network, s in each]).mean(0)
            heads = torch.from_numpy(best_trees((arcs + 1e-9).log().numpy()))
            names = torch.stack([network.relations(s, heads).softmax(-1) for network, s in each]).mean(0)
            names[..., : UNKNOWN + 1] = 0
            names[..., self.relations("root")] = (heads == 0).float()
            tags = torch.stack([network.tag(s[1:]).softmax(-1) for network, s in each]).mean(0)
            tags[..., : UNKNOWN + 1] = 0
            sure = arcs.gather(2, heads[..., None])[..., 0]
            for k, tree in enumerate(batch):
                found[tree] = {
                    "heads": heads[k, 1:].numpy(),
                    "sure": sure[k, 1:].numpy(),
                    "tags": tags[:, k].numpy(),
                }
                found[tree] |= {"relations": names[k, 1:].numpy()}
        return found

    def scores(self, trees: Sequence[Tree]) -> str:
        """Pairs of tags, heads, and heads with relations that are right; heads without punctuation."""
        right = np.zeros(3)
        counts = np.zeros(3)
        for tree, answer in self.answers(trees).items():
            tags = [self.pairs.names[k] for k in answer["tags"].argmax(-1)]
            names = [self.relations.names[k] for k in answer["relations"].argmax(-1)]
            heads = answer["heads"] == tree.heads
            judged = np.array([pair[:5] != "PUNCT" for pair in tree.pairs])
            labelled = heads & np.array([a == b for a, b in zip(names, tree.relations, strict=True)])
            right += (
                sum(map(str.__eq__, tags, tree.pairs)),
                (heads & judged).sum(),
                (labelled & judged).sum(),
            )
            counts += (len(tags), judged.sum(), judged.sum())
        return "tags {:.2f}, UAS {:.2f}, LAS {:.2f}".format(*(100 * right / counts))

    def rows(self, tree: Tree, answer: dict[str, Array]) -> Iterator[str]:
        """The sentence with a tree and tags; those of the file add as much as it is certain of them."""
        tags = np.log(answer["tags"] + 1e-9)
        for k, row in enumerate(tree.rows):
            known, conf = self.pairs.numbers.get(tree.pairs[k]), re.search(r"Conf=([\d.]+)", row[9])
            if known and conf:
                certain = min(max(float(conf[1]), 0.3), 0.99)
                tags[k, known] += np.log(8 * certain / (1 - certain))
        shares = np.exp(tags - tags.max(-1, keepdims=True))
        shares /= shares.sum(-1, keepdims=True)
        for k, row in enumerate(tree.rows):
            pair, name = shares[k].argmax(), answer["relations"][k].argmax()
            space = "SpaceAfter=No|" if "SpaceAfter=No" in row[9] else ""
            sure = (answer["sure"][k], answer["relations"][k, name], shares[k, pair])
            misc = space + "Head={:.2f}|Rel={:.2f}|Tag={:.2f}".format(*sure)
            tree_columns = (str(answer["heads"][k]), self.relations.names[name])
            yield (
                "\t".join((*row[:3], *self.pairs.names[pair].split("|"), "_", *tree_columns, "_", misc))
                + "\n"
            )


def batches(trees: Sequence[Tree], size: int, rng: random.Random | None = None) -> list[list[Tree]]:
    """Sentences of the same length, or of almost the same length if drawn at random."""
    extra = rng.random if rng else lambda: 0.0
    found: list[list[Tree]] = []
    for tree in sorted(trees, key=lambda tree: len(tree.words) + extra()):
        n, last = len(tree.words), found[-1] if found else []
        if not last or (len(last) + 1) * n > size or n - len(last[0].words) > (2 if rng else 0):
            found.append([])
        found[-1].append(tree)
    if rng:
        rng.shuffle(found)
    return found


def loss(network: Network, teacher: Teacher, batch: Sequence[Tree]) -> Tensor:
    """Cross entropy of tags, heads and relations, weighed by word; padding weighs nothing."""
    features = teacher.words.batch([tree.words for tree in batch])
    n = len(features) + 1
    gold, weights = torch.zeros(3, len(batch), n, dtype=torch.long), torch.zeros(3, len(batch), n)
    for k, tree in enumerate(batch):
        m = len(tree.words) + 1
        gold[0, k, 1:m] = torch.tensor([teacher.pairs(pair) for pair in tree.pairs])
        gold[1, k, 1:m] = torch.tensor(tree.heads)
        gold[2, k, 1:m] = torch.tensor([teacher.relations(name) for name in tree.relations])
        weights[:, k, 1:m] = torch.from_numpy(tree.weights.T)
    with torch.autocast("cpu", torch.bfloat16):
        states = network.states(features)
        scores = [network.tag(states).transpose(0, 1)]
        if batch[0].has_tree:
            scores += [network.arcs(states), network.relations(states, gold[1])]
    words = (weights[1] > 0).sum()
    each = [
        cross_entropy(s.float().flatten(0, 1), gold[k].flatten(), reduction="none")
        for k, s in enumerate(scores)
    ]
    total = sum(((e * weights[k].flatten()).sum() / words for k, e in enumerate(each)), torch.zeros(()))
    return total if batch[0].has_tree else 0.7 * total


def build(data: Path, options: argparse.Namespace) -> tuple[Teacher, list[Tree], list[Tree], list[Tree]]:
    """An untrained network, its sentences with gold trees, machine-made ones, and those held out."""
    gold = read_trees(data / "ud2/gsd-train.conllu")
    teach = read_trees(data / "ud2/gsdsimp-teach.conllu")
    train = [tree for k, tree in enumerate(gold) if k % 10 != 9] + 2 * teach
    more = [tree for path in (options.tagged, options.trees) if path for tree in read_trees(path)]
    counts = collections.Counter(word for tree in train for word in tree.words)
    machine = collections.Counter(word for tree in more for word in tree.words)
    frequent = sorted({w for w in counts if counts[w] >= 2} | {w for w in machine if machine[w] >= 3})
    vectors, numbers = read_vectors(options.vectors)
    words = Words(data, vectors, {word: counts[word] + 0.2 * machine[word] for word in frequent})
    pairs = Names((pair for tree in train for pair in tree.pairs), 4)
    relations = Names(name for tree in train for name in tree.relations)
    network = Network(words, len(pairs), len(relations), numbers)
    more = [tree for tree in more if not tree.has_tree or tree.weights[:, 1].mean() > 0.75]
    return Teacher(words, pairs, relations, [network]), train, more, gold[9::10]


def train(options: argparse.Namespace) -> None:
    """Train a network, and save the mean of its weights."""
    rng = random.Random(options.seed)
    torch.manual_seed(options.seed)
    teacher, gold, more, held = build(options.data, options)
    network = teacher.networks[0]
    adam = torch.optim.Adam(network.parameters(), lr=RATE, betas=(0.9, 0.95), fused=True)
    mean = AveragedModel(network, multi_avg_fn=get_ema_multi_avg_fn(DECAY))
    for epoch in range(options.epochs):
        start, total = time.time(), 0.0
        some = rng.sample(more, min(len(more), options.more))
        parts = (gold, [tree for tree in some if tree.has_tree], [tree for tree in some if not tree.has_tree])
        todo = [batch for part in parts for batch in batches(part, BATCH, rng)]
        rng.shuffle(todo)
        network.train()
        for k, batch in enumerate(todo):
            done, step = (epoch + k / len(todo)) / options.epochs, epoch * len(todo) + k + 1
            adam.param_groups[0]["lr"] = RATE * min(1.0, step / 150, max(0.01, (1 - done) / 0.6))
            adam.zero_grad()
            value = loss(network, teacher, batch)
            value.backward()
            nn.utils.clip_grad_norm_(network.parameters(), 5.0)
            adam.step()
            mean.update_parameters(network)
            total += value.item() / len(todo)
        print(f"epoch {epoch + 1}: loss {total:.3f}, {time.time() - start:.0f} s", flush=True)
    teacher.networks = [mean.module]
    torch.save(teacher, options.model)
    print(f"held out, {len(held)} sentences, words given: {teacher.scores(held)}")


def parse(options: argparse.Namespace) -> None:
    """Let the teachers vote on the sentences of a file."""
    teachers: list[Teacher] = [torch.load(path, weights_only=False) for path in options.models.split(",")]
    teacher = teachers[0]
    if any(t.words.frequency != teacher.words.frequency for t in teachers):
        raise SystemExit("these models were not trained with the same files")
    teacher.networks = [network for each in teachers for network in each.networks]
    trees = read_trees(options.source)
    answers = teacher.answers(trees)
    blocks = ("".join(teacher.rows(tree, answers[tree])) for tree in trees)
    options.output.write_text("".join(f"{block}\n" for block in blocks), encoding="utf-8")


def main() -> None:
    """Train or parse."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(required=True)
    learn, apply = commands.add_parser("train"), commands.add_parser("parse")
    learn.set_defaults(run=train)
    learn.add_argument("data", type=Path)
    learn.add_argument("model", type=Path)
    learn.add_argument("--vectors", type=Path, required=True, help="the wheel of cnsyn 1.2.0")
    learn.add_argument("--tagged", type=Path, help="sentences that teach tags")
    learn.add_argument("--trees", type=Path, help="sentences with machine-made trees")
    learn.add_argument("--more", type=int, default=500, help="how many of both in an epoch")
    learn.add_argument("--epochs", type=int, default=30)
    learn.add_argument("--seed", type=int, default=1)
    apply.set_defaults(run=parse)
    apply.add_argument("models", help="separated by commas")
    apply.add_argument("source", type=Path)
    apply.add_argument("output", type=Path)
    options = parser.parse_args()
    torch.set_num_threads(1)
    options.run(options)


if __name__ == "__main__":
    main()
