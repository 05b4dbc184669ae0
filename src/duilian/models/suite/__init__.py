"""Several models in one file: an analyser."""
