"""Marks of links that fail, become slower and are repaired, in figures over time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hopsim.metrics.outages import Time, outages

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from matplotlib.axes import Axes

FAILS: dict[str, Any] = {"color": "0.25", "linewidth": 1.0, "linestyle": "--", "zorder": 1.5}
IS_SLOWER: dict[str, Any] = FAILS | {"linestyle": "-."}
IS_REPAIRED: dict[str, Any] = FAILS | {"linestyle": ":"}


def mark(panels: Sequence[Axes], configs: Iterable[Mapping[str, Any]], scale: float = 1.0) -> None:
    """Lines across all panels where something fails or becomes slower, if alike in all runs.

    `scale`: of the axis of time over the times of the configurations. The legend of the first panel says
    what the lines are.
    """
    all_found = {outages(config) for config in configs}
    if len(all_found) != 1:
        return
    (found,) = all_found
    for times, name, looks in (
        (found.failures, "link fails", FAILS),
        (found.slowdowns, "link becomes slower", IS_SLOWER),
        (found.repairs, "link is repaired", IS_REPAIRED),
    ):
        _lines(panels, sorted(times), name, looks, scale)


def _lines(
    panels: Sequence[Axes], times: Iterable[Time], name: str, looks: dict[str, Any], scale: float
) -> None:
    label = name
    for time in times:
        for number, axes in enumerate(panels):
            axes.axvline(float(time) * scale, label="" if number else label, **looks)
        label = ""
