"""The plain tagger: a linear-chain CRF."""
