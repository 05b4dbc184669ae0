"""Corpus formats, one module each; `lookup` finds them by name and by extension."""
