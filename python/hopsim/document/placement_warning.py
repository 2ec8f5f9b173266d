"""A warning about placements by the seed that are the same for every seed."""

from __future__ import annotations

import json
import warnings
from collections.abc import Sequence

from hopsim import _core
from hopsim.document.experiment import Experiment, Point
from hopsim.errors import HopsimWarning

KINDS = ("random_nodes", "random_groups")


def warn_of_settled_placements(experiment: Experiment, points: Sequence[Point]) -> None:
    """Warn if a job takes all that it draws from, and the order of its nodes does not count.

    Beside other jobs that is the way to say "all others": there it matters only if seeds or placements are
    compared.
    """
    paths = {path for point in points[:1] for path in point.axes}
    compares = any(path.endswith("seed") or "placement" in path.split(".") for path in paths)
    seen: set[str] = set()
    found: dict[str, int] = {}
    for point in points:
        if not any(f'"{kind}"' in point.config for kind in KINDS):
            continue
        config = json.loads(point.config)
        placed = json.dumps([config["topology"], config["jobs"]])
        if placed in seen or not (compares or len(config["jobs"]) == 1):
            continue
        seen.add(placed)
        for index in _core.settled_placements(point.config):
            ((kind, drawn),) = config["jobs"][index]["placement"].items()
            found[f"jobs.{index}.placement.{kind}.count"] = drawn["count"]
    if found:
        listed = ", ".join(f"{path} = {count}" for path, count in found.items())
        warnings.warn(
            f"{experiment.name}: {listed} takes all that there is to draw from, and the order does not count "
            "here: the placement is the same for every seed, and the same as without a draw; a smaller count "
            'lets the seed choose, and so does rank_order = "random" of a program',
            HopsimWarning,
            stacklevel=3,
        )
