"""Corpus formats, one module each; `registry` finds them by name and by extension."""
