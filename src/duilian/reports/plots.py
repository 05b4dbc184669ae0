"""Plots of what was learned or measured; they need the extra `plots` (matplotlib)."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

import numpy as np

from duilian.errors import ConfigError
from duilian.reports.inspection import LearnedMapping

_INCHES_PER_TAG = 0.24
_DOTS_PER_INCH = 150


def plot_mapping(mapping: LearnedMapping, path: str | Path) -> None:
    """Draw a heat map of a learned mapping: for each source tag (row), the shares of target tags.

    Rows are sorted by count, columns by the row that they belong to, so that a simple mapping is a diagonal.
    """
    shown = [tag for tag, _, _ in mapping.rows()]
    rows = [mapping.source_tags.index(tag) for tag in shown]
    counts = mapping.counts[rows]
    columns = [b for b in _column_order(counts) if counts[:, b].sum() > 0.5]
    shares = 100.0 * counts[:, columns] / np.maximum(counts.sum(axis=1, keepdims=True), 1e-12)
    size = (2.5 + _INCHES_PER_TAG * len(columns), 1.5 + _INCHES_PER_TAG * len(rows))
    figure = _matplotlib("figure").Figure(figsize=size, layout="constrained")
    axes = figure.add_subplot()
    image = axes.imshow(shares, cmap="magma_r", vmin=0.0, vmax=100.0, aspect="equal", interpolation="nearest")
    axes.set_xticks(range(len(columns)), [mapping.target_tags[b] for b in columns], rotation=90, fontsize=7)
    axes.set_yticks(range(len(rows)), shown, fontsize=7)
    axes.set_xlabel(mapping.target)
    axes.set_ylabel(mapping.source)
    figure.colorbar(image, label="% of the row", shrink=0.6)
    figure.savefig(path, dpi=_DOTS_PER_INCH)


def _column_order(counts: np.ndarray[Any, np.dtype[np.float64]]) -> list[int]:
    best_row = counts.argmax(axis=0)
    return sorted(range(counts.shape[1]), key=lambda b: (best_row[b], -counts[best_row[b], b]))


def _matplotlib(part: str) -> Any:
    try:
        return importlib.import_module(f"matplotlib.{part}")
    except ImportError:
        raise ConfigError("a plot needs matplotlib", "pip install 'duilian[plots]'") from None
