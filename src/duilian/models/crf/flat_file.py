"""A segmenter in one flat file, for the native core without Python: `score/flat_segmenter.hpp` reads it.

"DUISEG", 0, version | size of the file | checksum of the rest | sections, each: its size, then its bytes
"""

from __future__ import annotations

import struct
from collections.abc import Iterator

import numpy as np

from duilian import _native
from duilian.errors import ConfigError
from duilian.models.crf.predictor import CrfPredictor
from duilian.models.roles import Ability

MAGIC = b"DUISEG\0\1"
PRELUDE = struct.Struct("<8sQQ")
SIZE = struct.Struct("<Q")


def flat_segmenter(predictor: CrfPredictor) -> bytes:
    """Return the contents of the file, for a plain character tagger that only segments."""
    if Ability.TAGS in predictor.abilities or predictor.reads != "text":
        raise ConfigError("only a tagger with segment_only = true can become a segmenter file")
    body = b"".join(SIZE.pack(len(section)) + section for section in _sections(predictor))
    size = PRELUDE.size + len(body)
    return PRELUDE.pack(MAGIC, size, _native.flat_checksum(body)) + body


def _sections(predictor: CrfPredictor) -> Iterator[bytes]:
    encoding = predictor.encoding(predictor.standard)
    folding, dictionary = predictor.reading.folding, predictor.reading.dictionary
    width, pairs, letters = folding.tables()
    starts, ends = encoding.meaning.edges
    weights = predictor.native.weights
    yield predictor.templates.text.encode()
    yield bytes([encoding.join_letters, encoding.join_digits, width, letters])
    yield starts.tobytes()
    yield ends.tobytes()
    yield encoding.succession.table().tobytes()
    yield np.array(pairs, "<u4").tobytes()
    for array, dtype in (
        (weights.slot, "<u8"),
        (weights.label, "<u2"),
        (weights.weight, "<f4"),
        (weights.transition, "<f4"),
    ):
        yield array.astype(dtype).tobytes()
    if dictionary is None:
        yield from [b""] * 6
        return
    for column, dtype in zip(dictionary.native.arrays(), ("<u4", "<u2", "|u1", "<u4", "|u1"), strict=True):
        yield np.asarray(column, dtype).tobytes()
    yield "".join(f"{tag}\n" for tag in dictionary.native.tags).encode()
