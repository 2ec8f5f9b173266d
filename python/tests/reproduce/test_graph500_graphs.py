"""What entries conclude of searches of graphs, from results that were not simulated."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import pyarrow as pa
import pytest

from hopsim.results.result import Result
from hopsim_reproduce.entries import BY_NAME
from hopsim_reproduce.model import Outcome, Results
from hopsim_reproduce.thesis.graph500_graphs import (
    ANY,
    FIRST,
    FOGSIM_FORM,
    GRAPH,
    HIGHEST,
    ROOT_DEGREE,
    THESIS_FORM,
    explored,
)
from made_up import made_up

FIGURE_4, FIGURE_6 = BY_NAME["thesis-figure-2.4"], BY_NAME["thesis-figure-2.6"]
FIGURE_8, FIGURE_12 = BY_NAME["thesis-figure-2.8"], BY_NAME["thesis-figure-2.12"]
Profile = Callable[[int], Sequence[float]]
"""Edges explored by level, by the degree of the root."""


def of_levels(result: Result, edges: Sequence[float]) -> Result:
    """The result of a search that explores these edges, level by level."""
    queries = [16 * each * 15 / 16 for each in edges]
    kinds = [4 * level for level in range(len(edges))]
    # Signals carry no queries, whatever their length.
    table = pa.table({"communicator": [*kinds, 1], "bytes": [*queries, 1e9]})
    return Result({"config": result.config, "result": result.summary}, result.axes, {"messages": table})


def searched(results: Results, name: str, profile: Profile, spread: float = 0.0) -> list[Result]:
    """Searches with this profile; every other one explores `spread` / degree edges earlier."""
    made: list[Result] = []
    for number, result in enumerate(results[name]):
        degree = int(result.axes[ROOT_DEGREE])
        edges = list(profile(degree))
        shift = (number % 2) * spread / degree
        edges[2], edges[1] = edges[2] - shift, edges[1] + shift
        made.append(of_levels(result, edges))
    return made


def failing(outcome: Outcome) -> set[str]:
    return {each.statement for each in outcome.facts if not each.holds}


def test_edges_are_the_queries_and_those_that_stay_in_their_process() -> None:
    (result, *_) = made_up(FIGURE_8)[GRAPH]
    assert list(explored(of_levels(result, [1, 20, 300]))[:4]) == pytest.approx([1, 20, 300, 0])


def sizes(queries: int, levels: int, ranks: int = 32) -> pa.Table:
    others = ranks - 1
    empty = others * (1 + (levels - 1) * ranks + 2 * levels)
    return pa.table({"bytes_from": [0, 65, 257], "messages": [empty, queries - 10, 10]})


@pytest.mark.parametrize(
    ("share", "levels", "failed"),
    [
        (1.01, 8, ()),
        (0.99, 8, ("about 1 % more",)),
        (1.05, 8, ("about 1 % more",)),
        (1.01, 15, ("30 times",)),
    ],
)
def test_messages_are_counted_apart_from_notifications(
    share: float, levels: int, failed: tuple[str, ...]
) -> None:
    results = made_up(FIGURE_4)
    bound = 2**17 * 16 * 31 / 32 / 8
    tables = {"message_sizes": sizes(round(share * bound), levels)}
    made = [
        Result({"config": each.config, "result": each.summary}, each.axes, tables) for each in results[GRAPH]
    ]
    found = failing(FIGURE_4.conclude("quick", {GRAPH: made}))
    assert [each for each in found if each.startswith(failed)] == list(found)
    assert len(found) == len(failed)


def test_degrees_are_the_edges_explored_first() -> None:
    results = made_up(FIGURE_6)

    def concluded(degrees: Sequence[float], highest: float) -> set[str]:
        roots = [of_levels(results[ANY][0], [degree]) for degree in degrees]
        top = [of_levels(result, [highest]) for result in results[FIRST]]
        assert {result.axes[ROOT_DEGREE] for result in results[FIRST]} == {HIGHEST}
        return failing(FIGURE_6.conclude("quick", {ANY: roots, FIRST: top}))

    assert concluded([1, 2, 6, 9, 40, 400], 30_000) == set()
    assert concluded([1, 20, 32, 90, 40, 400], 30_000) == {"the degrees are condensed in low values"}
    assert concluded([1, 2, 6, 8, 300, 400], 30_000) == {"few vertices have more than 150 edges"}
    assert concluded([1, 2, 6, 9, 40, 400], 3_000) == {"some have up to around 30,000"}


ENDS = 2**16 * 16


def published(degree: int) -> list[float]:
    """What figures 2.8 to 2.10 are like: the higher the degree, the earlier."""
    second = 0.92 * math.sqrt(degree / 10_000)
    third = 0.6 * math.exp(-0.025 * math.log(degree) ** 2)
    return [degree, *(ENDS * share for share in (second, third, 1 - second - third))]


def test_figures_2_8_to_2_10_hold_for_searches_like_the_published_ones() -> None:
    results = made_up(FIGURE_8)
    made = searched(results, GRAPH, published, 0.05 * ENDS)
    assert failing(FIGURE_8.conclude("quick", {GRAPH: made})) == set()
    # All roots alike: none of what depends on their degree is there.
    alike = searched(results, GRAPH, lambda degree: [degree, 0.3 * ENDS, 0.4 * ENDS, 0.3 * ENDS, 0])
    assert {
        "roots of a low degree explore little in the first two levels",
        "roots of a high degree explore the majority at once",
        "and little in the last levels",
        "edges of a level diverge much for roots of a low degree, less for those of a high one",
    } <= failing(FIGURE_8.conclude("quick", {GRAPH: alike}))
    fewer = searched(results, GRAPH, lambda degree: [degree, *[ENDS / (3 if degree < 100 else 4)] * 3])
    assert "the edges of all levels are almost constant" in failing(
        FIGURE_8.conclude("quick", {GRAPH: fewer})
    )
    jagged = searched(
        results, GRAPH, lambda degree: [degree, ENDS / 2, ENDS / (2 if degree in (3, 30, 300) else 8)]
    )
    assert "the third level is the exponential of a polynomial of degree 2 in ln d" in failing(
        FIGURE_8.conclude("quick", {GRAPH: jagged})
    )


def test_equations_are_as_far_from_graphs_as_the_text_allows() -> None:
    results = made_up(FIGURE_12)

    def concluded(second: float, third: float, rest: float = 0.0) -> set[str]:
        graph = searched(results, GRAPH, lambda degree: [degree, 1e5, 2e5, 1e3])
        fogsim = searched(
            results, FOGSIM_FORM, lambda degree: [degree, second * 1e5, third * 2e5, 1e3 + rest]
        )
        printed = searched(results, THESIS_FORM, lambda degree: [degree, 4e5, 1e3, 1e3])
        return failing(FIGURE_12.conclude("quick", {GRAPH: graph, FOGSIM_FORM: fogsim, THESIS_FORM: printed}))

    of_printed = {each for each in concluded(1.1, 1.1) if each.startswith("as printed")}
    assert len(of_printed) == 3
    assert concluded(1.1, 1.1) == of_printed
    assert concluded(1.2, 1.0) - of_printed == {
        "FOGSim: the second level is within 18 % in more than 90 % of the cases"
    }
    assert concluded(1.0, 0.87) - of_printed == {"FOGSim: the third level is within 12.5 % on average"}
    assert concluded(1.0, 1.0, 4e4) - of_printed == {"FOGSim: the total is within 12 %"}
    assert "FOGSim's form of equation 2.8 is nearer to graphs in the second level than the printed one" in (
        concluded(4.0, 1.0)
    )
