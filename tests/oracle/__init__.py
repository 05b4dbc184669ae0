"""Brute-force twins: slow, plain programs that the fast code must equal, themselves tested by hand."""
