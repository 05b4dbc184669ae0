"""Two coupled chains."""
