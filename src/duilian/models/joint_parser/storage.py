"""The joint parser as data: what training produces and a model file stores."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any, ClassVar

from duilian.errors import ConfigError
from duilian.features import Templates
from duilian.models.base.estimator import Arrays, State
from duilian.models.base.precision import Precision
from duilian.models.base.table_codec import below
from duilian.models.crf.storage import CrfModel
from duilian.models.joint_parser.config import JointParserConfig
from duilian.models.joint_parser.joint_packing import JointPacker
from duilian.models.parser.storage import ParserModel

TAGGER = "tagger."  # begins the names of its arrays in a model file


@dataclasses.dataclass(frozen=True, kw_only=True, eq=False)
class JointParserModel(ParserModel):
    """Weights of a joint parser, with its templates and the plain tagger that finds candidate tags."""

    kind: ClassVar[str] = "joint-parser"
    config_type = JointParserConfig
    takes_codes: ClassVar[bool] = False
    search_settings: ClassVar[Mapping[str, str]] = {**ParserModel.search_settings, "tagging": "threshold"}

    config: JointParserConfig
    templates: Templates
    tagger: CrfModel
    trained_threshold: float

    def __post_init__(self) -> None:
        threshold = self.config.tagging.threshold
        if threshold < self.trained_threshold:
            # The search has not learned to reject tags that were not tried in training.
            low = f"tagging.threshold {threshold} is below {self.trained_threshold}"
            raise ConfigError(f"{low}, which the model was trained with", "train with the lower one")
        if set(self.tagger.tags or ()) - set(self.tags):
            raise ConfigError("the tagger has tags that the parser lacks")

    def packer(self) -> JointPacker:
        labels = (self.tags, self.relations, self.tag_class)
        return JointPacker(
            self.config,
            *labels,
            self.templates,
            root_relations=self.root_relations,
            hinter=self.hint_tagger(),
        )

    def state(self, precision: Precision = "float32") -> State:
        """The model as a file stores it, with its tagger."""
        header, arrays = super().state(precision)
        header["templates"], header["templates_name"] = self.templates.text, self.templates.name
        header["trained_threshold"] = self.trained_threshold
        header["tagger"], inner = self.tagger.state(precision)
        return header, arrays | {TAGGER + name: array for name, array in inner.items()}

    @classmethod
    def parts_of(cls, header: Mapping[str, Any], arrays: Arrays) -> dict[str, Any]:
        return super().parts_of(header, arrays) | {
            "templates": Templates(header["templates"], name=header["templates_name"]),
            "tagger": CrfModel.from_state(header["tagger"], below(arrays, TAGGER)),
            "trained_threshold": float(header["trained_threshold"]),
        }
