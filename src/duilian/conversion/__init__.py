"""Conversion of corpora from one standard to another."""

from duilian.conversion.converter import Converter, convert

__all__ = ["Converter", "convert"]
