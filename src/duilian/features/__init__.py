"""Feature templates: a small language and its presets; and dictionaries that templates consult."""

from duilian.features.cliques import CliqueTemplates
from duilian.features.dictionary import Dictionary, ListedWord
from duilian.features.reading import Reading
from duilian.features.templates import Templates, pack, presets

__all__ = ["CliqueTemplates", "Dictionary", "ListedWord", "Reading", "Templates", "pack", "presets"]
