"""A `Doc` as people look at it and as other programs read it."""

from typing import TYPE_CHECKING

from duilian.lazy import lazily

if TYPE_CHECKING:
    from duilian.views.couplets import couplet
    from duilian.views.exchange import brat, conllu_sentences, json_line, span_line
    from duilian.views.trees import tree_lines

__all__ = ["brat", "conllu_sentences", "couplet", "json_line", "span_line", "tree_lines"]

__getattr__ = lazily(
    __name__,
    {
        "duilian.views.couplets": ("couplet",),
        "duilian.views.exchange": ("brat", "conllu_sentences", "json_line", "span_line"),
        "duilian.views.trees": ("tree_lines",),
    },
)
