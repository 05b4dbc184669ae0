"""The tree converter."""
