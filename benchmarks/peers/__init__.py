"""One module a tagger: each has `train` and `tag`, and `job.py` runs one of them in a process of its own."""
