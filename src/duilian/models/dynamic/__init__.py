"""The tagger with dynamic features, for mixed text."""
