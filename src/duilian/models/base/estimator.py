"""Estimators: the classes that users call, in the style of scikit-learn but without it.

Config → Trainer → Model → Predictor: an estimator's parameters are the fields of its config; `fit` hands the
config to a trainer, which makes a model (weights as data); a predictor is the model compiled for answering.
"""

from __future__ import annotations

import abc
import dataclasses
import importlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar, Generic, Self, TypeVar

import numpy.typing as npt

from duilian.arguments import checked
from duilian.errors import ConfigError, DuilianError, ModelFileError, NotFittedError, did_you_mean
from duilian.features import Dictionary
from duilian.features.dictionary import DictionaryMode
from duilian.modelfile import read_model, write_model
from duilian.models.base.notes import check_notes
from duilian.models.base.precision import Precision
from duilian.result_tables import html_table
from duilian.settings import Settings

Arrays = dict[str, npt.NDArray[Any]]
State = tuple[dict[str, Any], Arrays]
"""A model as a file stores it: plain values (its header) and arrays, never code."""

Config = TypeVar("Config", bound=Settings)


class Parameters(Generic[Config]):
    """Parameters by name, groups of settings included: `get_params`, `set_params`, `clone`, grid search."""

    config_type: type[Config]

    @classmethod
    def parameter_names(cls) -> list[str]:
        """The constructor's parameters: the fields of the config."""
        return [field.name for field in dataclasses.fields(cls.config_type)]

    @classmethod
    def with_config(cls, config: Config) -> Self:
        """An estimator with these settings."""
        return cls(**{name: getattr(config, name) for name in cls.parameter_names()})

    @property
    def config(self) -> Config:
        """The parameters, checked."""
        return self.config_type(**self.get_params(deep=False))

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters by name; `deep` adds those inside groups as `group__name`."""
        found = {name: getattr(self, name) for name in self.parameter_names()}
        if deep:
            for group, settings in list(found.items()):
                if isinstance(settings, Settings):
                    inner = dataclasses.fields(settings)
                    found |= {f"{group}__{each.name}": getattr(settings, each.name) for each in inner}
        return found

    def set_params(self, **params: Any) -> Self:
        """Change parameters by name, also inside groups: `learning__rate=0.1`."""
        for name, value in params.items():
            group, _, inner = name.partition("__")
            if group not in self.parameter_names():
                hint = did_you_mean(group, self.parameter_names())
                raise ConfigError(f"{type(self).__name__} has no parameter {name!r}", hint)
            if inner:
                value = getattr(self, group).updated({inner: value})
            setattr(self, group, value)
        return self

    def __repr__(self) -> str:
        usual = {field.name: field.default for field in dataclasses.fields(self.config_type)}
        own = self.get_params(deep=False).items()
        changed = [f"{name}={value!r}" for name, value in own if value != usual[name]]
        return f"{type(self).__name__}({', '.join(changed)})"

    def _repr_html_(self) -> str:
        """A table of all settings for notebooks, with a mark at those that are not the defaults."""
        usual = {field.name: field.default for field in dataclasses.fields(self.config_type)}
        rows = (
            (name, repr(value), "" if value == usual[name] else "changed")
            for name, value in self.get_params(deep=False).items()
        )
        return html_table(("setting", "value", ""), rows, caption=type(self).__name__)

    def __sklearn_tags__(self) -> Any:
        # Not a classifier in scikit-learn's sense: answers are lists, which no stratified split can sort.
        tags = importlib.import_module("sklearn.utils")
        return tags.Tags(estimator_type=None, target_tags=tags.TargetTags(required=True))


class StoredModel(abc.ABC):
    """A trained model as data: its config, what it knows about its standards, and its weights."""

    kind: ClassVar[str]

    @abc.abstractmethod
    def state(self, precision: Precision = "float32") -> State:
        """The model as a file stores it; the header has the key `kind`."""

    @classmethod
    @abc.abstractmethod
    def from_state(cls, header: Mapping[str, Any], arrays: Arrays) -> Self:
        """Restore a model, and check it."""

    def with_dictionary(self, words: Dictionary, mode: DictionaryMode = "extend") -> Self:
        """The same model with more words, or with others; see `Estimator.use_dictionary`."""
        own: Dictionary | None = getattr(self, "dictionary", None)
        if own is None:
            hint = "train it with [dictionary], or use a lexicon instead"
            raise ConfigError(f"this model of kind {self.kind!r} was trained without a dictionary", hint)
        found = own.changed(words.folded(self.config.features.folding()), mode)  # type: ignore[attr-defined]
        return dataclasses.replace(self, dictionary=found)  # type: ignore[type-var]

    def named_weights(self, feature: str) -> dict[str, Any]:
        """The weights of a feature; see `Estimator.weights`."""
        hint = "taggers have features with names: crf, guided, dynamic, coupled, multitask, two-chain"
        raise ConfigError(f"the features of models of kind {self.kind!r} have no names", hint)


def refuse_older(path: str | Path, header: Mapping[str, Any]) -> None:
    """Raise ModelFileError if an older version wrote the file."""
    tagger = header.get("tagger")
    if "parameters" in header or (isinstance(tagger, dict) and "parameters" in tagger):
        hint = "train it again from its recipe"
        raise ModelFileError(str(path), "this model was written by an older version of Duilian", hint)


class Storable(abc.ABC):
    """Something that can be saved to a model file and loaded from one."""

    kind: ClassVar[str]
    notes_: dict[str, Any]

    @abc.abstractmethod
    def state(self, precision: Precision = "float32") -> State:
        """What a file stores; the header has the key `kind`."""

    @classmethod
    @abc.abstractmethod
    def from_state(cls, header: Mapping[str, Any], arrays: Arrays) -> Self:
        """Restore from a file, and check all of it."""

    @checked
    def save(
        self, path: str | Path, *, precision: Precision = "float32", notes: Mapping[str, Any] | None = None
    ) -> None:
        """Write the model to one file. `precision` is that of the weights; `notes` go into its header."""
        check_notes(dict(notes or {}))
        header, arrays = self.state(precision)
        write_model(path, {**header, "notes": dict(notes or {})}, arrays)

    @classmethod
    @checked
    def load(cls, path: str | Path) -> Self:
        """Read a model from its file."""
        if not Path(path).exists():
            raise ConfigError(f"{path}: there is no such file", "give a model that was saved or trained")
        return cls.restored(path, *read_model(path))

    @classmethod
    def restored(cls, path: str | Path, header: Mapping[str, Any], arrays: Arrays) -> Self:
        """Restore a model from the contents of its file."""
        try:
            if header["kind"] != cls.kind:
                raise ModelFileError(
                    str(path), f"this is a model of kind {header['kind']!r}, not {cls.kind!r}"
                )
            refuse_older(path, header)
            check_notes(header["notes"])
            found = cls.from_state(header, arrays)
            found.remember(header["notes"])
        except ModelFileError:
            raise
        except (ArithmeticError, AttributeError, DuilianError, LookupError, TypeError, ValueError) as error:
            raise ModelFileError(str(path), f"the parts of the model do not fit together ({error})") from None
        return found

    def remember(self, notes: dict[str, Any]) -> None:
        """Keep the notes of the file on the model's origin."""
        self.notes_ = notes


Model = TypeVar("Model", bound=StoredModel)


class Estimator(Parameters[Config], Storable, Generic[Config, Model]):
    """A model that can be trained, used, saved and loaded."""

    model_type: type[Model]
    model_: Model
    trained_: Any  # the result of training, which makes the model

    @checked
    def trim(self, min_weight: float) -> Self:
        """Drop state weights smaller than `min_weight` (feature selection); needs the result of `fit`."""
        return self.use(self.trained_.model(min_weight))

    @abc.abstractmethod
    def compile(self, model: Model) -> None:
        """Compile a model for answering."""

    def use(self, model: Model) -> Self:
        """Answer with this model from now on."""
        self.model_ = model
        self.compile(model)
        return self

    @checked
    def use_dictionary(self, words: Dictionary, mode: DictionaryMode = "extend") -> Self:
        """Add words to the dictionary that the model has learned with (`extend`), or use these words instead
        (`replace`). Weights do not change.
        """
        return self.use(self.model_.with_dictionary(words, mode))

    @classmethod
    def with_model(cls, model: Model) -> Self:
        """An estimator with a trained model."""
        return cls.with_config(model.config).use(model)  # type: ignore[attr-defined]

    def __getattr__(self, name: str) -> Any:
        if name.endswith("_") and not name.startswith("_"):  # set by training or loading
            hint = f"call fit, or read a model with {type(self).__name__}.load"
            raise NotFittedError(f"this {type(self).__name__} has not been trained yet", hint)
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def is_trained(self) -> bool:
        """Whether there is a model."""
        return hasattr(self, "model_")

    @checked
    def weights(self, feature: str) -> dict[str, Any]:
        """The weights of a feature, as templates write it: `w[0]=北京`, or `t[-1]=NN` for the label before.

        A model of one standard has weights by label. Others have such weights for each part: a standard, a
        bundle `[ctb, pku]` (coupled), or a clique (two chains). Labels without a weight are left out.
        """
        return self.model_.named_weights(feature)

    def state(self, precision: Precision = "float32") -> State:
        """The model as a file stores it."""
        return self.model_.state(precision)

    @classmethod
    def from_state(cls, header: Mapping[str, Any], arrays: Arrays) -> Self:
        """Restore an estimator."""
        return cls.with_model(cls.model_type.from_state(header, arrays))

    def __getstate__(self) -> dict[str, Any]:
        """For joblib and multiprocessing: the parameters and, if trained, the contents of a model file."""
        return {
            "parameters": self.get_params(deep=False),
            "state": self.state() if self.is_trained() else None,
            "notes": getattr(self, "notes_", None),
        }

    def __setstate__(self, kept: dict[str, Any]) -> None:
        vars(self).update(kept["parameters"])
        if kept["state"] is not None:
            self.use(self.model_type.from_state(*kept["state"]))
        if kept["notes"] is not None:
            self.remember(kept["notes"])
