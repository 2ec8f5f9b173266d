"""Points of a sweep that share a run: what they share is simulated once, when the first of them begins."""

from __future__ import annotations

import threading
from collections.abc import Sequence

from hopsim import _core
from hopsim.document.experiment import Experiment, Point
from hopsim.runs.workers import Run


def run_of(document: Experiment, points: Sequence[Point]) -> Run:
    """What runs the points of a document on threads of this process."""
    cycle = document.branch_at
    return _core.run if cycle is None else Branches(points, cycle).simulate


class Branches:
    """What runs the points of a sweep with `branch_at`; results are those of points run each by itself."""

    def __init__(self, points: Sequence[Point], branch_at: int) -> None:
        self._configs = [point.config for point in points]
        self._branch_at = branch_at
        self._trunk: bytes | None = None
        self._lock = threading.Lock()

    def simulate(self, config: str, monitor: _core.Monitor, threads: int) -> _core.Run:
        """Run a point on so many threads at most. Raises `RunError`, `Cancelled`."""
        with self._lock:
            if self._trunk is None:
                self._trunk = _core.trunk(self._configs, self._branch_at, monitor, threads)
        return _core.run_branch(config, monitor, threads, self._trunk)
