"""Feature templates: a small language, its presets, and running it over sentences."""

from duilian.features.cliques import CliqueTemplates
from duilian.features.templates import Templates, pack, presets

__all__ = ["CliqueTemplates", "Templates", "pack", "presets"]
