"""Thin layers over the engine for other people's libraries, which are imported when used."""
