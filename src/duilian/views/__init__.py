"""Output forms of a `Doc`, for people and for other programs."""

from typing import TYPE_CHECKING

from duilian.lazy import lazily

if TYPE_CHECKING:
    from duilian.views.couplets import couplet
    from duilian.views.exchange import brat, label_studio_task, span_line
    from duilian.views.forms import FORMS, Form, find_form, register_form
    from duilian.views.pictures import picture
    from duilian.views.tree_drawing import tree_lines

__all__ = [
    "FORMS",
    "Form",
    "brat",
    "couplet",
    "find_form",
    "label_studio_task",
    "picture",
    "register_form",
    "span_line",
    "tree_lines",
]

__getattr__ = lazily(
    __name__,
    {
        "duilian.views.couplets": "couplet",
        "duilian.views.exchange": "brat label_studio_task span_line",
        "duilian.views.forms": "FORMS Form find_form register_form",
        "duilian.views.pictures": "picture",
        "duilian.views.tree_drawing": "tree_lines",
    },
)
