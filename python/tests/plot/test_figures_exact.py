"""What figures say, exactly: axes with units, names, numbers, and where lines and points are."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection
from matplotlib.colors import to_hex
from matplotlib.container import ErrorbarContainer
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

import hopsim as hs
from drawn import labels, names, note, places, result, title, together
from hopsim.plot import KINDS, View, flows, saturation, style
from hopsim.plot.canvas import Canvas
from hopsim.plot.style import NUMBER
from hopsim.plot.view import Shown


def search(name: str, seed: int, low: float, high: float | None) -> hs.Result:
    """Of seed 1 and 2 the loads found are 0.01 apart."""
    found = {
        "saturation_load": low + seed / 100,
        "saturation_load_low": low,
        "saturation_load_high": high,
        "accepted_load_max": low + 0.1,
        "load_full": 0.8,
        "accepted_load_full": low - 0.1,
        "seed": seed,
    }
    return result(found, {"measure.seed": seed, **({"routing": name} if name else {})})


def test_saturation_of_two_configurations_with_two_seeds() -> None:
    points = [search("a", 1, 0.5, 0.55), search("a", 2, 0.45, 0.6), search("b", 1, 0.4, None)]
    figure = saturation.draw(together(*points, search("b", 2, 0.4, 0.5)))["saturation"]
    (axes,) = figure.axes
    assert labels(axes) == ["Load [phits/(node·cycle)]", ""]
    assert [text.get_text() for text in axes.get_yticklabels()] == ["a", "b"]
    assert [name for name in names(figure) if "CI" not in name] == [
        "sustained below, not sustained above",
        "sources keep up to this offered load",
        "greatest accepted load",
        "accepted at an offer of 0.8",
    ]
    _, offsets = style.side_by_side(3)
    spans = [line for line in axes.lines if line.get_alpha() == 0.25]
    assert [places(line) for line in spans] == [
        [(0.45, round(offsets[0], 9)), (0.6, round(offsets[0], 9))],
        [(0.4, round(1 + offsets[0], 9)), (0.8, round(1 + offsets[0], 9))],
    ]
    assert {to_hex(line.get_color()) for line in spans} == {to_hex(style.PALETTE[0])}
    means = [[0.49, 0.415], [0.575, 0.5], [0.375, 0.3]]
    # Student's t for two seeds is 12.706; the halves of what differs by d are t · d / 2.
    halves = [[12.706 * 0.02, 12.706 * 0.005], [12.706 * 0.025, 0.0], [12.706 * 0.025, 0.0]]
    bars = [each for each in axes.containers if isinstance(each, ErrorbarContainer)]
    for bar, offset, mean, half in zip(bars, offsets, means, halves, strict=True):
        points_of, _, (lines,) = bar.lines
        assert places(points_of) == [(round(x, 9), round(y + offset, 9)) for y, x in enumerate(mean)]
        ends = [np.asarray(path.vertices)[:, 0].tolist() for path in lines.get_paths()]
        wanted = [[max(0.0, x - h), x + h] for x, h in zip(mean, half, strict=True)]
        assert ends == [pytest.approx(each, abs=1e-4) for each in wanted]
        assert points_of.get_linestyle() == "None"
    numbers = [text for text in axes.texts if text.get_gid() == NUMBER]
    assert [text.get_position()[0] for text in numbers] == [1.01] * 6
    assert [round(text.get_position()[1], 9) for text in numbers] == [
        round(place + offset, 9) for offset in offsets for place in (0, 1)
    ]
    assert [text.get_text().split(" ")[0] for text in numbers] == [
        "0.490",
        "0.415",
        "0.575",
        "0.500",
        "0.375",
        "0.300",
    ]
    assert {text.get_transform() == axes.get_yaxis_transform() for text in numbers} == {True}


def test_saturation_of_one_search_is_that_of_all_runs() -> None:
    (axes,) = saturation.draw(together(search("", 1, 0.5, 0.55)))["saturation"].axes
    assert [text.get_text() for text in axes.get_yticklabels()] == ["all runs"]
    points = [line for line in axes.lines if line.get_alpha() is None and len(places(line)) == 1]
    assert [places(line)[0][0] for line in points] == [0.51, 0.6, 0.4]
    (figure,) = saturation.draw(together(search("", 1, 0.5, 0.55))).values()
    assert names(figure) == [
        "sustained below, not sustained above",
        "sources keep up to this offered load",
        "greatest accepted load",
        "accepted at an offer of 0.8",
    ]


def test_a_load_that_is_not_known_stands_at_zero_with_a_dash() -> None:
    nothing = search("", 1, 0.5, 0.55)
    nothing.summary["accepted_load_max"] = None
    (axes,) = saturation.draw(together(nothing))["saturation"].axes
    points = [line for line in axes.lines if line.get_alpha() is None and len(places(line)) == 1]
    assert [places(line)[0][0] for line in points] == [0.51, 0, 0.4]
    assert [line.get_marker() for line in points] == ["o", "s", "^"]
    assert [text.get_text() for text in axes.texts if text.get_gid() == NUMBER] == ["0.510", "–", "0.400"]


def flow_series(rates: list[float], jobs: list[str], ccti: list[int]) -> pa.Table:
    """Flow i of so many gets its rate at 1 ms and twice that at 2 ms."""
    steps = [
        pa.table(
            {
                "job": jobs,
                "name": [f"f{number}" for number in range(len(rates))],
                "throughput_gbps": [time * rate for rate in rates],
                "ccti": ccti,
                "time_s": [time / 1000] * len(rates),
            }
        )
        for time in (1, 2)
    ]
    return pa.concat_tables(steps)


def drawn(kind: str, table: pa.Table, **view: Any) -> Figure:
    summary = {"throughput_gbps": 1.0, "accepted_load": 0.5}
    stream = {"flows": "flow_series", "links": "link_series"}[kind]
    (figure,) = KINDS[kind].draw(together(result(summary, {}, **{stream: table})), View(**view)).values()
    return figure


def test_flows_of_two_jobs_are_lines_and_a_stack() -> None:
    figure = drawn("flows", flow_series([1.0, 3.0], ["a", "b"], [0, 0]))
    above, below = figure.axes
    assert [labels(axes) for axes in figure.axes] == [
        ["", "Throughput [Gb/s]"],
        ["Time [s]", "Throughput, stacked\n[Gb/s]"],
    ]
    assert names(figure) == ["a: f0", "b: f1"]
    assert [places(line) for line in above.lines] == [[(0.001, 1), (0.002, 2)], [(0.001, 3), (0.002, 6)]]
    assert [axes.get_ylim()[0] for axes in figure.axes] == [0, 0]
    assert above.get_shared_x_axes().joined(above, below)
    assert below.get_xlim() == pytest.approx((0.00095, 0.00205))
    layers = [each for each in below.collections if isinstance(each, PolyCollection)]
    tops = [np.asarray(layer.get_paths()[0].vertices)[:, 1].max() for layer in layers]
    assert tops == [2.0, 8.0]
    colours = [to_hex(tuple(np.asarray(layer.get_facecolor())[0])) for layer in layers]
    assert colours == [to_hex(line.get_color()) for line in above.lines]
    assert [layer.get_label() for layer in layers] == ["a: f0", "b: f1"]
    assert tuple(figure.get_size_inches()) == (8.0, 5.8)
    assert note(figure) == ""
    assert title(figure).startswith("Throughput of flows")


@pytest.mark.parametrize("index", [1, 5])
def test_flows_that_are_throttled_have_their_index_below(index: int) -> None:
    figure = drawn("flows", flow_series([1.0, 3.0], ["a", "a"], [0, index]))
    *_, last = figure.axes
    assert labels(last) == ["Time [s]", "CCTI"]
    assert [places(line) for line in last.lines] == [
        [(0.001, 0), (0.002, 0)],
        [(0.001, index), (0.002, index)],
    ]
    assert names(figure) == ["f0", "f1"]


def test_of_many_flows_the_rest_are_grey_and_one_layer() -> None:
    rates = [float(rate) for rate in (5, 1, 9, 2, 8, 3, 7, 4, 6, 10)]
    figure = drawn("flows", flow_series(rates, ["a"] * 10, [0] * 10))
    above, below = figure.axes
    grey = [line for line in above.lines if str(line.get_label()).startswith("_")]
    assert {to_hex(line.get_color()) for line in grey} == {to_hex(style.OTHERS["color"])}
    # The three with most, the three with least, then those that come first: what is left gets 4 and 6.
    assert sorted(places(line)[0][1] for line in grey) == [4, 6]
    assert places(grey[0])[1][0] == 0.002
    assert below.collections[-1].get_label() == "2 others"
    assert np.asarray(below.collections[-1].get_paths()[0].vertices)[:, 1].max() == 2 * sum(rates)
    assert note(figure) == "grey: 2 other flows of 6 to 9 Gb/s"


def test_eight_flows_have_a_name_each() -> None:
    figure = drawn("flows", flow_series([1.0] * 8, ["a"] * 8, [0] * 8))
    assert names(figure) == [f"f{number}" for number in range(8)]


def test_the_index_of_flows_is_shown_or_not_as_it_is_asked_for() -> None:
    shown = Shown("", "title", [], "left out")
    for index, with_index, panels in ((0, True, 3), (5, False, 2), (0, None, 2), (5, None, 3)):
        table = flow_series([1.0, 3.0], ["a", "a"], [0, index])
        figure = flows.over_time(table, shown, Canvas(View()), with_index=with_index)
        assert len(figure.axes) == panels
        assert [axes.get_xlabel() for axes in figure.axes] == [""] * (panels - 1) + ["Time [s]"]
        assert title(figure) == "title"
        assert note(figure) == "left out"


def failing(table: pa.Table) -> Figure:
    """The figure of the flows of a run in which links fail."""
    config = {"faults": [{"time": {"at": "1500 us", "until": "1.75 ms"}}, {"time": {"at": "0 s"}}]}
    record = {"config": {"jobs": [], **config}, "result": {"seed": 1, "throughput_gbps": 1.0}}
    (figure,) = KINDS["flows"].draw(together(hs.Result(record, {}, {"flow_series": table})), View()).values()
    return figure


def test_links_that_fail_are_marked_and_what_they_lose_is_below() -> None:
    table = flow_series([1.0, 3.0], ["a", "a"], [0, 0])
    counts = {
        "lost": [3, 0, 1, 1],
        "lost_on_links": [1, 0, 1, 0],
        "discarded": [2, 0, 0, 1],
        "spoiled": [0] * 4,
    }
    for name, values in counts.items():
        table = table.append_column(name, pa.array(values))
    figure = failing(table)
    above, middle, below = figure.axes
    assert [places(line)[0][0] for line in above.lines[2:]] == [pytest.approx(0.0015), pytest.approx(0.00175)]
    assert [len(axes.lines) for axes in (above, middle, below)] == [4, 2, 4]
    by_cause = {str(line.get_label()): places(line) for line in below.lines[:2]}
    assert by_cause == {
        "on links that fail": [(0.001, 1), (0.002, 1)],
        "discarded by switches": [(0.001, 2), (0.002, 1)],
    }
    assert names(figure) == ["f0", "f1", "link fails", "link is repaired", *by_cause]
    nothing = table.set_column(table.column_names.index("lost"), "lost", pa.array([0] * 4))
    assert len(failing(nothing).axes) == 2


def ring(faults: str) -> hs.Results:
    """Two routings over a ring of three routers, some of whose links fail."""
    edges = "edges = [{ between = [0, 1] }, { between = [1, 2] }, { between = [2, 0] }]"
    return hs.sweep(
        f"""
        load = 0.2
        topology.graph = {{ nodes_per_router = 1, {edges} }}
        measure = {{ warmup = 0, cycles = 400, interval = 50 }}
        sweep.product.routing = ["minimal", "ugal"]
        {faults}
        """
    )


def test_links_of_a_network_that_fail_are_marked_if_they_do_in_all_runs() -> None:
    link = "links = { between = [[0, 1]] }"
    (figure,) = (
        KINDS["timeseries"].draw(ring(f"faults = [{{ at = 120, until = 250, {link} }}]"), View()).values()
    )
    for axes in figure.axes:
        assert [places(line)[0][0] for line in axes.lines[2:]] == [120, 250]
    assert names(figure) == ["minimal", "ugal", "link fails", "link is repaired"]
    slower = ring(f"faults = [{{ at = 120, until = 250, {link}, slowdown = 4 }}]")
    (figure,) = KINDS["timeseries"].draw(slower, View()).values()
    assert names(figure) == ["minimal", "ugal", "link becomes slower", "link is repaired"]
    differ = ring("sweep.product.'faults.0.at' = [100, 200]\n" + f"faults = [{{ at = 100, {link} }}]")
    (figure,) = KINDS["timeseries"].draw(differ, View()).values()
    assert [len(axes.lines) for axes in figure.axes] == [4, 4]


def test_without_a_stream_of_flows_there_is_no_figure_of_them() -> None:
    with_one = result({}, {"routing": "a"}, flow_series=flow_series([1.0] * 10, ["a"] * 10, [0] * 10))
    figures = KINDS["flows"].draw(together(with_one, result({}, {"routing": "b"})), View())
    assert list(figures) == ["flows"]
    assert note(figures["flows"]) == (
        "not shown (no stream flow_series): b, grey: 2 other flows of 1.5 to 1.5 Gb/s"
    )


def link_series(
    ends: dict[str, list[Any]],
    time: dict[str, tuple[float, float]],
    used: list[float],
    stalled: list[float] | None = None,
) -> pa.Table:
    ((name, times),) = time.items()
    steps = [
        pa.table(
            {
                **ends,
                "vc": [0] * len(used),
                "utilisation": [share * factor for share in used],
                "credit_stall_fraction": stalled or [share / 2 for share in used],
                name: [at] * len(used),
            }
        )
        for at, factor in zip(times, (1.0, 0.5), strict=True)
    ]
    return pa.concat_tables(steps)


def test_links_of_a_network_over_cycles() -> None:
    ends = {"router": [0, 1], "port": [2, 0], "port_class": ["local", "terminal"]}
    figure = drawn("links", link_series(ends, {"cycle": (100, 200)}, [0.4, 0.8]))
    above, below = figure.axes
    assert [labels(axes) for axes in figure.axes] == [
        ["", "Utilisation"],
        ["Cycle", "A VC without room behind it"],
    ]
    assert names(figure) == ["router 0 by port 2", "router 1 by port 0 to its node"]
    assert [places(line) for line in above.lines] == [[(100, 0.4), (200, 0.2)], [(100, 0.8), (200, 0.4)]]
    assert [places(line) for line in below.lines] == [[(100, 0.2), (200, 0.2)], [(100, 0.4), (200, 0.4)]]
    assert [line.get_color() for line in above.lines] == [line.get_color() for line in below.lines]
    assert above.get_ylim() == below.get_ylim() == (0, 1.05)
    assert above.get_shared_x_axes().joined(above, below)
    assert tuple(figure.get_size_inches()) == (8.0, 6.2)
    assert note(figure) == ""
    assert title(figure).startswith("Links, all VCs together")


def test_links_of_a_fabric_over_time_and_what_is_not_shown() -> None:
    count = 12
    ends = {
        "from": [f"node {number}" for number in range(count)],
        "to": ["switch 0"] * count,
        "vl": [0] * count,
    }
    used = [0.5, 0.1, 1.2, 0.2, 0.9, 0.3, 0.8, 0.4, 0.7, 0.6, 0.0, 0.05]
    figure = drawn("links", link_series(ends, {"time_s": (0.1, 0.2)}, used))
    above, below = figure.axes
    assert labels(above) == ["", "Utilisation"]
    assert labels(below) == ["Time [s]", "Idle for want of credits"]
    # The eight in use longest are those stalled longest here, in the order of the network.
    assert names(figure) == [
        f"node {number} to switch 0" for number, share in enumerate(used) if share >= 0.3
    ]
    assert above.get_ylim() == (0, pytest.approx(1.05 * 1.2))
    assert (
        note(figure) == "not shown: 4 links in use for up to 15% of the time and stalled for up to 10% of it"
    )


def test_without_a_stream_of_links_there_is_no_figure_of_them() -> None:
    ends = {"router": list(range(9)), "port": [0] * 9, "port_class": ["local"] * 9}
    with_one = result({}, {"routing": "a"}, link_series=link_series(ends, {"cycle": (1, 2)}, [0.4] * 9))
    figures = KINDS["links"].draw(together(with_one, result({}, {"routing": "b"})), View())
    assert list(figures) == ["links"]
    assert note(figures["links"]) == (
        "not shown (no stream link_series): b, "
        "not shown: 1 link in use for up to 30% of the time and stalled for up to 20% of it"
    )


def test_half_of_the_links_shown_are_those_stalled_longest() -> None:
    ends = {"router": list(range(12)), "port": [0] * 12, "port_class": ["local"] * 12}
    used = [0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1, 0.09, 0.08, 0.07]
    stalled = [0.0] * 9 + [0.1, 0.0, 0.2]
    figure = drawn("links", link_series(ends, {"cycle": (1, 2)}, used, stalled))
    # Four in use longest, the two that are stalled at all, and two more in use.
    assert names(figure) == [f"router {number} by port 0" for number in (0, 1, 2, 3, 4, 5, 9, 11)]


def queue_series(
    queued: list[list[float]], congested: list[list[int]] | None = None, lanes: list[int] | None = None
) -> pa.Table:
    """Of each output the bytes [KiB] at 1 ms, 2 ms and so on; it grants a hundredth of that number [Gb/s]."""
    steps = [
        pa.table(
            {
                "switch": [number // 2 for number in range(len(queued))],
                "peer": [f"node {number}" for number in range(len(queued))],
                "vl": lanes or [0] * len(queued),
                "time_s": [(step + 1) / 1000] * len(queued),
                "queued_bytes": [1024 * output[step] for output in queued],
                "throughput_gbps": [output[step] / 100 for output in queued],
                "is_congested": [
                    output[step] for output in congested or [[0] * len(queued[0])] * len(queued)
                ],
            }
        )
        for step in range(len(queued[0]))
    ]
    return pa.concat_tables(steps)


def queues(table: pa.Table, **view: Any) -> Figure:
    (figure,) = KINDS["queues"].draw(together(result({}, {}, queue_series=table)), View(**view)).values()
    return figure


def curves_and_dots(axes: Axes) -> tuple[list[Line2D], list[Line2D]]:
    lines = list(axes.lines)
    return [line for line in lines if line.get_linestyle() == "-"], [
        line for line in lines if line.get_linestyle() == "None"
    ]


def test_queues_of_outputs_over_time_have_dots_where_they_are_congested() -> None:
    figure = queues(queue_series([[4, 8, 2], [1, 0, 3]], [[0, 1, 1], [0, 0, 0]]))
    above, below = figure.axes
    assert [labels(axes) for axes in figure.axes] == [
        ["", "Queued at the end [KiB]"],
        ["Time [s]", "Granted [Gb/s]"],
    ]
    assert above.get_title() == "dots: congested at the end of an interval"
    curves, dots = curves_and_dots(above)
    assert [places(line) for line in curves] == [
        [(0.001, 4), (0.002, 8), (0.003, 2)],
        [(0.001, 1), (0.002, 0), (0.003, 3)],
    ]
    assert [places(line) for line in dots] == [[(0.002, 8), (0.003, 2)], []]
    assert [line.get_marker() for line in dots] == [".", "."]
    assert [places(line) for line in below.lines] == [
        [(0.001, 0.04), (0.002, 0.08), (0.003, 0.02)],
        [(0.001, 0.01), (0.002, 0), (0.003, 0.03)],
    ]
    colours = list(style.PALETTE[:2])
    assert [[line.get_color() for line in lines] for lines in (curves, dots, below.lines)] == [colours] * 3
    assert names(figure) == ["switch 0 to node 0", "switch 0 to node 1"]
    assert [axes.get_ylim()[0] for axes in figure.axes] == [0, 0]
    assert above.get_shared_x_axes().joined(above, below)
    assert tuple(figure.get_size_inches()) == (8.0, 6.2)
    assert title(figure) == "Queues of outputs, seed 1"
    assert note(figure) == ""


def test_of_many_outputs_the_eight_with_the_longest_queues_are_shown_in_the_order_of_the_network() -> None:
    longest = [3, 1, 9, 8, 7, 3, 6, 5, 4, 2, 10]
    figure = queues(queue_series([[0, length] for length in longest]))
    above, _ = figure.axes
    # Of two that are as long the first.
    assert names(figure) == [f"switch {number // 2} to node {number}" for number in (0, 2, 3, 4, 6, 7, 8, 10)]
    assert [places(line)[1][1] for line in curves_and_dots(above)[0]] == [3, 9, 8, 7, 6, 5, 4, 10]
    assert [line.get_color() for line in curves_and_dots(above)[0]] == list(style.PALETTE)
    assert above.get_title() == (
        "dots: congested at the end of an interval; 3 others never held more than 3 KiB"
    )


def test_what_other_outputs_have_at_most_has_three_digits_and_may_be_nothing() -> None:
    for least, told in ((0.0, "0"), (1.23456, "1.23")):
        figure = queues(queue_series([[9.0, 9.0]] * 8 + [[least, 0.0]]))
        assert figure.axes[0].get_title().endswith(f"; 1 other never held more than {told} KiB")
    assert queues(queue_series([[1.0]] * 8)).axes[0].get_title().endswith("interval")


def test_lanes_of_an_output_have_queues_of_their_own() -> None:
    figure = queues(queue_series([[1, 2], [3, 4]], lanes=[0, 3]))
    assert names(figure) == ["switch 0 to node 0, VL 0", "switch 0 to node 1, VL 3"]


def test_without_a_stream_of_queues_there_is_no_figure_of_them() -> None:
    points = [
        result({}, {"routing": name}, **({"queue_series": queue_series([[1]])} if name == "a" else {}))
        for name in "ab"
    ]
    (figure,) = KINDS["queues"].draw(together(*points), View()).values()
    assert note(figure) == "not shown (no stream queue_series): b"
    assert title(figure) == "Queues of outputs, a, seed 1"
    assert KINDS["queues"].draw(together(points[1]), View()) == {}
    both = {
        name: result({}, {"routing": name}, queue_series=queue_series([[length]]))
        for name, length in (("a", 1), ("b", 2))
    }
    figures = KINDS["queues"].draw(together(*both.values()), View())
    assert {name: places(figure.axes[0].lines[0]) for name, figure in figures.items()} == {
        "queues": [(0.001, 1)],
        "queues-2": [(0.001, 2)],
    }
