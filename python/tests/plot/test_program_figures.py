"""Tables and figures of programs: laws that connect them, and what figures show."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle, StepPatch

import hopsim as hs
from conftest import Command
from hopsim.metrics.series import over_seeds
from hopsim.plot import KINDS, View, draw_all
from hopsim.plot.gantt import ACTIVITIES
from hopsim.plot.intervals import mean_open

STREAMS = ["ranks", "messages", "operations", "message_sizes"]
HOST = {"send_overhead": 20, "receive_overhead": 30, "packet_length": 8, "eager_limit": 1000}
STENCIL = {"sides": [3, 3], "periodic": True, "bytes": 600, "compute": 500, "iterations": 4}
DOCUMENT: dict[str, Any] = {
    "units": {"cycle": "1 ns", "phit": "4 B"},
    "topology": {"torus": {"sides": [4, 4]}},
    "jobs": [
        {
            "name": "grid",
            "placement": {"nodes": {"first": 0, "count": 9}},
            "program": {"stencil": STENCIL},
            "host": HOST,
        },
        {
            "name": "sum",
            "start": 200,
            "placement": {"nodes": {"first": 9, "count": 7}},
            "program": {"collective": {"kind": "allreduce", "bytes": 5000, "repeat": 2, "compute": 100}},
            "host": HOST,
        },
    ],
    "measure": {"streams": STREAMS},
}
IDEAL = {"ideal": {"nodes": 16, "latency": 50}}
RESULTS = hs.sweep(DOCUMENT, progress=False)
(RESULT,) = RESULTS


def only(kind: str, results: hs.Results = RESULTS) -> Figure:
    ((_, figure),) = KINDS[kind].draw(results, View()).items()
    return figure


def rows(table: Any, job: str) -> dict[str, np.ndarray]:
    chosen = table.filter(np.array(table.column("job").to_pylist()) == job)
    return {name: chosen.column(name).to_numpy() for name in chosen.column_names}


@pytest.mark.parametrize("network", [DOCUMENT["topology"], IDEAL])
def test_messages_add_up_to_the_summary(network: dict[str, Any]) -> None:
    (result,) = hs.sweep({**DOCUMENT, "topology": network}, progress=False)
    for job in result.jobs:
        table = rows(result.messages, job["job"])
        latency = table["arrived"].astype(int) - table["joined"]
        assert len(latency) == job["messages"]
        assert table["bytes"].sum() == job["message_bytes"]
        assert latency.mean() == pytest.approx(job["message_latency_mean"])
        assert latency.max() == job["message_latency_max"]
        assert np.all(table["joined"] < table["left"])
        assert np.all(table["left"] < table["arrived"])
        assert np.all(table["announced"] <= table["matched"])
        sizes = rows(result.message_sizes, job["job"])
        assert sizes["messages"].sum() == job["messages"]
        assert sizes["bytes"].sum() == job["message_bytes"]


@pytest.mark.parametrize("network", [DOCUMENT["topology"], IDEAL])
def test_operations_of_the_first_stream_cover_the_time_of_every_rank(network: dict[str, Any]) -> None:
    (result,) = hs.sweep({**DOCUMENT, "topology": network}, progress=False)
    for job, start in (("grid", 0), ("sum", 200)):
        ranks, table = rows(result.ranks, job), rows(result.operations, job)
        for rank, finish in enumerate(ranks["finish"]):
            own = table["rank"] == rank
            begin, end, activity = (table[name][own] for name in ("begin", "end", "activity"))
            assert (begin[0], end[-1]) == (start, start + finish)
            assert np.array_equal(begin[1:], end[:-1])
            sums = {name: int((end - begin)[activity == name].sum()) for name in ACTIVITIES}
            assert sums["compute"] == ranks["compute"][rank]
            assert sums["send_overhead"] + sums["receive_overhead"] == ranks["overhead"][rank]
            waits = sums["wait_receive"] + sums["wait_send"]
            assert waits == ranks["wait"][rank]


def test_what_is_not_asked_for_is_not_recorded_and_changes_nothing() -> None:
    (plain,) = hs.sweep({**DOCUMENT, "measure": {}}, progress=False)
    assert plain.summary == RESULT.summary
    assert not set(STREAMS) & set(plain.tables)


def test_mean_open_counts_every_cycle() -> None:
    draws = np.random.default_rng(1)
    begins = draws.integers(0, 90, 200)
    ends = begins + draws.integers(0, 40, 200)
    weights = draws.integers(1, 9, 200)
    edges = np.array([0, 7, 8, 50, 131])
    cycles = np.array([weights[(begins <= cycle) & (cycle < ends)].sum() for cycle in range(131)])
    expected = [cycles[first:end].mean() for first, end in ((0, 7), (7, 8), (8, 50), (50, 131))]
    assert mean_open((begins, ends), edges, weights) == pytest.approx(expected)


def test_messages_in_flight_obey_littles_law() -> None:
    messages, volume = only("messages_in_flight").axes
    assert messages.get_ylabel() == "Messages in flight"
    assert volume.get_ylabel() == "Payload in flight [bytes]"
    end = RESULT.messages.column("arrived").to_numpy().max()
    for line, job in enumerate(("grid", "sum")):
        table = rows(RESULT.messages, job)
        latency = table["arrived"].astype(int) - table["joined"]
        assert heights(messages, line).mean() * end == pytest.approx(latency.sum())
        assert heights(volume, line).mean() * end == pytest.approx((latency * table["bytes"]).sum())


def heights(axes: Axes, line: int) -> np.ndarray:
    return np.asarray(axes.lines[line].get_ydata(), dtype=float)


def test_a_gantt_has_a_panel_per_job_and_shows_each_share_of_the_time() -> None:
    figure = only("gantt")
    assert [axes.get_title() for axes in figure.axes] == ["grid", "sum"]
    assert figure.axes[-1].get_xlabel() == "Time [cycles]"
    end = RESULT.operations.column("end").to_numpy().max()
    for axes, job in zip(figure.axes, ("grid", "sum"), strict=True):
        image = np.asarray(axes.images[0].get_array())
        table = rows(RESULT.operations, job)
        ranks = table["rank"].max() + 1
        for number, name in enumerate(ACTIVITIES, 1):
            spent = (table["end"] - table["begin"])[table["activity"] == name].sum()
            assert (image == number).mean() == pytest.approx(spent / (ranks * end), abs=0.01)


def test_many_ranks_share_the_rows_of_a_gantt() -> None:
    program = {"collective": {"kind": "barrier"}}
    document = {
        **DOCUMENT,
        "topology": {"ideal": {"nodes": 200, "latency": 9}},
        "jobs": [{"program": program}],
        "measure": {"streams": ["operations"]},
    }
    (axes,) = only("gantt", hs.sweep(document, progress=False)).axes
    image = np.asarray(axes.images[0].get_array())
    assert axes.get_ylabel() == "Rank, 4 in a row"
    assert image.shape[0] == 64 * 8
    assert (image == 0).mean() < 0.01


def test_ranks_are_shares_of_the_execution_time() -> None:
    for axes, job in zip(only("ranks").axes, RESULT.jobs, strict=True):
        tops = [patch.get_data() for patch in axes.patches if isinstance(patch, StepPatch)]
        finish = rows(RESULT.ranks, job["job"])["finish"]
        assert axes.get_ylabel() in ("Share of the execution time [%]", "")
        assert tops[-1][0] == pytest.approx(100 * finish / job["execution_time"])


def widths(axes: Axes) -> list[float]:
    return [bar.get_width() for bar in axes.patches if isinstance(bar, Rectangle)]


def placed(seeds: list[int]) -> hs.Results:
    placements = [{"nodes": {"first": 0, "count": 9}}, {"random_nodes": {"count": 9}}]
    product = {
        "jobs.0.placement": placements,
        "jobs.0.program.stencil.bytes": [64, 2000],
        "measure.seed": seeds,
    }
    return hs.sweep({**DOCUMENT, "jobs": DOCUMENT["jobs"][:1], "sweep": {"product": product}}, progress=False)


def test_execution_times_have_a_bar_with_an_interval_per_configuration() -> None:
    results = placed([1, 2, 3])
    (axes,) = only("execution_time", results).axes
    times = [point["execution_time"] for point in results.to_pylist()]
    expected = [np.mean(times[first : first + 3]) for first in range(0, 12, 3)]
    assert widths(axes) == pytest.approx(expected)
    assert axes.get_xlabel() == "Execution time [cycles]"
    (errors,) = axes.collections
    assert isinstance(errors, LineCollection)
    halves = [group.estimate("execution_time").half_width for group in over_seeds(results)]
    assert [(high[0] - low[0]) / 2 for low, high in errors.get_segments()] == pytest.approx(halves)


def test_placements_are_relative_to_the_first_seed_by_seed() -> None:
    results = placed([1, 2, 3])
    (axes,) = only("placement", results).axes
    times = np.array([point["execution_time"] for point in results.to_pylist()]).reshape(2, 2, 3)
    expected = (times / times[0]).mean(axis=2).ravel()
    assert widths(axes) == pytest.approx(expected)
    assert KINDS["placement"].draw(RESULTS, View()) == {}


def test_message_latencies_are_drawn_by_size() -> None:
    mean, _ = only("message_latency").axes
    for line, job in enumerate(("grid", "sum")):
        sizes = rows(RESULT.message_sizes, job)
        assert heights(mean, line) == pytest.approx(sizes["latency_mean"])
        assert np.asarray(mean.lines[line].get_xdata()) == pytest.approx(sizes["bytes_to"])


def test_traffic_beside_a_program_has_its_own_figures(tmp_path: Any) -> None:
    traffic = {**DOCUMENT["jobs"][1], "traffic": {"pattern": "uniform"}}
    beside = {key: value for key, value in traffic.items() if key not in ("program", "host", "start")}
    load = "jobs.1.traffic.process.bernoulli.load"
    document = {
        **DOCUMENT,
        "jobs": [DOCUMENT["jobs"][0], beside],
        "sweep": {"product": {load: [0.1, 0.4]}},
    }
    results = hs.sweep(document, progress=False)
    (latency,) = only("latency_load", results).axes
    (time,) = only("execution_time", results).axes
    assert len(latency.lines) == len(time.lines) == 1
    assert time.get_xlabel() == "Offered load of sum [phits/(node·cycle)]"
    assert draw_all(results, tmp_path, View(), formats=("svg",))


def test_plot_says_what_figures_of_programs_need(hopsim: Command, tmp_path: Any) -> None:
    hs.sweep({**DOCUMENT, "measure": {}}, out=tmp_path / "results", progress=False)
    drawn = hopsim("plot", tmp_path / "results")
    assert "execution_time.png" in drawn.stdout
    assert "latency_load" not in drawn.stdout
    assert "latency_load, accepted_load (needs jobs with traffic)" in drawn.stderr
    assert 'gantt (needs measure.streams = ["operations"])' in drawn.stderr
