"""Labels on units: converting annotation to labels, and labels back to words."""
