"""Figure 3 of Li et al. (2016): the mean probability of the k-th best label before pruning."""

from __future__ import annotations

import math

import numpy as np
import pytest

from duilian import CoupledTagger, Tagger, demo
from duilian.learning import AdaGrad
from duilian.models.coupled.config import CoupledPruning
from duilian.reports.label_ranks import MAX_RANKS, label_ranks, measure_label_ranks
from duilian.reports.sections import evaluation_sections

SHORT = AdaGrad(iterations=2)


def test_by_hand() -> None:
    p = np.array([[0.5, 0.25, 0.25], [0.0, 0.0, 1.0]])
    found = label_ranks(p, "offline")
    assert found.probability == (0.75, 0.125, 0.125)
    assert found.entropy == pytest.approx((0.5 * math.log(2) + 0.5 * math.log(4)) / 2)
    assert found.to_dict()["probability"] == {"1": 0.75, "2": 0.125, "3": 0.125}
    wide = label_ranks(np.full((2, 40), 1 / 40), "online")
    assert len(wide.probability) == MAX_RANKS
    assert wide.entropy == pytest.approx(math.log(40))


@pytest.mark.parametrize("kind", ["online", "offline"])
def test_of_a_coupled_tagger(kind: str) -> None:
    corpora = [demo.load("ctb", "ctb")[:60], demo.load("pku", "pku")[:60]]
    tagger = CoupledTagger(learning=SHORT, pruning=CoupledPruning(kind=kind, folds=2)).fit(corpora)
    layers = [sentence["ctb"] for sentence in corpora[0][:5]]
    p = tagger.pruning_probabilities(layers, "ctb")
    assert p.shape == (sum(map(len, layers)), len(tagger.encodings_[0].labels))
    np.testing.assert_allclose(p.sum(axis=1), 1.0)
    found = measure_label_ranks(tagger, corpora[0][:5], "ctb")
    assert found is not None
    assert found.pruning == kind
    assert list(found.probability) == sorted(found.probability, reverse=True)
    page = "".join(
        part
        for section in evaluation_sections({"label_ranks": found.to_dict()}, "ctb")
        for part in section.parts
    )
    assert f"Pruning ({kind}): mean probability of the k-th best label" in page
    assert f"Entropy: {found.entropy:.3f} nats" in page


def test_other_models_have_none() -> None:
    corpus = demo.load("ctb", "ctb")[:20]
    assert measure_label_ranks(Tagger("ctb", learning=SHORT).fit(corpus), corpus, "ctb") is None
