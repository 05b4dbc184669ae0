"""The guide-feature tagger."""
