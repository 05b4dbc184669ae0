"""The analysis of a text: words, tags and a tree in each standard, as offsets into that text."""

from duilian.document.doc import Doc, Group, Token
from duilian.document.search_words import SearchWord
from duilian.document.word_table import Names, WordTable

__all__ = ["Doc", "Group", "Names", "SearchWord", "Token", "WordTable"]
