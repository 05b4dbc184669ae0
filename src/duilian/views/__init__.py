"""A `Doc` as people look at it and as other programs read it."""

from typing import TYPE_CHECKING

from duilian.lazy import lazily

if TYPE_CHECKING:
    from duilian.views.couplets import couplet
    from duilian.views.exchange import brat, conllu_sentences, json_line, label_studio_task, span_line
    from duilian.views.forms import FORMS, Form
    from duilian.views.tree_drawing import tree_lines

__all__ = [
    "FORMS",
    "Form",
    "brat",
    "conllu_sentences",
    "couplet",
    "json_line",
    "label_studio_task",
    "span_line",
    "tree_lines",
]

__getattr__ = lazily(
    __name__,
    {
        "duilian.views.couplets": ("couplet",),
        "duilian.views.exchange": ("brat", "conllu_sentences", "json_line", "label_studio_task", "span_line"),
        "duilian.views.forms": ("FORMS", "Form"),
        "duilian.views.tree_drawing": ("tree_lines",),
    },
)
