"""Tags and trees from one search."""
