"""The models of the papers, one module each."""

from duilian.models.coupled import CoupledTagger, IterationReport

__all__ = ["CoupledTagger", "IterationReport"]
