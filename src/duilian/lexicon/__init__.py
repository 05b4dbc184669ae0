"""The user's own words: their file, their table, and the constraints they put on an analysis."""

from duilian.lexicon.entries import Entry
from duilian.lexicon.findings import EntryMode, Finding, Match
from duilian.lexicon.lexicon import Lexicon

__all__ = ["Entry", "EntryMode", "Finding", "Lexicon", "Match"]
