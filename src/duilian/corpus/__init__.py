"""Corpora: sentences, file formats, and operations on whole corpora."""

from typing import TYPE_CHECKING

from duilian.lazy import lazily

if TYPE_CHECKING:
    from duilian.corpus.corpus import Corpus, fold_bounds
    from duilian.corpus.counts import Statistics, UnknownCounts, statistics, vocabulary
    from duilian.corpus.files import read_lines
    from duilian.corpus.formats.lookup import FORMATS, Format, guess_format, register_format
    from duilian.corpus.output_files import open_writer
    from duilian.corpus.sentence import Entity, Layer, Sentence, Tag
    from duilian.corpus.storage import ReadReport, read, read_sentences, write, write_parts
    from duilian.corpus.trees import TreeCheck, TreeCounts, is_projective, projectivise_layer

__all__ = [
    "FORMATS",
    "Corpus",
    "Entity",
    "Format",
    "Layer",
    "ReadReport",
    "Sentence",
    "Statistics",
    "Tag",
    "TreeCheck",
    "TreeCounts",
    "UnknownCounts",
    "fold_bounds",
    "guess_format",
    "is_projective",
    "open_writer",
    "projectivise_layer",
    "read",
    "read_lines",
    "read_sentences",
    "register_format",
    "statistics",
    "vocabulary",
    "write",
    "write_parts",
]

# Most users need little of it, and the standard library's modules below it are slow to import.
__getattr__ = lazily(
    __name__,
    {
        "duilian.corpus.corpus": "Corpus fold_bounds",
        "duilian.corpus.files": "read_lines",
        "duilian.corpus.formats.lookup": "FORMATS Format guess_format register_format",
        "duilian.corpus.output_files": "open_writer",
        "duilian.corpus.sentence": "Entity Layer Sentence Tag",
        "duilian.corpus.counts": "Statistics UnknownCounts statistics vocabulary",
        "duilian.corpus.storage": "ReadReport read read_sentences write write_parts",
        "duilian.corpus.trees": "TreeCheck TreeCounts is_projective projectivise_layer",
    },
)
