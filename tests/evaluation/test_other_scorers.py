"""Our figures equal those of independent scorers from PyPI, each run in a process of its own."""

from __future__ import annotations

import importlib.util
import itertools
import json
import random
import subprocess
import sys
from pathlib import Path

import pytest

from duilian.corpus import Layer, Sentence, write
from duilian.evaluation import evaluate_layers

UDEVAL = """
import json, sys
from udtools.udeval import evaluate, load_conllu_file
found = evaluate(*(load_conllu_file(path) for path in sys.argv[1:3]))
print(json.dumps({name: 100 * found[name].f1 for name in ("Words", "XPOS", "UAS", "LAS")}))
"""
SEQEVAL = """
import json, sys
from seqeval.metrics import accuracy_score, f1_score, precision_score, recall_score
gold, guess = json.load(sys.stdin)
scores = [score(gold, guess) for score in (precision_score, recall_score, f1_score, accuracy_score)]
print(json.dumps([100 * float(score) for score in scores]))
"""


def asked(program: str, *arguments: str, stdin: str = "") -> object:
    """What another program prints, as JSON."""
    command = [sys.executable, "-W", "ignore", "-c", program, *arguments]
    done = subprocess.run(command, input=stdin, capture_output=True, text=True, check=True, timeout=250)
    return json.loads(done.stdout)


def random_layer(text: str, rng: random.Random) -> Layer:
    """Random words with a tree in which every word but the first depends on one before it."""
    cuts = [0, *sorted(rng.sample(range(1, len(text)), rng.randrange(len(text)))), len(text)]
    words = tuple(text[a:b] for a, b in itertools.pairwise(cuts))
    heads = (0, *(rng.randrange(1, k + 1) for k in range(1, len(words))))
    relations = ("root", *(rng.choice(["obj", "acl", "acl:relcl"]) for _ in words[1:]))
    return Layer(words, tuple(rng.choice(["NN", "VV"]) for _ in words), heads, relations)


@pytest.mark.skipif(importlib.util.find_spec("udtools") is None, reason="no udtools: pip install udtools")
def test_raw_text_as_udeval_scores_it(tmp_path: Path) -> None:
    rng = random.Random(1)
    texts = ["".join(rng.choice("天地人") for _ in range(rng.randrange(2, 9))) for _ in range(80)]
    sides = [[random_layer(text, rng) for text in texts] for _ in range(2)]
    # The answer is one sentence where gold has two.
    joined = [random_layer(a + b, rng) for a, b in zip(texts[::2], texts[1::2], strict=True)]
    for guess in (sides[1], joined):
        for name, layers in (("gold", sides[0]), ("guess", guess)):
            sentences = (Sentence({"ud": layer}) for layer in layers)
            write(sentences, tmp_path / f"{name}.conllu", standard="ud", column="xpos")
        other = asked(UDEVAL, str(tmp_path / "gold.conllu"), str(tmp_path / "guess.conllu"))
        found = evaluate_layers(sides[0], guess, standard="ud")
        assert found.word is not None
        assert found.word_tag is not None
        assert found.raw_trees is not None
        assert found.raw_trees.las is not None
        ours = [found.word.f1, found.word_tag.f1, found.raw_trees.uas.f1, found.raw_trees.las.f1]
        assert isinstance(other, dict)
        assert ours == pytest.approx(list(other.values()))
        assert all(0 < figure < 100 for figure in ours)


@pytest.mark.skipif(importlib.util.find_spec("seqeval") is None, reason="no seqeval: pip install seqeval")
def test_chunks_and_accuracy_as_seqeval_scores_them() -> None:
    rng = random.Random(2)
    labels = ["O", "B-NP", "I-NP", "B-VP", "I-VP"]
    rows = [[[rng.choice(labels) for _ in range(8)] for _ in range(60)] for _ in range(2)]
    gold, guess = ([Layer(("x",) * 8, tuple(row)) for row in side] for side in rows)
    found = evaluate_layers(gold, guess, standard="x")
    assert found.chunk is not None
    ours = [found.chunk.precision, found.chunk.recall, found.chunk.f1, found.accuracy]
    assert ours == pytest.approx(asked(SEQEVAL, stdin=json.dumps(rows)))
