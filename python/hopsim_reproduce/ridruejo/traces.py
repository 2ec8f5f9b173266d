"""Figure 3: how much shorter applications get with local buffer restriction, by the size of their problem."""

from __future__ import annotations

import lzma
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING

from hopsim_reproduce.model import (
    Entry,
    Experiment,
    Fact,
    Measured,
    Outcome,
    Results,
    Scale,
    at,
    slug,
)
from hopsim_reproduce.panels import EXECUTION_TIME
from hopsim_reproduce.ridruejo.system import CHOSEN, CONTROLS, HOSTS, NOTE, RIDRUEJO, RING, relative, running
from hopsim_reproduce.run import EXAMPLES

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FILE = "jobs.0.program.trace.file"
"""Axis of the experiments."""
BY_SIZE: Mapping[str, str] = {
    "IS.S": "IS.S.64",
    "IS.A": "IS.A.64",
    "CG.A": "CG.A.64.it2",
    "LU.W": "LU.W.64.it5",
    "LU.A": "LU.A.64.it5",
}
"""Benchmark and class -> trace."""
OTHERS: Mapping[str, str] = {
    "MG.A": "MG.A.64",
    "BT.A": "BT.A.64.it5",
    "SP.A": "SP.A.64.it5",
    "FT.A": "FT.A.64",
}
CLOSE = ("LU.W", "LU.A")
"""Sizes whose order one seed cannot tell."""
LEAST_SEEDS = 2
"""Of these."""
FEWER_KEYS: Mapping[str, int] = {"IS, 2^18 keys": 32, "IS.W": 8}
"""Size of IS of which there is no trace -> how many times more keys class A has, which has 2^23."""
KEY = 4
"""Length of a key of IS [bytes]."""
TRACES: Mapping[Scale, Mapping[str, str]] = {"quick": BY_SIZE, "full": {**BY_SIZE, **OTHERS}}
SEEDS: Mapping[Scale, int] = {"quick": 1, "full": 10}
SMALL_PENALTY = 1.1
"""Time relative to the base case that still is a small penalty."""


def _file(trace: str) -> str:
    return f"traces/{trace}.mpt.xz"


def _experiments(scale: Scale, seeds: int) -> list[Experiment]:
    documents = {control: running(RING, control, {"trace": {}}) for control in CONTROLS}
    files: dict[str, list[str]] = {"close": [], "apart": []}
    for name, trace in TRACES[scale].items():
        files[_order_of(name)].append(_file(trace))
    of_order = {"close": max(seeds, LEAST_SEEDS), "apart": seeds}
    recorded = [
        Experiment(slug(control, order), document, files[order], of_order[order], axis=FILE)
        for control, document in documents.items()
        for order in files
    ]
    with_fewer_keys = [
        Experiment(slug(control, name), running(RING, control, {"list": {"mpt": _is(times)}}), (), seeds)
        for name, times in FEWER_KEYS.items()
        for control in CONTROLS
    ]
    return [*recorded, *with_fewer_keys]


def _order_of(name: str) -> str:
    """Whether one seed tells a benchmark from the others."""
    return "close" if name in CLOSE else "apart"


@cache
def _is(times: int) -> str:
    """IS of class A with so many times fewer keys, and so every share of its exchanges, in whole keys."""

    def smaller(shares: str) -> str:
        return ",".join(str(KEY * round(int(share) / KEY / times)) for share in shares.split(","))

    lines: list[str] = []
    with lzma.open(EXAMPLES / _file(BY_SIZE["IS.A"]), "rt") as file:
        records = file.read().splitlines()
    for record in records:
        fields = record.split()
        if fields[:2] == ["g", "alltoallv"]:
            fields[4:] = map(smaller, fields[4:])
        lines.append(" ".join(fields))
    return "\n".join([*lines, ""])


def _relative(scale: Scale, results: Results) -> dict[str, Measured]:
    """Benchmark and class -> execution time with LBR over that without, with the same seed."""
    found: dict[str, Measured] = {}
    for name, trace in TRACES[scale].items():
        own, base = (
            at(results[slug(control, _order_of(name))], _file(trace), FILE) for control in ("lbr", "base")
        )
        found[name] = relative(own, base, EXECUTION_TIME)
    for name in FEWER_KEYS:
        found[name] = relative(results[slug("LBR", name)], results[slug("base", name)], EXECUTION_TIME)
    return found


def _conclude(scale: Scale, results: Results) -> Outcome:
    return Outcome(facts=list(_facts(_relative(scale, results))))


def _facts(times: Mapping[str, Measured]) -> Iterator[Fact]:
    yield _limits("IS: LBR shortens the larger problem", times["IS.A"], None, 1.0)
    yield _order("IS: the benefits grow with the problem", times, ["IS.A", "IS.S"])
    for less, more in pairwise(["IS.A", "IS.W", "IS, 2^18 keys", "IS.S"]):
        yield _order(f"IS: the benefits grow from {more} to {less}", times, [less, more])
    yield _limits("CG: LBR is counterproductive, but its penalty is small", times["CG.A"], 1.0, SMALL_PENALTY)
    yield _limits("LU benefits", times["LU.A"], None, 1.0)
    yield _order("LU benefits most", times, ["LU.A", "IS.A"])
    yield _order("LU: larger problems do not benefit more", times, ["LU.W", "LU.A"])
    for name in ("LU.A", "IS.A"):
        yield _order(f"CG benefits less than {name}", times, [name, "CG.A"])
    for name in OTHERS:
        if name in times:
            yield _limits(f"CG is the only one that does not benefit: {name}", times[name], None, 1.0)


def _limits(statement: str, time: Measured, low: float | None, high: float) -> Fact:
    criterion = f"below {high:g} of the base case" if low is None else f"{low:g} to {high:g} of the base case"
    holds = (low is None and time.mean < high) or (low is not None and low <= time.mean <= high)
    return Fact(statement, criterion, _text(time), holds)


def _order(statement: str, times: Mapping[str, Measured], names: Sequence[str]) -> Fact:
    less, more = (times[name] for name in names)
    found = f"{_text(less)} and {_text(more)}"
    return Fact(statement, f"{names[0]} below {names[1]}", found, less.mean < more.mean)


def _text(time: Measured) -> str:
    return f"{time.mean:.4f} ± {time.std:.4f}"


def _notes(scale: Scale) -> list[str]:
    lines = [
        f"64-ring. {NOTE}",
        f"{HOSTS} Collective operations are those of MPICH. Traces of NPB 3.3, recorded on another machine "
        f"than the paper's: {', '.join(TRACES[scale].values())}.",
        f"{CHOSEN}. With one for every VC CG gains more; with priority for packets in transit LBR changes "
        "nothing.",
        f"{' and '.join(FEWER_KEYS)} are the trace of class A, with as many fewer keys in every exchange.",
        "The paper prints no figures: signs and order are judged, of the classes that there are traces of.",
    ]
    if scale == "quick":
        lines.append(
            f"{LEAST_SEEDS} seeds of {' and '.join(CLOSE)}, whose order one cannot tell. The other "
            "benchmarks, and 10 seeds as in the paper: --scale full."
        )
    return lines


def _draw(scale: Scale, results: Results) -> Figure:
    from hopsim_reproduce import drawing

    times = _relative(scale, results)
    changes = [time.change() for time in times.values()]
    return drawing.panels_of_bars(
        "Figure 3: execution time with LBR",
        "change against\nthe base case [%]",
        list(times),
        {"64-ring, B = 3": {"LBR": changes}},
    )


def entries() -> list[Entry]:
    """The figure."""
    return [
        Entry(
            name="ridruejo-figure-3",
            title="Time of NAS Parallel Benchmarks with local buffer restriction, 64-ring",
            source=f"{RIDRUEJO}, figure 3 and §4.3",
            notes=_notes,
            seeds=SEEDS,
            experiments=_experiments,
            conclude=_conclude,
            draw=_draw,
        )
    ]
