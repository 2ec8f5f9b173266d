"""Figure 10: execution time of applications with age arbitration and SAT, relative to round robin."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from hopsim_reproduce.claims import Value, between
from hopsim_reproduce.figure import Claim, Figure, Number
from hopsim_reproduce.izu.system import AGE, IZU, RR, sat
from hopsim_reproduce.izu.traces import CYCLE_NS, SEEDS, TRACES, line, notes, over, relative
from hopsim_reproduce.model import AGREES, Comparison, Entry, Fact, Scale
from hopsim_reproduce.panels import Panel, Points

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Drawing

SAT, SAT_18, SAT_24 = (sat(12, most) for most in (12, 18, 24))
WIDE = (SAT_18, SAT_24)
MECHANISMS = (RR, AGE, SAT, *WIDE)
FAST, BASE, SLOW = "4× faster processors", "base speed", "4× slower processors"
SPEEDS: Mapping[str, float] = {FAST: 4, BASE: 1, SLOW: 0.25}
BENCHMARKS = tuple(TRACES["full"])
SAME = 0.01
"""Largest relative difference of execution times of which one is almost that of the other."""
BEST = 1.19
"""By how much SAT with the best k of each benchmark is faster than RR [%]."""
PUBLISHED: Mapping[tuple[str, str], Mapping[str, float]] = {
    (BASE, AGE.title): {"mean": -1.64},
    (BASE, SAT.title): {"mean": -1.01, "FT": -9.9},
    (FAST, SAT.title): {"mean": -4.26, "BT": -14.2},
    (SLOW, SAT.title): {"mean": 1.71},
}
"""Panel and mechanism -> change of the execution time against RR [%], by benchmark."""


def _panels(scale: Scale) -> list[Panel]:
    return [
        Panel(title, {each.title: line(each, speed, scale) for each in MECHANISMS}, "benchmark")
        for title, speed in SPEEDS.items()
    ]


def _of(mechanism: str, panel: str, *benchmarks: str) -> Value:
    """Time with a mechanism over that with RR; the mean of all benchmarks if none is named."""
    return over(panel, (mechanism, RR.title), benchmarks or BENCHMARKS)


def _numbers() -> Iterator[Number]:
    for (panel, mechanism), values in PUBLISHED.items():
        for benchmark, published in values.items():
            which = () if benchmark == "mean" else (benchmark,)
            yield _change(
                panel, benchmark, _of(mechanism, panel, *which), f"{mechanism} against RR", published
            )
    pair = (SAT.title, AGE.title)
    yield _change(FAST, "mean", over(FAST, pair, BENCHMARKS), f"{SAT.title} against Age", -2.48)


def _change(panel: str, benchmark: str, value: Value, quantity: str, published: float) -> Number:
    def compare(points: Points) -> Comparison:
        ratio = value.of(points)
        ours = None if ratio is None else ratio.change()
        most = AGREES * abs(published)
        return Comparison(f"{panel}, {benchmark}", f"{quantity} [%]", ours, published, 2, allowed=most)

    return compare


def _claims() -> Iterator[Claim]:
    yield from _claims_of_age()
    yield from _claims_at_base_speed()
    yield from _claims_of_other_speeds()
    yield from _claims_of_wide()


def _claims_of_age() -> Iterator[Claim]:
    for benchmark in BENCHMARKS:
        if benchmark == "MG":
            yield between("base speed: Age does not improve MG", _of(AGE.title, BASE, "MG"), 1.0)
        else:
            yield between(f"base speed: Age improves {benchmark}", _of(AGE.title, BASE, benchmark), None, 1.0)
    for panel in SPEEDS:
        yield between(f"{panel}: Age is faster on average", _of(AGE.title, panel), None, 1.0)


def _claims_at_base_speed() -> Iterator[Claim]:
    for benchmark in ("BT", "SP"):
        yield between(f"base speed: SAT improves {benchmark}", _of(SAT.title, BASE, benchmark), None, 1.0)
    yield between("base speed: SAT leaves LU as it is", _of(SAT.title, BASE, "LU"), 1 - SAME, 1 + SAME)
    yield between("base speed: SAT improves FT much", _of(SAT.title, BASE, "FT"), None, 0.95)
    for benchmark in ("CG", "IS", "MG"):
        yield between(f"base speed: SAT costs {benchmark} time", _of(SAT.title, BASE, benchmark), 1.0)
    yield between("base speed: SAT is faster on average", _of(SAT.title, BASE), None, 1.0)


def _claims_of_other_speeds() -> Iterator[Claim]:
    yield between("fast processors: SAT is faster on average", _of(SAT.title, FAST), None, 1.0)
    pair = (SAT.title, AGE.title)
    yield between("fast processors: SAT is faster than Age", over(FAST, pair, BENCHMARKS), None, 1.0)
    yield between("slow processors: SAT is slower on average", _of(SAT.title, SLOW), 1.0)
    for benchmark in ("BT", "MG", "SP"):
        yield _below(
            f"SAT is worth more to {benchmark} with fast processors",
            _of(SAT.title, FAST, benchmark),
            _of(SAT.title, BASE, benchmark),
        )
    yield _below("SAT is worth more with fast processors", _of(SAT.title, FAST), _of(SAT.title, BASE))
    yield _below("SAT is worth less with slow processors", _of(SAT.title, BASE), _of(SAT.title, SLOW))


def _claims_of_wide() -> Iterator[Claim]:
    for wide in WIDE:
        for panel in (BASE, FAST):
            statement = f"{panel}: k > l is worse on average: {wide.title}"
            yield between(statement, over(panel, (wide.title, SAT.title), BENCHMARKS), 1.0)
        yield between(f"base speed: {wide.title} is worse than RR", _of(wide.title, BASE), 1.0)
        statement = f"base speed: IS is faster with k > l: {wide.title}"
        yield between(statement, over(BASE, (wide.title, SAT.title), ["IS"]), None, 1.0)
        for benchmarks in (BENCHMARKS, ("BT", "CG", "IS", "MG")):
            whom = "" if benchmarks == BENCHMARKS else " for BT, CG, IS and MG"
            statement = f"slow processors: k > l is better on average{whom}: {wide.title}"
            yield between(statement, over(SLOW, (wide.title, SAT.title), benchmarks), None, 1.0)
    yield _best


def _below(statement: str, less: Value, more: Value) -> Claim:
    def check(points: Points) -> Fact:
        found = [value.mean for each in (less, more) if (value := each.of(points))]
        criterion = f"{less.label} below {more.label}"
        return Fact(statement, criterion, " and ".join(f"{each:.4g}" for each in found), found[0] < found[1])

    return check


def _best(points: Points) -> Fact:
    """The best thresholds for each benchmark: the paper's SAT-l12-opt, 1.19 % faster than RR."""
    ratios = [
        min(relative(points, BASE, (each.title, RR.title), [benchmark]).mean for each in (SAT, *WIDE))
        for benchmark in BENCHMARKS
    ]
    mean = sum(ratios) / len(ratios)
    return Fact(
        "base speed: SAT with the best k for each benchmark is 1.19 % faster than RR",
        f"mean of the best ratios within {AGREES:.0%} of that gain",
        f"{100 * (1 - mean):.2f} %",
        abs(100 * (1 - mean) - BEST) <= AGREES * BEST,
    )


def _notes(scale: Scale) -> list[str]:
    stamp = "Age: a packet gets its stamp when it enters the queue of 24 packets of its node."
    return [*notes(scale), stamp]


def _draw(points: Points, title: str) -> Drawing:
    from hopsim_reproduce import drawing

    places = [*BENCHMARKS, "mean"]
    panels = {
        panel: {
            each.title: [
                relative(points, panel, (each.title, RR.title), members).change()
                for members in (*([name] for name in BENCHMARKS), BENCHMARKS)
            ]
            for each in MECHANISMS[1:]
        }
        for panel in SPEEDS
    }
    return drawing.panels_of_bars(title, "change of the execution time\nagainst RR [%]", places, panels)


FIGURE = Figure(
    name="izu-figure-10",
    title="Execution time of the NAS Parallel Benchmarks with Age and SAT, adaptive 8×8 mesh, cycles of "
    f"{CYCLE_NS} ns",
    source=f"{IZU}, figure 10",
    panels=_panels,
    notes=_notes,
    seeds=SEEDS,
    claims=tuple(_claims()),
    numbers=tuple(_numbers()),
    drawing=_draw,
)


def entries() -> list[Entry]:
    """The figure."""
    return [FIGURE.entry()]
