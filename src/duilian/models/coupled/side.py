"""One standard of a coupled tagger, in the form of a plain tagger."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from duilian.errors import ConfigError
from duilian.labels.line_options import line_options
from duilian.models.base.standard_tagger import StandardTagger
from duilian.models.coupled.predictor import CoupledPredictor

if TYPE_CHECKING:
    from duilian.models.coupled.model import CoupledTagger


class CoupledSide(StandardTagger):
    """One standard of a coupled tagger, with the methods of a plain tagger."""

    segment_only: ClassVar[bool] = False

    def __init__(self, tagger: CoupledTagger, standard: str) -> None:
        self.tagger, self.standard = tagger, standard
        self._number = self.labeler.sides.number(standard)
        self.templates_, self.level = tagger.templates_, tagger.level
        self.notes_ = getattr(tagger, "notes_", {})

    @property
    def labeler(self) -> CoupledPredictor:
        return self.tagger.predictor_

    def tag_lines(self, text: bytes, *, between: str = " ", before_tag: str = "_", threads: int = 1) -> bytes:
        """Tag lines of UTF-8 text, like `Tagger.tag_lines`."""
        if self.labeler.packer.source is not None:
            raise ConfigError("a tagger with a guide cannot tag lines")
        encodings = self.labeler.sides.encodings
        starts = [line_options(encoding, between, before_tag).starts for encoding in encodings]
        options = line_options(self.encoding_, between, before_tag)
        native = self.labeler.best_for(self.standard)
        return native.tag_lines(self._number, starts, text, options, threads)
