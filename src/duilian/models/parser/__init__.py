"""The graph-based parser."""
