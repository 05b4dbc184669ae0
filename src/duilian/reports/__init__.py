"""What a model is and what it has learned, for people to look at."""
