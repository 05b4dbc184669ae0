"""Selection of words for manual annotation."""
