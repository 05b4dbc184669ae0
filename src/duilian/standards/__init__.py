"""What an annotation guideline is: its tags, its labels on characters, its ties to other guidelines."""

from duilian.standards.boundaries import BoundaryScheme, LabelMeaning
from duilian.standards.explanation import Explanation, explain
from duilian.standards.mapping import Mapping
from duilian.standards.standard import (
    Standard,
    TagDescription,
    conll_column,
    names,
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
    "names",
    "table_names",
    "tag_classes",
    "tags_in_either_column",
    "tags_of_wholes",
    "universal_tags",
]
