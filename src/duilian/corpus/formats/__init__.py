"""One module a format; `registry` knows them by name and by extension."""
