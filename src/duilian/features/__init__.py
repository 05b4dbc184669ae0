"""Feature templates: a small language and its presets."""

from duilian.features.cliques import CliqueTemplates
from duilian.features.templates import Templates, pack, presets

__all__ = ["CliqueTemplates", "Templates", "pack", "presets"]
