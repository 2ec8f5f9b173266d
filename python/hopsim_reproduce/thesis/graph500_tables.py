"""Equation 2.1: how many queries a search of Graph500 has, read off runs.

Tables 2.3 and 2.4 are what searches are run with, so that nothing could come out otherwise: no entries. What
follows from the former, equation 2.20, is judged with figure 2.13.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from hopsim.results.result import Result
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
)
from hopsim_reproduce.thesis.graph500_system import COALESCING, EDGEFACTOR, ideal
from hopsim_reproduce.thesis.study import THESIS

if TYPE_CHECKING:
    from matplotlib.figure import Figure

QUERY_BYTES = 16
TOTAL_ERROR = 0.12
"""Of the number of edges explored, relative, as the text gives it for figure 2.12."""
RANKS = 128
"""Processes of figure 2.4."""
VOLUMES: Mapping[Scale, Sequence[int]] = {"quick": (20, 22), "full": (20, 22, 25)}
"""Scales whose queries are counted; figure 2.4 has 25."""
FORMS: Mapping[str, str] = {"thesis": "as printed", "fogsim": "FOGSim"}
"""Form of equation 2.8 -> its row."""
QUANTITY = "queries of a process"


def _queries(result: Result) -> float:
    """Sent by all processes; notices have no bytes."""
    return result.summary["message_bytes"] / QUERY_BYTES


def _experiments(scale: Scale, seeds: int) -> list[Experiment]:
    return [
        Experiment(_name(form, graph), ideal(_search(form, graph), RANKS), (), seeds)
        for form in FORMS
        for graph in VOLUMES[scale]
    ]


def _name(form: str, graph: int) -> str:
    return f"{form}-{graph}"


def _search(form: str, graph: int) -> Document:
    sizes = {"scale": graph, "edgefactor": EDGEFACTOR, "coalescing": COALESCING}
    return {**sizes, "query_time": 0, "equations": form}


def _bound(graph: int) -> float:
    """Queries of a process that leave it if all edges are explored twice."""
    return 2 ** (graph + 1) * EDGEFACTOR * (RANKS - 1) / RANKS**2


def _conclude(scale: Scale, results: Results) -> Outcome:
    cases = [(form, graph) for form in FORMS for graph in VOLUMES[scale]]
    found = {
        (form, graph): Measured.of([_queries(each) / RANKS for each in results[_name(form, graph)]])
        for form, graph in cases
    }
    comparisons = [
        Comparison(
            f"{FORMS[form]}, s = {graph}",
            QUANTITY,
            ours,
            _bound(graph),
            0,
            allowed=TOTAL_ERROR * _bound(graph),
        )
        for (form, graph), ours in found.items()
    ]
    return Outcome(comparisons, list(_facts(found)))


def _facts(found: Mapping[tuple[str, int], Measured]) -> Iterator[Fact]:
    for (form, graph), ours in found.items():
        share = ours.mean / _bound(graph)
        yield Fact(
            f"{FORMS[form]}, s = {graph}: no more queries than twice the edges",
            "mean over the searches at most that",
            f"{share:.3f} of it",
            share <= 1,
        )


def _draw(scale: Scale, results: Results) -> Figure:
    from hopsim_reproduce import drawing

    comparisons = _conclude(scale, results).comparisons
    return drawing.beside("Equation 2.1: queries of a process in a search", comparisons, [QUANTITY])


def _notes(_scale: Scale) -> list[str]:
    return [
        "Searches of 128 processes, edgefactor 16, roots of a degree drawn anew with every seed: equations "
        "2.2 to 2.19 level by level, against the total of equation 2.1. Figure 2.4 is of scale 25, where the "
        f"benchmark itself sent 1 % more. Allowed: {TOTAL_ERROR:.0%}, the text's error of the total.",
    ]


def entries() -> list[Entry]:
    """The equation."""
    return [
        Entry(
            "thesis-equation-2.1",
            "Graph500: queries of a process in a search, 128 processes",
            THESIS.place("equations", "2.1 to 2.19"),
            _notes,
            {"quick": 3, "full": 20},
            _experiments,
            _conclude,
            _draw,
        )
    ]
