"""A linear-chain CRF over feature dicts."""
