"""How to add a kind of model. The toy kind gives every word the last tag that it had in training."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any, ClassVar

import pytest

from duilian import demo
from duilian.models.base.estimator import Estimator, State, StoredModel
from duilian.models.base.sentences import Sentences, layers_of
from duilian.models.registry import KINDS, load, register_kind
from duilian.settings import Settings, setting


@dataclasses.dataclass(frozen=True, kw_only=True)
class LastSeenConfig(Settings):
    standard: str = setting("tags", "Name of the standard.")


@dataclasses.dataclass(frozen=True)
class LastSeenModel(StoredModel):
    config: LastSeenConfig
    tags: dict[str, str]

    def state(self, precision: str = "float32") -> State:
        return {"kind": "last-seen", "config": self.config.to_dict(), "tags": self.tags}, {}

    @classmethod
    def from_state(cls, header: Any, arrays: Any) -> Any:
        return cls(LastSeenConfig().updated(header["config"]), dict(header["tags"]))


class LastSeenTagger(Estimator[LastSeenConfig, LastSeenModel]):
    kind: ClassVar[str] = "last-seen"
    config_type, model_type = LastSeenConfig, LastSeenModel

    def __init__(self, standard: str = "tags") -> None:
        self.standard = standard

    def fit(self, X: Sentences) -> Any:  # noqa: N803
        layers = layers_of(X, self.standard)
        pairs = [pair for layer in layers for pair in zip(layer.words, layer.tags or (), strict=True)]
        return self.use(LastSeenModel(self.config, {word: str(tag) for word, tag in pairs}))

    def compile(self, model: LastSeenModel) -> None: ...

    def predict(self, X: Sentences) -> list[list[str]]:  # noqa: N803
        layers = layers_of(X, self.standard)
        return [[self.model_.tags.get(word, "NN") for word in layer.words] for layer in layers]


def test_it_is_saved_and_loaded_by_its_kind(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("duilian.models.registry.KINDS", dict(KINDS))
    register_kind("last-seen", f"{__name__}:LastSeenTagger")
    LastSeenTagger("ctb").fit(demo.load("ctb", "ctb")).save(tmp_path / "toy.model")
    again: Any = load(tmp_path / "toy.model")
    assert again.predict([["我们", "某某"]]) == [["PN", "NN"]]
