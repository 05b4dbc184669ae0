"""Conversion of corpora from one standard to another."""

from duilian.conversion.converter import Conversion, Converter, with_source_tags

__all__ = ["Conversion", "Converter", "with_source_tags"]
