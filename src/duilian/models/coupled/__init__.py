"""The coupled tagger."""
