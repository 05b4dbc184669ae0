"""Feature templates: a small language, its presets, and running it over sentences."""

from duilian.features.templates import Templates, pack, presets

__all__ = ["Templates", "pack", "presets"]
