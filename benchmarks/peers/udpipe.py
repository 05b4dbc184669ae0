"""UDPipe (ufal.udpipe): train its parser on a treebank and time it on gold words and tags.

Run by benchmarks/parsing.py in its own process, with a Python that has ufal.udpipe:

    python udpipe.py train TRAIN.conllu DEV.conllu MODEL ITERATIONS
    python udpipe.py parse MODEL IN.conllu OUT.conllu ROUNDS
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

from ufal import udpipe


def sentences(text: str) -> list[udpipe.Sentence]:
    """Yield the sentences of a CoNLL-U text."""
    reader = udpipe.InputFormat.newInputFormat("conllu")
    reader.setText(text)
    error, found = udpipe.ProcessingError(), []
    while True:
        sentence = udpipe.Sentence()
        if not reader.nextSentence(sentence, error):
            break
        found.append(sentence)
    if error.occurred():
        raise SystemExit(error.message)
    return found


def train(train_path: str, dev_path: str, model: str, iterations: str) -> dict[str, float]:
    """Train with UDPipe's settings for a projective treebank, apart from the iterations."""
    error, start = udpipe.ProcessingError(), time.process_time()
    made = udpipe.Trainer.train(
        "morphodita_parsito",
        _list(train_path),
        _list(dev_path),
        udpipe.Trainer.NONE,
        udpipe.Trainer.NONE,
        f"iterations={iterations};transition_system=projective;transition_oracle=dynamic",
        error,
    )
    if error.occurred():
        raise SystemExit(error.message)
    Path(model).write_bytes(made if isinstance(made, bytes) else made.encode("latin-1"))
    return {"cpu": time.process_time() - start}


def _list(path: str) -> udpipe.Sentences:
    found = udpipe.Sentences()
    for sentence in sentences(Path(path).read_text(encoding="utf-8")):
        found.append(sentence)
    return found


def parse(model: str, source: str, target: str, rounds: str) -> dict[str, float]:
    """Return the minimum CPU seconds of several rounds over the file."""
    loaded = udpipe.Model.load(model)
    writer = udpipe.OutputFormat.newOutputFormat("conllu")
    text, best, error = Path(source).read_text(encoding="utf-8"), float("inf"), udpipe.ProcessingError()
    for _ in range(int(rounds)):
        found = sentences(text)
        start = time.process_time()
        for sentence in found:
            loaded.parse(sentence, udpipe.Model.DEFAULT, error)
        best = min(best, time.process_time() - start)
    Path(target).write_text("".join(writer.writeSentence(each) for each in found), encoding="utf-8")
    return {"seconds": best, "sentences": len(found)}


if __name__ == "__main__":
    print(json.dumps({"train": train, "parse": parse}[sys.argv[1]](*sys.argv[2:])))
