"""How messages write counts and durations."""

from __future__ import annotations


def counted(number: int, noun: str, plural: str = "") -> str:
    """A number with its noun.

    >>> counted(1, "sentence"), counted(2000, "sentence"), counted(0, "dependency", "dependencies")
    ('1 sentence', '2,000 sentences', '0 dependencies')
    """
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def clock(seconds: float) -> str:
    """A duration such as 0:07, 12:30 or 3:05:00."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
