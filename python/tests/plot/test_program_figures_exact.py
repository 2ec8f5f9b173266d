"""What figures of programs say, exactly: axes with units, names, numbers, and where lines and areas are."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from matplotlib.axes import Axes
from matplotlib.colors import Normalize, to_hex
from matplotlib.patches import Patch, Rectangle, StepPatch
from matplotlib.ticker import EngFormatter, NullLocator

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
from hopsim.plot import View, gantt, style
from hopsim.plot.gantt import ACTIVITIES
from hopsim.plot.intervals import mean_open
from hopsim.plot.ranks import PARTS


def program(routing: str = "", seed: int = 1, time: int = 100, **tables: pa.Table) -> hs.Result:
    """A point with a program; `routing`: its value of a sweep axis, if any."""
    axes = {"measure.seed": seed, **({"routing": routing} if routing else {})}
    return result({"execution_time": time, "seed": seed}, axes, **tables)


# Averages over time.


def test_an_interval_is_open_from_its_begin_until_before_its_end() -> None:
    spans = np.array([0, 2, 4]), np.array([2, 6, 4])
    assert floats(mean_open(spans, np.array([0, 1, 2, 4, 6, 8]))) == [1, 1, 1, 1, 0]
    assert floats(mean_open(spans, np.array([1, 3]))) == [1]
    assert floats(mean_open(spans, np.array([0, 8]))) == [6 / 8]


def test_open_intervals_count_by_their_weights_and_where_they_overlap_together() -> None:
    spans = np.array([4, 0, 1], dtype=np.uint32), np.array([8, 8, 3], dtype=np.uint32)
    weights = np.array([100, 10, 1], dtype=np.uint32)
    edges = np.array([0.0, 2.0, 4.0, 8.0, 16.0])
    assert floats(mean_open(spans, edges, weights)) == [10.5, 10.5, 110, 0]
    assert floats(mean_open(spans, edges)) == [1.5, 1.5, 2, 0]


def test_what_begins_at_an_edge_is_open_after_it_and_what_has_begun_before_all_edges_too() -> None:
    spans = np.array([5, -3]), np.array([9, 6])
    assert floats(mean_open(spans, np.array([0, 5, 10]))) == [1, 1]
    assert floats(mean_open((np.array([]), np.array([])), np.array([0, 5, 10]))) == [0, 0]


# Ranks.


def of_ranks(finish: list[int], compute: list[int], overhead: list[int], wait: list[int]) -> pa.Table:
    rank = list(range(len(finish)))
    return pa.table({"rank": rank, "finish": finish, "compute": compute, "overhead": overhead, "wait": wait})


def stack(axes: Axes) -> list[tuple[str, str, list[float], list[float]]]:
    """Name, colour, lower and upper bound of each part."""
    found: list[tuple[str, str, list[float], list[float]]] = []
    for part in axes.patches:
        assert isinstance(part, StepPatch)
        values, edges, baseline = part.get_data()
        assert floats(edges) == [number - 0.5 for number in range(len(values) + 1)]
        assert part.get_fill()
        colour = to_hex(part.get_facecolor())
        found.append((str(part.get_label()), colour, floats(baseline), floats(values)))
    return found


def test_ranks_have_their_shares_of_the_execution_time_on_one_another() -> None:
    table = of_ranks([80, 200, 100], [40, 100, 0], [20, 0, 50], [20, 100, 50])
    figure = figure_of("ranks", together(program(ranks=table)))
    (axes,) = figure.axes
    # Over the 200 cycles of the last.
    assert stack(axes) == [
        ("computation", "#0072b2", [0, 0, 0], [20, 50, 0]),
        ("overhead of messages", "#009e73", [20, 50, 0], [30, 50, 25]),
        ("waiting", "#e69f00", [30, 50, 25], [40, 100, 50]),
    ]
    assert labels(axes) == ["Rank", "Share of the execution time [%]"]
    assert axes.get_xlim() == (-0.5, 2.5)
    assert axes.get_ylim() == (0, 100)
    # As they lie on one another.
    assert names(figure) == ["waiting", "overhead of messages", "computation"]
    handles = figure.legends[0].get_patches()
    assert [to_hex(handle.get_facecolor()) for handle in handles] == ["#e69f00", "#009e73", "#0072b2"]


def test_what_no_rank_does_has_no_area_and_no_name() -> None:
    figure = figure_of("ranks", together(program(ranks=of_ranks([4, 4], [4, 3], [0, 0], [0, 1]))))
    (axes,) = figure.axes
    assert [name for name, *_ in stack(axes)] == ["computation", "waiting"]
    assert stack(axes)[1][2:] == ([100, 75], [100, 100])
    assert names(figure) == ["waiting", "computation"]


def test_ranks_that_end_at_once_have_shares_of_what_they_took() -> None:
    one = figure_of("ranks", together(program(ranks=of_ranks([1], [1], [0], [0]))))
    assert stack(one.axes[0])[0][3] == [100]
    none = figure_of("ranks", together(program(ranks=of_ranks([0], [0], [0], [0]))))
    assert stack(none.axes[0]) == []


def test_shares_of_ranks_are_means_over_seeds_each_of_its_own_time() -> None:
    seeds = [
        program(seed=1, ranks=of_ranks([100, 50], [100, 0], [0, 0], [0, 50])),
        program(seed=2, ranks=of_ranks([10, 10], [5, 5], [0, 0], [5, 5])),
    ]
    figure = figure_of("ranks", together(*seeds))
    assert [(name, top) for name, _, _, top in stack(figure.axes[0])] == [
        ("computation", [75, 25]),
        ("waiting", [100, 75]),
    ]


def test_jobs_have_a_panel_each_and_the_axis_holds_the_most_ranks() -> None:
    few = of_ranks([10], [10], [0], [0]).append_column("job", pa.array(["b"]))
    many = of_ranks([10, 10], [0, 0], [0, 0], [5, 10]).append_column("job", pa.array(["a"] * 2))
    summaries = [{"job": name, "execution_time": 10} for name in ("a", "b")]
    table = pa.concat_tables([many, few])
    figures = figures_of("ranks", together(of_jobs(summaries, {}, ranks=table)))
    assert list(figures) == ["ranks"]
    first, second = figures["ranks"].axes
    assert [first.get_title(), second.get_title()] == ["a", "b"]
    assert [labels(axes) for axes in (first, second)] == [
        ["Rank", "Share of the execution time [%]"],
        ["Rank", ""],
    ]
    assert [axes.get_xlim() for axes in (first, second)] == [(-0.5, 1.5)] * 2
    assert (len(stack(first)[0][3]), len(stack(second)[0][3])) == (2, 1)
    # What only one of the panels has.
    assert names(figures["ranks"]) == ["waiting", "computation"]


def test_panels_of_ranks_in_several_rows_have_numbers_below_each_and_titles_of_short_lines() -> None:
    long = "minimal with a name that takes a lot of room"
    table = of_ranks([4], [4], [0], [0])
    points = [program(name, ranks=table) for name in (long, "b", "c", "d")]
    figure = figure_of("ranks", together(*points))
    assert figure.axes[0].get_title() == "minimal with a name that takes a lot of\nroom"
    assert all(axes.xaxis.get_tick_params()["labelbottom"] for axes in figure.axes)
    assert [axes.get_xlabel() for axes in figure.axes] == ["Rank"] * 4


def test_curves_without_a_table_of_ranks_are_named_below() -> None:
    points = [program("a", ranks=of_ranks([4], [4], [0], [0])), program("b")]
    figure = figure_of("ranks", together(*points))
    assert note(figure) == "not shown (no table of ranks): b"
    assert figures_of("ranks", together(program("b"))) == {}


def test_traffic_beside_programs_has_no_ranks_and_one_load_can_be_chosen() -> None:
    table = of_ranks([4], [4], [0], [0])
    traffic = result({}, {"routing": "t"}, ranks=table)
    figure = figure_of("ranks", together(traffic, program("a", ranks=table)))
    assert len(figure.axes) == 1
    assert title(figure) == ""
    parts = figures_of("ranks", together(*(program(name, ranks=table) for name in "ab")), by=())
    assert list(parts) == ["ranks-1", "ranks-2"]
    assert [title(figure) for figure in parts.values()] == ["a", "b"]


def test_parts_of_ranks_are_those_of_the_table() -> None:
    assert list(PARTS) == ["compute", "overhead", "wait"]


# Gantt charts.


def of_operations(rows: list[tuple[int, int, str, int, int]]) -> pa.Table:
    """Rank, stream, activity, begin and end of each."""
    columns = ("rank", "stream", "activity", "begin", "end")
    return pa.table({name: [row[place] for row in rows] for place, name in enumerate(columns)})


def image_of(axes: Axes) -> np.ndarray:
    (image,) = axes.images
    return np.asarray(image.get_array())


NUMBER = {name: number for number, name in enumerate(ACTIVITIES, 1)}


def test_a_gantt_shows_what_each_rank_does_column_by_column() -> None:
    rows = [
        (0, 0, "compute", 0, 400),
        (0, 0, "wait_send", 400, 1000),
        (0, 1, "wait", 0, 1000),
        (1, 0, "receive_overhead", 0, 250),
        (1, 0, "compute", 600, 1000),
    ]
    figures = figures_of("gantt", together(program(operations=of_operations(rows))))
    assert list(figures) == ["gantt"]
    figure = figures["gantt"]
    (axes,) = figure.axes
    image = image_of(axes)
    assert image.shape == (2 * 8, 1000)
    wanted = np.zeros((2, 1000), dtype=int)
    wanted[0, :400], wanted[0, 400:] = NUMBER["compute"], NUMBER["wait_send"]
    wanted[1, :250], wanted[1, 600:] = NUMBER["receive_overhead"], NUMBER["compute"]
    assert np.array_equal(image, np.repeat(wanted, 8, axis=0))
    assert axes.images[0].get_extent() == [0, 1000, 2, 0]
    assert axes.get_xlim() == (0, 1000)
    assert axes.get_ylim() == (2, 0)
    assert axes.images[0].get_interpolation() == "nearest"
    assert axes.get_aspect() == "auto"
    assert labels(axes) == ["Time [cycles]", "Rank"]
    assert floats(axes.get_yticks()) == [0.5, 1.5]
    assert ticks(axes.get_yticklabels()) == ["0", "1"]
    assert isinstance(axes.xaxis.get_major_formatter(), EngFormatter)
    assert not any(line.get_visible() for line in (*axes.get_xgridlines(), *axes.get_ygridlines()))
    # In the order of the activities, whatever comes first.
    assert names(figure) == ["computation", "receiving", "waits to send"]
    handles = [handle for handle in figure.legends[0].legend_handles if isinstance(handle, Patch)]
    assert [to_hex(handle.get_facecolor()) for handle in handles] == ["#0072b2", "#56b4e9", "#d55e00"]
    assert [str(handle.get_label()) for handle in handles] == names(figure)
    assert tuple(figure.get_size_inches()) == pytest.approx((9.0, 0.9 + 0.12 * 2 + 0.6))
    assert title(figure) == ""


def test_each_activity_of_a_gantt_has_the_colour_of_its_name_and_nothing_is_white() -> None:
    rows = [(0, 0, name, number, number + 1) for number, name in enumerate(ACTIVITIES)]
    (axes,) = figure_of("gantt", together(program(operations=of_operations(rows)))).axes
    (image,) = axes.images
    assert colours(image, range(8)) == ["#ffffff", *(colour.lower() for _, colour in ACTIVITIES.values())]
    assert image.get_clim() == (-0.5, 7.5)
    assert isinstance(image.norm, Normalize)


def column(shares: dict[str, int], length: int) -> list[int]:
    """The lines of a column in which a rank does so many of `length` cycles this and that, from the top."""
    rows: list[tuple[int, int, str, int, int]] = []
    begin = 0
    for activity, cycles in shares.items():
        rows.append((0, 0, activity, begin, begin + cycles))
        begin += cycles
    rows.append((0, 0, "wait", 999 * length, 1000 * length))
    (axes,) = figure_of("gantt", together(program(operations=of_operations(rows)))).axes
    lines = image_of(axes)
    assert (lines[:, -1] == NUMBER["wait"]).all()
    return lines[:, 0].astype(int).tolist()


def test_a_column_of_a_gantt_has_its_activities_from_the_bottom_with_as_many_lines_as_their_share() -> None:
    compute, send, wait = NUMBER["compute"], NUMBER["send_overhead"], NUMBER["wait_send"]
    assert (
        column({"compute": 8, "send_overhead": 4, "wait_send": 4}, 16)
        == [wait] * 2 + [send] * 2 + [compute] * 4
    )
    assert column({"wait_send": 12, "compute": 4}, 16) == [wait] * 6 + [compute] * 2
    # What is nothing stays above.
    assert column({"send_overhead": 6}, 16) == [0] * 5 + [send] * 3
    # A line has the activity in its middle; one that ends there has it no longer.
    assert column({"compute": 3}, 16) == [0] * 7 + [compute]
    assert column({"compute": 1, "wait_send": 15}, 16) == [wait] * 8


def test_many_ranks_of_a_gantt_share_rows_and_the_numbers_are_those_of_the_first() -> None:
    rows = [(rank, 0, ("compute", "wait_send")[rank % 2], 0, 1000) for rank in range(128)]
    figure = figure_of("gantt", together(program(operations=of_operations(rows))))
    (axes,) = figure.axes
    pair = [NUMBER["wait_send"]] * 4 + [NUMBER["compute"]] * 4
    assert np.array_equal(image_of(axes), np.tile(np.array(pair * 64)[:, None], 1000))
    assert axes.get_ylabel() == "Rank, 2 in a row"
    assert floats(axes.get_yticks()) == [row + 0.5 for row in range(0, 64, 4)]
    assert ticks(axes.get_yticklabels()) == [str(2 * row) for row in range(0, 64, 4)]
    assert figure.get_size_inches()[1] == pytest.approx(0.9 + 0.12 * 64 + 0.6)


def test_rows_of_a_gantt_hold_as_many_ranks_as_it_takes() -> None:
    rows = [(rank, 0, "compute", 0, 1000) for rank in range(96)]
    (axes,) = figure_of("gantt", together(program(operations=of_operations(rows)))).axes
    # 1.5 on average: rows begin at every 1.5th, rounded to the even one.
    assert axes.get_ylabel() == "Rank, 2 in a row"
    assert ticks(axes.get_yticklabels()) == ["0", "6", "12", "18", "24", "30", "36", "42"] + [
        str(rank) for rank in range(48, 96, 6)
    ]
    assert (image_of(axes) == NUMBER["compute"]).all()


def test_every_rank_of_a_gantt_with_few_has_a_number_and_of_many_every_so_many() -> None:
    for count, every in ((16, 1), (17, 2), (33, 3)):
        rows = [(rank, 0, "compute", 0, 10) for rank in range(count)]
        (axes,) = figure_of("gantt", together(program(operations=of_operations(rows)))).axes
        assert ticks(axes.get_yticklabels()) == [str(rank) for rank in range(0, count, every)]
        assert axes.get_ylabel() == "Rank"


def test_panels_of_a_gantt_share_the_time_and_are_as_high_as_their_ranks() -> None:
    short = of_operations([(0, 0, "compute", 0, 500)])
    long = of_operations([(rank, 0, "wait", 0, 1000) for rank in range(11)])
    figure = figure_of("gantt", together(program("a", operations=short), program("b", operations=long)))
    first, second = figure.axes
    assert [first.get_title(), second.get_title()] == ["a", "b"]
    assert [labels(axes) for axes in (first, second)] == [["", "Rank"], ["Time [cycles]", "Rank"]]
    assert first.get_xlim() == second.get_xlim() == (0, 1000)
    assert first.images[0].get_extent() == [0, 1000, 1, 0]
    assert (image_of(first)[:, :500] == 1).all()
    assert (image_of(first)[:, 500:] == 0).all()
    spec = first.get_gridspec()
    assert spec is not None
    assert spec.get_height_ratios() == pytest.approx([0.9 + 0.12, 0.9 + 0.12 * 11])
    assert names(figure) == ["computation", "waits for messages"]
    assert figure.get_figheight() == pytest.approx(2 * 0.9 + 0.12 * 12 + 0.6)


def test_of_several_seeds_a_gantt_shows_the_first_and_says_which() -> None:
    seeds = [
        program(seed=seed, operations=of_operations([(0, 0, activity, 0, 10)]))
        for seed, activity in ((7, "wait_send"), (8, "compute"))
    ]
    figure = figure_of("gantt", together(*seeds))
    assert names(figure) == ["waits to send"]
    assert title(figure) == "seed 7"
    alone = figure_of("gantt", together(seeds[1]))
    assert names(alone) == ["computation"]
    assert title(alone) == ""


def test_a_seed_named_by_a_gantt_stands_after_what_all_curves_have_in_common() -> None:
    table = of_operations([(0, 0, "compute", 0, 10)])
    points = [program(name, seed, operations=table) for name in "ab" for seed in (3, 4)]
    figures = figures_of("gantt", together(*points), by=())
    assert [title(figure) for figure in figures.values()] == ["a, seed 3", "b, seed 3"]


def test_a_file_of_a_gantt_has_six_panels_and_leaves_out_what_has_no_rows() -> None:
    table = of_operations([(0, 0, "compute", 0, 10)])
    points = [program(f"r{number}", operations=table) for number in range(7)]
    figures = figures_of("gantt", together(*points, program("empty", operations=table.slice(0, 0))))
    assert list(figures) == ["gantt-part1", "gantt-part2"]
    assert [len(figure.axes) for figure in figures.values()] == [4, 3]
    assert {note(figure) for figure in figures.values()} == {"not shown (no table of operations): empty"}
    six = figures_of("gantt", together(*points[:6]))
    assert [len(figure.axes) for figure in six.values()] == [6]
    assert figures_of("gantt", together(program("a"))) == {}


def test_a_gantt_leaves_traffic_out_and_has_a_panel_per_job() -> None:
    rows = of_operations([(0, 0, "compute", 0, 10), (0, 0, "wait", 0, 10)])
    table = rows.append_column("job", pa.array(["a", "b"]))
    summaries = [{"job": "a", "execution_time": 10}, {"job": "b", "execution_time": 10}, {"job": "c"}]
    figure = figure_of("gantt", together(of_jobs(summaries, {}, operations=table)))
    assert [axes.get_title() for axes in figure.axes] == ["a", "b"]
    assert [int(image_of(axes)[0, 0]) for axes in figure.axes] == [1, 7]
    assert gantt.MOST_PANELS == 6


# Placements.


def placed(placement: Any, size: int | None, seed: int, time: float | None) -> hs.Result:
    axes = {"jobs.0.placement": placement, "measure.seed": seed}
    if size is not None:
        axes["jobs.0.program.stencil.bytes"] = size
    return result({"execution_time": time, "seed": seed}, axes)


def bars(axes: Axes) -> list[tuple[float, str]]:
    """Length and colour of each, from the top."""
    found = sorted((bar for bar in axes.patches if isinstance(bar, Rectangle)), key=lambda bar: bar.get_y())
    return [(bar.get_width(), to_hex(bar.get_facecolor())) for bar in found]


FIRST, SECOND = (style.PALETTE[number].lower() for number in (0, 1))


def test_bars_of_placements_are_times_over_those_of_the_first_seed_by_seed() -> None:
    results = together(
        placed("linear", 64, 1, 100),
        placed("linear", 64, 2, 200),
        placed("random", 64, 2, 300),
        placed("random", 64, 1, 200),
        placed("linear", 512, 1, 1000),
        placed("linear", 512, 2, 1000),
        placed("random", 512, 1, 500),
        placed("random", 512, 2, 500),
    )
    figures = figures_of("placement", results)
    assert list(figures) == ["placement"]
    figure = figures["placement"]
    (axes,) = figure.axes
    assert ticks(axes.get_yticklabels()) == [
        "linear, bytes = 64",
        "random, bytes = 64",
        "linear, bytes = 512",
        "random, bytes = 512",
    ]
    # 200/100 and 300/200 with one another.
    assert bars(axes) == [(1, FIRST), (1.75, SECOND), (1, FIRST), (0.5, SECOND)]
    assert labels(axes) == ["Execution time over that of the first placement", ""]
    half = T_OF_TWO * 0.25
    assert error_ends(axes) == [
        (1, 1),
        pytest.approx((1.75 - half, 1.75 + half)),
        (1, 1),
        (0.5, 0.5),
    ]
    numbers = [text for text in axes.texts if text.get_gid() == style.NUMBER]
    assert [text.get_text() for text in numbers] == [" 1", " 1.75", " 1", " 0.5"]
    assert [text.get_position() for text in numbers] == [
        (1, 0),
        (pytest.approx(1.75 + half), 1),
        (1, 2),
        (0.5, 3),
    ]
    assert axes.get_xlim()[0] == 0
    marks = [line for line in axes.lines if line.get_linestyle() == ":"]
    assert [floats(line.get_xdata()) for line in marks] == [[1, 1]]
    assert names(figure) == ["95 % CI over 2 seeds"]


def test_without_the_same_seeds_bars_of_placements_are_means_over_means_without_an_interval() -> None:
    results = together(
        placed("linear", None, 1, 100),
        placed("linear", None, 2, 300),
        placed("random", None, 3, 300),
        placed("random", None, 4, 500),
    )
    figure = figure_of("placement", results)
    (axes,) = figure.axes
    assert [length for length, _ in bars(axes)] == [1, 2]
    assert [text.get_text() for text in axes.texts] == [" 1", " 2"]
    assert error_ends(axes) == [(1, 1), None]


def test_a_first_placement_that_takes_no_time_has_nothing_to_compare_with() -> None:
    for seed in (1, 2):
        results = together(placed("linear", None, 1, 0), placed("random", None, seed, 300))
        (axes,) = figure_of("placement", results).axes
        assert [length for length, _ in bars(axes)] == [0, 0]
        assert list(axes.texts) == []


def test_a_placement_that_takes_no_time_has_a_bar_of_no_length() -> None:
    for seed in (1, 2):
        results = together(placed("linear", None, 1, 300), placed("random", None, seed, 0))
        (axes,) = figure_of("placement", results).axes
        assert [length for length, _ in bars(axes)] == [1, 0]
        assert [text.get_text() for text in axes.texts] == [" 1", " 0"]


def test_placements_of_two_jobs_are_compared_with_the_first_of_both() -> None:
    points = [
        result(
            {"execution_time": time},
            {"jobs.0.placement": one, "jobs.1.placement": other, "load": 0.1},
        )
        for one, other, time in (("a", "a", 10), ("a", "b", 20), ("b", "a", 40))
    ]
    (axes,) = figure_of("placement", together(*points)).axes
    shades = [style.PALETTE[number].lower() for number in (0, 1, 2)]
    assert bars(axes) == [(1, shades[0]), (2, shades[1]), (4, shades[2])]


def test_without_two_placements_there_is_no_figure_of_them() -> None:
    assert (
        figures_of("placement", together(placed("linear", 64, 1, 100), placed("linear", 512, 1, 200))) == {}
    )
    sizes = [result({"execution_time": 10}, {"jobs.0.program.stencil.bytes": size}) for size in (1, 2)]
    assert figures_of("placement", together(*sizes)) == {}
    assert figures_of("placement", together(result({}, {"jobs.0.placement": "a"}))) == {}


def test_figures_of_one_placement_are_left_out_and_those_of_two_drawn() -> None:
    points = [placed("linear", 64, 1, 100), placed("linear", 512, 1, 100), placed("random", 512, 1, 150)]
    figures = figures_of("placement", together(*points), by=("jobs.0.placement",))
    assert list(figures) == ["placement-2"]
    assert [length for length, _ in bars(figures["placement-2"].axes[0])] == [1, 1.5]
    assert title(figures["placement-2"]) == "bytes = 512"


def test_bars_of_placements_beyond_24_are_in_further_files_unless_all_are_wanted_together() -> None:
    points = [placed(f"p{number:02}", None, 1, 100 + number) for number in range(25)]
    figures = figures_of("placement", together(*points))
    assert list(figures) == ["placement-part1", "placement-part2"]
    lengths = [[length for length, _ in bars(figure.axes[0])] for figure in figures.values()]
    assert lengths == [[(100 + number) / 100 for number in range(24)], [1.24]]
    assert list(figures_of("placement", together(*points[:24]))) == ["placement"]
    whole = figures_of("placement", together(*points), in_parts=False)
    assert {name: len(bars(figure.axes[0])) for name, figure in whole.items()} == {"placement": 25}


def test_bars_of_placements_are_named_by_what_curves_run_over_too() -> None:
    points = [
        result({"execution_time": time, "offered_load": load}, {"jobs.0.placement": place, "load": load})
        for place, load, time in (("a", 0.1, 10), ("a", 0.2, 20), ("b", 0.1, 15), ("b", 0.2, 10))
    ]
    (axes,) = figure_of("placement", together(*points)).axes
    assert ticks(axes.get_yticklabels()) == [
        "a, offered load 0.1",
        "a, offered load 0.2",
        "b, offered load 0.1",
        "b, offered load 0.2",
    ]
    assert [length for length, _ in bars(axes)] == [1, 1, 1.5, 0.5]


def test_placements_of_jobs_that_run_beside_one_another_are_compared_job_by_job() -> None:
    points = [
        of_jobs(
            [{"job": "x", "execution_time": x}, {"job": "y", "execution_time": y}, {"job": "z"}],
            {"jobs.0.placement": place},
        )
        for place, x, y in (("a", 10, 100), ("b", 20, 50))
    ]
    (axes,) = figure_of("placement", together(*points)).axes
    assert ticks(axes.get_yticklabels()) == ["a, x", "a, y", "b, x", "b, y"]
    assert [length for length, _ in bars(axes)] == [1, 1, 2, 0.5]


# Messages by their size.


def of_sizes(rows: dict[int, tuple[float, int]]) -> pa.Table:
    """Largest payload -> mean latency and 99th percentile."""
    return pa.table(
        {
            "bytes_to": list(rows),
            "latency_mean": [mean for mean, _ in rows.values()],
            "latency_p99": [tail for _, tail in rows.values()],
        }
    )


def test_messages_have_mean_latency_and_tail_by_their_size_with_bands_over_seeds() -> None:
    points = [
        program("a", 1, message_sizes=of_sizes({4096: (30.0, 90), 64: (10.0, 20)})),
        program("a", 2, message_sizes=of_sizes({64: (12.0, 24), 4096: (30.0, 90)})),
        program("b", 1, message_sizes=of_sizes({1024: (50.0, 70)})),
    ]
    figures = figures_of("message_latency", together(*points))
    assert list(figures) == ["message_latency"]
    figure = figures["message_latency"]
    mean, tail = figure.axes
    assert labels(mean) == ["", "Mean latency [cycles]"]
    assert labels(tail) == ["Messages up to this payload [bytes]", "99th percentile [cycles]"]
    assert [places(line) for line in mean.lines] == [[(64, 11), (4096, 30)], [(1024, 50)]]
    assert [places(line) for line in tail.lines] == [[(64, 22), (4096, 90)], [(1024, 70)]]
    half = T_OF_TWO
    assert bounds(mean) == [(pytest.approx([11 - half, 30]), pytest.approx([11 + half, 30]))]
    assert bounds(tail) == [(pytest.approx([22 - 2 * half, 90]), pytest.approx([22 + 2 * half, 90]))]
    for axes in figure.axes:
        assert [axes.get_xscale(), axes.get_yscale()] == ["log", "log"]
        assert floats(axes.get_xticks()) == [64, 1024, 4096]
        assert isinstance(axes.xaxis.get_minor_locator(), NullLocator)
        looks = [(line.get_color(), line.get_marker(), line.get_linestyle()) for line in axes.lines]
        assert looks == [tuple(style.look(number).values()) for number in (0, 1)]
    assert ticks(tail.get_xticklabels()) == ["64", "1,024", "4,096"]
    assert names(figure) == ["a", "b", "95 % CI over 1 to 2 seeds"]
    assert title(figure) == ""


def test_many_curves_of_message_sizes_are_in_columns_with_their_own_looks() -> None:
    points = [program(f"r{number}", message_sizes=of_sizes({64: (10.0 + number, 20)})) for number in range(9)]
    figure = figure_of("message_latency", together(*points, program("none")))
    left, right, low_left, low_right = figure.axes
    assert [len(axes.lines) for axes in figure.axes] == [5, 4, 5, 4]
    assert [axes.get_xlabel() for axes in (left, right)] == ["", ""]
    assert {axes.get_xlabel() for axes in (low_left, low_right)} == {"Messages up to this payload [bytes]"}
    assert [left.get_ylabel(), right.get_ylabel()] == ["Mean latency [cycles]", ""]
    assert [low_left.get_ylabel(), low_right.get_ylabel()] == ["99th percentile [cycles]", ""]
    assert places(right.lines[0]) == [(64, 15)]
    assert right.lines[0].get_color() == style.look(0)["color"]
    assert names(figure) == [f"r{number}" for number in range(9)]
    assert note(figure) == "not shown (no table of message sizes): none"


def test_message_sizes_are_of_programs_job_by_job_and_of_one_load() -> None:
    rows = of_sizes({64: (10.0, 20), 128: (30.0, 40)}).append_column("job", pa.array(["a", "b"]))
    summaries = [{"job": "a", "execution_time": 10}, {"job": "b", "execution_time": 10}, {"job": "c"}]
    figure = figure_of("message_latency", together(of_jobs(summaries, {}, message_sizes=rows)))
    assert [places(line) for line in figure.axes[0].lines] == [[(64, 10)], [(128, 30)]]
    assert names(figure) == ["a", "b"]
    points = [program(name, message_sizes=of_sizes({64: (10.0, 20)})) for name in "ab"]
    figures = figures_of("message_latency", together(*points), by=())
    assert list(figures) == ["message_latency-1", "message_latency-2"]


# Messages in flight.


def of_messages(rows: list[tuple[int, int, int]]) -> pa.Table:
    """When each joined, when it arrived, and its bytes."""
    columns = ("joined", "arrived", "bytes")
    return pa.table(
        {name: pa.array([row[place] for row in rows], pa.uint32()) for place, name in enumerate(columns)}
    )


def test_messages_in_flight_are_those_under_way_and_their_bytes_over_time() -> None:
    # 400 parts of the time, of 2 cycles each.
    points = [
        program("a", messages=of_messages([(0, 400, 10), (200, 800, 100), (1, 2, 4)])),
        program("b", messages=of_messages([(0, 600, 5)])),
    ]
    figures = figures_of("messages_in_flight", together(*points))
    assert list(figures) == ["messages_in_flight"]
    figure = figures["messages_in_flight"]
    messages, volume = figure.axes
    assert labels(messages) == ["", "Messages in flight"]
    assert labels(volume) == ["Time [cycles]", "Payload in flight [bytes]"]
    middles = [2 * part + 1.0 for part in range(400)]
    count = np.array([1.0] * 100 + [2.0] * 100 + [1.0] * 200)
    payload = np.array([10.0] * 100 + [110.0] * 100 + [100.0] * 200)
    count[0], payload[0] = 1.5, 12.0
    other = np.array([1.0] * 300 + [0.0] * 100)
    for axes, wanted in ((messages, [count, other]), (volume, [payload, 5 * other])):
        assert [floats(line.get_xdata()) for line in axes.lines] == [pytest.approx(middles)] * 2
        assert [floats(line.get_ydata()) for line in axes.lines] == [pytest.approx(each) for each in wanted]
        assert [line.get_color() for line in axes.lines] == list(style.PALETTE[:2])
        assert axes.get_ylim()[0] == 0
    assert isinstance(volume.xaxis.get_major_formatter(), EngFormatter)
    assert isinstance(volume.yaxis.get_major_formatter(), EngFormatter)
    assert names(figure) == ["a", "b"]


def test_messages_in_flight_are_means_over_seeds_with_a_band_until_the_last_has_arrived() -> None:
    seeds = [
        program(seed=1, messages=of_messages([(0, 400, 2)])),
        program(seed=2, messages=of_messages([(0, 200, 4), (0, 200, 2)])),
    ]
    figure = figure_of("messages_in_flight", together(*seeds))
    messages, volume = figure.axes
    assert floats(messages.lines[0].get_xdata()) == [part + 0.5 for part in range(400)]
    assert floats(messages.lines[0].get_ydata()) == [1.5] * 200 + [0.5] * 200
    assert floats(volume.lines[0].get_ydata()) == [4] * 200 + [1] * 200
    half = T_OF_TWO * 0.5
    ((low, high),) = bounds(messages)
    assert low == pytest.approx([1.5 - half] * 200 + [0.5 - half] * 200)
    assert high == pytest.approx([1.5 + half] * 200 + [0.5 + half] * 200)
    assert names(figure) == ["95 % CI over 2 seeds"]


def test_many_curves_of_messages_in_flight_are_in_columns_and_those_without_are_named() -> None:
    points = [program(f"r{number}", messages=of_messages([(0, 400, number)])) for number in range(9)]
    empty = program("none", messages=of_messages([]))
    figure = figure_of("messages_in_flight", together(*points, empty))
    assert [len(axes.lines) for axes in figure.axes] == [5, 4, 5, 4]
    assert [axes.get_ylabel() for axes in figure.axes] == [
        "Messages in flight",
        "",
        "Payload in flight [bytes]",
        "",
    ]
    assert [axes.get_xlabel() for axes in figure.axes] == ["", "", "Time [cycles]", "Time [cycles]"]
    assert floats(figure.axes[3].lines[0].get_ydata()) == [5] * 400
    assert names(figure) == [f"r{number}" for number in range(9)]
    assert note(figure) == "not shown (no table of messages): none"


def test_messages_in_flight_are_of_programs_job_by_job_and_of_one_load() -> None:
    rows = of_messages([(0, 400, 1), (0, 100, 2)]).append_column("job", pa.array(["a", "b"]))
    summaries = [{"job": "a", "execution_time": 10}, {"job": "b", "execution_time": 10}, {"job": "c"}]
    figure = figure_of("messages_in_flight", together(of_jobs(summaries, {}, messages=rows)))
    assert [floats(line.get_ydata()) for line in figure.axes[1].lines] == [[1] * 400, [2] * 100 + [0] * 300]
    assert names(figure) == ["a", "b"]
    points = [program(name, messages=of_messages([(0, 1, 2)])) for name in "ab"]
    figures = figures_of("messages_in_flight", together(*points), by=())
    assert list(figures) == ["messages_in_flight-1", "messages_in_flight-2"]
    assert View().load is None
