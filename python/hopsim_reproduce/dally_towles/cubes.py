"""An 8×8 mesh and an 8×8 torus by load, with the storage of a link divided among 1, 2, 4 or 8 VCs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from hopsim_reproduce.claims import Value, at_end, at_place, between, peak, ratio
from hopsim_reproduce.dally_towles.system import (
    BOOK,
    DALLY,
    MORE,
    PACKET_LENGTH,
    STORAGE,
    Lengths,
    Router,
    divided,
    over,
    rises,
    share,
)
from hopsim_reproduce.figure import Claim, Figure
from hopsim_reproduce.model import Document, Entry, Scale
from hopsim_reproduce.panels import LATENCY, Case, Panel

SIDE = 8
LENGTHS: Mapping[Scale, Lengths] = {"quick": Lengths(2_000, 8_000), "full": Lengths(5_000, 20_000)}
SEEDS: Mapping[Scale, int] = {"quick": 2, "full": 3}
ROUTER = Router()


@dataclass(frozen=True)
class Cube:
    """A mesh or a torus of two dimensions."""

    kind: str
    vcs: Sequence[int]
    fraction: int
    """The most loaded channel carries k / fraction times the offered load."""
    loads: Sequence[float]
    medium: float
    """A load that the fewest VCs carry."""

    @property
    def capacity(self) -> float:
        """Under uniform traffic, Θ = b / γ of the textbook's tables [flits/(node·cycle)]."""
        return self.fraction / SIDE

    @property
    def hops(self) -> float:
        """Mean distance of the textbook's tables for even k, H_min: n k / 3 in a mesh, n k / 4 in a torus."""
        return 2 * SIDE / (3 if self.kind == "mesh" else 4)

    def document(self, router: Router, vcs: int, buffer: int, length: int, measure: Document) -> Document:
        """The experiment without its load and seed."""
        rings = {"rings": "dateline"} if self.kind == "torus" else {}
        return {
            "topology": {self.kind: {"sides": [SIDE, SIDE]}},
            "links": {"network": {"latency": 1}},
            "router": router.document(vcs, buffer, **rings),
            "routing": {"minimal": {}},
            "jobs": [{"traffic": {"packet_length": length, "pattern": "uniform"}}],
            "measure": measure,
        }

    @property
    def panel(self) -> str:
        """Its title."""
        return f"{STORAGE} flits behind every link"

    def panels(self, scale: Scale) -> list[Panel]:
        """One, with a line for every number of VCs."""
        return [Panel(self.panel, {name(vcs): self._line(vcs, scale) for vcs in self.vcs})]

    def _line(self, vcs: int, scale: Scale) -> dict[float | str, Case]:
        document = self.document(ROUTER, vcs, divided(vcs), PACKET_LENGTH, LENGTHS[scale].measure())
        return {load: Case(f"{vcs}-vcs", document, load) for load in self.loads}


MESH = Cube("mesh", (1, 2, 4, 8), 4, (0.02, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.5, 0.7, 1.0), 0.15)
TORUS = Cube(
    "torus", (2, 4, 8), 8, (0.02, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.6, 0.8, 1.0), 0.2
)


def name(vcs: int) -> str:
    """Of a line."""
    return "1 VC" if vcs == 1 else f"{vcs} VCs"


def _of_capacity(cube: Cube, vcs: int) -> Value:
    """Throughput with so many VCs."""
    return share(
        peak(cube.panel, name(vcs)), cube.capacity, f"peak of {name(vcs)} / capacity of {cube.capacity:g}"
    )


def _claims(cube: Cube) -> Iterator[Claim]:
    names = [name(vcs) for vcs in cube.vcs]
    fewest = cube.vcs[0]
    yield from rises([peak(cube.panel, each) for each in names], names, f"{cube.kind}, same storage")
    yield between(
        f"with {name(fewest)} the {cube.kind} accepts 20 to 50 % of its capacity",
        _of_capacity(cube, fewest),
        0.2,
        0.5,
    )
    yield ratio(
        "at a medium load more VCs of the same storage mean more latency",
        at_place(cube.panel, names[-1], cube.medium, LATENCY),
        at_place(cube.panel, names[0], cube.medium, LATENCY),
        MORE,
    )


def _claims_of_mesh() -> Iterator[Claim]:
    yield from _claims(MESH)
    yield between("no number of VCs accepts more than the capacity", _of_capacity(MESH, 8), high=1.0)
    for vcs in (4, 8):
        yield between(
            f"with {name(vcs)} the mesh accepts 60 to 80 % of its capacity", _of_capacity(MESH, vcs), 0.6, 0.8
        )
    for vcs in MESH.vcs:
        yield between(f"{name(vcs)}: beyond saturation the mesh accepts as much", _kept(MESH, vcs), 0.95, 1.0)


def _claims_of_torus() -> Iterator[Claim]:
    yield from _claims(TORUS)
    yield between("8 VCs: beyond saturation the torus accepts less", _kept(TORUS, 8), high=0.95)


def _kept(cube: Cube, vcs: int) -> Value:
    """Of the throughput, at full load."""
    return over(
        at_end(cube.panel, name(vcs)), peak(cube.panel, name(vcs)), f"at full load / peak, {name(vcs)}"
    )


def _notes(cube: Cube, scale: Scale) -> list[str]:
    lengths = LENGTHS[scale]
    lines = [
        f"{SIDE}×{SIDE} {cube.kind}, dimension-order routing, uniform traffic, packets of {PACKET_LENGTH} "
        f"flits; {STORAGE} flits behind every link, divided evenly among the VCs; three stages and links of "
        f"one cycle; {lengths.warmup:,} + {lengths.cycles:,} cycles. The capacity is {cube.capacity:g} "
        "(bisection).",
        "The textbook was not at hand, so that none of its curves is compared point by point; a public "
        "page of its publisher has its tables of meshes and tori. What VCs of the same storage are worth "
        "Dally's papers say of networks in general; their own are in dally-lanes and dally-stages.",
    ]
    if cube.kind == "torus":
        lines.append("Datelines make two classes of the VCs of a link, so that a torus needs two VCs.")
    return lines


def entries() -> list[Entry]:
    """The mesh and the torus."""
    return [
        Figure(
            name=f"dally-towles-{cube.kind}-vcs",
            title=f"{SIDE}×{SIDE} {cube.kind} by load and number of VCs",
            source=f"{BOOK}; {DALLY}",
            panels=cube.panels,
            notes=lambda scale, cube=cube: _notes(cube, scale),
            seeds=SEEDS,
            claims=tuple(claims),
        ).entry()
        for cube, claims in ((MESH, _claims_of_mesh()), (TORUS, _claims_of_torus()))
    ]
