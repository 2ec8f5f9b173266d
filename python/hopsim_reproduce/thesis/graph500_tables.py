"""Tables 2.3 and 2.4 and equation 2.1: what a search of Graph500 is made of, read off runs."""

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
    at,
)
from hopsim_reproduce.panels import seconds
from hopsim_reproduce.thesis.graph500_system import (
    COALESCING,
    EDGEFACTOR,
    FOGSIM,
    MIN,
    PHIT_BYTES,
    QUERY_TIME,
    Layout,
    ideal,
)
from hopsim_reproduce.thesis.study import THESIS

if TYPE_CHECKING:
    from matplotlib.figure import Figure

NODES: Mapping[str, float] = {
    "Altamira, Xeon E5-2670": 1.5,
    "Core i5-5200U": 2.25,
    "Xeon E5-2620": 2.4,
    "Mont-Blanc, Exynos 5": 15,
}
"""Table 2.3: time of a query [ns]."""
QUERY_BYTES = 16
WHOLE = Layout(2, MIN)
ROUNDING = 0.01
"""Relative difference that cycles of a whole number explain."""
TOTAL_ERROR = 0.12
"""Of the number of edges explored, relative, as the text gives it for figure 2.12."""
RANKS = 128
"""Processes of figure 2.4."""
VOLUMES: Mapping[Scale, Sequence[int]] = {"quick": (20, 22), "full": (20, 22, 25)}
"""Scales whose queries are counted; figure 2.4 has 25."""
FORMS: Mapping[str, str] = {"thesis": "as printed", "fogsim": "FOGSim"}
"""Form of equation 2.8 -> its row."""


def _queries(result: Result) -> float:
    """Sent by all processes; notices have no bytes."""
    return result.summary["message_bytes"] / QUERY_BYTES


def _times(_scale: Scale, seeds: int) -> list[Experiment]:
    search = {"scale": 16, **FOGSIM, "signals": "empty"}
    return [
        Experiment("times", WHOLE.document(search, "1.6 ns"), list(NODES.values()), seeds, axis=QUERY_TIME)
    ]


def _time_of_query(result: Result) -> float:
    """Computation of all processes over queries [ns]."""
    cycles = result.summary["compute_time_mean"] * WHOLE.ranks
    return 1e9 * seconds(result.config["units"]["cycle"]) * cycles / _queries(result)


def _conclude_times(_scale: Scale, results: Results) -> Outcome:
    found = {
        name: Measured.of([_time_of_query(result) for result in at(results["times"], time, QUERY_TIME)])
        for name, time in NODES.items()
    }
    return Outcome(
        [
            Comparison(name, "time of a query [ns]", found[name], time, 3, allowed=ROUNDING * time)
            for name, time in NODES.items()
        ]
    )


def _settings(_scale: Scale, seeds: int) -> list[Experiment]:
    return [
        Experiment(
            "settings", WHOLE.document({"scale": 12, **FOGSIM, "query_time": 1.5}, "1.6 ns"), (), seeds
        )
    ]


def _conclude_settings(_scale: Scale, results: Results) -> Outcome:
    return Outcome(facts=list(_parameters(results["settings"][0])))


def _parameters(result: Result) -> Iterator[Fact]:
    """Table 2.4 beside the settings that the run had."""
    dragonfly, links = result.config["topology"]["dragonfly"], result.config["links"]
    router, host = result.config["router"]["cioq"], result.config["jobs"][0]["host"]
    p, a, h = (dragonfly[key] for key in "pah")
    yield _same(
        "router size",
        "7 ports: 2 global, 2 injection, 3 local",
        f"{p + a - 1 + h} ports: {h} global, {p} injection, {a - 1} local",
    )
    yield _same("group size", "4 routers, 8 nodes", f"{a} routers, {a * p} nodes")
    nodes = result.summary["nodes"]
    yield _same("system size", "9 groups, 72 nodes", f"{nodes // (a * p)} groups, {nodes} nodes")
    delays = f"{links['local']['latency']}/{links['global']['latency']}, {router['crossbar_latency']} cycles"
    yield _same("latency of local/global links, router", "50/500, 200 cycles", delays)
    buffers = {name: f"{size * PHIT_BYTES // 1024} kB" for name, size in router["buffers"].items()}
    for names, size in ((("local", "output"), "16 kB"), (("injection", "global"), "128 kB")):
        for name in names:
            yield _same(f"buffer, {name}", size, buffers[name])
    yield _same("packet size", "4 kB", f"{host['packet_length'] * PHIT_BYTES // 1024} kB")


def _same(parameter: str, published: str, ours: str) -> Fact:
    return Fact(f"{parameter}: {published}", "the run has the same", ours, ours == published)


def _volumes(scale: Scale, seeds: int) -> list[Experiment]:
    return [
        Experiment(_volume_name(form, graph), ideal(_search(form, graph), RANKS), (), seeds)
        for form in FORMS
        for graph in VOLUMES[scale]
    ]


def _volume_name(form: str, graph: int) -> str:
    return f"{form}-{graph}"


def _search(form: str, graph: int) -> Document:
    sizes = {"scale": graph, "edgefactor": EDGEFACTOR, "coalescing": COALESCING}
    return {**sizes, "query_time": 0, "equations": form}


def _conclude_volumes(scale: Scale, results: Results) -> Outcome:
    comparisons: list[Comparison] = []
    for form in FORMS:
        for graph in VOLUMES[scale]:
            published = 2 ** (graph + 1) * EDGEFACTOR * (RANKS - 1) / RANKS**2
            ours = Measured.of([_queries(each) / RANKS for each in results[_volume_name(form, graph)]])
            row = f"{FORMS[form]}, s = {graph}"
            comparisons.append(Comparison(row, QUANTITY, ours, published, 0, allowed=TOTAL_ERROR * published))
    return Outcome(comparisons)


QUANTITY = "queries of a process"


def _draw_values(scale: Scale, results: Results) -> Figure:
    from hopsim_reproduce import drawing

    comparisons = _conclude_volumes(scale, results).comparisons
    return drawing.beside("Equation 2.1: queries of a process in a search", comparisons, [QUANTITY])


def _draw_times(scale: Scale, results: Results) -> Figure:
    from hopsim_reproduce import drawing

    comparisons = _conclude_times(scale, results).comparisons
    return drawing.beside("Table 2.3: time of a query", comparisons, ["time of a query [ns]"])


def _draw_settings(scale: Scale, results: Results) -> Figure:
    from hopsim_reproduce import drawing

    facts = _conclude_settings(scale, results).facts
    rows = {fact.statement.partition(":")[0]: [(fact.found, fact.holds)] for fact in facts}
    return drawing.matrix("Table 2.4: parameters of the simulations", ["of the run"], rows, width=7)


def _notes_times(_scale: Scale) -> list[str]:
    return [
        "Read off searches of scale 16 on 72 nodes: computation of all processes over the queries that they "
        "got. Where figures 2.13 to 2.24 name a machine, they have its time.",
    ]


def _notes_settings(_scale: Scale) -> list[str]:
    return ["The settings of a run of thesis-figure-2.13 as the simulator resolved them; a phit is 8 B."]


def _notes_volumes(_scale: Scale) -> list[str]:
    return [
        "Searches of 128 processes, edgefactor 16, roots of a degree drawn anew with every seed: equations "
        "2.2 to 2.19 level by level, against the total of equation 2.1. Figure 2.4 is of scale 25, where the "
        f"benchmark itself sent 1 % more. Allowed: {TOTAL_ERROR:.0%}, the text's error of the total.",
    ]


def entries() -> list[Entry]:
    """Two tables and an equation."""
    return [
        Entry(
            "thesis-equation-2.1",
            "Graph500: queries of a process in a search, 128 processes",
            THESIS.place("equations", "2.1 to 2.19"),
            _notes_volumes,
            {"quick": 10, "full": 20},
            _volumes,
            _conclude_volumes,
            _draw_values,
        ),
        Entry(
            "thesis-table-2.3",
            "Graph500: time of a query by machine",
            THESIS.place("table", "2.3"),
            _notes_times,
            {"quick": 1, "full": 1},
            _times,
            _conclude_times,
            _draw_times,
        ),
        Entry(
            "thesis-table-2.4",
            "Graph500: parameters of the simulations",
            THESIS.place("table", "2.4"),
            _notes_settings,
            {"quick": 1, "full": 1},
            _settings,
            _conclude_settings,
            _draw_settings,
        ),
    ]
