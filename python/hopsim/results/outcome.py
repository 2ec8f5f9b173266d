"""How a sweep ended, as its results directory and whoever has asked for it are told."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass
class Outcome:
    """How a sweep ended.

    Attributes:
        finished: points that have a result, stored ones too.
        total: points of the experiment.
        failures: point number -> why it could not finish.
        interrupted: Ctrl-C (or SIGTERM) stopped it.
        wall_time_s: from start to end [s].
        threads_used: most threads that simulated a point together; 0 if there never were several.
        waited: share of their time that these have waited for each other.
    """

    finished: int = 0
    total: int = 0
    failures: dict[int, str] = field(default_factory=dict[int, str])
    interrupted: bool = False
    wall_time_s: float = 0.0
    threads_used: int = 0
    waited: float = 0.0
