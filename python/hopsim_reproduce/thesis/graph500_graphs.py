"""Figures 2.4 to 2.12: what searches of graphs send, and how far the equations of the model are from that.

A graph like the benchmark's is drawn and searched before each run, so that results have the queries that the
search would send. The network takes no time.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from statistics import fmean, median
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from hopsim.results.result import Result
from hopsim_reproduce.model import Document, Entry, Experiment, Fact, Measured, Outcome, Results, Scale
from hopsim_reproduce.thesis.graph500_system import EDGEFACTOR, ideal
from hopsim_reproduce.thesis.study import THESIS

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ROOT_DEGREE = "jobs.0.program.graph500.root_degree"
"""Axis of the experiments. The root of a graph has the degree that is nearest to it."""
GRAPH, THESIS_FORM, FOGSIM_FORM = "kronecker", "thesis", "fogsim"
"""Values of `equations`: none, as printed, FOGSim's."""
FORMS = (THESIS_FORM, FOGSIM_FORM)
NAMES: Mapping[str, str] = {GRAPH: "graph", THESIS_FORM: "as printed", FOGSIM_FORM: "FOGSim"}
RANKS = 16
QUERY_BYTES = 16
KINDS = 4
"""Kinds of messages of a level, by communicator; the first carries queries."""
LEVELS = 9
HIGHEST = 2**32 - 1
"""No vertex has more edges."""
DEGREES: Sequence[int] = (1, 3, 10, 30, 100, 300, 1000, 10_000)
Levels = NDArray[np.float64]
"""Edges explored in each level, those within a process included."""


def _document(
    form: str,
    graph: int,
    stream: str,
    ranks: int = RANKS,
    *,
    coalescing: int = 2**20,
    query: int = QUERY_BYTES,
) -> Document:
    search = {
        "scale": graph,
        "edgefactor": EDGEFACTOR,
        "equations": form,
        "coalescing": coalescing,
        "query_bytes": query,
        "query_time": 0,
    }
    return {**ideal(search, ranks), "measure": {"streams": [stream]}}


def _by_degree(form: str, graph: int, seeds: int, degrees: Sequence[int] = DEGREES) -> Experiment:
    return Experiment(form, _document(form, graph, "messages"), degrees, seeds, axis=ROOT_DEGREE)


def explored(result: Result) -> Levels:
    """Of a search; queries are the edges that leave their process."""
    table = result.messages
    communicator, payload = (table[name].to_numpy() for name in ("communicator", "bytes"))
    carries = communicator % KINDS == 0
    queries = np.bincount(communicator[carries] // KINDS, payload[carries], LEVELS) / QUERY_BYTES
    return queries * RANKS / (RANKS - 1)


def _profiles(results: Sequence[Result]) -> dict[int, list[Levels]]:
    """Degree of the root -> its searches."""
    found: dict[int, list[Levels]] = {}
    for result in results:
        found.setdefault(int(result.axes[ROOT_DEGREE]), []).append(explored(result))
    return dict(sorted(found.items()))


def _means(profiles: Mapping[int, Sequence[Levels]]) -> dict[int, Levels]:
    return {degree: np.mean(searches, axis=0) for degree, searches in profiles.items()}


def _ends(graph: int) -> int:
    """Edges that a search explores if it goes through all of them both ways."""
    return 2 ** (graph + 1) * EDGEFACTOR


def _fact(statement: str, what: str, found: float, low: float, high: float) -> Fact:
    """Holds if a number is in these limits."""
    return Fact(statement, f"{what} from {low:g} to {high:g}", f"{found:.4g}", low <= found <= high)


# Figure 2.4: 128 processes, scale 25, 256 queries to a message: 256 messages from one process to another.

MESSAGES: Mapping[Scale, tuple[int, int, int]] = {"quick": (16, 32, 8), "full": (20, 128, 8)}
"""Scale, processes and queries of a message with 256 messages from one process to another."""
LONG_QUERY = 128
"""So that every message with queries is longer than the shortest class of sizes [bytes]."""


def _experiments_2_4(scale: Scale, seeds: int) -> list[Experiment]:
    graph, ranks, coalescing = MESSAGES[scale]
    document = _document(GRAPH, graph, "message_sizes", ranks, coalescing=coalescing, query=LONG_QUERY)
    return [Experiment(GRAPH, document, (), seeds)]


def _conclude_2_4(scale: Scale, results: Results) -> Outcome:
    graph, ranks, coalescing = MESSAGES[scale]
    counted = [_counted(result, ranks) for result in results[GRAPH]]
    bound = _ends(graph) * (ranks - 1) / ranks / coalescing
    statement = "about 1 % more messages than equation 2.1 gives: the last ones of a level are not full"
    ratio = fmean(queries for queries, _ in counted) / bound
    most = _fact(statement, "messages over those of equation 2.1", ratio, 1.002, 1.02)
    ratio = fmean(queries / notices for queries, notices in counted)
    statement = "30 times as many messages with queries as notifications"
    return Outcome(facts=[most, _fact(statement, "messages over notifications", ratio, 20, 45)])


def _counted(result: Result, ranks: int) -> tuple[int, float]:
    """Messages with queries, and notifications of the end of a level, which like the all-reduce are empty."""
    sizes = result.message_sizes.to_pylist()
    empty = sum(row["messages"] for row in sizes if row["bytes_from"] == 0)
    others = ranks - 1
    # The root notifies in all levels, the others in all but the first; two messages of all others reduce.
    levels = (empty / others - 1 + ranks) / (ranks + 2)
    return sum(row["messages"] for row in sizes) - empty, others * (1 + (levels - 1) * ranks)


# Figure 2.6: degrees of a graph of scale 17, from roots that are drawn.

DEGREES_SCALE = 17
ANY, FIRST = "any-root", "highest-degree"


def _experiments_2_6(scale: Scale, seeds: int) -> list[Experiment]:
    document = _document(GRAPH, DEGREES_SCALE, "messages")
    return [
        Experiment(ANY, document, (), seeds),
        Experiment(FIRST, document, [HIGHEST], 2, axis=ROOT_DEGREE),
    ]


def _conclude_2_6(scale: Scale, results: Results) -> Outcome:
    degrees = [explored(result)[0] for result in results[ANY]]
    highest = fmean(explored(result)[0] for result in results[FIRST])
    beyond = sum(degree > 150 for degree in degrees) / len(degrees)
    return Outcome(
        facts=[
            _fact("the degrees are condensed in low values", "median", median(degrees), 1, EDGEFACTOR),
            _fact("few vertices have more than 150 edges", "share of the roots", beyond, 0, 0.2),
            _fact("some have up to around 30,000", "edges of the vertex with most", highest, 2e4, 4e4),
        ]
    )


# Figures 2.8 to 2.10: one graph size, by degree of the root.

PROFILE_SCALE: Mapping[Scale, int] = {"quick": 15, "full": 17}


def _experiments_2_8(scale: Scale, seeds: int) -> list[Experiment]:
    return [_by_degree(GRAPH, PROFILE_SCALE[scale], seeds)]


def _conclude_2_8(scale: Scale, results: Results) -> Outcome:
    profiles = _profiles(results[GRAPH])
    return Outcome(facts=list(_facts_2_8(profiles, _ends(PROFILE_SCALE[scale]))))


def _facts_2_8(profiles: Mapping[int, Sequence[Levels]], ends: int) -> Iterator[Fact]:
    shares = {degree: levels / ends for degree, levels in _means(profiles).items()}
    low, high = shares[DEGREES[0]], shares[DEGREES[-1]]
    statement = "roots of a low degree explore little in the first two levels"
    yield _fact(statement, "share of the edges with one neighbour", float(low[:2].sum()), 0, 0.05)
    statement = "roots of a high degree explore the majority at once"
    yield _fact(statement, f"the same with {DEGREES[-1]:,}", float(high[:2].sum()), 0.5, 1)
    statement = "and little in the last levels"
    yield _fact(statement, "share behind the third level", float(high[3:].sum()), 0, 0.02)
    totals = [float(share.sum()) for share in shares.values()]
    statement = "the edges of all levels are almost constant"
    yield _fact(statement, "greatest over least sum", max(totals) / min(totals), 1, 1.02)
    third = {degree: [levels[2] for levels in searches] for degree, searches in profiles.items()}
    spread = np.std(third[DEGREES[0]], ddof=1) / max(1.0, float(np.std(third[1000], ddof=1)))
    statement = "edges of a level diverge much for roots of a low degree, less for those of a high one"
    yield _fact(
        statement, "deviation of the third level, 1 over 1,000 neighbours", float(spread), 3, math.inf
    )
    statement = "the third level is the exponential of a polynomial of degree 2 in ln d"
    yield _fact(statement, "mean relative distance from the one that fits best", _misfit(third), 0, 0.125)


def _misfit(levels: Mapping[int, Sequence[float]]) -> float:
    """Relative distance of means from the best quadratic in the logarithm of the degree."""
    x = np.log(list(levels))
    y = np.log([max(1.0, fmean(edges)) for edges in levels.values()])
    return float(np.mean(np.abs(np.expm1(np.polyval(np.polyfit(x, y, 2), x) - y))))


# Figure 2.12: the equations beside searches of another size.

VALIDATED: Mapping[Scale, int] = {"quick": 16, "full": 22}
VALIDATED_DEGREES = DEGREES[:-1]
SECOND, THIRD, TOTAL, OF_CASES = 0.18, 0.125, 0.12, 0.9
"""Relative errors that the text gives: of the second level in more than this part of the cases, of the third
on average, of the total."""


def _experiments_2_12(scale: Scale, seeds: int) -> list[Experiment]:
    return [_by_degree(form, VALIDATED[scale], seeds, VALIDATED_DEGREES) for form in NAMES]


def _conclude_2_12(_scale: Scale, results: Results) -> Outcome:
    means = {form: _means(_profiles(results[form])) for form in NAMES}
    graph = means[GRAPH]
    second = {form: [means[form][degree][1] / graph[degree][1] for degree in graph] for form in FORMS}
    facts = [fact for form in FORMS for fact in _errors(form, means, second[form])]
    printed, fogsim = (float(np.mean(np.abs(np.log(second[form])))) for form in FORMS)
    statement = "FOGSim's form of equation 2.8 is nearer to graphs in the second level than the printed one"
    criterion = "mean distance of the logarithms at most half as large"
    fact = Fact(statement, criterion, f"{fogsim:.3f}; {printed:.3f}", 2 * fogsim <= printed)
    return Outcome(facts=[*facts, fact])


def _errors(form: str, means: Mapping[str, Mapping[int, Levels]], second: Sequence[float]) -> Iterator[Fact]:
    """Of the second and third level, and of the total."""
    graph, name = means[GRAPH], NAMES[form]
    within = sum(abs(ratio - 1) < SECOND for ratio in second) / len(second)
    statement = f"{name}: the second level is within 18 % in more than 90 % of the cases"
    yield _fact(statement, "share of the degrees", within, OF_CASES, 1)
    pairs = [(means[form][degree], levels) for degree, levels in graph.items()]
    third = fmean(abs(model[2] / levels[2] - 1) for model, levels in pairs)
    statement = f"{name}: the third level is within 12.5 % on average"
    yield _fact(statement, "mean relative error", third, 0, THIRD)
    total = max(abs(model.sum() / levels.sum() - 1) for model, levels in pairs)
    yield _fact(f"{name}: the total is within 12 %", "greatest relative error", total, 0, TOTAL)


# What is drawn.


def _draw_2_4(scale: Scale, results: Results) -> Figure:
    from hopsim_reproduce import drawing

    ranks = MESSAGES[scale][1]
    counted = [_counted(result, ranks) for result in results[GRAPH]]
    bars = [Measured.of([each[kind] / ranks for each in counted]) for kind in (0, 1)]
    title = f"Messages of a process in a search, {ranks} processes"
    return drawing.bars(
        title, ("", "messages"), ("queries", "notifications"), {"mean of the processes": bars}
    )


def _draw_2_6(_scale: Scale, results: Results) -> Figure:
    from hopsim_reproduce import drawing

    degrees = [explored(result)[0] for result in results[ANY]]
    bounds = [1, 5, 10, 20, 40, 80, 150, HIGHEST]
    names = [f"{low} to {high - 1}" for low, high in pairwise(bounds[:-1])] + ["more"]
    counts = [sum(low - 0.5 <= each < high - 0.5 for each in degrees) for low, high in pairwise(bounds)]
    shares = [Measured.exactly(count / len(degrees)) for count in counts]
    return drawing.bars(
        "Degrees of a graph of scale 17",
        ("edges of a vertex", "share"),
        names,
        {"vertices with edges": shares},
    )


def _draw_levels(_scale: Scale, results: Results) -> Figure:
    from hopsim_reproduce import drawing

    panels = {NAMES[form]: _lines(_means(_profiles(points))) for form, points in results.items()}
    labels = ("neighbours of the root", "edges explored")
    return drawing.logarithmic("Edges explored by level", labels, panels)


def _lines(means: Mapping[int, Levels]) -> dict[str, dict[float, float]]:
    """Level -> degree of the root -> edges."""
    return {
        f"l = {level}": {degree: float(levels[level]) for degree, levels in means.items()}
        for level in range(6)
    }


GRAPHS = (
    "Graphs have no edge left out: those that are there twice, or lead back to their vertex, count as in the "
    "benchmark's simple implementation. Every seed draws another graph and another root."
)


def _notes_2_4(scale: Scale) -> list[str]:
    graph, ranks, coalescing = MESSAGES[scale]
    return [
        f"A graph of scale {graph}, {ranks} processes, {coalescing} queries to a message: 256 messages from "
        "one process to another, as with the 128 processes, scale 25 and 256 queries of the figure.",
        GRAPHS,
        "A process sends a message to another one as soon as there are enough queries for it.",
    ]


def _notes_2_6(_scale: Scale) -> list[str]:
    return [f"Degrees of roots that are drawn among the vertices with edges, scale {DEGREES_SCALE}.", GRAPHS]


def _notes_2_8(scale: Scale) -> list[str]:
    return [f"Graphs of scale {PROFILE_SCALE[scale]}; those of the figures have 17.", GRAPHS]


def _notes_2_12(scale: Scale) -> list[str]:
    return [
        f"Graphs of scale {VALIDATED[scale]}, and searches drawn from both forms of equation 2.8 with roots "
        "of the same degrees; those of the figure have scale 22.",
        GRAPHS,
    ]


def entries() -> list[Entry]:
    """The figures."""
    return [
        Entry(
            "thesis-figure-2.4",
            "Graph500: messages of a process in a search of a graph",
            THESIS.place("figures", "2.4"),
            _notes_2_4,
            {"quick": 3, "full": 3},
            _experiments_2_4,
            _conclude_2_4,
            _draw_2_4,
        ),
        Entry(
            "thesis-figure-2.6",
            "Graph500: degrees of a graph",
            THESIS.place("figures", "2.6"),
            _notes_2_6,
            {"quick": 15, "full": 200},
            _experiments_2_6,
            _conclude_2_6,
            _draw_2_6,
        ),
        Entry(
            "thesis-figure-2.8",
            "Graph500: edges explored by level and degree of the root",
            THESIS.place("figures", "2.8 to 2.10"),
            _notes_2_8,
            {"quick": 6, "full": 20},
            _experiments_2_8,
            _conclude_2_8,
            _draw_levels,
        ),
        Entry(
            "thesis-figure-2.12",
            "Graph500: the model's equations beside searches of graphs",
            THESIS.place("figures", "2.12"),
            _notes_2_12,
            {"quick": 4, "full": 5},
            _experiments_2_12,
            _conclude_2_12,
            _draw_levels,
        ),
    ]
