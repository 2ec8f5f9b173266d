"""What figures are made of: tables of points, intervals, looks, limits, notes, and which curves are shown."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.ticker import EngFormatter

import hopsim as hs
from drawn import bounds, floats, places, result, together
from hopsim.metrics.series import Group, Series, abscissa_of, by_job, curves
from hopsim.metrics.stats import Estimate
from hopsim.plot import View, over_time, records, style, unsteady, view
from hopsim.plot.canvas import Canvas
from hopsim.plot.view import Shown

T_OF_TWO = 12.706204736
"""Student's t of two values; the half width of a and b is this times half their difference."""


def panel() -> Axes:
    return Figure().subplots()


def series(*points: hs.Result) -> Series:
    (found,) = curves(together(*points))
    return found


def at(load: float, seed: int = 1, verdict: str | None = "steady", **summary: Any) -> hs.Result:
    return result(
        {"offered_load": load, "seed": seed, "verdict": verdict, **summary},
        {"load": load, "measure.seed": seed},
    )


# Tables of points.


def with_table(seed: int, **columns: list[Any]) -> hs.Result:
    tables = {"stream": pa.table(columns)} if columns else {}
    return result({"seed": seed}, {"measure.seed": seed}, **tables)


def test_tables_of_a_curve_are_those_of_the_seeds_that_have_one() -> None:
    of = series(with_table(1), with_table(2, cycle=[1, 2], x=[1.0, None]), with_table(3, cycle=[3], x=[5.0]))
    assert [table.num_rows for table in records.tables_of(of, "stream")] == [2, 1]
    first, second = records.column_of(of, "stream", "x")
    assert floats(second) == [5]
    assert floats(first)[0] == 1
    assert np.isnan(first[1])
    table = records.first_table(of, "stream")
    assert table is not None
    assert table.num_rows == 2
    assert floats(records.cycles(of, "stream")) == [1, 2]
    assert records.is_recorded(of, "stream")


def test_a_stream_that_was_not_recorded_or_has_no_rows_is_nothing() -> None:
    for of in (series(with_table(1)), series(with_table(1, cycle=[], x=[]))):
        assert floats(records.cycles(of, "stream")) == []
        assert not records.is_recorded(of, "stream")
    assert records.first_table(series(with_table(1)), "stream") is None
    assert records.is_recorded(
        series(with_table(1, cycle=[], x=[]), with_table(2, cycle=[1], x=[1])), "stream"
    )


def test_tables_are_those_of_the_first_point_of_a_curve() -> None:
    points = [
        result({"offered_load": load}, {"load": load}, stream=pa.table({"cycle": [cycle]}))
        for load, cycle in ((0.2, 20), (0.1, 10))
    ]
    assert floats(records.cycles(series(*points), "stream")) == [10]


def test_means_of_rows_are_over_what_is_there() -> None:
    nan = float("nan")
    columns = [np.array([1.0, nan, 4.0]), np.array([3.0, nan, nan])]
    first, second, third = records.mean_of_rows(columns)
    assert (first.mean, first.half_width) == (2, pytest.approx(T_OF_TWO))
    assert second == Estimate(None)
    assert third == Estimate(4)
    with pytest.raises(ValueError, match="shorter"):
        records.mean_of_rows([np.array([1.0, 2.0]), np.array([1.0])])


# Intervals of streams.


def interval_rows(times: dict[str, list[float]], **columns: list[Any]) -> pa.Table:
    return pa.table({**times, **columns})


def test_rows_of_a_link_and_an_interval_are_put_together() -> None:
    table = interval_rows(
        {"cycle": [200, 100, 100, 200, 100]},
        used=[1.0, 2.0, 4.0, 8.0, None],
        stalled=[0.5, 0.25, 0.75, 0.125, 0.5],
    )
    names, times, (used, stalled) = over_time.by_link(
        table, ["b", "a", "b", "b", "a"], {"used": np.add, "stalled": np.maximum}
    )
    # In the order of first appearance.
    assert names == ["b", "a"]
    assert floats(times) == [100, 200]
    assert used.tolist() == [[4, 9], [2, 0]]
    assert stalled.tolist() == [[0.75, 0.5], [0.5, 0]]


def test_lanes_of_a_link_are_apart_where_there_are_several() -> None:
    times = {"time_s": [0.5, 0.5, 0.25]}
    names, moments, (used,) = over_time.by_lane(
        interval_rows(times, vl=[0, 1, 0], used=[1.0, 2.0, 4.0]), ["a", "a", "a"], ["used"]
    )
    assert names == ["a, VL 0", "a, VL 1"]
    assert floats(moments) == [0.25, 0.5]
    assert used.tolist() == [[4, 1], [0, 2]]
    names, _, (used,) = over_time.by_lane(
        interval_rows(times, vl=[3, 3, 3], used=[1.0, 2.0, 4.0]), ["a", "a", "a"], ["used"]
    )
    assert names == ["a"]
    assert used.tolist() == [[4, 3]]
    names, _, _ = over_time.by_lane(
        interval_rows({"cycle": [1, 1]}, vc=[0, 2], used=[1.0, 2.0]), ["a", "b"], ["used"]
    )
    assert names == ["a, VC 0", "b, VC 2"]


def told_of(points: hs.Results, **options: Any) -> list[tuple[str, str, int, list[str], str]]:
    """Name, title, first value, label of the curve and note of each figure of a stream."""
    drawn: list[tuple[str, int, list[str], str]] = []

    def draw(table: pa.Table, about: Shown, _: Canvas) -> Figure:
        value = int(table.column("cycle")[0].as_py())
        drawn.append((about.title, value, [each.label for each in about.curves], about.omitted))
        return Figure()

    shown = View(**options)
    figures = over_time.Kind("stream", "stem", "Title", draw).figures(points, shown, Canvas(shown))
    return [(name, *each) for name, each in zip(figures, drawn, strict=True)]


def recorded(value: int, axes: dict[str, Any], seed: int = 1) -> hs.Result:
    return result(
        {"seed": seed, "offered_load": axes.get("load")},
        {**axes, "measure.seed": seed},
        stream=pa.table({"cycle": [value]}),
    )


def test_a_stream_has_a_figure_per_curve_of_its_first_seed_and_says_which() -> None:
    points = together(
        recorded(1, {"routing": "a"}, seed=5),
        recorded(2, {"routing": "a"}, seed=6),
        recorded(3, {"routing": "b"}, seed=5),
        result({}, {"routing": "c"}),
        result({}, {"routing": "d"}, stream=pa.table({"cycle": pa.array([], pa.int64())})),
    )
    missing = "not shown (no stream stream): c; d"
    assert told_of(points) == [
        ("stem", "Title, a, seed 5", 1, ["a"], missing),
        ("stem-2", "Title, b, seed 5", 3, ["b"], missing),
    ]


def test_a_stream_of_a_single_curve_has_a_figure_per_load() -> None:
    points = together(*(recorded(number, {"load": number / 10}) for number in (2, 1)))
    assert told_of(points) == [
        ("stem", "Title, offered load 0.1, seed 1", 1, ["offered load 0.1"], ""),
        ("stem-2", "Title, offered load 0.2, seed 1", 2, ["offered load 0.2"], ""),
    ]
    assert told_of(points, load=0.2) == [("stem", "Title, offered load 0.2, seed 1", 2, [""], "")]


def test_more_curves_than_a_file_has_make_no_parts_of_a_stream() -> None:
    points = together(*(recorded(number, {"routing": f"r{number:02}"}) for number in range(25)))
    found = told_of(points)
    assert [name for name, *_ in found] == ["stem", *(f"stem-{number}" for number in range(2, 26))]
    assert found[24][1] == "Title, r24, seed 1"


# Looks.


def test_curves_have_a_colour_and_a_marker_and_beyond_eight_another_line() -> None:
    assert [style.look(index) for index in (0, 7, 8, 17, 24)] == [
        {"color": style.PALETTE[0], "marker": "o", "linestyle": "-"},
        {"color": style.PALETTE[7], "marker": "*", "linestyle": "-"},
        {"color": style.PALETTE[0], "marker": "o", "linestyle": "--"},
        {"color": style.PALETTE[1], "marker": "s", "linestyle": ":"},
        {"color": style.PALETTE[0], "marker": "o", "linestyle": "-"},
    ]


def test_lines_over_time_have_eight_markers_that_stand_beside_those_of_others() -> None:
    assert [style.look_over_time(index, 80)["markevery"] for index in (0, 1, 4, 7, 8)] == [
        (0, 10),
        (1, 10),
        (5, 10),
        (8, 10),
        (0, 10),
    ]
    assert style.look_over_time(3, 5)["markevery"] == (0, 1)
    assert style.look_over_time(1, 16)["markevery"] == (0, 2)
    assert style.look_over_time(9, 80)["linestyle"] == "--"


def test_a_curve_leaves_out_points_without_a_place_or_a_value() -> None:
    axes = panel()
    points = [at(0.1, x_mean=1.0), at(0.2, x_mean=None), at(0.3, x_mean=3.0)]
    style.curve(axes, 1, series(*points), "x_mean")
    assert [places(line) for line in axes.lines] == [[(0.1, 1), (0.3, 3)]]
    assert str(axes.lines[0].get_label()).startswith("_")
    assert to_hex(axes.lines[0].get_color()) == style.PALETTE[1].lower()
    assert len(axes.collections) == 0


def test_a_curve_without_any_value_is_in_the_legend_with_the_reason() -> None:
    axes = panel()
    nothing = Series("a", series(at(0.1, x_mean=None)).groups)
    style.curve(axes, 2, nothing, "x_mean")
    style.curve(axes, 3, Series("", nothing.groups), "x_mean", nothing="none of it")
    assert [places(line) for line in axes.lines] == [[], []]
    assert [line.get_label() for line in axes.lines] == ["a (no packet delivered)", "(none of it)"]
    assert [to_hex(line.get_color()) for line in axes.lines] == [each.lower() for each in style.PALETTE[2:4]]
    assert [line.get_marker() for line in axes.lines] == ["^", "D"]


def test_bands_of_a_curve_are_within_what_is_possible_and_in_no_legend() -> None:
    axes = panel()
    seeds = [at(load, seed, jain_index=value) for load in (0.1, 0.2) for seed, value in ((1, 0.9), (2, 1.0))]
    style.curve(axes, 4, Series("a", series(*seeds).groups), "jain_index")
    assert bounds(axes) == [(pytest.approx([0.95 - T_OF_TWO * 0.05] * 2), [1, 1])]
    (shade,) = axes.collections
    assert isinstance(shade, PolyCollection)
    assert to_hex(np.asarray(shade.get_facecolor())[0].tolist()[:3]) == style.PALETTE[4].lower()
    assert shade.get_label() == style.BAND
    assert axes.get_legend_handles_labels()[1] == ["a"]


def test_values_without_an_interval_have_none_beside_those_that_have_one() -> None:
    nan = float("nan")
    values = [Estimate(0.5, 0.1), Estimate(0.5), Estimate(None), Estimate(0.95, 0.1), Estimate(0.05, 0.1)]
    shares = style.half_widths(values, (0.0, 1.0))
    assert shares is not None
    assert np.array_equal(
        np.round(shares, 9), [[0.1, nan, nan, 0.1, 0.05], [0.1, nan, nan, 0.05, 0.1]], equal_nan=True
    )
    any_value = style.half_widths(values)
    assert any_value is not None
    assert np.array_equal(any_value, [[0.1, nan, nan, 0.1, 0.1]] * 2, equal_nan=True)
    assert style.half_widths(values[1:3]) is None
    # Means that are not possible, such as of rounded shares, keep no interval beyond them.
    beyond = style.half_widths([Estimate(1.5, 0.2), Estimate(-0.5, 0.2)], (0.0, 1.0))
    assert beyond is not None
    assert beyond.tolist() == [[0.2, 0], [0, 0.2]]


def test_bands_end_beside_values_without_an_interval() -> None:
    axes = panel()
    style.band(axes, ([1, 2, 3], [Estimate(5, 1), Estimate(6), Estimate(None)]), "red")
    ((low, high),) = bounds(axes)
    assert (low[0], high[0]) == (4, 6)
    assert max(high) == 6
    style.band(axes, ([1], [Estimate(5)]), "red")
    assert len(axes.collections) == 1


def test_lines_with_a_band_have_gaps_where_nothing_is() -> None:
    axes = panel()
    values = [Estimate(5, 1), Estimate(None), Estimate(7, 2)]
    style.with_band(axes, ([1, 2, 3], values), label="a", color="#ff0000", marker="s")
    style.with_band(axes, ([1, 2, 3], values), label="", color="#00ff00")
    first, second = axes.lines
    assert floats(first.get_xdata()) == [1, 2, 3]
    heights = floats(first.get_ydata())
    assert [heights[0], heights[2]] == [5, 7]
    assert np.isnan(heights[1])
    assert (first.get_label(), first.get_marker(), to_hex(first.get_color())) == ("a", "s", "#ff0000")
    assert str(second.get_label()).startswith("_")
    assert len(axes.collections) == 2


def test_a_line_of_a_stream_is_its_mean_over_seeds_times_a_scale() -> None:
    axes = panel()
    of = Series(
        "a",
        series(
            with_table(1, cycle=[10, 20], x=[1.0, 2.0]), with_table(2, cycle=[10, 20], x=[3.0, 2.0])
        ).groups,
    )
    style.line(axes, 1, of, ("stream", "x"), scale=10)
    style.line(axes, 2, of, ("stream", "x"))
    assert [places(line) for line in axes.lines] == [[(10, 20), (20, 20)], [(10, 2), (20, 2)]]
    assert [line.get_label() for line in axes.lines] == ["a", "a"]
    assert [to_hex(line.get_color()) for line in axes.lines] == [each.lower() for each in style.PALETTE[1:3]]
    half = 10 * T_OF_TWO
    assert bounds(axes)[0] == (pytest.approx([20 - half, 20]), pytest.approx([20 + half, 20]))


def test_numbers_stand_at_the_ends_of_bars_behind_their_intervals() -> None:
    values = [
        Estimate(1.23456, 0.5),
        Estimate(None, 3.0),
        Estimate(9999.4),
        Estimate(10000.0),
        Estimate(-12345.6),
        Estimate(0.0, 1.0),
    ]
    axes = panel()
    style.number_bars(axes, range(6), values)
    assert [(text.get_text(), text.get_position()) for text in axes.texts] == [
        (" 1.235", (1.73456, 0)),
        (" 9999", (9999.4, 2)),
        (" 10,000", (10000, 3)),
        (" -12,346", (-12345.6, 4)),
        (" 0", (1, 5)),
    ]
    assert {text.get_gid() for text in axes.texts} == {style.NUMBER}
    assert {text.get_clip_on() for text in axes.texts} == {True}
    assert {(text.get_horizontalalignment(), text.get_verticalalignment()) for text in axes.texts} == {
        ("left", "center")
    }
    upright = panel()
    style.number_bars(upright, [5], [Estimate(2.0, 1.0)], upright=True)
    (text,) = upright.texts
    assert text.get_gid() == style.NUMBER
    assert (text.get_text(), text.get_position(), text.get_rotation()) == (" 2", (5, 3), 90)
    assert (text.get_horizontalalignment(), text.get_verticalalignment()) == ("center", "bottom")
    # Room for them.
    assert axes.margins() == (0.12, 0.05)
    assert upright.margins() == (0.05, 0.25)


# Limits.


def test_an_axis_of_latencies_ends_before_saturation_hides_the_rest() -> None:
    axes = panel()
    axes.set_ylim(-5, 5)
    style.cut_latencies(axes, [10.0, 20.0])
    assert axes.get_ylim() == (0, 22)
    style.cut_latencies(axes, [10.0, 100.0])
    assert axes.get_ylim() == (0, 60)
    style.cut_latencies(axes, [10.0, 20.0], room=2.0)
    assert axes.get_ylim() == (0, 40)


@pytest.mark.parametrize(
    ("values", "end"),
    [
        ([[10.0, 20.0], [15.0]], 22),
        ([[10.0, 100.0]], 60),
        ([[10.0, 500.0], [100.0, 120.0]], 200),
        ([[], [10.0]], 11),
    ],
)
def test_an_axis_of_latencies_shows_where_every_curve_begins(values: list[list[float]], end: float) -> None:
    assert style.end_of_latencies(values) == pytest.approx(end)


def test_points_above_an_axis_of_latencies_are_counted() -> None:
    axes = panel()
    axes.set_ylim(-5, 5)
    assert style.cut_curves(axes, [[10.0, None, 61.0], [None], [12.0, 123.456]]) == (
        "above the axis: 2 points, up to 123.5"
    )
    assert axes.get_ylim() == (0, 60)
    assert style.cut_curves(axes, [[10.0, 60.0, 61.0]]) == "above the axis: 1 point, up to 61"
    assert style.cut_curves(axes, [[10.0, 20.0]]) == ""
    assert axes.get_ylim() == (0, 22)
    assert style.cut_curves(axes, [[None], []]) == ""
    assert axes.get_ylim() == (0, 22)
    assert style.end_of_latencies([[]]) is None


def test_bars_side_by_side_fill_most_of_their_place() -> None:
    assert style.side_by_side(1) == (0.8, [0])
    width, offsets = style.side_by_side(4)
    assert width == pytest.approx(0.2)
    assert offsets == pytest.approx([-0.3, -0.1, 0.1, 0.3])
    assert [style.number_of(count, "point") for count in (0, 1, 2)] == ["0 points", "1 point", "2 points"]


def test_numbers_of_logarithmic_axes_are_in_full_and_those_between_few() -> None:
    axes = panel()
    style.plain_log_ticks(axes)
    assert axes.get_xscale() == "log"
    major, minor = axes.xaxis.get_major_formatter(), axes.xaxis.get_minor_formatter()
    assert [major(value, 0) for value in (10.0, 100000.0, 0.01)] == ["10", "100000", "0.01"]
    assert [minor(value, 0) for value in (20.0, 30.0, 50.0, 90.0, 0.2, 200.0)] == [
        "20",
        "",
        "50",
        "",
        "0.2",
        "200",
    ]
    style.short_numbers(axes.yaxis)
    assert isinstance(axes.yaxis.get_major_formatter(), EngFormatter)


# Files.


def test_images_have_as_many_dots_as_asked_for_and_no_more_than_memory_is_worth(tmp_path: Path) -> None:
    figure = Figure(figsize=(2, 1))
    for dpi, size in ((None, (320, 160)), (50, (100, 50))):
        path = style.save(figure, tmp_path / "f.png", dpi)
        assert path == tmp_path / "f.png"
        content = path.read_bytes()
        assert (int.from_bytes(content[16:20]), int.from_bytes(content[20:24])) == size
    with pytest.raises(hs.ConfigError) as refused:
        style.save(figure, tmp_path / "g.png", 6325)
    assert str(refused.value) == (
        "g.png: 2x1 inches at 6325 dots per inch are 80,011,250 dots; "
        "valid: at most 80,000,000, with a smaller --size or --dpi, or another --format"
    )
    wide = Figure(figsize=(100, 100))
    with pytest.raises(
        hs.ConfigError, match=r"^h.png: 100x100 inches at 160 dots per inch are 256,000,000 dots"
    ):
        style.save(wide, tmp_path / "h.png")
    assert style.save(wide, tmp_path / "h.svg").exists()


@pytest.mark.parametrize("suffix", ["svg", "pdf"])
def test_the_same_figure_is_the_same_file_with_its_text_as_text(tmp_path: Path, suffix: str) -> None:
    contents: list[bytes] = []
    for name in ("a", "b"):
        axes = panel()
        axes.set_title("some words")
        figure = axes.get_figure()
        assert isinstance(figure, Figure)
        axes.plot([1, 2], [1, 2], marker="o", clip_on=True)
        contents.append(style.save(figure, tmp_path / f"{name}.{suffix}").read_bytes())
    assert contents[0] == contents[1]
    assert b"Date" not in contents[0]
    if suffix == "svg":
        assert b"some words</text>" in contents[0]
    else:
        assert b"/FontFile2" in contents[0]


# Points that are not steady.


def test_points_that_are_saturated_or_not_converged_have_hollow_markers() -> None:
    axes = panel()
    of = [
        series(
            at(0.1, x_mean=1.0),
            at(0.2, x_mean=2.0, verdict="saturated"),
            at(0.3, x_mean=3.0, verdict="not converged"),
            at(0.4, x_mean=4.0, verdict="too few samples"),
            at(0.5, x_mean=5.0, verdict=None),
            at(0.6, x_mean=None, verdict="saturated"),
        ),
        series(at(0.1, x_mean=1.0)),
        series(at(0.1, x_mean=9.0, verdict="saturated")),
    ]
    assert unsteady.mark(axes, of, "x_mean") == "hollow: saturated or not converged"
    assert [places(line) for line in axes.lines] == [[(0.2, 2), (0.3, 3)], [(0.1, 9)]]
    assert [line.get_marker() for line in axes.lines] == ["o", "^"]
    assert [line.get_linestyle() for line in axes.lines] == ["None", "None"]
    assert [line.get_markerfacecolor() for line in axes.lines] == ["white", "white"]
    assert [to_hex(line.get_color()) for line in axes.lines] == [
        style.PALETTE[0].lower(),
        style.PALETTE[2].lower(),
    ]
    assert unsteady.mark(panel(), [of[1], series(at(0.6, x_mean=None, verdict="saturated"))], "x_mean") == ""


def groups(*verdicts: str | None) -> list[Group]:
    return [Group({}, [at(0.1, verdict=verdict)]) for verdict in verdicts]


def test_bars_of_such_points_are_hollow_in_the_colour_they_had() -> None:
    axes = panel()
    bars = axes.bar([0, 1, 2], [1, 1, 1], color=["#ff0000", "#00ff00", "#0000ff"])
    note = unsteady.mark_bars(bars, groups("steady", "saturated", None))
    assert note == "hollow: saturated or not converged"
    assert [to_hex(bar.get_facecolor()) for bar in bars.patches] == ["#ff0000", "#ffffff", "#0000ff"]
    assert to_hex(bars.patches[1].get_edgecolor()) == "#00ff00"
    assert bars.patches[1].get_linewidth() == style.OUTLINE
    assert unsteady.mark_bars(axes.bar([0], [1]), groups("too few samples")) == ""


def told(*of: tuple[str, Sequence[tuple[float, str]]]) -> str:
    return unsteady.told(
        [
            Series(label, series(*(at(load, verdict=verdict) for load, verdict in points)).groups)
            for label, points in of
        ]
    )


def test_a_note_names_the_points_that_are_not_steady() -> None:
    steady, saturated, drifting = "steady", "saturated", "not converged"
    assert told(("a", [(0.1, steady)])) == ""
    assert told(("a", [(0.1, saturated)])) == "the point shown is saturated or not converged"
    assert told(("a", [(0.1, saturated)]), ("b", [(0.2, drifting)])) == (
        "all points shown are saturated or not converged"
    )
    assert told(
        ("a", [(0.1, steady), (0.2, saturated), (0.3, drifting)]),
        ("b", [(0.1, saturated)]),
        ("c", [(0.1, steady)]),
    ) == ("saturated or not converged: a at 0.2, 0.3; b")
    assert told(("", [(0.1, steady), (0.25, saturated)])) == "saturated or not converged: at 0.25"


# What figures show.


def test_the_interval_of_a_figure_is_over_batches_or_seeds() -> None:
    one, two = series(at(0.1)), series(at(0.1, 1), at(0.1, 2), at(0.2))
    assert Shown("", "", [one]).interval == "95 % CI over the batches of the run"
    assert Shown("", "", []).interval == "95 % CI over the batches of the run"
    assert Shown("", "", [two]).interval == "95 % CI over 1 to 2 seeds"
    assert Shown("", "", [series(at(0.1, 1), at(0.1, 2))]).interval == "95 % CI over 2 seeds"
    assert Shown("", "", [one]).has_one_place
    assert not Shown("", "", [one, two]).has_one_place


def test_parts_of_a_figure_are_about_as_large_as_one_another() -> None:
    curve = series(at(0.1))
    of = Shown("-x", "t", [Series(f"{number}", curve.groups) for number in range(7)], "note", has_marks=False)
    parts = list(of.parts(3))
    assert [[each.label for each in part.curves] for part in parts] == [
        ["0", "1", "2"],
        ["3", "4", "5"],
        ["6"],
    ]
    assert [part.suffix for part in parts] == ["-x-part1", "-x-part2", "-x-part3"]
    assert [part.title for part in parts] == ["t, part 1 of 3", "t, part 2 of 3", "t, part 3 of 3"]
    assert {(part.omitted, part.has_marks) for part in parts} == {("note", False)}
    assert list(of.parts(7)) == [of]
    assert [len(part.curves) for part in of.parts(6)] == [4, 3]


def panels_of(of: View | None = None, **values: int) -> list[list[str]]:
    """Curves of every combination of so many values of each axis, by panel."""
    named = [[(axis, f"{axis}{number}") for number in range(count)] for axis, count in values.items()]
    points = [result({"offered_load": 0.1}, dict(chosen)) for chosen in product(*named)]
    portions = Canvas(of or View()).portions(curves(together(*points)))
    return [[each.label for each in part] for part in portions]


def test_a_panel_has_the_curves_of_one_value_of_what_makes_the_fewest_panels() -> None:
    assert panels_of(a=2, b=4) == [[f"a{a}, b{b}" for a in range(2) for b in range(4)]]
    # Six panels of four, or four of six: with three, no panel would have all of one value.
    assert panels_of(a=6, b=4) == [[f"a{a}, b{b}" for a in range(6)] for b in range(4)]
    assert panels_of(b=4, a=6) == [[f"b{b}, a{a}" for a in range(6)] for b in range(4)]
    assert [len(part) for part in panels_of(View(in_parts=False), a=6, b=4)] == [24]


def test_where_one_value_each_makes_too_many_panels_or_too_large_ones_curves_are_divided_in_order() -> None:
    in_order = [f"a{number}" for number in range(10)]
    assert panels_of(a=10) == [in_order[:5], in_order[5:]]
    # Nine panels of two, or two of nine, where a panel holds eight.
    assert [len(part) for part in panels_of(a=9, b=2)] == [6, 6, 6]


def sweep(*axes: dict[str, Any], **summary: Any) -> hs.Results:
    return together(*(result({"offered_load": each.get("load"), **summary}, each) for each in axes))


def shown_of(figures: Any) -> list[tuple[str, str, list[str], list[list[float | None]]]]:
    return [
        (
            each.suffix,
            each.title,
            [curve.label for curve in each.curves],
            [curve.places() for curve in each.curves],
        )
        for each in figures
    ]


BOTH = [
    {"routing": routing, "vcs": vcs, "load": load}
    for routing in "ab"
    for vcs in (1, 2)
    for load in (0.1, 0.2)
]


def test_axes_that_make_no_curves_make_figures() -> None:
    loads = [0.1, 0.2]
    assert shown_of(view.figures(sweep(*BOTH), View())) == [
        ("", "", ["a, vcs = 1", "a, vcs = 2", "b, vcs = 1", "b, vcs = 2"], [loads] * 4)
    ]
    assert shown_of(view.figures(sweep(*BOTH), View(by=("vcs",)))) == [
        ("-1", "a", ["vcs = 1", "vcs = 2"], [loads] * 2),
        ("-2", "b", ["vcs = 1", "vcs = 2"], [loads] * 2),
    ]
    assert shown_of(view.figures(sweep(*BOTH[:4]), View(by=("vcs",)))) == [
        ("", "", ["vcs = 1", "vcs = 2"], [loads] * 2)
    ]


def test_points_with_bursts_have_figures_of_their_own() -> None:
    burst = result({"cycles_per_burst": 5.0}, {"routing": "a"})
    plain = result({"offered_load": 0.1}, {"routing": "a", "load": 0.1})
    assert [each.suffix for each in view.figures(together(burst, plain), View())] == ["", "-bursts"]
    assert [each.suffix for each in view.figures(together(burst), View())] == [""]
    other = result({"cycles_per_burst": 5.0}, {"routing": "b"})
    found = view.figures(together(burst, other, plain), View(by=()))
    assert [(each.suffix, each.title) for each in found] == [("", ""), ("-bursts-1", "a"), ("-bursts-2", "b")]


def test_curves_of_one_load_each_are_named_by_it_where_it_differs() -> None:
    of = curves(sweep(*BOTH))
    named, place, missing = view.one_load_each(of, None)
    assert [each.label for each in named] == ["a, vcs = 1", "a, vcs = 2", "b, vcs = 1", "b, vcs = 2"]
    assert [each.places() for each in named] == [[0.2]] * 4
    assert (place, missing) == ("offered load 0.2", [])
    named, place, missing = view.one_load_each(of[:2], 0.1)
    assert [each.places() for each in named] == [[0.1]] * 2
    assert place == "offered load 0.1"
    uneven = curves(sweep(*BOTH[:3], *BOTH[4:6]))
    named, place, missing = view.one_load_each(uneven, None)
    assert [each.label for each in named] == [
        "a, vcs = 1, offered load 0.2",
        "a, vcs = 2, offered load 0.1",
        "b, vcs = 1, offered load 0.2",
    ]
    assert (place, missing) == ("", [])
    named, place, missing = view.one_load_each(uneven, 0.2)
    assert [each.label for each in named] == ["a, vcs = 1", "b, vcs = 1"]
    assert (place, missing) == ("offered load 0.2", ["a, vcs = 2"])
    alone, place, missing = view.one_load_each(of[:1], None)
    assert [each.label for each in alone] == ["offered load 0.1", "offered load 0.2"]
    assert (place, missing) == ("", [])
    alone, place, missing = view.one_load_each(of[:1], 0.2)
    assert [each.label for each in alone] == ["a, vcs = 1"]
    assert (place, missing) == ("offered load 0.2", [])
    assert view.one_load_each([], None) == ([], "", [])


def test_a_load_is_the_nearest_that_has_the_same_three_digits() -> None:
    of = series(at(0.1), at(0.1004), at(0.2))
    chosen = view.at_load(of, 0.1003)
    assert chosen is not None
    assert chosen.places() == [0.1004]
    assert view.at_load(of, 0.15) is None
    nearest = view.at_load(of, 0.1001)
    assert nearest is not None
    assert nearest.places() == [0.1]
    zero = view.at_load(series(at(0.0), at(0.2)), 0.0)
    assert zero is not None
    assert zero.places() == [0]
    assert view.at_load(of, 0.2 * (1 + 4e-3)) is not None
    assert view.at_load(of, 0.2 * (1 + 6e-3)) is None


def shows(results: hs.Results, of: View, **more: Any) -> list[tuple[str, str, list[str], str, bool]]:
    found = view.at_one_load(results, of, lambda each: "b" not in each.label, "record", **more)
    return [
        (each.suffix, each.title, [curve.label for curve in each.curves], each.omitted, each.has_marks)
        for each in found
    ]


def test_curves_at_one_load_leave_out_what_lacks_a_record_or_the_load() -> None:
    uneven = sweep(*BOTH[:3], *BOTH[4:6])
    assert shows(uneven, View(load=0.2)) == [
        (
            "",
            "offered load 0.2",
            ["a, vcs = 1"],
            "not shown (no record): b, vcs = 1, not shown (no such load): a, vcs = 2",
            False,
        )
    ]
    # What curves run over elsewhere does not count here.
    assert shows(uneven, View(load=0.2, x="vcs")) == shows(uneven, View(load=0.2))
    assert shows(sweep(*BOTH[4:]), View()) == [("", "offered load 0.2", ["vcs = 1", "vcs = 2"], "", False)]
    assert shows(sweep({"routing": "b", "load": 0.1}, {"routing": "bb", "load": 0.1}), View()) == []
    with pytest.raises(hs.ConfigError) as refused:
        shows(uneven, View(load=0.3))
    assert str(refused.value) == "--load 0.3: no point has this load; loads in the results: 0.1, 0.2"
    with pytest.raises(hs.ConfigError) as refused:
        shows(sweep({"routing": "a"}, {"routing": "b"}), View(load=0.3))
    assert str(refused.value) == "--load 0.3: no point has this load; loads in the results: none"
    assert shows(together(), View(load=0.3)) == []


def test_curves_at_one_load_are_in_as_many_files_as_it_takes() -> None:
    many = sweep(*({"routing": f"r{number:02}", "load": 0.1} for number in range(25)))
    parts = shows(many, View())
    assert [(suffix, title) for suffix, title, *_ in parts] == [
        ("-part1", "offered load 0.1, part 1 of 2"),
        ("-part2", "offered load 0.1, part 2 of 2"),
    ]
    assert [len(labels) for _, _, labels, *_ in parts] == [13, 12]
    assert [len(labels) for _, _, labels, *_ in shows(many, View(), per_file=10)] == [9, 9, 7]
    assert [len(labels) for _, _, labels, *_ in shows(many, View(in_parts=False))] == [25]


def test_a_figure_of_all_jobs_together_says_so() -> None:
    jobs = [{"job": name, "seed": 1} for name in ("x", "y")]
    made = hs.Result(
        {"config": {"jobs": [{"name": "x"}, {"name": "y"}]}, "result": {"seed": 1}, "jobs": jobs}, {}, {}
    )
    (together_,) = view.at_one_load(hs.Results({0: made}), View(), lambda _: True, "record")
    assert together_.title == "all jobs"
    (apart,) = view.at_one_load(by_job(hs.Results({0: made})), View(), lambda _: True, "record")
    assert apart.title == ""


def over(results: hs.Results, of: View) -> list[tuple[str, str, list[str], list[list[float | None]]]]:
    return shown_of(view.over_abscissa(results, of))


def test_curves_over_an_axis_may_be_of_one_load() -> None:
    assert over(sweep(*BOTH), View(x="vcs", load=0.2)) == [("", "offered load 0.2", ["a", "b"], [[1, 2]] * 2)]
    assert [labels for _, _, labels, _ in over(sweep(*BOTH), View(x="vcs"))] == [
        ["a, load = 0.1", "a, load = 0.2", "b, load = 0.1", "b, load = 0.2"]
    ]
    with pytest.raises(hs.ConfigError) as refused:
        over(sweep(*BOTH), View(x="vcs", load=0.3))
    assert str(refused.value) == "--load 0.3: no point has this load; loads in the results: 0.1, 0.2"


def test_figures_of_chosen_curves_are_named_by_what_tells_them_apart() -> None:
    assert over(sweep(*BOTH), View(x="vcs", by=("routing",))) == [
        ("-1", "load = 0.1", ["a", "b"], [[1, 2]] * 2),
        ("-2", "load = 0.2", ["a", "b"], [[1, 2]] * 2),
    ]
    assert over(sweep(*BOTH[::2]), View(by=("vcs",))) == [
        ("-1", "a, offered load 0.1", ["vcs = 1", "vcs = 2"], [[0.1]] * 2),
        ("-2", "b, offered load 0.1", ["vcs = 1", "vcs = 2"], [[0.1]] * 2),
    ]
    assert shows(sweep(*BOTH), View(by=("vcs",))) == [
        ("-1", "a, offered load 0.2", ["vcs = 1", "vcs = 2"], "", False),
        ("-2", "b, offered load 0.2", ["vcs = 1", "vcs = 2"], "", False),
    ]


def test_curves_of_one_point_each_are_named_by_their_places() -> None:
    one = [{"routing": "a", "load": 0.1}, {"routing": "b", "load": 0.1}]
    assert over(sweep(*one), View()) == [("", "offered load 0.1", ["a", "b"], [[0.1], [0.1]])]
    two = [{"routing": "a", "load": 0.1}, {"routing": "b", "load": 0.2}]
    assert over(sweep(*two), View()) == [
        ("", "", ["a, offered load 0.1", "b, offered load 0.2"], [[0.1], [0.2]])
    ]
    many = sweep(*({"routing": f"r{number:02}", "load": 0.1} for number in range(25)))
    assert [suffix for suffix, *_ in over(many, View())] == ["-part1", "-part2"]
    assert [suffix for suffix, *_ in over(many, View(in_parts=False))] == [""]


def test_what_figures_leave_out_is_told_with_the_reason() -> None:
    assert view.not_shown(["a", "", "b"], "no value") == "not shown (no value): a; the only curve; b"
    assert view.not_shown([], "no value") == ""
    assert view.caption("", "a", "", "b") == "a, b"
    assert View().along(sweep(*BOTH)) is None
    chosen = View(x="vcs").along(sweep(*BOTH))
    assert chosen is not None
    assert chosen.path == "vcs"
    assert abscissa_of(sweep(*BOTH)).name == "offered load"
