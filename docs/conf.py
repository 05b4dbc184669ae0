"""How the site is built; docs/project/writing.md has the commands. Reading it needs no network."""

import importlib.metadata
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "_extensions"))

project = "Duilian 对联"
author = "The Duilian developers"
copyright = author
release = version = importlib.metadata.version("duilian")

extensions = ["myst_parser", "sphinx.ext.autodoc", "chinese_search", "mathml", "repository_links"]
exclude_patterns = ["_*"]
nitpicky = True
nitpick_ignore_regex = [("py:.*", r".*")]  # types in signatures need no page of their own

myst_enable_extensions = ["colon_fence", "dollarmath"]
myst_heading_anchors = 4

autodoc_member_order = "bysource"
autodoc_preserve_defaults = True
autodoc_typehints = "signature"
autodoc_typehints_format = "short"
autodoc_class_signature = "mixed"
python_use_unqualified_type_names = True
python_maximum_signature_line_length = 100
default_role = "code"  # docstrings write names as `name`

html_theme = "furo"
html_title = "Duilian 对联"
html_static_path = ["_static"]
html_css_files = ["duilian.css"]
html_search_language = "en-zh"
html_math_renderer = "mathml"
html_copy_source = False
html_show_sphinx = False
html_theme_options = {"navigation_with_keys": True}
