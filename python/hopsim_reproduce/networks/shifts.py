"""Fat trees in which every destination has its own way down: shifts of all nodes do not meet."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from hopsim_reproduce.claims import Value, between
from hopsim_reproduce.figure import Claim, Figure
from hopsim_reproduce.model import Document, Entry, Measured, Scale, quotient
from hopsim_reproduce.panels import ACCEPTED, Case, Line, Panel, Points

ZAHAVI = (
    "E. Zahavi, D-Mod-K routing providing non-blocking traffic for shift permutations on real life fat "
    "trees, 2010"
)
PORTS: Mapping[Scale, int] = {"quick": 3, "full": 6}
LEVELS = 3
LOAD = 0.95
PANEL = f"offered load {LOAD:g}"
GENERATED = "generated_load"
BY_DESTINATION, AT_RANDOM = "by destination (D-mod-k)", "at random"
UPS: Mapping[str, str] = {BY_DESTINATION: "destination", AT_RANDOM: "random"}
"""Line -> the way up."""
SEEDS: Mapping[Scale, int] = {"quick": 1, "full": 3}


def _document(line: str, shift: int, scale: Scale) -> Document:
    ports = PORTS[scale]
    nodes = ports**LEVELS
    destinations = [(node + shift) % nodes for node in range(nodes)]
    return {
        "topology": {"fat_tree": {"k": ports, "levels": LEVELS}},
        "routing": {"minimal": {"up": UPS[line]}},
        "jobs": [{"traffic": {"packet_length": 8, "pattern": {"destinations": destinations}}}],
        "measure": {"warmup": 2_000, "cycles": 4_000},
    }


def _panels(scale: Scale) -> list[Panel]:
    def line(name: str) -> Line:
        case = _way(name)
        shifts = range(1, PORTS[scale] ** LEVELS)
        return {
            float(shift): Case(f"{case}-{shift}", _document(name, shift, scale), LOAD) for shift in shifts
        }

    return [Panel(PANEL, {name: line(name) for name in UPS}, "every node sends so many nodes ahead")]


def _way(line: str) -> str:
    """How packets go up, which names the experiments of a line."""
    return UPS[line]


def _worst(line: str) -> Value:
    """What the shift that gets least is given of what its nodes generate."""

    def read(points: Points) -> Measured | None:
        accepted, generated = (points.line(PANEL, line, key) for key in (ACCEPTED, GENERATED))
        shares = [quotient(accepted[shift], generated[shift]) for shift in accepted.keys() & generated.keys()]
        return min((each for each in shares if each), key=lambda share: share.mean, default=None)

    return Value(f"accepted over generated load of the worst shift, {line}", read)


def _claims() -> Iterator[Claim]:
    yield between("by destination no shift is held up", _worst(BY_DESTINATION), low=0.99)
    yield between("at random packets of some shifts meet", _worst(AT_RANDOM), high=0.95)


def _notes(scale: Scale) -> list[str]:
    nodes = PORTS[scale] ** LEVELS
    return [
        f"Fat tree of {LEVELS} levels, {PORTS[scale]} ports up and down, {nodes} nodes: all "
        f"{nodes - 1} shifts.",
        "A packet goes up by the digits of its destination: to a node all packets come down by one way.",
    ]


def entries() -> list[Entry]:
    """The shifts."""
    figure = Figure(
        name="networks-shifts",
        title="Shifts of all nodes of a fat tree",
        source=ZAHAVI,
        panels=_panels,
        notes=_notes,
        seeds=SEEDS,
        claims=tuple(_claims()),
        quantities=(ACCEPTED,),
    )
    return [figure.entry()]
