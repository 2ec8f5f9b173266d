"""The exceptions of the package.

`ConfigError`: bad input, the user can mend it. `RunError`: one simulation could not finish.
`SweepError`: some points of a sweep could not finish. `NotRecordedError`: a table that the
experiment did not ask for. `HopsimWarning`: what was done may not be what was meant.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from hopsim._core import Cancelled, ConfigError, RunError

if TYPE_CHECKING:
    from hopsim.results.result import Results

__all__ = ["Cancelled", "ConfigError", "HopsimWarning", "NotRecordedError", "RunError", "SweepError"]


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

    def __reduce__(self) -> tuple[type[SweepError], tuple[Results, dict[int, str]]]:
        """Pickled by what it was made of, not by its text."""
        return type(self), (self.results, self.failures)


class HopsimWarning(UserWarning):
    """Something that is allowed and may not be what was meant."""


class NotRecordedError(LookupError):
    """A table was asked for that the simulation did not record."""
