"""The exceptions of the package.

`ConfigError`: bad input, the user can mend it. `RunError`: one simulation could not finish.
`SweepError`: some points of a sweep could not finish. `NotRecordedError`: a table that the
experiment did not ask for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from hopsim._core import Cancelled, ConfigError, RunError

if TYPE_CHECKING:
    from hopsim.results import Results

__all__ = ["Cancelled", "ConfigError", "NotRecordedError", "RunError", "SweepError"]


class SweepError(RunError):
    """Some points of a sweep failed; the others are in `results`.

    Attributes:
        results: the points that finished, in point order.
        failures: point number -> message.
    """

    def __init__(self, results: Results, failures: dict[int, str]) -> None:
        lines = [f"point {point}: {message}" for point, message in sorted(failures.items())]
        super().__init__("\n".join(lines))
        self.results = results
        self.failures = failures


class NotRecordedError(LookupError):
    """A table was asked for that the simulation did not record."""
