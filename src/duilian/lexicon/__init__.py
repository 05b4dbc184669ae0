"""The user's own words: their file, their table, and the constraints they put on an analysis."""

from duilian.lexicon.entries import Entry
from duilian.lexicon.lexicon import EntryMode, Finding, Lexicon, Match

__all__ = ["Entry", "EntryMode", "Finding", "Lexicon", "Match"]
