"""Conversion of corpora from one standard to another."""

from duilian.conversion.converter import (
    Conversion,
    ConversionModel,
    Converter,
    convert,
    with_source_tags,
)

__all__ = ["Conversion", "ConversionModel", "Converter", "convert", "with_source_tags"]
