"""Thin layers over the engine for third-party libraries, which are imported on first use."""
