"""Formulas as MathML, which browsers draw by themselves: no script, no fonts, no network."""

import re

from docutils import nodes
from latex2mathml.converter import convert
from sphinx.application import Sphinx
from sphinx.util import logging
from sphinx.writers.html5 import HTML5Translator

logger = logging.getLogger(__name__)


def mathml(node: nodes.Element, display: str) -> str:
    """MathML of a formula; a command that the converter does not know is left in it, and told."""
    found = str(convert(node.astext(), display=display))
    if unknown := re.search(r"\\\w+", found):
        logger.warning("unknown command %s in a formula", unknown[0], location=node)
    return found


def inline(writer: HTML5Translator, node: nodes.math) -> None:
    writer.body.append(mathml(node, "inline"))
    raise nodes.SkipNode


def block(writer: HTML5Translator, node: nodes.math_block) -> None:
    writer.body.append(f'<div class="math">{mathml(node, "block")}</div>')
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_html_math_renderer("mathml", (inline, None), (block, None))
    return {"parallel_read_safe": True}
