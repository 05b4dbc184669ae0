"""Where do I put a kind of model? A toy one: every word gets the tag it had most often in training."""

from __future__ import annotations

import dataclasses
from collections import Counter, defaultdict
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar, Self

import pytest

from duilian import demo
from duilian.models.base.estimator import Arrays, Estimator, State, StoredModel
from duilian.models.base.sentences import Sentences, layers_of
from duilian.models.registry import KINDS, load, register_kind
from duilian.settings import Settings, setting

CTB = demo.load("ctb", "ctb")


@dataclasses.dataclass(frozen=True, kw_only=True)
class MostFrequentConfig(Settings):
    standard: str = setting("tags", "Name of the standard.")
    unknown: str = setting("NN", "Tag of unknown words.")


@dataclasses.dataclass(frozen=True)
class MostFrequentModel(StoredModel):
    config: MostFrequentConfig
    tags: dict[str, str]

    def state(self, precision: str = "float32") -> State:
        return {"kind": "most-frequent", "config": self.config.to_dict(), "tags": self.tags}, {}

    @classmethod
    def from_state(cls, header: Mapping[str, Any], arrays: Arrays) -> Self:
        return cls(MostFrequentConfig().updated(header["config"]), dict(header["tags"]))


class MostFrequentTagger(Estimator[MostFrequentConfig, MostFrequentModel]):
    kind: ClassVar[str] = "most-frequent"
    config_type, model_type = MostFrequentConfig, MostFrequentModel

    def __init__(self, standard: str = "tags", *, unknown: str = "NN") -> None:
        self.standard, self.unknown = standard, unknown

    def fit(self, X: Sentences) -> Self:  # noqa: N803
        seen: dict[str, Counter[str]] = defaultdict(Counter)
        for layer in layers_of(X, self.standard):
            for word, tag in zip(layer.words, layer.tags or (), strict=True):
                seen[word][str(tag)] += 1
        return self.use(MostFrequentModel(self.config, {w: c.most_common(1)[0][0] for w, c in seen.items()}))

    def _use(self, model: MostFrequentModel) -> None: ...

    def predict(self, X: Sentences) -> list[list[str]]:  # noqa: N803
        tags, layers = self.model_.tags, layers_of(X, self.standard)
        return [[tags.get(word, self.unknown) for word in layer.words] for layer in layers]


def test_it_is_saved_and_loaded_by_its_kind(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("duilian.models.registry.KINDS", dict(KINDS))
    register_kind("most-frequent", f"{__name__}:MostFrequentTagger")
    tagger = MostFrequentTagger("ctb").fit(CTB)
    tagger.save(tmp_path / "toy.model")
    again: Any = load(tmp_path / "toy.model")
    assert again.predict([["我们", "某某"]]) == [["PN", "NN"]] == tagger.predict([["我们", "某某"]])
    assert repr(again) == "MostFrequentTagger(standard='ctb')"
