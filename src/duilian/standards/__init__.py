"""Annotation guidelines: their tags, their labels on characters, and mappings between them."""

from duilian.standards.boundaries import BoundaryScheme, LabelMeaning
from duilian.standards.explanation import Explanation, explain
from duilian.standards.mapping import Mapping
from duilian.standards.standard import (
    Standard,
    TagDescription,
    conll_column,
    standard_names,
    table_names,
    tag_classes,
    tags_in_either_column,
    tags_of_wholes,
    universal_tags,
)

__all__ = [
    "BoundaryScheme",
    "Explanation",
    "LabelMeaning",
    "Mapping",
    "Standard",
    "TagDescription",
    "conll_column",
    "explain",
    "standard_names",
    "table_names",
    "tag_classes",
    "tags_in_either_column",
    "tags_of_wholes",
    "universal_tags",
]
