"""One module per tagger, each with `train` and `tag`; `job.py` runs one of them in its own process."""
