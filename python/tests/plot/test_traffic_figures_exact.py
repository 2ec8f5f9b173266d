"""What figures of traffic say, exactly: axes with units, names, numbers, and where lines and areas are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection, PolyCollection, QuadMesh
from matplotlib.colors import to_hex
from matplotlib.container import BarContainer
from matplotlib.patches import Patch, Rectangle, StepPatch
from matplotlib.ticker import EngFormatter, MaxNLocator, StrMethodFormatter

import hopsim as hs
from drawn import (
    T_OF_TWO,
    bounds,
    colours,
    error_ends,
    figure_of,
    figures_of,
    floats,
    labels,
    names,
    note,
    of_jobs,
    places,
    result,
    ticks,
    title,
    together,
)
from hopsim.plot import style
from hopsim.plot.breakdown import COMPONENTS
from hopsim.plot.histogram import BINS
from hopsim.plot.link_forms import COLOURS

LOAD = "Offered load [phits/(node·cycle)]"
PALETTE = [colour.lower() for colour in style.PALETTE]


def point(
    routing: str = "",
    load: float | None = None,
    seed: int = 1,
    summary: dict[str, Any] | None = None,
    **tables: pa.Table,
) -> hs.Result:
    """A point of a sweep over routing, load or both."""
    axes: dict[str, Any] = {"measure.seed": seed}
    if routing:
        axes["routing"] = routing
    if load is not None:
        axes["load"] = load
    return result({"offered_load": load, "seed": seed, **(summary or {})}, axes, **tables)


def grids(axes: Axes) -> tuple[bool, bool]:
    """Whether lines of a grid stand on the horizontal and on the vertical axis."""
    return any(line.get_visible() for line in axes.get_xgridlines()), any(
        line.get_visible() for line in axes.get_ygridlines()
    )


def rectangles(axes: Axes) -> list[Rectangle]:
    return [bar for bar in axes.patches if isinstance(bar, Rectangle)]


# Distributions of latency.


def latencies(*bins: tuple[int, int, int]) -> pa.Table:
    """First and last latency of each bin, and its packets."""
    columns = ("latency_from", "latency_to", "packets")
    return pa.table({name: [each[place] for each in bins] for place, name in enumerate(columns)})


def test_a_cdf_is_the_share_of_packets_until_the_end_of_each_bin_of_all_seeds_together() -> None:
    points = [
        point("a", seed=1, latency_histogram=latencies((4, 4, 2), (8, 9, 6))),
        point("a", seed=2, latency_histogram=latencies((5, 7, 8), (8, 9, 4))),
        point("a", seed=3),
        point("b", latency_histogram=latencies((5, 5, 1))),
    ]
    figures = figures_of("cdf", together(*points))
    assert list(figures) == ["cdf"]
    figure = figures["cdf"]
    (axes,) = figure.axes
    assert [places(line) for line in axes.lines] == [[(4, 10), (7, 50), (9, 100)], [(5, 100)]]
    assert {str(line.get_drawstyle()) for line in axes.lines} == {"steps-post"}
    assert [to_hex(line.get_color()) for line in axes.lines] == PALETTE[:2]
    assert labels(axes) == ["Packet latency [cycles]", "Packets that take no longer [%]"]
    assert names(figure) == ["a", "b"]
    assert axes.get_xlim()[0] == 0
    assert axes.get_ylim() == (0, 102)


def test_many_curves_of_a_cdf_have_panels_with_colours_from_the_first() -> None:
    points = [point(f"r{number}", latency_histogram=latencies((number, 9, 1))) for number in range(9)]
    figure = figure_of("cdf", together(*points, point("none"), point("empty", latency_histogram=latencies())))
    left, right = figure.axes
    assert [len(axes.lines) for axes in (left, right)] == [5, 4]
    assert [axes.get_xlabel() for axes in (left, right)] == ["Packet latency [cycles]"] * 2
    assert [axes.get_ylabel() for axes in (left, right)] == ["Packets that take no longer [%]", ""]
    assert to_hex(right.lines[0].get_color()) == PALETTE[0]
    assert names(figure) == [f"r{number}" for number in range(9)]
    assert all(axes.xaxis.get_tick_params()["labelbottom"] for axes in figure.axes)
    assert note(figure) == "not shown (no histogram): none; empty"


def test_the_only_curve_of_a_cdf_has_no_name_and_jobs_are_apart() -> None:
    alone = figure_of("cdf", together(point(latency_histogram=latencies((1, 2, 3)))))
    assert names(alone) == []
    rows = latencies((1, 2, 3), (4, 5, 6)).append_column("job", pa.array(["x", "y"]))
    figure = figure_of("cdf", together(of_jobs([{"job": "x"}, {"job": "y"}], {}, latency_histogram=rows)))
    assert names(figure) == ["x", "y"]
    assert [places(line) for line in figure.axes[0].lines] == [[(2, 100)], [(5, 100)]]
    assert figures_of("cdf", together(point())) == {}
    parts = together(*(point(name, latency_histogram=latencies((1, 2, 3))) for name in "ab"))
    assert list(figures_of("cdf", parts, by=())) == ["cdf-1", "cdf-2"]


def stairs(axes: Axes) -> list[tuple[list[float], list[float]]]:
    """Edges and heights of each distribution."""
    found: list[tuple[list[float], list[float]]] = []
    for part in axes.patches:
        assert isinstance(part, StepPatch)
        data = part.get_data()
        found.append((floats(data[1]), floats(data[0])))
    return found


def test_a_histogram_has_the_density_of_packets_and_the_share_that_takes_longer() -> None:
    points = [
        point("a", seed=1, latency_histogram=latencies((4, 4, 2), (5, 7, 2))),
        point("a", seed=2, latency_histogram=latencies((8, 8, 2), (5, 7, 4))),
        point("b", latency_histogram=latencies((3, 3, 7))),
    ]
    figures = figures_of("histogram", together(*points))
    assert list(figures) == ["histogram"]
    figure = figures["histogram"]
    density, tail = figure.axes
    # The packets of a wide bin are in its middle.
    assert stairs(density) == [
        ([4, 5, 6, 7, 8, 9], pytest.approx([20, 0, 60, 0, 20])),
        ([3, 4], [100]),
    ]
    assert [places(line) for line in tail.lines] == [
        [(4, 100), (4, 80), (7, 20), (8, 0)],
        [(3, 100), (3, 0)],
    ]
    assert {str(line.get_drawstyle()) for line in tail.lines} == {"steps-post"}
    assert [to_hex(line.get_color()) for line in tail.lines] == PALETTE[:2]
    assert [to_hex(part.get_edgecolor()) for part in density.patches] == PALETTE[:2]
    assert [labels(axes) for axes in (density, tail)] == [
        ["", "Packets [% per cycle]"],
        ["Packet latency [cycles]", "Packets that take longer [%]"],
    ]
    assert [density.get_xscale(), density.get_yscale()] == ["log", "linear"]
    assert [tail.get_xscale(), tail.get_yscale()] == ["log", "log"]
    assert tail.get_ylim() == (1e-3, 110)
    assert isinstance(tail.xaxis.get_major_formatter(), StrMethodFormatter)
    assert names(figure) == ["a", "b"]


def test_bins_of_a_histogram_are_of_equal_width_on_its_axis_and_heights_are_per_cycle() -> None:
    table = latencies((1000, 1000, 1), (1999, 3999, 3))
    figure = figure_of("histogram", together(point(latency_histogram=table)))
    ((edges, heights),) = stairs(figure.axes[0])
    assert edges == [round(1000 * 4 ** (number / BINS)) for number in range(BINS + 1)]
    (first, last) = (place for place, height in enumerate(heights) if height)
    assert first == 0
    assert edges[last] <= 2999 < edges[last + 1]
    assert heights[first] == pytest.approx(25 / (edges[1] - edges[0]))
    assert heights[last] == pytest.approx(75 / (edges[last + 1] - edges[last]))
    assert names(figure) == []


def test_a_histogram_of_what_takes_no_time_has_bins_from_one_cycle() -> None:
    figure = figure_of("histogram", together(point(latency_histogram=latencies((0, 3, 1), (4, 7, 1)))))
    ((edges, heights),) = stairs(figure.axes[0])
    assert edges == [1, 2, 3, 4, 5, 6, 7, 8]
    assert heights == [50, 0, 0, 0, 50, 0, 0]


def test_many_curves_of_histograms_are_in_columns() -> None:
    points = [point(f"r{number}", latency_histogram=latencies((number + 1, 9, 1))) for number in range(9)]
    figure = figure_of("histogram", together(*points, point("none")))
    assert [len(axes.lines) for axes in figure.axes] == [0, 0, 5, 4]
    assert [axes.get_ylabel() for axes in figure.axes] == [
        "Packets [% per cycle]",
        "",
        "Packets that take longer [%]",
        "",
    ]
    assert [axes.get_xlabel() for axes in figure.axes] == ["", "", *["Packet latency [cycles]"] * 2]
    assert names(figure) == [f"r{number}" for number in range(9)]
    assert note(figure) == "not shown (no histogram): none"
    assert figures_of("histogram", together(point(latency_histogram=latencies((1, 2, 0))))) == {}
    rows = latencies((1, 1, 3), (4, 4, 6)).append_column("job", pa.array(["x", "y"]))
    jobs = figure_of("histogram", together(of_jobs([{"job": "x"}, {"job": "y"}], {}, latency_histogram=rows)))
    assert names(jobs) == ["x", "y"]
    assert list(figures_of("histogram", together(*points[:2]), by=())) == ["histogram-1", "histogram-2"]


# Components of latency.


def parts_of(base: float, local: float, injection: float) -> dict[str, float]:
    return {
        "base_latency_mean": base,
        "local_queue_latency_mean": local,
        "injection_latency_mean": injection,
    }


def areas(axes: Axes) -> list[tuple[str, str, list[float], list[float]]]:
    """Name, colour, lower and upper bound of each component over the loads."""
    found: list[tuple[str, str, list[float], list[float]]] = []
    for layer, (low, high) in zip(axes.collections, bounds(axes), strict=True):
        assert isinstance(layer, PolyCollection)
        colour = to_hex(np.asarray(layer.get_facecolor())[0].tolist()[:3])
        found.append((str(layer.get_label()), colour, low, high))
    return found


def test_components_of_latency_are_areas_on_one_another_over_load() -> None:
    points = [
        point("a", 0.1, summary=parts_of(10, 2, 1)),
        point("a", 0.3, summary=parts_of(10, 4, 6)),
        point("b", 0.1, summary=parts_of(20, 0, 0)),
        point("b", 0.3, summary=parts_of(20, 1, 1)),
    ]
    figures = figures_of("breakdown", together(*points))
    assert list(figures) == ["breakdown"]
    figure = figures["breakdown"]
    left, right = figure.axes
    assert areas(left) == [
        ("minimal path", PALETTE[0], [0, 0], [10, 10]),
        ("local queues", PALETTE[2], [10, 10], [12, 14]),
        ("injection", PALETTE[5], [12, 14], [13, 20]),
    ]
    assert areas(right)[-1][3] == [20, 22]
    assert [axes.get_title() for axes in (left, right)] == ["a", "b"]
    assert [labels(axes) for axes in (left, right)] == [[LOAD, "Packet latency [cycles]"], [LOAD, ""]]
    assert left.get_xlim() == (0.1, 0.3)
    # 1.1 times the highest.
    assert left.get_ylim() == (0, pytest.approx(24.2))
    assert names(figure) == ["injection", "local queues", "minimal path"]
    handles = [handle for handle in figure.legends[0].legend_handles if isinstance(handle, Patch)]
    assert [to_hex(handle.get_facecolor()) for handle in handles] == [PALETTE[5], PALETTE[2], PALETTE[0]]
    assert note(figure) == ""
    assert all(axes.xaxis.get_tick_params()["labelbottom"] for axes in figure.axes)
    assert tuple(figure.get_size_inches()) == (pytest.approx(2 * 4.4), 3.6)


def test_components_far_above_the_rest_are_cut_and_told_unless_limits_are_asked_for() -> None:
    points = [
        point("", load, summary=parts_of(10, 0, wait)) for load, wait in ((0.1, 0), (0.2, 10), (0.3, 90))
    ]
    figure = figure_of("breakdown", together(*points))
    # Six times the lowest.
    assert figure.axes[0].get_ylim() == (0, 60)
    assert note(figure) == "above the axis: 1 point, up to 100"
    asked = figure_of("breakdown", together(*points), ylim=(0, 70))
    assert asked.axes[0].get_ylim() == (0, 70)
    assert note(asked) == ""


def test_components_of_curves_with_a_single_point_are_bars_beside_the_areas_of_others() -> None:
    points = [
        point("a", 0.1, summary=parts_of(10, 2, 1)),
        point("a", 0.3, summary=parts_of(10, 4, 6)),
        point("b", 0.2, summary=parts_of(8, 1, 2)),
    ]
    _, right = figure_of("breakdown", together(*points)).axes
    bars = rectangles(right)
    assert [(bar.get_y(), bar.get_height(), to_hex(bar.get_facecolor())) for bar in bars] == [
        (0, 8, PALETTE[0]),
        (8, 1, PALETTE[2]),
        (9, 2, PALETTE[5]),
    ]
    assert [bar.get_x() + bar.get_width() / 2 for bar in bars] == [pytest.approx(0.2)] * 3
    assert [bar.get_width() for bar in bars] == [pytest.approx(0.03)] * 3
    assert right.collections[:] == []


def test_components_over_names_are_columns_that_touch_nothing() -> None:
    points = [
        point(name, load, summary=parts_of(10 * load, 2, 0))
        for name in ("minimal", "valiant")
        for load in (1.0, 2.0)
    ]
    figure = figure_of("breakdown", together(*points), x="routing")
    left, right = figure.axes
    assert [axes.get_title() for axes in figure.axes] == ["load = 1", "load = 2"]
    bars = rectangles(right)
    assert [(bar.get_x() + bar.get_width() / 2, bar.get_y(), bar.get_height()) for bar in bars] == [
        (pytest.approx(0), 0, 20),
        (pytest.approx(1), 0, 20),
        (pytest.approx(0), 20, 2),
        (pytest.approx(1), 20, 2),
        (pytest.approx(0), 22, 0),
        (pytest.approx(1), 22, 0),
    ]
    assert {round(bar.get_width(), 9) for bar in bars} == {0.8}
    assert floats(left.get_xticks()) == [0, 1]
    assert ticks(left.get_xticklabels()) == ["minimal", "valiant"]
    assert left.get_xlabel() == "Routing"
    assert names(figure) == ["injection", "local queues", "minimal path"]
    # All of each, however high.
    assert left.get_ylim()[1] >= 22
    assert note(figure) == ""
    with pytest.raises(hs.ConfigError, match="names stand on this axis"):
        figures_of("breakdown", together(*points), x="routing", xlim=(0, 1))


def test_components_of_curves_of_one_point_are_bars_from_left_to_right() -> None:
    points = [
        point("a", summary=parts_of(10, 2, 1)),
        point("b", summary=parts_of(20, 0, 4)),
        point("c", summary=dict.fromkeys(parts_of(0, 0, 0))),
        point("d", summary={**parts_of(5, 1, 0), "local_queue_latency_mean": None}),
    ]
    figure = figure_of("breakdown", together(*points))
    (axes,) = figure.axes
    bars = [
        (
            round(bar.get_y() + bar.get_height() / 2, 9),
            bar.get_x(),
            bar.get_width(),
            to_hex(bar.get_facecolor()),
        )
        for bar in rectangles(axes)
    ]
    first, second, third = PALETTE[0], PALETTE[2], PALETTE[5]
    assert bars == [
        (0, 0, 10, first),
        (0, 10, 2, second),
        (0, 12, 1, third),
        (1, 0, 20, first),
        (1, 20, 0, second),
        (1, 20, 4, third),
        (2, 0, 5, first),
        (2, 5, 0, second),
        (2, 5, 0, third),
    ]
    assert {round(bar.get_height(), 9) for bar in rectangles(axes)} == {0.6}
    assert ticks(axes.get_yticklabels()) == ["a", "b", "d"]
    assert labels(axes) == ["Packet latency [cycles]", ""]
    assert names(figure) == ["injection", "local queues", "minimal path"]
    assert note(figure) == "not shown (no packet delivered): c"
    assert figures_of("breakdown", together(points[2])) == {}


def test_components_leave_out_curves_without_packets_and_say_which_points_are_saturated() -> None:
    nothing = dict.fromkeys(parts_of(0, 0, 0))
    points = [
        point("a", 0.1, summary=parts_of(10, 2, 1)),
        point("a", 0.3, summary={**nothing, "verdict": "saturated"}),
        point("b", 0.1, summary=nothing),
        point("b", 0.3, summary=nothing),
    ]
    figure = figure_of("breakdown", together(*points))
    (axes,) = figure.axes
    assert areas(axes)[-1][2:] == ([12, 0], [13, 0])
    assert axes.get_ylim() == (0, pytest.approx(1.1 * 13))
    assert note(figure) == ("not shown (no packet delivered): b, saturated or not converged: a at 0.3")


def test_titles_of_components_have_short_lines_and_jobs_are_apart() -> None:
    long = "minimal with a name that takes a lot of room"
    points = [point(name, load, summary=parts_of(1, 0, 0)) for name in (long, "b") for load in (0.1, 0.2)]
    left, _ = figure_of("breakdown", together(*points)).axes
    assert left.get_title() == "minimal with a name that takes a lot of\nroom"
    jobs = [{"job": name, **parts_of(size, 0, 0)} for name, size in (("x", 1), ("y", 2))]
    figure = figure_of("breakdown", together(of_jobs(jobs, {})))
    assert ticks(figure.axes[0].get_yticklabels()) == ["x", "y"]
    assert list(figures_of("breakdown", together(*points), by=())) == ["breakdown-1", "breakdown-2"]
    nothing = point("a", 0.1, summary=dict.fromkeys(parts_of(0, 0, 0)))
    assert list(figures_of("breakdown", together(nothing, *points), by=())) == ["breakdown-2", "breakdown-3"]
    assert list(COMPONENTS.values())[-1] == "injection"


# Injected load of routers.


def routers(*groups: list[float | None]) -> pa.Table:
    loads = [load for group in groups for load in group]
    return pa.table(
        {
            "group": [number for number, group in enumerate(groups) for _ in group],
            "injection_load": pa.array(loads, pa.float64()),
        }
    )


def heights(bars: BarContainer) -> list[tuple[float, float]]:
    """Middle and height of each bar."""
    return [(round(bar.get_x() + bar.get_width() / 2, 9), round(bar.get_height(), 9)) for bar in bars.patches]


def groups_of_bars(axes: Axes) -> list[BarContainer]:
    return [each for each in axes.containers if isinstance(each, BarContainer)]


def test_injected_loads_of_a_group_are_bars_with_intervals_side_by_side() -> None:
    points = [
        point("a", seed=1, routers=routers([0.1, 0.2], [0.3, 0.4])),
        point("a", seed=2, routers=routers([0.1, 0.4], [0.5, 0.4])),
        point("b", routers=routers([0.6, 0.5], [0.7, None])),
    ]
    figures = figures_of("injection", together(*points), group=1)
    assert list(figures) == ["injection_group", "injection_sorted"]
    figure = figures["injection_group"]
    (axes,) = figure.axes
    assert [heights(bars) for bars in groups_of_bars(axes)] == [
        [(-0.2, 0.4), (0.8, 0.4)],
        [(0.2, 0.7), (1.2, 0)],
    ]
    assert {round(bar.get_width(), 9) for bar in rectangles(axes)} == {0.4}
    assert [to_hex(bars.patches[0].get_facecolor()) for bars in groups_of_bars(axes)] == PALETTE[:2]
    errors = [each for each in axes.collections if isinstance(each, LineCollection)]
    ends = [np.asarray(path.vertices)[:, 1].tolist() for path in errors[0].get_paths()]
    half = T_OF_TWO * 0.1
    assert ends == [pytest.approx([0.4 - half, 0.4 + half]), pytest.approx([0.4, 0.4])]
    assert floats(axes.get_xticks()) == [0, 1]
    assert ticks(axes.get_xticklabels()) == ["2", "3"]
    assert labels(axes) == ["Router of group 1", "Injected load [phits/(node·cycle)]"]
    assert names(figure) == ["a", "b", "95 % CI over 1 to 2 seeds"]
    assert axes.get_ylim()[0] == 0
    assert grids(axes) == (False, True)
    assert tuple(figure.get_size_inches()) == (7.0, 3.6)


def test_injected_loads_of_all_routers_are_a_line_from_the_least_served() -> None:
    points = [
        point("a", routers=routers([0.4, 0.1], [0.3, 0.2])),
        point("b", routers=routers([0.7, None], [0.5, None])),
    ]
    figure = figures_of("injection", together(*points))["injection_sorted"]
    (axes,) = figure.axes
    assert [places(line) for line in axes.lines] == [
        [(25, 0.1), (50, 0.2), (75, 0.3), (100, 0.4)],
        [(50, 0.5), (100, 0.7)],
    ]
    assert [to_hex(line.get_color()) for line in axes.lines] == PALETTE[:2]
    assert labels(axes) == ["Routers, from the least served [%]", "Injected load [phits/(node·cycle)]"]
    assert names(figure) == ["a", "b"]
    assert axes.get_ylim()[0] == 0


def test_routers_of_the_only_group_are_routers_and_of_many_every_so_many_has_a_number() -> None:
    figures = figures_of("injection", together(point(routers=routers([0.1] * 24))))
    (axes,) = figures["injection_group"].axes
    assert axes.get_xlabel() == "Router"
    assert ticks(axes.get_xticklabels()) == [str(number) for number in range(24)]
    (axes,) = figures_of("injection", together(point(routers=routers([0.1] * 25))))["injection_group"].axes
    assert ticks(axes.get_xticklabels()) == [str(number) for number in range(0, 25, 2)]
    assert floats(axes.get_xticks()) == list(range(0, 25, 2))
    (axes,) = figures_of("injection", together(point(routers=routers([0.1] * 49))))["injection_group"].axes
    assert ticks(axes.get_xticklabels()) == [str(number) for number in range(0, 49, 3)]


def test_networks_of_other_sizes_have_panels_of_their_own_and_those_without_the_group_are_named() -> None:
    points = [
        point("a", routers=routers([0.1, 0.2], [0.3])),
        point("b", routers=routers([0.1, 0.2, 0.3], [0.3, 0.4])),
        point("c", routers=routers([0.5])),
        point("none"),
    ]
    figures = figures_of("injection", together(*points))
    panels = figures["injection_group"].axes
    assert [len(rectangles(axes)) for axes in panels] == [2, 3, 1]
    assert [axes.get_xlabel() for axes in panels] == ["Router of group 0", "Router of group 0", "Router"]
    assert [axes.get_ylabel() for axes in panels] == ["Injected load [phits/(node·cycle)]"] * 3
    assert len({axes.get_ylim() for axes in panels}) == 1
    assert figures["injection_group"].get_figheight() == pytest.approx(3 * 3.6)
    assert note(figures["injection_group"]) == "not shown (no table of routers): none"
    second = figures_of("injection", together(*points), group=1)["injection_group"]
    assert [ticks(axes.get_xticklabels()) for axes in second.axes] == [["2"], ["3", "4"]]
    assert note(second) == "not shown (no table of routers): none, not shown (no group 1): c"
    with pytest.raises(hs.ConfigError) as refused:
        figures_of("injection", together(*points), group=2)
    assert str(refused.value) == "--group 2: no network has this group; valid: 0 … 1"
    assert figures_of("injection", together(point("none")), group=7) == {}


def test_many_curves_of_injected_load_are_in_panels() -> None:
    points = [point(f"r{number}", routers=routers([0.1 * number])) for number in range(9)]
    figures = figures_of("injection", together(*points))
    bars = figures["injection_group"].axes
    assert [len(groups_of_bars(axes)) for axes in bars] == [5, 4]
    assert [rectangles(axes)[0].get_width() for axes in bars] == [pytest.approx(0.16), pytest.approx(0.2)]
    lines = figures["injection_sorted"].axes
    assert [len(axes.lines) for axes in lines] == [5, 4]
    assert [axes.get_xlabel() for axes in lines] == ["Routers, from the least served [%]"] * 2
    assert [axes.get_ylabel() for axes in lines] == ["Injected load [phits/(node·cycle)]", ""]
    assert all(axes.xaxis.get_tick_params()["labelbottom"] for axes in lines)
    for figure in figures.values():
        assert names(figure) == [f"r{number}" for number in range(9)]
    assert list(figures_of("injection", together(*points[:2]), by=())) == [
        "injection_group-1",
        "injection_sorted-1",
        "injection_group-2",
        "injection_sorted-2",
    ]


# Maps of nodes.


def of_nodes(
    topology: dict[str, Any], injected: list[int], routing: str = "", seed: int = 1, **more: Any
) -> hs.Result:
    """Packets of 8 phits in 100 cycles, of which half arrive."""
    table = pa.table(
        {
            "job": more.get("jobs", ["all"] * len(injected)),
            "injected": injected,
            "delivered": [packets / 2 for packets in injected],
        }
    )
    made = point(routing, seed=seed, summary={"cycles": 100}, nodes=table)
    lengths = more.get("lengths", {"all": 8})
    made.config["jobs"] = [
        {
            "name": name,
            "traffic": {"packet_length": length} if isinstance(length, int) else {"packet_lengths": length},
        }
        for name, length in lengths.items()
    ]
    made.config["topology"] = topology
    return made


def cells(axes: Axes) -> list[list[float]]:
    (image,) = axes.images
    return [[round(float(cell), 9) for cell in row] for row in np.asarray(image.get_array())]


PLANE = {"mesh": {"sides": [3, 2]}}


def test_maps_of_nodes_take_the_mean_of_lengths_that_are_drawn() -> None:
    drawn = [{"length": 1, "weight": 3}, {"length": 5, "weight": 1}]
    nodes = of_nodes(
        {"ring": {"routers": 4}}, [10, 20, 30, 40], jobs=["a", "b", "a", "b"], lengths={"a": drawn, "b": 8}
    )
    (axes, _) = figures_of("node_map", together(nodes))["node_map_injected"].axes
    assert cells(axes) == [[0.2, 1.6, 0.6, 3.2]]


def test_maps_of_nodes_have_their_load_at_their_coordinates_mean_over_seeds_and_nodes() -> None:
    points = [
        of_nodes(PLANE, [1, 3, 4, 4, 5, 5, 6, 6, 7, 7, 8, 8], seed=1),
        of_nodes(PLANE, [5, 7, 4, 4, 5, 5, 6, 6, 7, 7, 10, 10], seed=2),
    ]
    figures = figures_of("node_map", together(*points))
    assert list(figures) == ["node_map_injected", "node_map_accepted"]
    figure = figures["node_map_injected"]
    axes, bar = figure.axes
    assert cells(axes) == [[0.32, 0.32, 0.4], [0.48, 0.56, 0.72]]
    assert axes.images[0].get_clim() == (0, 0.72)
    assert axes.images[0].origin == "lower"
    assert axes.images[0].get_cmap().name == "viridis"
    assert labels(axes) == ["x", "y"]
    assert axes.get_title() == ""
    assert bar.get_ylabel() == "Injected load\n[phits/(node·cycle)]"
    assert bar.get_ylim() == axes.images[0].get_clim()
    assert title(figure) == "Injected load of each node"
    assert grids(axes) == (False, False)
    for axis in (axes.xaxis, axes.yaxis):
        assert isinstance(axis.get_major_locator(), MaxNLocator)
        numbers = floats(axis.get_major_locator()())
        assert numbers == [round(number) for number in numbers]
    accepted, bar = figures["node_map_accepted"].axes
    assert cells(accepted) == [[0.16, 0.16, 0.2], [0.24, 0.28, 0.36]]
    assert bar.get_ylabel() == "Accepted load\n[phits/(node·cycle)]"
    assert title(figures["node_map_accepted"]) == "Accepted load of each node"
    assert accepted.xaxis.get_tick_params()["labelbottom"]


def test_curves_of_maps_share_a_scale_and_nodes_that_send_nothing_have_one_too() -> None:
    long = "minimal with a name that takes some room"
    points = [of_nodes(PLANE, [1] * 6, long), of_nodes(PLANE, [2] * 6, "b")]
    figure = figures_of("node_map", together(*points))["node_map_injected"]
    left, right, _ = figure.axes
    assert [axes.get_title() for axes in (left, right)] == ["minimal with a name that takes\nsome room", "b"]
    assert [axes.images[0].get_clim() for axes in (left, right)] == [(0, 0.16)] * 2
    none = figures_of("node_map", together(of_nodes(PLANE, [0] * 6)))["node_map_injected"]
    assert none.axes[0].images[0].get_clim() == (0, 1)


def test_packets_of_jobs_count_with_their_lengths_and_those_of_none_as_nothing() -> None:
    made = of_nodes(
        {"torus": {"sides": [2, 2]}},
        [10, 10, 10, 10],
        jobs=["long", "short", None, "short"],
        lengths={"long": 5, "short": 1},
    )
    figure = figures_of("node_map", together(made))["node_map_injected"]
    assert cells(figure.axes[0]) == [[0.5, 0.1], [0, 0.1]]


@pytest.mark.parametrize("topology", [{"ring": {"routers": 3}}, {"mesh": {"sides": [3]}}])
def test_rings_and_chains_are_rows_below_one_another(topology: dict[str, Any]) -> None:
    points = [of_nodes(topology, [1, 2, 3], "a"), of_nodes(topology, [4, 5, 6], "b")]
    figure = figures_of("node_map", together(*points))["node_map_injected"]
    axes, bar = figure.axes
    assert cells(axes) == [[0.08, 0.16, 0.24], [0.32, 0.4, 0.48]]
    assert axes.images[0].get_clim() == (0, 0.48)
    assert axes.get_ylim() == (1.5, -0.5)
    assert axes.get_aspect() == "auto"
    assert labels(axes) == ["x", ""]
    assert floats(axes.get_yticks()) == [0, 1]
    assert ticks(axes.get_yticklabels()) == ["a", "b"]
    assert bar.get_ylabel() == "Injected load\n[phits/(node·cycle)]"
    assert bar.get_ylim() == axes.images[0].get_clim()
    assert title(figure) == "Injected load of each node"
    assert tuple(figure.get_size_inches()) == pytest.approx((8.0, 2.4))


def test_three_dimensions_have_a_figure_per_curve_and_a_panel_per_plane() -> None:
    cube = {"torus": {"sides": [2, 1, 3]}}
    points = [of_nodes(cube, [1, 2, 3, 4, 5, 6], "a"), of_nodes(cube, [0] * 6, "b")]
    figures = figures_of("node_map", together(*points))
    assert list(figures) == [
        "node_map_injected-curve1",
        "node_map_injected-curve2",
        "node_map_accepted-curve1",
        "node_map_accepted-curve2",
    ]
    figure = figures["node_map_injected-curve1"]
    *panels, bar = figure.axes
    assert bar.get_ylabel() == "Injected load\n[phits/(node·cycle)]"
    assert [axes.get_title() for axes in panels] == ["z = 0", "z = 1", "z = 2"]
    assert [cells(axes) for axes in panels] == [[[0.08, 0.16]], [[0.24, 0.32]], [[0.4, 0.48]]]
    assert [axes.images[0].get_clim() for axes in panels] == [(0, 0.48)] * 3
    assert title(figure) == "Injected load of each node, a"
    assert figures["node_map_injected-curve2"].axes[0].images[0].get_clim() == (0, 0.48)
    alone = figures_of("node_map", together(points[0]))
    assert list(alone) == ["node_map_injected", "node_map_accepted"]


def test_planes_of_more_dimensions_are_named_by_all_others_the_third_first() -> None:
    four = {"mesh": {"sides": [1, 1, 2, 2]}}
    *panels, _ = figures_of("node_map", together(of_nodes(four, [1, 2, 3, 4])))["node_map_injected"].axes
    assert [axes.get_title() for axes in panels] == [
        "z = 0, u = 0",
        "z = 1, u = 0",
        "z = 0, u = 1",
        "z = 1, u = 1",
    ]
    assert [cells(axes) for axes in panels] == [[[0.08]], [[0.16]], [[0.24]], [[0.32]]]
    seven = {"mesh": {"sides": [1] * 6 + [2]}}
    *panels, _ = figures_of("node_map", together(of_nodes(seven, [1, 2])))["node_map_injected"].axes
    assert [axes.get_title() for axes in panels] == [
        f"z = 0, u = 0, v = 0, w = 0, d6 = {last}" for last in (0, 1)
    ]


def test_networks_of_other_sides_have_maps_of_their_own() -> None:
    points = [of_nodes(PLANE, [1] * 6, "a"), of_nodes({"mesh": {"sides": [2, 2]}}, [2] * 4, "b")]
    figures = figures_of("node_map", together(*points))
    assert list(figures) == [
        "node_map_injected-3x2",
        "node_map_accepted-3x2",
        "node_map_injected-2x2",
        "node_map_accepted-2x2",
    ]
    assert title(figures["node_map_injected-2x2"]) == "Injected load of each node, 2x2"
    assert [figure.axes[0].images[0].get_clim() for figure in figures.values()] == [
        (0, 0.08),
        (0, 0.04),
        (0, 0.16),
        (0, 0.08),
    ]


def test_maps_are_of_traffic_on_networks_with_coordinates_that_recorded_nodes() -> None:
    program = of_nodes(PLANE, [1] * 6, "p")
    program.config["jobs"].append({"name": "p", "program": {}})
    points = [
        of_nodes(PLANE, [1] * 6, "a"),
        program,
        of_nodes({"dragonfly": {"a": 2}}, [1] * 6, "d"),
        point("none"),
    ]
    figure = figures_of("node_map", together(*points))["node_map_injected"]
    assert len(figure.axes) == 2
    wanted = "not shown (no nodes with coordinates recorded): p; d; none"
    assert note(figure) == wanted
    with_and_without = [of_nodes(PLANE, [1] * 6, seed=1), point(seed=2)]
    figure = figures_of("node_map", together(*with_and_without))["node_map_injected"]
    assert cells(figure.axes[0]) == [[0.08] * 3] * 2
    parts = figures_of("node_map", together(*(of_nodes(PLANE, [1] * 6, name) for name in "ab")), by=())
    assert title(parts["node_map_accepted-2"]) == "Accepted load of each node, b"
    assert list(parts) == [
        "node_map_injected-1",
        "node_map_accepted-1",
        "node_map_injected-2",
        "node_map_accepted-2",
    ]


@pytest.mark.parametrize(
    ("sides", "size"),
    [((2, 2), (2.8, 3.0)), ((10, 8), (4.2, 3.76)), ((20, 20), (5.5, 5.7)), ((20, 2), (5.5, 3.0))],
)
def test_panels_of_maps_are_as_large_as_their_networks_within_limits(
    sides: tuple[int, int], size: tuple[float, float]
) -> None:
    made = of_nodes({"mesh": {"sides": list(sides)}}, [1] * (sides[0] * sides[1]))
    figure = figures_of("node_map", together(made))["node_map_injected"]
    assert tuple(figure.get_size_inches()) == pytest.approx(size)


# The map of links.


def of_links(
    topology: dict[str, Any],
    rows: Sequence[tuple[int, int, int | None, float]],
    routing: str = "",
    seed: int = 1,
) -> hs.Result:
    """Router, port, peer, if it is a router, and utilisation of a VC of each link."""
    columns = ("router", "port", "peer_router", "utilisation")
    table = pa.table(
        {
            name: pa.array([row[place] for row in rows], pa.float64() if place == 3 else pa.uint32())
            for place, name in enumerate(columns)
        }
    )
    made = point(routing, seed=seed, links=table)
    made.config["topology"] = topology
    return made


ROW = {"ring": {"routers": 2, "nodes_per_router": 1}}


def lines_of(axes: Axes) -> LineCollection:
    (lines,) = (each for each in axes.collections if isinstance(each, LineCollection))
    return lines


def test_links_of_a_map_carry_what_all_their_vcs_do_mean_over_seeds() -> None:
    points = [
        of_links(ROW, [(1, 1, 0, 0.2), (0, 2, 1, 0.1), (0, 2, 1, 0.3), (0, 0, None, 9.0)], seed=1),
        of_links(ROW, [(1, 1, 0, 0.4), (0, 2, 1, 0.5), (0, 2, 1, 0.5), (0, 0, None, 9.0)], seed=2),
        point(seed=3),
    ]
    figures = figures_of("link_map", together(*points))
    assert list(figures) == ["link_map"]
    figure = figures["link_map"]
    axes, bar = figure.axes
    lines = lines_of(axes)
    assert floats(np.asarray(lines.get_array())) == [pytest.approx(0.7), pytest.approx(0.3)]
    assert np.array(lines.get_segments())[:, 0].tolist() == [[0, 0], [1, 0]]
    assert lines.get_clim() == (0, pytest.approx(0.7))
    assert bar.get_ylabel() == "Utilisation of a link [phits/cycle]"
    assert bar.get_ylim() == (0, pytest.approx(0.7))
    assert title(figure) == ("Utilisation of links, the half of a line at a router: the link that leaves it")
    assert tuple(figure.get_size_inches()) == pytest.approx((4.2 + 0.8, 4.6 + 0.4))
    assert axes.get_title() == ""


def test_maps_of_links_of_two_networks_have_scales_of_their_own() -> None:
    other: dict[str, Any] = {"graph": {}}
    points = [
        of_links(ROW, [(0, 2, 1, 0.5), (1, 1, 0, 0.25)], "a"),
        of_links(ROW, [(0, 2, 1, 1.0), (1, 1, 0, 0.125)], "b"),
        of_links(other, [(0, 0, 1, 0.0625), (1, 0, 0, 0.0)], "c"),
        point("none"),
    ]
    figure = figure_of("link_map", together(*points))
    first, second, third, bar, own = figure.axes
    assert [axes.get_title() for axes in (first, second, third)] == ["a", "b", "c"]
    assert [lines_of(axes).get_clim() for axes in (first, second)] == [(0, 1)] * 2
    assert third.images[0].get_clim() == (0, 0.0625)
    assert [axes.get_ylim() for axes in (bar, own)] == [(0, 1), (0, 0.0625)]
    assert colours(third.images[0], [0.0625]) == [to_hex(COLOURS(1.0))]
    assert title(figure) == (
        "Utilisation of links, the half of a line at a router: the link that leaves it, "
        "each network with a scale of its own"
    )
    assert note(figure) == "not shown (no table of links with routers): none"
    # Two beside one another, each as large as the largest.
    assert tuple(figure.get_size_inches()) == pytest.approx((2 * 4.8 + 0.8, 2 * 4.6 + 0.4))


def test_a_map_without_use_has_a_scale_and_one_of_cells_says_nothing_of_lines() -> None:
    figure = figure_of("link_map", together(of_links({"graph": {}}, [(0, 0, 1, 0.0), (1, 0, 0, 0.0)])))
    axes, _ = figure.axes
    assert axes.images[0].get_clim() == (0, 1)
    assert np.shape(cells(axes)) == (1, 2)
    assert title(figure) == "Utilisation of links"


def test_a_map_of_links_names_its_curves_its_load_and_what_its_panels_have_in_common() -> None:
    inside = [(0, 0, 1, 0.5), (1, 0, 0, 0.25), (0, 1, 2, 0.5), (2, 0, 3, 0.0), (3, 0, 2, 0.125)]
    points = [of_links({"dragonfly": {"a": 2}}, inside, name) for name in "ab"]
    for made in points:
        made.axes["load"] = made.summary["offered_load"] = 0.1
    figure = figure_of("link_map", together(*points))
    *panels, bar = figure.axes
    assert [axes.get_title() for axes in panels] == [
        "a, global links",
        "a, local links",
        "b, global links",
        "b, local links",
    ]
    assert title(figure) == "Utilisation of links, offered load 0.1"
    assert np.shape(cells(panels[0])) == (2, 2)
    (mesh,) = (each for each in bar.collections if isinstance(each, QuadMesh))
    assert colours(mesh, [0.0, 0.5]) == colours(panels[0].images[0], [0.0, 0.5])


def test_links_of_fabrics_have_no_map_and_four_curves_are_in_a_file() -> None:
    fabric = point("f", links=pa.table({"from": ["node 0"], "utilisation": [0.5]}))
    assert figures_of("link_map", together(fabric)) == {}
    points = [of_links(ROW, [(0, 2, 1, 0.5), (1, 1, 0, 0.25)], f"r{number}") for number in range(5)]
    figures = figures_of("link_map", together(*points))
    assert list(figures) == ["link_map-part1", "link_map-part2"]
    assert [len(figure.axes) for figure in figures.values()] == [4, 3]
    four = figure_of("link_map", together(*points[:4]))
    assert len(four.axes) == 5
    assert tuple(four.get_size_inches()) == pytest.approx((2 * 4.2 + 0.8, 2 * 4.6 + 0.4))
    many = "a pattern of many more words"
    for made, pattern in zip(points, ("b", many, many), strict=False):
        made.axes.update(pattern=pattern, routing="minimal with a name that takes room")
    points[2].axes["routing"] = "c"
    titles = [axes.get_title() for axes in figure_of("link_map", together(*points[:3])).axes]
    assert titles[1] == "minimal with a name that takes room, a pattern of many more\nwords"


# Metrics.


def test_a_metric_is_a_curve_with_a_band_over_load_and_hollow_where_saturated() -> None:
    points = [
        point("a", load, seed, summary={"hops_mean": hops, "verdict": verdict})
        for load, seed, hops, verdict in (
            (0.1, 1, 2.0, "steady"),
            (0.1, 2, 3.0, "steady"),
            (0.3, 1, 4.0, "saturated"),
            (0.3, 2, 4.0, "steady"),
        )
    ]
    points += [point("b", load, summary={"hops_mean": None}) for load in (0.1, 0.3)]
    points += [point("c", load, summary={"hops_mean": hops}) for load, hops in ((0.1, None), (0.3, 1.5))]
    figures = figures_of("metric", together(*points), y="hops_mean")
    assert list(figures) == ["metric_hops_mean"]
    figure = figures["metric_hops_mean"]
    (axes,) = figure.axes
    curves = [line for line in axes.lines if line.get_linestyle() != "None"]
    assert [places(line) for line in curves] == [[(0.1, 2.5), (0.3, 4)], [], [(0.3, 1.5)]]
    marks = [line for line in axes.lines if line.get_linestyle() == "None"]
    assert [places(line) for line in marks] == [[(0.3, 4)]]
    assert [(mark.get_marker(), mark.get_markerfacecolor()) for mark in marks] == [("o", "white")]
    assert to_hex(marks[0].get_color()) == PALETTE[0]
    assert bounds(axes) == [(pytest.approx([2.5 - T_OF_TWO / 2, 4]), pytest.approx([2.5 + T_OF_TWO / 2, 4]))]
    assert labels(axes) == [LOAD, "Hops mean [links]"]
    assert axes.get_xlim()[0] == 0
    assert axes.get_ylim()[0] == 0
    assert names(figure) == ["a", "b (no value)", "c", "95 % CI over 1 to 2 seeds"]
    assert note(figure) == "not shown (no value): 1 point, hollow: saturated or not converged"
    assert figures_of("metric", together(*points)) == {}


def test_a_metric_below_zero_is_shown_whole() -> None:
    points = [
        point("", load, summary={"backlog_growth": growth}) for load, growth in ((0.1, -2.0), (0.2, 1.0))
    ]
    figure = figure_of("metric", together(*points), y="backlog_growth")
    assert figure.axes[0].get_ylim()[0] < -2
    bars = [point(name, summary={"backlog_growth": growth}) for name, growth in (("a", -2.0), ("b", 1.0))]
    assert figure_of("metric", together(*bars), y="backlog_growth").axes[0].get_xlim()[0] < -2
    over = figure_of("metric", together(*bars, *points_of_two(-2.0)), y="backlog_growth", x="routing")
    assert over.axes[0].get_ylim()[0] < -2


def points_of_two(value: float) -> list[hs.Result]:
    return [point(name, 0.5, summary={"backlog_growth": value}) for name in ("a", "b")]


def test_a_metric_of_curves_of_one_point_is_a_bar_each_with_its_number() -> None:
    points = [
        point("a", seed=1, summary={"hops_mean": 2.0, "verdict": "not converged"}),
        point("a", seed=2, summary={"hops_mean": 3.0}),
        point("b", summary={"hops_mean": None}),
        point("c", summary={"hops_mean": 1.5}),
    ]
    figure = figure_of("metric", together(*points), y="hops_mean")
    (axes,) = figure.axes
    bars = rectangles(axes)
    assert [bar.get_width() for bar in bars] == [2.5, 0, 1.5]
    assert [round(bar.get_y() + bar.get_height() / 2, 9) for bar in bars] == [0, 1, 2]
    assert [to_hex(bar.get_edgecolor()) for bar in bars[:1]] == [PALETTE[0]]
    assert [to_hex(bar.get_facecolor()) for bar in bars] == ["#ffffff", PALETTE[1], PALETTE[2]]
    assert error_ends(axes) == [pytest.approx((2.5 - T_OF_TWO / 2, 2.5 + T_OF_TWO / 2)), None, None]
    assert [(text.get_text(), text.get_position()[1]) for text in axes.texts] == [
        (" 2.5", 0),
        (" 1.5", 2),
        (" no value", 1),
    ]
    assert axes.texts[-1].get_position()[0] == 0
    assert axes.texts[-1].get_verticalalignment() == "center"
    assert ticks(axes.get_yticklabels()) == ["a", "b", "c"]
    assert labels(axes) == ["Hops mean [links]", ""]
    assert axes.get_xlim()[0] == 0
    assert note(figure) == "hollow: saturated or not converged"
    assert not isinstance(axes.xaxis.get_major_formatter(), EngFormatter)


def test_bars_that_are_alike_in_the_first_axis_that_tells_them_apart_have_one_colour() -> None:
    points = [
        result({"hops_mean": 1.0}, {"same": 1, "routing": routing, "vcs": vcs})
        for routing in ("a", "b")
        for vcs in (1, 2)
    ]
    (axes,) = figure_of("metric", together(*points), y="hops_mean").axes
    assert [to_hex(bar.get_facecolor()) for bar in rectangles(axes)] == [
        PALETTE[0],
        PALETTE[0],
        PALETTE[1],
        PALETTE[1],
    ]
    for count in (8, 9):
        many = [result({"hops_mean": 1.0}, {"vcs": vcs}) for vcs in range(count)]
        (axes,) = figure_of("metric", together(*many), y="hops_mean").axes
        wanted = PALETTE if count == 8 else PALETTE[:1] * 9
        assert [to_hex(bar.get_facecolor()) for bar in rectangles(axes)] == wanted
    (axes,) = figure_of("metric", together(result({"hops_mean": 1.0}, {})), y="hops_mean").axes
    assert [to_hex(bar.get_facecolor()) for bar in rectangles(axes)] == PALETTE[:1]


def test_a_metric_over_names_has_bars_of_all_curves_beside_one_another() -> None:
    points = [
        point(name, load, summary={"hops_mean": hops, "verdict": verdict})
        for name, load, hops, verdict in (
            ("minimal", 0.1, 1.0, "steady"),
            ("minimal", 0.2, 2.0, "saturated"),
            ("valiant", 0.1, 3.0, "steady"),
            ("valiant", 0.2, None, "steady"),
        )
    ]
    points += [point("valiant", 0.1, 2, summary={"hops_mean": 4.0})]
    figure = figure_of("metric", together(*points), y="hops_mean", x="routing")
    (axes,) = figure.axes
    assert [heights(bars) for bars in groups_of_bars(axes)] == [
        [(-0.2, 1), (0.8, 3.5)],
        [(0.2, 2), (1.2, 0)],
    ]
    assert {round(bar.get_width(), 9) for bar in rectangles(axes)} == {0.4}
    assert [to_hex(bar.get_facecolor()) for bar in rectangles(axes)] == [
        PALETTE[0],
        PALETTE[0],
        "#ffffff",
        PALETTE[1],
    ]
    errors = [each for each in axes.collections if isinstance(each, LineCollection)]
    ends = [np.asarray(path.vertices)[:, 1] for path in errors[0].get_paths()]
    (there,) = (each.tolist() for each in ends if len(each) == 2 and np.isfinite(each).all())
    assert there == pytest.approx([3.5 - T_OF_TWO / 2, 3.5 + T_OF_TWO / 2])
    assert [
        (text.get_text(), text.get_rotation(), round(text.get_position()[0], 9)) for text in axes.texts
    ] == [
        (" 1", 90, -0.2),
        (" 3.5", 90, 0.8),
        (" 2", 90, 0.2),
    ]
    assert floats(axes.get_xticks()) == [0, 1]
    assert ticks(axes.get_xticklabels()) == ["minimal", "valiant"]
    assert labels(axes) == ["Routing", "Hops mean [links]"]
    assert names(figure) == ["load = 0.1", "load = 0.2", "95 % CI over 1 to 2 seeds"]
    assert grids(axes) == (False, True)
    assert axes.get_ylim()[0] == 0
    assert note(figure) == "not shown (no value): 1 point, hollow: saturated or not converged"
    assert tuple(figure.get_size_inches()) == (5.2, 3.6)
    with pytest.raises(hs.ConfigError, match="names stand on this axis"):
        figures_of("metric", together(*points), y="hops_mean", x="routing", xlim=(0, 1))


def test_a_curve_without_any_value_over_names_has_all_its_points_counted() -> None:
    points = [
        point(name, load, summary={"hops_mean": hops})
        for name in ("minimal", "valiant")
        for load, hops in ((0.1, 1.0), (0.2, None))
    ]
    figure = figure_of("metric", together(*points), y="hops_mean", x="routing")
    assert note(figure) == "not shown (no value): 2 points"


def test_many_names_or_curves_make_panels_of_bars_wide() -> None:
    points = [
        point(f"r{number}", load / 10, summary={"hops_mean": 1.0})
        for number in range(10)
        for load in range(1, 10)
    ]
    figure = figure_of("metric", together(*points), y="hops_mean", x="routing")
    # Nine curves are in two panels; each name has room for eight bars.
    assert [len(groups_of_bars(axes)) for axes in figure.axes] == [5, 4]
    assert figure.get_figwidth() == pytest.approx(2 * 0.22 * 10 * 8)
    assert [axes.get_ylabel() for axes in figure.axes] == ["Hops mean [links]", ""]
    assert [axes.get_xlabel() for axes in figure.axes] == ["Routing"] * 2
    assert [ticks(axes.get_xticklabels()) for axes in figure.axes] == [[f"r{n}" for n in range(10)]] * 2
    assert all(axes.xaxis.get_tick_params()["labelbottom"] for axes in figure.axes)
    over = figure_of("metric", together(*points), y="hops_mean")
    assert [len(axes.lines) for axes in over.axes] == [5, 5]
    assert [axes.get_ylabel() for axes in over.axes] == ["Hops mean [links]", ""]
    assert [axes.get_xlabel() for axes in over.axes] == [LOAD] * 2
    assert all(axes.xaxis.get_tick_params()["labelbottom"] for axes in over.axes)


def test_names_below_bars_break_between_words_and_have_room_for_the_longest() -> None:
    long = ["one two three four five", "a-word-of-many-more-letters", *"bcdefgh"]
    points = [point(name, load, summary={"hops_mean": 1.0}) for name in long for load in (0.1, 0.2)]
    figure = figure_of("metric", together(*points), y="hops_mean", x="routing")
    (axes,) = figure.axes
    assert ticks(axes.get_xticklabels())[:2] == long[:2]
    # 27 letters and two between names, twelve an inch.
    assert figure.get_figwidth() == pytest.approx(9 * 29 / 12)
    short = [point(name, load, summary={"hops_mean": 1.0}) for name in (long[0], "b") for load in (0.1, 0.2)]
    (axes,) = figure_of("metric", together(*short), y="hops_mean", x="routing").axes
    assert ticks(axes.get_xticklabels())[0] == "one two three\nfour five"


def test_intervals_of_a_share_end_where_shares_do() -> None:
    points = [
        point(name, load, seed, summary={"misrouted_fraction": share})
        for name in ("a", "b")
        for load in (0.1, 0.2)
        for seed, share in ((1, 0.5), (2, 1.0))
    ]
    figure = figure_of("metric", together(*points), y="misrouted_fraction", x="routing")
    errors = [each for each in figure.axes[0].collections if isinstance(each, LineCollection)]
    ends = [np.asarray(path.vertices)[:, 1].tolist() for each in errors for path in each.get_paths()]
    assert ends == [pytest.approx([0, 1])] * 4
    bars = figure_of("metric", together(*points[:2], *points[4:6]), y="misrouted_fraction")
    assert error_ends(bars.axes[0]) == [pytest.approx((0, 1))] * 2


def test_execution_times_are_written_with_prefixes() -> None:
    programs = [
        point(name, summary={"execution_time": time}) for name, time in (("a", 20_000), ("b", 1_000_000))
    ]
    (axes,) = figure_of("execution_time", together(*programs)).axes
    assert isinstance(axes.xaxis.get_major_formatter(), EngFormatter)
    assert [text.get_text() for text in axes.texts] == [" 20,000", " 1,000,000"]
    over = [point(name, load, summary={"execution_time": 10}) for name in ("a", "b") for load in (0.1, 0.2)]
    (axes,) = figure_of("execution_time", together(*over), x="routing").axes
    assert isinstance(axes.yaxis.get_major_formatter(), EngFormatter)
    (axes,) = figure_of("execution_time", together(*over)).axes
    assert isinstance(axes.yaxis.get_major_formatter(), EngFormatter)
    (axes,) = figure_of("metric", together(*over), y="execution_time").axes
    assert not isinstance(axes.yaxis.get_major_formatter(), EngFormatter)
    assert axes.get_ylabel() == "Execution time [cycles]"


def test_curves_of_latency_end_before_saturation_hides_the_rest_and_say_what_is_above() -> None:
    points = [
        point(name, load, summary={"packet_latency_mean": latency, "accepted_load": load})
        for name, values in (("a", (10.0, 20.0, 61.0)), ("b", (None, None, None)))
        for load, latency in zip((0.1, 0.2, 0.3), values, strict=True)
    ]
    figure = figure_of("latency_load", together(*points))
    assert names(figure) == ["a", "b (no packet delivered)"]
    assert figure.axes[0].get_ylim() == (0, 60)
    assert note(figure) == "above the axis: 1 point, up to 61"
    assert note(figure_of("latency_load", together(*points[:2], *points[3:5]))) == ""


def test_a_single_curve_over_names_is_bars_too() -> None:
    points = [point(name, 0.1, summary={"hops_mean": 2.0}) for name in ("minimal", "valiant")]
    figure = figure_of("metric", together(*points), y="hops_mean", x="routing")
    (axes,) = figure.axes
    assert [heights(bars) for bars in groups_of_bars(axes)] == [[(0, 2), (1, 2)]]
    assert {round(bar.get_width(), 9) for bar in rectangles(axes)} == {0.8}
    assert names(figure) == []
    assert note(figure) == ""


def test_jobs_of_a_metric_are_curves_of_their_own() -> None:
    jobs = [{"job": name, "hops_mean": hops} for name, hops in (("x", 1.0), ("y", 2.0))]
    figure = figure_of("metric", together(of_jobs(jobs, {})), y="hops_mean")
    assert [bar.get_width() for bar in rectangles(figure.axes[0])] == [1, 2]
    assert ticks(figure.axes[0].get_yticklabels()) == ["x", "y"]
    points = [point(name, summary={"hops_mean": 1.0}) for name in "ab"]
    figures = figures_of("metric", together(*points), y="hops_mean", by=())
    assert list(figures) == ["metric_hops_mean-1", "metric_hops_mean-2"]
