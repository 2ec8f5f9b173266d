"""A warning about sweeps that compare networks which differ by default in latencies, VCs or buffers."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hopsim.document.estimate import classes_between_routers
from hopsim.document.experiment import Experiment, Point
from hopsim.errors import HopsimWarning

Values = tuple[tuple[str, int], ...]
"""(Class, value) of the links between routers."""


@dataclass(frozen=True)
class Difference:
    """Something whose default depends on the topology.

    Attributes:
        sections: keys of the document below one of which it is stated.
        what: how the networks that are compared differ.
        unit: of the values, with a space before it.
        values: those of a resolved configuration with this topology.
        key: the key of a class.
        advised: whether the lines that make the networks equal are named with a value: the greatest of them.
    """

    sections: tuple[str, ...]
    what: str
    unit: str
    values: Callable[[Mapping[str, Any], str], Values]
    key: Callable[[str], str]
    advised: bool


def warn_of_differing_defaults(experiment: Experiment, points: Sequence[Point]) -> None:
    """Warn if topologies are compared whose links, VCs or buffers differ only because nobody stated them."""
    compared = {path.partition(".")[0] for point in points[:1] for path in point.axes}
    if "topology" not in compared:
        return
    first: dict[str, dict[str, Any]] = {}
    for point in points:
        config = json.loads(point.config)
        (name,) = config["topology"]
        if "links" in config and "infiniband" not in config["router"]:  # An ideal network has none.
            first.setdefault(name, config)
    routers = sorted({router for config in first.values() for router in config["router"]})
    for difference in (_LATENCY, *(each(router) for router in routers[:1] for each in (_vcs, _buffers))):
        if any(section.partition(".")[0] in compared for section in difference.sections):
            continue
        if not any(experiment.states(section) for section in difference.sections):
            _warn(experiment, difference, {name: difference.values(first[name], name) for name in first})


def _warn(experiment: Experiment, difference: Difference, found: Mapping[str, Values]) -> None:
    """Warn if the networks differ."""
    if len({tuple(sorted({value for _, value in each})) for each in found.values()}) <= 1:
        return
    listed = "; ".join(
        f"{name} {', '.join(f'{kind} {value}' for kind, value in each)}" for name, each in found.items()
    )
    keys = sorted({difference.key(kind) for each in found.values() for kind, _ in each})
    advice = _lines(difference, found, keys) if difference.advised else f"{', '.join(keys)} state it"
    warnings.warn(
        f"{experiment.name}: the topologies that are compared have {difference.what}, "
        f"by default ({listed}{difference.unit}); {advice}",
        HopsimWarning,
        stacklevel=4,
    )


def _lines(difference: Difference, found: Mapping[str, Values], keys: Sequence[str]) -> str:
    """The lines of a document that make the networks equal: the greatest value for all."""
    most = max(value for each in found.values() for _, value in each)
    if len({tuple(kind for kind, _ in each) for each in found.values()}) == 1:
        return f"they are equal with {', '.join(f'{key} = {most}' for key in keys)}"
    # A topology refuses the keys of links that it does not have.
    tables = [", ".join(f"{kind} = {most}" for kind, _ in each) for each in found.values()]
    listed = ", ".join(f"{{ {table} }}" for table in tables)
    return f'they are equal with "{difference.sections[0]}" = [{listed}] beside topology in [sweep.zip]'


def _latencies(config: Mapping[str, Any], topology: str) -> Values:
    """Latencies by class; the links of a graph may each have stated their own."""
    if topology == "graph":
        edges = {edge["latency"] for edge in config["topology"]["graph"]["edges"]}
        return tuple(("network", latency) for latency in sorted(edges))
    return tuple((kind, config["links"][kind]["latency"]) for kind in classes_between_routers(config))


def _of_router(table: str) -> Callable[[Mapping[str, Any], str], Values]:
    """What a table of the router says by class of links."""

    def values(config: Mapping[str, Any], _topology: str) -> Values:
        (router,) = config["router"].values()
        classes = classes_between_routers(config)
        return tuple((kind, router[table][kind]) for kind in classes if kind in router[table])

    return values


_LATENCY = Difference(
    ("links",), "links of different latency", " cycles", _latencies, "links.{}.latency".format, advised=False
)


def _vcs(router: str) -> Difference:
    key = f"router.{router}.vcs"
    # A routing that is compared, too, needs VCs of its own.
    sections = (key, "compat")
    return Difference(
        sections, "different numbers of VCs", "", _of_router("vcs"), f"{key}.{{}}".format, advised=True
    )


def _buffers(router: str) -> Difference:
    key = f"router.{router}.buffers"
    return Difference(
        (key, "compat"),
        "different buffers",
        " phits per VC",
        _of_router("buffers"),
        f"{key}.{{}}".format,
        advised=True,
    )
