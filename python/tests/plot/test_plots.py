"""Figures: their data and labels, not their pixels."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

import hopsim as hs
from conftest import SWEEP, TINY, Command
from hopsim.metrics.series import curves, over_seeds, value_label
from hopsim.plot import KINDS, View, draw_all

RESULTS = hs.sweep(SWEEP, progress=False)


def only(kind: str, view: View | None = None) -> Figure:
    ((_, figure),) = KINDS[kind].draw(RESULTS, view or View()).items()
    return figure


def heights(axes: Axes, line: int = 0) -> list[float]:
    return np.asarray(axes.lines[line].get_ydata(), dtype=float).tolist()


def test_points_are_grouped_over_seeds_and_curves_over_load() -> None:
    assert [len(group.results) for group in over_seeds(RESULTS)] == [2] * 6
    assert [(series.label, len(series.groups)) for series in curves(RESULTS)] == [
        ("minimal", 3),
        ("valiant", 3),
    ]


def test_axes_that_follow_from_another_are_left_out_of_the_label() -> None:
    text = TINY + '[sweep]\nzip = { "routing" = ["minimal", "valiant"], "router.cioq.vcs.local" = [2, 4] }\n'
    assert [series.label for series in curves(hs.sweep(text))] == ["minimal", "valiant"]


@pytest.mark.parametrize("kind", ["latency_load", "accepted_load"])
def test_curves_over_load_have_units_legend_and_bands(kind: str) -> None:
    (axes,) = only(kind).axes
    assert axes.get_xlabel() == "Offered load [phits/(node·cycle)]"
    assert axes.get_ylabel() in ("Packet latency [cycles]", "Accepted load [phits/(node·cycle)]")
    legend = axes.get_legend()
    assert legend is not None
    labels = [text.get_text() for text in legend.get_texts()]
    line = ["accepted = offered"] if kind == "accepted_load" else []
    assert labels == ["minimal", "valiant", *line, "95 % CI over 2 seeds"]
    assert len(axes.collections) == 2


def test_the_latency_curve_is_the_mean_over_seeds() -> None:
    (axes,) = only("latency_load").axes
    drawn = heights(axes)
    means = [series.mean for series in curves(RESULTS)[0].values("packet_latency_mean")]
    assert drawn == means


def test_the_latency_axis_ends_before_saturation_hides_the_rest() -> None:
    (axes,) = only("latency_load").axes
    lowest = min(min(heights(axes, line)) for line in range(len(axes.lines)))
    assert axes.get_ylim()[1] <= 6.001 * lowest


def test_the_breakdown_adds_up_to_the_latency() -> None:
    figure = only("breakdown")
    assert [axes.get_title() for axes in figure.axes] == ["minimal", "valiant"]
    top = np.asarray(figure.axes[0].collections[-1].get_paths()[0].vertices)[:, 1].max()
    latencies = [value.mean for value in curves(RESULTS)[0].values("packet_latency_mean")]
    assert top == pytest.approx(max(value for value in latencies if value is not None), rel=1e-6)


def test_injection_bars_show_the_routers_of_the_group() -> None:
    figures = KINDS["injection"].draw(RESULTS, View(group=1, load=0.3))
    (axes,) = figures["injection_group"].axes
    assert [tick.get_text() for tick in axes.get_xticklabels()] == ["2", "3"]
    bars = [bar.get_height() for bar in axes.patches if isinstance(bar, Rectangle)][:2]
    at_load = [
        result for result in RESULTS if result.axes["load"] == 0.3 and result.axes["routing"] == "minimal"
    ]
    loads = [result.routers.column("injection_load").to_numpy() for result in at_load]
    assert bars == pytest.approx([(loads[0][router] + loads[1][router]) / 2 for router in (2, 3)])
    assert len(heights(figures["injection_sorted"].axes[0])) == 6


def test_the_time_series_runs_over_the_whole_simulation() -> None:
    load, latency = only("timeseries").axes
    assert len(load.lines) == len(latency.lines) == 2
    assert latency.get_xlabel() == "Time [cycles]"


def test_the_generation_series_shows_latency_misrouting_and_the_change() -> None:
    ((stem, figure),) = KINDS["generation"].draw(transient(), View()).items()
    latency, misrouted = figure.axes
    assert stem == "generation"
    assert heights(latency) == [110.0, 210.0]
    assert heights(misrouted) == [0.0, 50.0]
    assert len(latency.collections) == len(misrouted.collections) == 1
    assert misrouted.get_xlabel() == "Generation [cycles]"
    assert misrouted.get_ylabel() == "Misrouted packets [%]"
    assert [np.asarray(line.get_xdata())[0] for line in latency.lines[1:]] == [20]


def transient() -> hs.Results:
    """Two seeds of a run whose traffic changes at cycle 20."""
    config = {"jobs": [{"traffic": {"changes": [{"cycle": 20}]}}]}
    results: dict[int, hs.Result] = {}
    for seed in (0, 1):
        latency = [100.0 + 20 * seed, 200.0 + 20 * seed]
        columns = {"cycle": [0, 20], "packets": [9, 9], "latency_mean": latency}
        table = pa.table({**columns, "misrouted_fraction": [0.0, 0.5]})
        record = {"config": config, "result": {"offered_load": 0.2}}
        results[seed] = hs.Result(record, {"measure.seed": seed}, {"generation_series": table})
    return hs.Results(results)


def test_the_histogram_holds_all_packets() -> None:
    density, tail = only("histogram").axes
    assert density.get_ylabel() == "Packets [% per cycle]"
    assert min(heights(tail)) == pytest.approx(0, abs=1e-9)


def cube(topology: dict[str, Any], **sweep: list[Any]) -> hs.Results:
    """Short runs of a mesh, torus or ring with the table of its nodes."""
    measure = {"warmup": 100, "cycles": 400, "streams": ["nodes"]}
    document = {"topology": topology, "load": 0.4, "measure": measure}
    return hs.sweep({**document, "sweep": {"product": {"measure.seed": [1, 2], **sweep}}}, progress=False)


def coloured(axes: Axes) -> np.ndarray:
    """What the map of a panel shows."""
    return np.asarray(axes.images[0].get_array(), dtype=float)


def test_the_node_map_of_a_plane_shows_every_node_at_its_place() -> None:
    pattern = "jobs.0.traffic.pattern"
    results = cube({"mesh": {"sides": [3, 2]}}, **{pattern: ["uniform", {"hotspot": {"fraction": 0.5}}]})
    figures = KINDS["node_map"].draw(results, View())
    assert list(figures) == ["node_map_injected", "node_map_accepted"]
    *maps, bar = figures["node_map_accepted"].axes
    assert [axes.get_title() for axes in maps] == ["uniform", "hotspot (fraction=0.5)"]
    assert bar.get_ylabel() == "Accepted load\n[phits/(node·cycle)]"
    hot = [result for result in results if result.axes[pattern] != "uniform"]
    packets = np.mean([result.nodes.column("delivered").to_numpy() for result in hot], axis=0)
    assert coloured(maps[1]).ravel() == pytest.approx(packets * 8 / 400)
    assert coloured(maps[1]).shape == (2, 3)
    assert coloured(maps[1]).argmax() == 0


def test_the_node_map_of_a_ring_has_a_row_per_curve() -> None:
    results = cube({"ring": {"routers": 5}}, **{"routing": ["minimal"], "measure.cycles": [400, 500]})
    axes, _ = KINDS["node_map"].draw(results, View())["node_map_injected"].axes
    assert coloured(axes).shape == (2, 5)
    assert [tick.get_text() for tick in axes.get_yticklabels()] == ["cycles = 400", "cycles = 500"]


def test_the_node_map_of_more_dimensions_has_a_panel_per_plane_and_the_mean_of_a_routers_nodes() -> None:
    results = cube({"torus": {"sides": [3, 2, 2], "nodes_per_router": 2}})
    figures = KINDS["node_map"].draw(results, View())
    first, second, _ = figures["node_map_injected"].axes
    assert (first.get_title(), second.get_title()) == ("z = 0", "z = 1")
    packets = np.mean([result.nodes.column("injected").to_numpy() for result in results], axis=0)
    per_router = packets.reshape(12, 2).mean(axis=1) * 8 / 400
    assert coloured(second).ravel() == pytest.approx(per_router[6:])


def test_networks_without_coordinates_have_no_node_map() -> None:
    assert KINDS["node_map"].draw(RESULTS, View()) == {}


def test_the_breakdown_of_a_mesh_has_the_queues_of_its_class_of_links() -> None:
    (figure,) = KINDS["breakdown"].draw(cube({"mesh": {"sides": [3, 2]}}), View()).values()
    (axes,) = figure.axes
    assert axes.get_legend_handles_labels()[1] == [
        "minimal path",
        "misrouting",
        "network queues",
        "injection",
    ]


def test_axes_left_out_of_the_grouping_make_figures_of_their_own() -> None:
    figures = KINDS["latency_load"].draw(RESULTS, View(by=()))
    assert list(figures) == ["latency_load-1", "latency_load-2"]


def test_a_single_point_draws_what_it_can(tmp_path: Path) -> None:
    single = hs.sweep(TINY + 'streams = ["routers"]\n')
    names = [path.name for path in draw_all(single, tmp_path, View(), formats=("svg",))]
    metrics = ["latency_load.svg", "accepted_load.svg", "breakdown.svg"]
    assert names == [*metrics, "injection_group.svg", "injection_sorted.svg"]


def test_vector_files_keep_their_text(tmp_path: Path) -> None:
    (path,) = draw_all(RESULTS, tmp_path, View(), kinds=["latency_load"], formats=("svg",))
    assert "Offered load [phits/(node·cycle)]</text>" in path.read_text("utf-8")


def test_plot_command_names_its_files(hopsim: Command, sweep: Path) -> None:
    hopsim("run", sweep, "--out", "d")
    some = ("--kind", "latency_load", "--kind", "injection")
    written = hopsim("plot", "d", *some, "--format", "pdf", "--format", "png").stdout.split()
    assert "d/plots/latency_load.pdf" in written
    assert "d/plots/injection_group.png" in written
    needed = "node_map, generation, ranks, gantt, messages_in_flight, message_latency, flows, queues, links"
    assert f"Not drawn: {needed}; --kind says what one needs.\n" in hopsim("plot", "d").stderr


def test_plot_refuses_an_unknown_axis(hopsim: Command, sweep: Path) -> None:
    hopsim("run", sweep, "--out", "d")
    refused = hopsim("plot", "d", "--group-by", "rooting", status=2)
    assert "--group-by rooting: is not an axis of the sweep" in refused.stderr
    assert "did you mean routing?" in refused.stderr


def test_plot_refuses_an_empty_directory(hopsim: Command) -> None:
    assert "none: is not a directory" in hopsim("plot", "none", status=2).stderr


@pytest.mark.parametrize(
    ("value", "label"),
    [
        ("uniform", "uniform"),
        ({"valiant": {"policy": "crg", "recompute": True}}, "valiant (policy=crg, recompute=true)"),
        ({"minimal": {}}, "minimal"),
        ({"packets": 4}, "packets=4"),
        (0.25, "0.25"),
    ],
)
def test_values_have_short_labels(value: object, label: str) -> None:
    assert value_label(value) == label


def test_results_of_programs_are_drawn(hopsim: Command, tmp_path: Path) -> None:
    document = {
        "topology": {"torus": {"sides": [3, 3]}},
        "units": {"cycle": "1 ns", "phit": "4 B"},
        "jobs": [{"program": {"collective": {"kind": "alltoall", "bytes": 64}}}],
        "measure": {"streams": ["nodes", "generation"], "interval": 512},
    }
    hs.sweep(document, out=tmp_path / "results")
    drawn = hopsim("plot", tmp_path / "results").stdout
    assert "timeseries.png" in drawn
    assert "node_map" not in drawn


def series_of_links(load: float, used: list[float], stalled: list[float | None]) -> hs.Result:
    """A point with two VCs of each link, which use it alike and of which one lacks room, in two intervals."""
    links = len(used)
    ports, vcs = np.repeat(np.arange(links), 2), np.tile([0, 1], links)
    kinds = ["terminal" if stalled[port] is None else "local" for port in ports]
    waits = [
        None if (wait := stalled[port]) is None else wait * vc for port, vc in zip(ports, vcs, strict=True)
    ]
    columns: dict[str, Any] = {"router": [3] * 2 * links, "port": ports, "port_class": kinds, "vc": vcs}
    columns |= {"utilisation": [used[port] / 2 for port in ports], "credit_stall_fraction": waits}
    steps = [pa.table({"cycle": [cycle] * 2 * links, **columns}) for cycle in (0, 100)]
    record: dict[str, Any] = {"config": {"jobs": []}, "result": {"offered_load": load, "seed": 1}}
    return hs.Result(record, {"load": load}, {"link_series": pa.concat_tables(steps)})


def test_links_over_time_are_those_in_use_longest_over_all_vcs_and_those_stalled_longest() -> None:
    used = [0.9, 0.1, 0.1, 0.1, 0.1, 0.8, 0.7, 0.6, 0.5, 0.4]
    stalled = [None, 0.9, 0.8, 0.7, 0.6, 0.0, 0.0, 0.0, 0.5, 0.4]
    results = hs.Results(
        {number: series_of_links(load, used, stalled) for number, load in enumerate((0.1, 0.2))}
    )
    assert list(KINDS["links"].draw(results, View())) == ["links", "links-2"]
    (figure,) = KINDS["links"].draw(results, View(load=0.2)).values()
    above, below = figure.axes
    names = [f"router 3 by port {port}" for port in (0, 1, 2, 3, 4, 5, 6, 7)]
    assert [line.get_label() for line in above.lines] == [f"{names[0]} to its node", *names[1:]]
    assert [heights(above, line)[0] for line in range(8)] == pytest.approx(used[:8])
    assert [heights(below, line)[1] for line in range(8)] == pytest.approx([0.0, *stalled[1:8]])
    note = "not shown: 2 links in use for up to 50% of the time and stalled for up to 50% of it"
    assert figure.get_supxlabel() == note
    figure.draw_without_rendering()
    (legend,) = figure.legends
    xlabel, drawn = below.xaxis.label.get_window_extent(), legend.get_window_extent()
    below_it = next(text for text in figure.texts if text.get_text() == note).get_window_extent()
    assert below_it.y1 <= drawn.y0
    assert drawn.y1 <= xlabel.y0
