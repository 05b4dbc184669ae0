"""Duilian 对联: one Chinese analyser learned from corpora that disagree."""

__version__ = "0.1.0"
