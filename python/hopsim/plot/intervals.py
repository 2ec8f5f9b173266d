"""What goes on over time, from the cycles in which each part of it begins and ends."""

from __future__ import annotations

import numpy as np


def mean_open(
    spans: tuple[np.ndarray, np.ndarray], edges: np.ndarray, weights: np.ndarray | None = None
) -> np.ndarray:
    """How many intervals are open on average between one edge and the next, or the sum of their weights.

    Args:
        spans: where each interval begins, and where it ends.
        edges: ascending, at least two.
        weights: one for each interval; 1 when None.
    """
    begins, ends = (span.astype(float) for span in spans)
    each = np.ones(len(begins)) if weights is None else weights.astype(float)
    area = _since(begins, each, edges) - _since(ends, each, edges)
    return np.diff(area) / np.diff(edges)


def _since(starts: np.ndarray, weights: np.ndarray, edges: np.ndarray) -> np.ndarray:
    """Sum over what has started of its weight times the time since then, at each edge."""
    order = np.argsort(starts)
    sums = np.concatenate([[0.0], np.cumsum(weights[order])])
    moments = np.concatenate([[0.0], np.cumsum(weights[order] * starts[order])])
    started = np.searchsorted(starts[order], edges)
    return edges * sums[started] - moments[started]
