"""A `Doc` as people look at it and as other programs read it."""

from duilian.views.couplet import couplet
from duilian.views.exchange import brat, conllu_sentences, json_line, span_line
from duilian.views.trees import tree_lines

__all__ = ["brat", "conllu_sentences", "couplet", "json_line", "span_line", "tree_lines"]
