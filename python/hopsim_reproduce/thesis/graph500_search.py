"""Figures 2.3 and 2.5: the messages of one search of a graph by 16 processes, over time and by pair."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from hopsim.results.result import Result
from hopsim_reproduce.model import Document, Entry, Experiment, Fact, Outcome, Results, Scale
from hopsim_reproduce.thesis.graph500_graphs import GRAPHS, KINDS, QUERY_BYTES, RANKS
from hopsim_reproduce.thesis.graph500_system import COALESCING, EDGEFACTOR, ideal
from hopsim_reproduce.thesis.study import THESIS

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SEARCHED: Mapping[Scale, int] = {"quick": 20, "full": 22}
"""Scale of the graph of figure 2.3. In smaller ones a few vertices with many edges keep some ranks longer."""
DRAWN = 13
"""Scale of the graph whose search is drawn: of a larger one nobody sees single messages."""
PAIRED: Mapping[Scale, int] = {"quick": 18, "full": 20}
"""Scale of the graph of figure 2.5."""
QUERY_TIME = 100
"""Of a process [ns]: nothing that is judged depends on it."""
PARTS = 5
"""Of a level, in which about as many messages are sent as in the others."""
EVEN = 0.25
"""Largest relative difference of a part of a level from the mean of all of them."""
DIFFERENT, ASYMMETRIC = 0.08, 0.04
"""Largest relative difference between pairs, as printed, and between both ways of a pair: half of that."""
SEARCH, SHOWN = "search", "shown"


def _experiment(name: str, graph: int, streams: Sequence[str], seeds: int) -> Experiment:
    search = {
        "scale": graph,
        "edgefactor": EDGEFACTOR,
        "equations": "kronecker",
        "coalescing": COALESCING,
        "query_time": QUERY_TIME,
    }
    document: Document = {**ideal(search, RANKS), "measure": {"streams": list(streams)}}
    return Experiment(name, document, (), seeds)


# Figure 2.3: over time.


def _experiments_2_3(scale: Scale, seeds: int) -> list[Experiment]:
    shown = _experiment(SHOWN, DRAWN, ("messages", "operations"), seeds)
    return [_experiment(SEARCH, SEARCHED[scale], ("messages",), seeds), shown]


def _sent(result: Result) -> list[list[NDArray[np.float64]]]:
    """By level, by process: the cycles in which messages with queries join its queue."""
    table = result.messages
    names = ("communicator", "source", "joined")
    communicator, source, joined = (table[name].to_numpy() for name in names)
    levels = communicator // KINDS
    carries = communicator % KINDS == 0
    return [
        [np.sort(joined[carries & (levels == level) & (source == rank)]) for rank in range(RANKS)]
        for level in np.unique(levels[carries])
    ]


def _unevenness(level: Sequence[NDArray[np.float64]]) -> float:
    """How far a part of the time in which processes send is from the mean of all parts, in messages."""
    counts = np.zeros(PARTS)
    for times in level:
        if len(times) > 1:
            counts += np.histogram(times, PARTS)[0]
    return float(np.max(np.abs(counts / np.mean(counts) - 1)))


def _conclude_2_3(_scale: Scale, results: Results) -> Outcome:
    return Outcome(facts=list(_facts_2_3(results[SEARCH])))


def _facts_2_3(searches: Sequence[Result]) -> Iterator[Fact]:
    most, shares, busy = 0.0, list[float](), list[float]()
    for result in searches:
        sent = sorted(_sent(result), key=lambda level: sum(map(len, level)), reverse=True)
        counts = [sum(map(len, level)) for level in sent]
        shares.append(sum(counts[:2]) / sum(counts))
        most = max(most, *(_unevenness(level) for level in sent[:2]))
        busy.append(_computing_between(result))
    yield Fact(
        "messages are sent evenly over the time of a level",
        f"each fifth of the time in which a process sends, two largest levels, within {EVEN:.0%} of the mean",
        f"{most:.1%}",
        most <= EVEN,
    )
    yield Fact(
        "two big levels comprise the majority of the messages",
        "more than half of all messages",
        f"at least {min(shares):.1%}",
        min(shares) > 0.5,
    )
    yield Fact(
        "communication is interspersed with computation",
        "at least 90 % of the messages as long after the one before as their queries take",
        f"at least {min(busy):.1%}",
        min(busy) >= 0.9,
    )


def _computing_between(result: Result) -> float:
    """The share of messages sent no earlier after the one before than their queries take."""
    table = result.messages
    carries = table["communicator"].to_numpy() % KINDS == 0
    source, joined, payload = (table[name].to_numpy()[carries] for name in ("source", "joined", "bytes"))
    order = np.lexsort((joined, source))
    source, joined, queries = source[order], joined[order], payload[order] / QUERY_BYTES
    follows = source[1:] == source[:-1]
    waits = np.diff(joined)[follows] >= QUERY_TIME * queries[1:][follows]
    return float(np.mean(waits)) if len(waits) else 0.0


def _draw_2_3(_scale: Scale, results: Results) -> Figure:
    from hopsim_reproduce import drawing

    result = results[SHOWN][0]
    ends = result.operations["end"].to_numpy()
    title = f"Figure 2.3: a search of scale {DRAWN} by {RANKS} processes"
    return drawing.time_lines(title, result.operations, result.messages, (0, int(ends.max())))


def _notes_2_3(scale: Scale) -> list[str]:
    return [
        f"A graph of scale {SEARCHED[scale]} and edgefactor {EDGEFACTOR}; that of the figure has 22. The "
        f"network takes no time, a query {QUERY_TIME} ns. Messages are of {COALESCING} queries. "
        f"What is drawn is a search of scale {DRAWN}.",
        GRAPHS,
    ]


# Figure 2.5: by pair.


def _experiments_2_5(scale: Scale, seeds: int) -> list[Experiment]:
    return [_experiment(SEARCH, PAIRED[scale], ("messages",), seeds)]


def _pairs(result: Result) -> NDArray[np.float64]:
    """How many messages with queries each process sends to each other one."""
    table = result.messages
    carries = table["communicator"].to_numpy() % KINDS == 0
    source, destination = (table[name].to_numpy()[carries] for name in ("source", "destination"))
    counts = np.bincount(source * RANKS + destination, minlength=RANKS**2)
    return counts.astype(np.float64).reshape(RANKS, RANKS)


def _conclude_2_5(_scale: Scale, results: Results) -> Outcome:
    different, asymmetric = 0.0, 0.0
    for result in results[SEARCH]:
        pairs = _pairs(result)
        values = pairs[~np.eye(RANKS, dtype=bool)]
        different = max(different, float(values.max() / max(values.min(), 1.0) - 1))
        asymmetric = max(asymmetric, float(np.abs(pairs - pairs.T).max() / max(values.mean(), 1.0)))
    return Outcome(
        facts=[
            Fact(
                "all pairs of processes send about as many messages",
                f"greatest over least less than {DIFFERENT:.0%} more",
                f"{different:.1%}",
                different < DIFFERENT,
            ),
            Fact(
                "as many messages go one way as the other",
                f"difference of both ways at most {ASYMMETRIC:.0%} of the mean",
                f"{asymmetric:.1%}",
                asymmetric <= ASYMMETRIC,
            ),
        ]
    )


def _draw_2_5(scale: Scale, results: Results) -> Figure:
    from hopsim_reproduce import drawing

    title = f"Figure 2.5: messages between {RANKS} processes, scale {PAIRED[scale]}"
    return drawing.heat(title, ("destination", "source", "messages"), _pairs(results[SEARCH][0]))


def _notes_2_5(scale: Scale) -> list[str]:
    return [
        f"A graph of scale {PAIRED[scale]}; that of the figure has 20. Messages are of {COALESCING} queries.",
        GRAPHS,
    ]


def entries() -> list[Entry]:
    """Both figures."""
    return [
        Entry(
            "thesis-figure-2.3",
            "Graph500: what processes do during a search",
            THESIS.place("figure", "2.3"),
            _notes_2_3,
            {"quick": 1, "full": 2},
            _experiments_2_3,
            _conclude_2_3,
            _draw_2_3,
        ),
        Entry(
            "thesis-figure-2.5",
            "Graph500: messages between each two processes",
            THESIS.place("figure", "2.5"),
            _notes_2_5,
            {"quick": 2, "full": 3},
            _experiments_2_5,
            _conclude_2_5,
            _draw_2_5,
        ),
    ]
