"""One measurement in its own process: the job as JSON on the command line, the result as JSON.

python -m peers.job '{"peer": "crfsuite", "do": "train", …}'
"""

from __future__ import annotations

import hashlib
import importlib
import json
import sys
from pathlib import Path
from typing import Any

from peers.tasks import TASKS, load_split
from peers.watch import Watch


def run(job: dict[str, Any]) -> dict[str, Any]:
    """Train (needs data, settings) or tag (needs source, target); both need peer, task and model."""
    peer = importlib.import_module(f"peers.{job['peer']}")
    task, model, watch = TASKS[job["task"]], Path(job["model"]), Watch()
    if job["do"] == "tag":
        peer.tag(task, model, Path(job["source"]), Path(job["target"]), watch)
        return watch.as_json()
    found = peer.train(task, load_split(task, Path(job["data"])), model, job["settings"], watch)
    content = model.read_bytes()
    facts = {"model_mb": len(content) / 1e6, "digest": hashlib.sha256(content).hexdigest()}
    return {**found, **facts, **watch.as_json()}


if __name__ == "__main__":
    print(json.dumps(run(json.loads(sys.argv[1]))))
