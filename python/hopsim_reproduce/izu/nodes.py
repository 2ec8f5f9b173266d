"""Loads of single nodes, from the table of the nodes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from hopsim.results.result import Result
from hopsim_reproduce.izu.system import SIDE


def loads(result: Result, column: str = "injected") -> np.ndarray:
    """What each node injected, generated or got [phits/cycle], by node."""
    packets = result.nodes.column(column).to_numpy()
    length = result.config["jobs"][0]["traffic"]["packet_length"]
    return packets * length / result.config["measure"]["cycles"]


def mean_loads(results: Sequence[Result], column: str = "injected") -> np.ndarray:
    """The same, mean over the seeds."""
    return np.mean([loads(result, column) for result in results], axis=0)


def plane(values: np.ndarray) -> np.ndarray:
    """Values of the nodes of the 8×8 mesh as rows of it."""
    return values.reshape(SIDE, SIDE)


def central() -> np.ndarray:
    """Which nodes are the 16 in the middle of the mesh."""
    inside = np.zeros((SIDE, SIDE), dtype=bool)
    inside[SIDE // 4 : -SIDE // 4, SIDE // 4 : -SIDE // 4] = True
    return inside.ravel()
