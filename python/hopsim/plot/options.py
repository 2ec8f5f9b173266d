"""What may be asked of figures, by the names of the command line, and whether it fits the results."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from hopsim.errors import ConfigError
from hopsim.kinds import is_sequence
from hopsim.metrics.series import SEED, by_job
from hopsim.plot.view import Limits, View
from hopsim.suggestion import suggestion

if TYPE_CHECKING:
    from hopsim.results.result import Results

OPTIONS = {
    "by": "--group-by",
    "load": "--load",
    "group": "--group",
    "x": "--x",
    "y": "--y",
    "xlim": "--xlim",
    "ylim": "--ylim",
    "xscale": "--xscale",
    "yscale": "--yscale",
}
"""Field of `View` -> option, of those that only some kinds take."""

FRAME = frozenset({"xlim", "ylim", "xscale", "yscale"})
"""Fields that concern the axes of one kind."""
CURVES = frozenset({"by", "x"}) | FRAME
"""What kinds take that show curves over the abscissa."""
AT_ONE_LOAD = frozenset({"by", "load"})
"""What kinds take whose curves each show one load."""
OVER_TIME = AT_ONE_LOAD | {"xlim", "xscale"}
"""The same where panels share the horizontal axis, but not the vertical one."""

SCALES = ("linear", "log")
LARGEST = 100.0
"""Greatest width and height of a figure [inches]."""


def given(view: View) -> dict[str, Any]:
    """Fields of `OPTIONS` that were asked for."""
    return {name: value for name in OPTIONS if (value := getattr(view, name)) is not None}


def checked(view: View, results: Results) -> View:
    """The view with whole paths of axes. Raises `ConfigError` with what is valid for what does not fit."""
    _check_frame(view)
    by = None if view.by is None else tuple(_axis("by", path, results) for path in view.by)
    x = None if view.x is None else _abscissa(view.x, results)
    if view.y is not None:
        _check_column(view.y, results)
    return replace(view, by=by, x=x)


def written(name: str, value: Any) -> str:
    """An option as one writes it, for messages."""
    if name in ("xlim", "ylim"):
        text = _joined(value, ":")
    else:
        text = " ".join(value) if name == "by" else f"{value:g}" if name == "load" else str(value)
    return f"{OPTIONS[name]} {text}"


def _joined(values: Any, sign: str) -> str:
    """Numbers as the command line has them, those left out as nothing; anything else as it is."""
    if not is_sequence(values) or not all(end is None or isinstance(end, int | float) for end in values):
        return str(values)
    return sign.join("" if value is None else f"{value:g}" for value in values)


def _check_frame(view: View) -> None:
    for name, scale in (("xlim", view.xscale), ("ylim", view.yscale)):
        limits = getattr(view, name)
        if limits is not None:
            _check_limits(name, limits, scale)
    for name in ("xscale", "yscale"):
        scale = getattr(view, name)
        if scale is not None and scale not in SCALES:
            raise ConfigError(f"--{name} {scale}: must be linear or log{suggestion(str(scale), SCALES)}")
    if view.size is not None and not _is_size(view.size):
        sides = _joined(view.size, "x")
        raise ConfigError(
            f"--size {sides}: must be width and height in inches, above 0 and at most {LARGEST:g} each, "
            "for example 6x4"
        )


def _is_size(size: Any) -> bool:
    return _are_numbers(size) and all(side is not None and 0 < side <= LARGEST for side in size)


def _check_limits(name: str, limits: Limits, scale: str | None) -> None:
    if not _are_numbers(limits):
        raise ConfigError(
            f"{written(name, limits)}: must be two numbers, one of which may be left out (None)"
        )
    low, high = limits
    ends = [end for end in limits if end is not None]
    reason = ""
    if low is not None and high is not None and low >= high:
        reason = "the first number must be less than the second"
    elif scale == "log" and min(ends) <= 0:
        reason = "a logarithmic axis has positive numbers only"
    if reason:
        raise ConfigError(f"{written(name, limits)}: {reason}")


def _axis(name: str, path: str, results: Results) -> str:
    axis = by_job(results).axis(path, OPTIONS[name])
    if axis == SEED:
        reason = "points that differ in the seed only are one point of a curve"
        raise ConfigError(f"{OPTIONS[name]} {path}: {reason}")
    return axis


def _abscissa(name: str, results: Results) -> str:
    """A sweep axis, or a column of numbers of the summary."""
    columns = numeric_columns(results)
    axes = by_job(results).axes
    if name in columns and name not in axes:
        return name
    if not any(f".{path}".endswith(f".{name}") for path in axes):
        valid = ", ".join(path for path in axes if path != SEED) or "none"
        hint = suggestion(name, [*axes, *columns]) or ";"
        raise ConfigError(
            f"--x {name}: neither an axis of the sweep nor a column of numbers of the summary{hint} "
            f"axes: {valid}; columns: {', '.join(columns)}"
        )
    return _axis("x", name, results)


def _check_column(name: str, results: Results) -> None:
    columns = numeric_columns(results)
    if name not in columns:
        is_empty = any(name in result.summary for result in by_job(results)) and all(
            result.summary.get(name) is None for result in by_job(results)
        )
        reason = "no point has a value of it" if is_empty else "not a column of numbers of the summary"
        hint = suggestion(name, columns) or _ending_with(name, columns) or ";"
        raise ConfigError(f"--y {name}: {reason}{hint} valid: {', '.join(columns)}")


def _ending_with(name: str, columns: Sequence[str]) -> str:
    """Columns of whose name it is the end, as `p99` of `packet_latency_p99`."""
    found = [column for column in columns if column.endswith(f"_{name.lower()}")]
    return f"; did you mean {' or '.join(found[:3])}?" if found else ""


def numeric_columns(results: Results) -> list[str]:
    """Columns of the summary that hold numbers, without the half widths of their intervals."""
    found: dict[str, bool] = {}
    for result in by_job(results):
        for name, value in result.summary.items():
            if value is not None:
                is_number = isinstance(value, int | float) and not isinstance(value, bool)
                found[name] = found.get(name, True) and is_number
    return [name for name, is_number in found.items() if is_number and not name.endswith("_ci95")]


def _are_numbers(pair: Any) -> bool:
    """Whether it is a pair of finite numbers, or of one and None."""
    if not is_sequence(pair) or len(pair) != 2 or all(end is None for end in pair):
        return False
    return all(end is None or (isinstance(end, int | float) and math.isfinite(end)) for end in pair)
