"""The plain tagger with passive-aggressive learning: what a round sees, and what it converges to."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone

from duilian import Tagger, _native, demo
from duilian.corpus import Layer, read
from duilian.errors import ConfigError
from duilian.learning import PassiveAggressive, Session
from duilian.models.crf.config import CrfConfig
from duilian.models.crf.training import CrfTrainer

FOLDER = demo.__path__[0]
SENTENCES = [
    Layer(("我们", "去", "北京"), ("PN", "VV", "NR")),
    Layer(("北京", "很", "大"), ("NR", "AD", "VA")),
    Layer(("他", "去", "过"), ("PN", "VV", "AS")),
]


class Watched(CrfTrainer):
    """A run of training that shows its data."""

    def prepare(self, layers):
        self.data, keys = super().prepare(layers)
        return self.data, keys


@pytest.mark.parametrize("level", ["word", "char"])
@pytest.mark.parametrize("seed", range(5))
def test_the_difference_is_the_gradient_of_a_very_sure_crf(level: str, seed: int) -> None:
    """Expected counts become those of the best labels when all scores are many times as large."""
    trainer = Watched(
        CrfConfig(standard="ctb", level=level, learning=PassiveAggressive(iterations=1)), Session()
    )
    trainer.run(SENTENCES)
    data, layout = trainer.data, trainer.layout
    weights = np.random.default_rng(seed).normal(size=layout.weights).astype(np.float32)
    structure = _native.TaggingStructure(layout, data)
    objective = _native.TaggingObjective(layout, data)
    for example in range(len(SENTENCES)):
        cost, difference = structure.difference(weights, example, 0)
        _, gradient = objective.gradient(weights, 1e4, example)
        assert cost == 1.0
        np.testing.assert_allclose(difference, gradient, atol=1e-3)


def test_it_learns_and_has_the_same_bytes(tmp_path) -> None:
    train, dev = (read(f"{FOLDER}/{name}.txt", standard="ctb") for name in ("ctb", "ctb-dev"))
    tagger = Tagger("ctb", learning=PassiveAggressive(iterations=4))
    models = [clone(tagger).fit(train, dev=dev, threads=k) for k in (1, 2)]
    assert models[0].score(dev) > 0.85
    for k, model in enumerate(models):
        model.save(tmp_path / f"{k}.model")
    assert (tmp_path / "0.model").read_bytes() == (tmp_path / "1.model").read_bytes()


def test_partly_annotated_sentences_are_refused() -> None:
    partly = [*SENTENCES, Layer(("他", "去"), ("PN", None))]
    with pytest.raises(ConfigError, match="needs a label for every unit\n  hint: use algorithm = 'adagrad'"):
        Tagger("ctb", learning=PassiveAggressive()).fit(partly)
