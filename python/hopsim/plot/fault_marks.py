"""Marks of links that fail and are repaired, in figures over time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hopsim.metrics.outages import Time, outages

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from matplotlib.axes import Axes

FAILS: dict[str, Any] = {"color": "0.25", "linewidth": 1.0, "linestyle": "--", "zorder": 1.5}
IS_REPAIRED: dict[str, Any] = FAILS | {"linestyle": ":"}


def mark(panels: Sequence[Axes], configs: Iterable[Mapping[str, Any]], scale: float = 1.0) -> None:
    """Lines across all panels where something fails, if it does so alike in all runs of these configurations.

    `scale`: of the axis of time over the times of the configurations. The legend of the first panel says
    what the lines are.
    """
    all_found = {outages(_without_slower(config)) for config in configs}
    if len(all_found) != 1:
        return
    (found,) = all_found
    for times, name, looks in (
        (found.failures, "link fails", FAILS),
        (found.repairs, "link is repaired", IS_REPAIRED),
    ):
        _lines(panels, sorted(times), name, looks, scale)


def _without_slower(config: Mapping[str, Any]) -> dict[str, Any]:
    """The configuration without links that only become slower: these do not fail."""
    faults = [fault for fault in config.get("faults", []) if fault.get("slowdown") is None]
    return {**config, "faults": faults}


def _lines(
    panels: Sequence[Axes], times: Iterable[Time], name: str, looks: dict[str, Any], scale: float
) -> None:
    label = name
    for time in times:
        for number, axes in enumerate(panels):
            axes.axvline(float(time) * scale, label="" if number else label, **looks)
        label = ""
