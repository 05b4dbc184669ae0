"""Annotation guidelines: their tags, their labels on characters, and mappings between them."""

from typing import TYPE_CHECKING

from duilian.lazy import lazily

if TYPE_CHECKING:
    from duilian.standards.boundaries import BoundaryScheme, LabelMeaning
    from duilian.standards.explanation import Explanation, explain
    from duilian.standards.features import universal_features, universal_under
    from duilian.standards.mapping import Mapping
    from duilian.standards.paired_tags import (
        are_pairs,
        is_pair,
        paired,
        pairs_with,
        split_names,
        split_pair,
        universal_of,
        with_parts,
    )
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
    "are_pairs",
    "conll_column",
    "explain",
    "is_pair",
    "paired",
    "pairs_with",
    "split_names",
    "split_pair",
    "standard_names",
    "table_names",
    "tag_classes",
    "tags_in_either_column",
    "tags_of_wholes",
    "universal_features",
    "universal_of",
    "universal_tags",
    "universal_under",
    "with_parts",
]

# Most users need little of it, and the standard library's modules below it are slow to import.
__getattr__ = lazily(
    __name__,
    {
        "duilian.standards.boundaries": "BoundaryScheme LabelMeaning",
        "duilian.standards.explanation": "Explanation explain",
        "duilian.standards.features": "universal_features universal_under",
        "duilian.standards.mapping": "Mapping",
        "duilian.standards.paired_tags": (
            "are_pairs is_pair paired pairs_with split_names split_pair universal_of with_parts"
        ),
        "duilian.standards.standard": (
            "Standard TagDescription conll_column standard_names table_names tag_classes "
            "tags_in_either_column tags_of_wholes universal_tags"
        ),
    },
)
