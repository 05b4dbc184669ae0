"""The multi-task tagger."""
