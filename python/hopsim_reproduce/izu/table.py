"""Table 2 and figure 3: what age arbitration is worth by the moment in which packets get their time stamp.

The paper took them with BookSim, where a packet goes from the NIC's queue into an input buffer of its
router like that of a link, and to another router from there. It gets its stamp when it joins the NIC's
queue (generation) or when it leaves it (injection).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from hopsim.results.result import Result
from hopsim_reproduce.izu.nodes import loads
from hopsim_reproduce.izu.system import (
    AGE,
    BUFFER,
    FULL_LOAD,
    IZU,
    MESH,
    OBLIVIOUS,
    QUEUE,
    RR,
    SIDE,
    Lengths,
    Mechanism,
    Queues,
    notes,
)
from hopsim_reproduce.izu.traffic import BIT_REVERSAL, PATTERNS, SHUFFLE, TRANSPOSE, UNIFORM
from hopsim_reproduce.model import (
    Comparison,
    Document,
    Entry,
    Experiment,
    Fact,
    Measured,
    Outcome,
    Results,
    Scale,
    quotient,
    slug,
)
from hopsim_reproduce.order import swapped
from hopsim_reproduce.panels import LEAST

if TYPE_CHECKING:
    from matplotlib.figure import Figure

IDEAL, FINITE, INJECTION = "ideal", f"queue of {QUEUE}", "injection time"


def _queues(source: object) -> Queues:
    """A queue at the NIC in front of a buffer of the router with the VCs of a link."""
    return Queues(source, BUFFER, MESH.vcs, "serial")


STAMPS: Mapping[str, Queues] = {
    IDEAL: _queues("unbounded"),
    FINITE: _queues({"packets": QUEUE}),
    INJECTION: _queues({"packets": 1}),
}
"""Column -> queues in front of the router: a packet is generated, and gets its stamp, when it joins them."""
PUBLISHED: Mapping[str, Sequence[float]] = {
    UNIFORM: (0.4073, 0.3631, 0.3323),
    SHUFFLE: (0.2377, 0.1892, 0.1061),
    BIT_REVERSAL: (0.1392, 0.1235, 0.0867),
    TRANSPOSE: (0.1416, 0.1237, 0.0867),
}
"""Least throughput of a node [phits/cycle] by pattern, in the order of `STAMPS`."""
ALLOWED = 0.1
"""Relative difference that agrees."""
CLOSE = 0.02
"""Published values that differ by less, relative to the larger one, may swap."""
ROW = range(1, SIDE)
"""Nodes of row 0 that send something under transpose."""
EVEN = 0.05
"""Largest relative difference from the mean of nodes that inject evenly."""
LENGTHS: Mapping[Scale, Lengths] = {"quick": Lengths(20_000, 100_000), "full": Lengths(50_000, 250_000)}
SEEDS: Mapping[Scale, int] = {"quick": 1, "full": 5}


def _notes(scale: Scale) -> list[str]:
    return [
        *notes(scale, LENGTHS[scale]),
        "8×8 mesh, DOR, 2 VCs, full load. A node's packets wait in its NIC and then in 2 VCs of 64 phits of "
        "the router. Ideal: stamped at generation, unbounded queue. Queue of 24: the same, generation "
        "stands still while 24 packets wait. Injection time: stamped when the NIC lets go of a packet.",
        "The published figures are BookSim's, whose wormhole switching lets a packet out of the NIC when "
        "there is room for its first flit. Here room for the whole packet is needed: the packet that would "
        "be on its way waits with its stamp in front of the buffer.",
        'hopsim\'s own `timestamp = "injection"` stamps at the grant in the source router, later still: the '
        "waiting packets of a node are then the youngest of all.",
    ]


def _document(mechanism: Mechanism, pattern: str, stamp: str, scale: Scale) -> Document:
    traffic = {"pattern": PATTERNS[pattern]}
    return MESH.document(
        OBLIVIOUS,
        mechanism,
        traffic,
        LENGTHS[scale],
        queues=STAMPS[stamp],
        crossbar="port",
        streams=["nodes"],
    )


@dataclass(frozen=True, eq=False)
class Routers:
    """Routers that the table and the figure are taken with.

    Attributes:
        suffix: what the names of the entries end with.
        title: what their titles end with.
        document: the experiment of a mechanism, a pattern and a stamp, without its load and seed.
        notes: what is run, and what the paper leaves open.
    """

    suffix: str
    title: str
    document: Callable[[Mechanism, str, str, Scale], Document]
    notes: Callable[[Scale], list[str]]

    def experiment(
        self, mechanism: Mechanism, pattern: str, stamp: str, scale: Scale, seeds: int
    ) -> Experiment:
        """The runs of a mechanism, a pattern and a stamp."""
        document = self.document(mechanism, pattern, stamp, scale)
        return Experiment(slug(mechanism.title, pattern, stamp), document, [FULL_LOAD], seeds)


WHOLE_PACKETS = Routers("", "", _document, _notes)
"""As in the other entries: room for a whole packet (virtual cut-through)."""


def _experiments(routers: Routers, scale: Scale, seeds: int) -> list[Experiment]:
    each = [(pattern, stamp) for pattern in PUBLISHED for stamp in STAMPS]
    return [routers.experiment(AGE, pattern, stamp, scale, seeds) for pattern, stamp in each]


def _least(results: Results, pattern: str, stamp: str) -> Measured:
    found = results[slug(AGE.title, pattern, stamp)]
    return Measured.of([result.summary[LEAST] for result in found])


def _conclude(_scale: Scale, results: Results) -> Outcome:
    ours = {pattern: [_least(results, pattern, stamp) for stamp in STAMPS] for pattern in PUBLISHED}
    comparisons = [*_values(ours), *_ratios(ours)]
    return Outcome(comparisons, [_order(ours), *_reductions(ours)])


def _values(ours: Mapping[str, Sequence[Measured]]) -> Iterator[Comparison]:
    for pattern, published in PUBLISHED.items():
        for stamp, value, own in zip(STAMPS, published, ours[pattern], strict=True):
            yield Comparison(pattern, _quantity(stamp), own, value, allowed=ALLOWED * value)


def _quantity(stamp: str) -> str:
    return f"least load of a node, {stamp}"


def _ratios(ours: Mapping[str, Sequence[Measured]]) -> Iterator[Comparison]:
    for pattern, published in PUBLISHED.items():
        for place, stamp in enumerate(STAMPS):
            if stamp == IDEAL:
                continue
            value = published[place] / published[0]
            own = quotient(ours[pattern][place], ours[pattern][0])
            yield Comparison(pattern, f"{stamp} / {IDEAL}", own, value, 3, allowed=ALLOWED * value)


def _order(ours: Mapping[str, Sequence[Measured]]) -> Fact:
    """Whether the twelve figures are in the published order."""
    cells = [(pattern, place, stamp) for pattern in PUBLISHED for place, stamp in enumerate(STAMPS)]
    wrong = swapped(
        {f"{pattern}, {stamp}": PUBLISHED[pattern][place] for pattern, place, stamp in cells},
        {f"{pattern}, {stamp}": ours[pattern][place].mean for pattern, place, stamp in cells},
        CLOSE,
    )
    return Fact(
        statement="order of the twelve figures",
        criterion=f"the published one; figures within {100 * CLOSE:g} % may swap",
        found=f"swapped: {'; '.join(wrong)}" if wrong else "the same",
        holds=not wrong,
    )


def _reductions(ours: Mapping[str, Sequence[Measured]]) -> Iterator[Fact]:
    """The text gives 18 % (uniform) to 63 % (shuffle); the table's own figures are 18 to 55 %."""
    for pattern, published in ((UNIFORM, 0.18), (SHUFFLE, 0.63)):
        lost = _lost(ours[pattern], 2)
        yield Fact(
            f"injection time instead of generation costs the least node {published:.0%}, {pattern}",
            f"{published:.0%}, within {ALLOWED:.0%} of that",
            f"{lost:.1%}",
            abs(lost - published) <= ALLOWED * published,
        )
    found = [_lost(own, 1) for own in ours.values()]
    yield Fact(
        "a queue of 24 costs it 10 to 20 %",
        "all patterns from 10 to 20 %, rounded to a percent",
        f"{min(found):.1%} to {max(found):.1%}",
        min(found) >= 0.095 and max(found) < 0.205,
    )


def _lost(own: Sequence[Measured], place: int) -> float:
    """What a stamp costs the least node, against the ideal one."""
    return 1 - own[place].mean / own[0].mean


def _draw(scale: Scale, results: Results) -> Figure:
    from hopsim_reproduce import drawing

    title = "Table 2: least throughput of a node with age arbitration, load 1"
    return drawing.beside(title, _conclude(scale, results).comparisons, [_quantity(each) for each in STAMPS])


def _row_experiments(routers: Routers, scale: Scale, seeds: int) -> list[Experiment]:
    age = [routers.experiment(AGE, TRANSPOSE, stamp, scale, seeds) for stamp in STAMPS]
    return [*age, routers.experiment(RR, TRANSPOSE, FINITE, scale, seeds)]


def _rows(results: Results) -> dict[str, list[Measured]]:
    """Throughput of the nodes of row 0 that send something, by arbitration."""
    names = {f"Age, {stamp}": slug(AGE.title, TRANSPOSE, stamp) for stamp in STAMPS}
    names["RR"] = slug(RR.title, TRANSPOSE, FINITE)
    return {title: _throughput(results[name]) for title, name in names.items()}


def _throughput(results: Sequence[Result]) -> list[Measured]:
    """Of the nodes of row 0 that send something [phits/cycle]."""
    runs = [loads(result) for result in results]
    return [Measured.of([float(run[node]) for run in runs]) for node in ROW]


def _row_outcome(_scale: Scale, results: Results) -> Outcome:
    rows = {title: [value.mean for value in row] for title, row in _rows(results).items()}
    ideal, finite, injection = (rows[f"Age, {stamp}"] for stamp in STAMPS)
    facts = [_even(ideal), *_uneven(ideal, injection), *_between(finite, ideal, injection, rows["RR"])]
    return Outcome(list(_row_values(ideal, injection)), facts)


def _row_values(ideal: Sequence[float], injection: Sequence[float]) -> Iterator[Comparison]:
    mean, least = sum(ideal) / len(ideal), min(injection)
    for row, quantity, value, published, decimals, theory in (
        (IDEAL, "mean of row 0", mean, 0.14, 3, "1/7 = 0.143"),
        (INJECTION, "least of row 0", least, 0.087, 3, ""),
        (INJECTION, "least of row 0, below the ideal [%]", 100 * (1 - least / min(ideal)), 38.0, 1, ""),
    ):
        yield Comparison(
            f"Age, {row}",
            quantity,
            Measured.exactly(value),
            published,
            decimals,
            theory,
            allowed=ALLOWED * published,
        )


def _even(ideal: Sequence[float]) -> Fact:
    mean = sum(ideal) / len(ideal)
    apart = max(abs(value - mean) for value in ideal) / mean
    return Fact(
        "ideal age gives row 0 an even injection rate",
        f"no node further than {EVEN:.0%} from the mean",
        f"at most {apart:.1%} ({min(ideal):.4f} to {max(ideal):.4f})",
        apart <= EVEN,
    )


def _uneven(ideal: Sequence[float], injection: Sequence[float]) -> Iterator[Fact]:
    least = injection.index(min(injection))
    yield Fact(
        "with injection time node 1 gets least",
        "the least of row 0 is node 1",
        f"node {ROW[least]} ({injection[least]:.4f}; node 1 {injection[0]:.4f})",
        least == 0,
    )
    spread, even = (max(row) / min(row) for row in (injection, ideal))
    yield Fact(
        "with injection time nodes of less congested areas inject faster",
        "most / least of row 0 above that of ideal age",
        f"{spread:.2f} against {even:.2f}",
        spread > even,
    )


def _between(
    finite: Sequence[float], ideal: Sequence[float], injection: Sequence[float], plain: Sequence[float]
) -> Iterator[Fact]:
    least, between, most = min(injection), min(finite), min(ideal)
    yield Fact(
        "a finite queue is in between",
        "least of row 0: injection time < queue of 24 < ideal",
        f"{least:.4f}, {between:.4f}, {most:.4f}",
        least < between < most,
    )
    yield Fact(
        "all are fairer than RR",
        "least of row 0 of RR below all others",
        f"{min(plain):.4f}, {least:.4f}",
        min(plain) < least,
    )


def _row_figure(_scale: Scale, results: Results) -> Figure:
    from hopsim_reproduce import drawing

    return drawing.bars(
        "Figure 3: throughput of the nodes of row 0, 8×8 mesh, DOR, transpose, load 1",
        ("node", "injected load [phits/(node·cycle)]"),
        [str(node) for node in ROW],
        _rows(results),
    )


def entries() -> list[Entry]:
    """The table and the figure."""
    return entries_of(WHOLE_PACKETS)


def entries_of(routers: Routers) -> list[Entry]:
    """The table and the figure with some routers."""
    return [
        Entry(
            name=f"izu-table-2{routers.suffix}",
            title=f"Least throughput of a node with age arbitration by time stamp, 8×8 mesh{routers.title}",
            source=f"{IZU}, table 2",
            notes=routers.notes,
            seeds=SEEDS,
            experiments=partial(_experiments, routers),
            conclude=_conclude,
            draw=_draw,
        ),
        Entry(
            name=f"izu-figure-3{routers.suffix}",
            title=f"Throughput of the nodes of row 0 under transpose by time stamp, 8×8 mesh{routers.title}",
            source=f"{IZU}, figure 3",
            notes=routers.notes,
            seeds=SEEDS,
            experiments=partial(_row_experiments, routers),
            conclude=_row_outcome,
            draw=_row_figure,
        ),
    ]
