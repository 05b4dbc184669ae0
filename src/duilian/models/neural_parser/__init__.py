"""The neural parser: bidirectional LSTMs and biaffine scores of arcs."""
