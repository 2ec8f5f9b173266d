"""The forms of networks: in which cell or line a link is, and what the axes say."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.colors import Normalize, to_hex
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from drawn import colours, floats, labels, ticks
from hopsim.plot.link_forms import COLOURS, Grid, Links, Matrix, forms

NAN = float("nan")


def links(*rows: tuple[int, int, int, float]) -> Links:
    """Router, port, peer and utilisation of each."""
    router, port, peer, used = (np.array(column) for column in zip(*rows, strict=True))
    return Links(router, port, peer, used)


def matrix(topology: dict[str, Any], of: Links, routers: int) -> Matrix:
    (form,) = forms(topology, of, routers)
    assert isinstance(form, Matrix)
    return form


def grid(topology: dict[str, Any], of: Links, routers: int) -> Grid:
    (form,) = forms(topology, of, routers)
    assert isinstance(form, Grid)
    return form


def shown(form: Matrix | Grid, largest: float = 1.0) -> Axes:
    axes = Figure().subplots()
    form.draw(axes, Normalize(0, largest))
    return axes


def equal(cells: np.ndarray, wanted: list[list[float]]) -> bool:
    return cells.shape == np.shape(wanted) and np.array_equal(cells, np.array(wanted), equal_nan=True)


# A dragonfly with two routers in each of three groups, where a node is a peer beyond all routers.
TWO = links(
    (0, 1, 1, 0.1),
    (1, 1, 0, 0.2),
    (3, 1, 2, 0.3),
    (4, 1, 5, 0.4),
    (0, 2, 2, 0.5),
    (1, 2, 3, 0.6),
    (5, 2, 0, 0.7),
    (3, 2, 5, 0.8),
    (2, 0, 6, 9.0),
    (5, 0, 60, 9.0),
)


def test_links_between_groups_are_a_matrix_with_the_busiest_of_each_pair() -> None:
    between, _ = forms({"dragonfly": {"a": 2}}, TWO, 6)
    assert isinstance(between, Matrix)
    assert equal(between.cells, [[NAN, 0.6, NAN], [NAN, NAN, 0.8], [0.7, NAN, NAN]])
    assert between.title == "global links"
    assert between.labels == ("To group", "From group")
    assert between.blocks is None


def test_links_inside_groups_are_a_row_per_group_and_a_column_per_link() -> None:
    _, inside = forms({"dragonfly": {"a": 2}}, TWO, 6)
    assert isinstance(inside, Matrix)
    assert equal(inside.cells, [[0.1, 0.2], [NAN, 0.3], [0.4, NAN]])
    assert inside.title == "local links"
    assert inside.labels == ("Router of the group, a column per link", "Group")
    assert inside.blocks == ("x", 1, ["0", "1"])


def test_columns_of_a_router_inside_a_group_are_the_others_in_ascending_order() -> None:
    every = [
        (router, 0, peer, router + peer / 10)
        for router in range(3, 6)
        for peer in range(3, 6)
        if router != peer
    ]
    _, inside = forms({"dragonfly": {"a": 3}}, links(*every), 6)
    assert isinstance(inside, Matrix)
    assert equal(inside.cells, [[NAN] * 6, [3.4, 3.5, 4.3, 4.5, 5.3, 5.4]])
    assert inside.blocks == ("x", 2, ["0", "1", "2"])


def test_of_a_plane_each_link_is_half_a_line_from_its_router_in_its_direction() -> None:
    # Ports 0 and 1 are those of nodes; then minus and plus of x, minus and plus of y.
    plane = links(
        (0, 3, 1, 0.1), (1, 2, 0, 0.2), (1, 5, 4, 0.3), (5, 4, 2, 0.4), (4, 0, 6, 9.0), (2, 1, 60, 9.0)
    )
    form = grid({"mesh": {"sides": [3, 2], "nodes_per_router": 2}}, plane, 6)
    assert form.sides == (3, 2)
    assert form.lines.tolist() == [
        [[0, 0], [0.46, 0]],
        [[1, 0], [1 - 0.46, 0]],
        [[1, 0], [1, 0.46]],
        [[2, 1], [2, 1 - 0.46]],
    ]
    assert floats(form.used) == [0.1, 0.2, 0.3, 0.4]
    assert form.title == ""


@pytest.mark.parametrize(
    "topology",
    [
        {"ring": {"routers": 3, "nodes_per_router": 1}},
        {"torus": {"sides": [3], "nodes_per_router": 1}},
        {"mesh": {"sides": [3], "nodes_per_router": 1}},
    ],
)
def test_a_row_is_a_plane_one_router_high(topology: dict[str, Any]) -> None:
    form = grid(topology, links((0, 2, 1, 0.1), (2, 1, 1, 0.2)), 3)
    assert form.sides == (3, 1)
    assert form.lines.tolist() == [[[0, 0], [0.46, 0]], [[2, 0], [2 - 0.46, 0]]]


def test_more_than_two_dimensions_and_other_networks_have_a_row_per_port() -> None:
    of = links((0, 2, 1, 0.1), (1, 1, 3, 0.2), (3, 2, 2, 0.3), (3, 2, 2, 0.25), (2, 5, 4, 9.0))
    topologies: list[dict[str, Any]] = [
        {"torus": {"sides": [2, 2, 1], "nodes_per_router": 1}},
        {"graph": {}},
    ]
    for topology in topologies:
        form = matrix(topology, of, 4)
        assert equal(
            form.cells,
            [[NAN] * 4, [NAN, 0.2, NAN, NAN], [0.1, NAN, NAN, 0.3]],
        )
        assert form.title == ""
        assert form.labels == ("Router", "Output port")
        assert form.blocks is None


def test_a_network_without_links_between_routers_has_one_empty_row() -> None:
    assert equal(matrix({"graph": {}}, links((0, 1, 1, 0.5)), 1).cells, [[NAN]])


def test_a_tree_has_a_block_per_way_between_levels_and_a_row_per_port_of_it() -> None:
    # Two levels of two switches with two ports to either side; nodes are peers beyond all switches.
    of = links(
        (0, 0, 4, 0.1),
        (0, 1, 9, 0.2),
        (1, 2, 2, 0.3),
        (1, 3, 3, 0.4),
        (2, 0, 0, 0.5),
        (3, 1, 1, 0.6),
    )
    form = matrix({"fat_tree": {"k": 2, "levels": 2}}, of, 4)
    assert equal(
        form.cells,
        [[0.1, NAN], [0.2, NAN], [NAN, 0.3], [NAN, 0.4], [0.5, NAN], [NAN, 0.6]],
    )
    assert form.title == ""
    assert form.labels == ("Switch of the level", "From level to level, a row per port")
    assert form.blocks == ("y", 2, ["0 to nodes", "0 to 1", "1 to 0"])


def test_a_tree_of_three_levels_has_up_and_down_of_the_middle_apart() -> None:
    of = links((1, 3, 4, 0.1), (2, 0, 0, 0.2), (2, 2, 4, 0.3), (5, 1, 3, 0.4))
    form = matrix({"fat_tree": {"k": 2, "levels": 3}}, of, 6)
    assert form.cells.shape == (10, 2)
    found = {(row, column): form.cells[row, column] for row, column in np.argwhere(~np.isnan(form.cells))}
    assert found == {(3, 1): 0.1, (4, 0): 0.2, (6, 0): 0.3, (9, 1): 0.4}
    assert form.blocks == ("y", 2, ["0 to nodes", "0 to 1", "1 to 0", "1 to 2", "2 to 1"])


def test_a_matrix_has_its_first_row_at_the_bottom_and_colours_from_idle_to_full() -> None:
    cells = np.array([[0.0, 0.5], [NAN, 2.0]])
    axes = shown(Matrix("", cells, ("across", "up")), 4.0)
    (image,) = axes.images
    assert equal(np.ma.filled(np.ma.asarray(image.get_array()), NAN), cells.tolist())
    assert image.origin == "lower"
    assert image.get_clim() == (0, 4)
    assert image.get_interpolation() == "nearest"
    assert axes.get_aspect() == "auto"
    assert axes.get_ylim() == (-0.5, 1.5)
    assert labels(axes) == ["across", "up"]
    assert colours(image, cells) == [
        to_hex(COLOURS(0.0)),
        to_hex(COLOURS(0.125)),
        to_hex("0.9"),
        to_hex(COLOURS(0.5)),
    ]
    assert lines_of_grid(axes) == 0


def lines_of_grid(axes: Axes) -> int:
    return sum(line.get_visible() for line in (*axes.get_xgridlines(), *axes.get_ygridlines()))


@pytest.mark.parametrize(
    "form",
    [
        Matrix("", np.zeros((1, 2)), ("", "")),
        Grid((2, 1), np.array([[[0.0, 0.0], [0.46, 0.0]]]), np.array([1.0])),
    ],
)
def test_routers_are_numbered_by_whole_numbers_even_if_there_is_one(form: Matrix | Grid) -> None:
    axes = shown(form)
    for axis in (axes.xaxis, axes.yaxis):
        assert isinstance(axis.get_major_locator(), MaxNLocator)
        numbers = floats(axis.get_major_locator()())
        assert numbers == [round(number) for number in numbers]
    inside = [number for number in floats(axes.yaxis.get_major_locator()()) if -0.5 < number < 0.5]
    assert inside == [0]
    wide = shown(Matrix("", np.zeros((1000, 1000)), ("", "")))
    assert all(5 <= len(axis.get_major_locator()()) <= 11 for axis in (wide.xaxis, wide.yaxis))


def blocks(side: str, length: int, count: int) -> Axes:
    cells = np.zeros((1, length * count) if side == "x" else (length * count, 1))
    return shown(Matrix("", cells, ("", ""), (side, length, [f"b{number}" for number in range(count)])))


@pytest.mark.parametrize("side", ["x", "y"])
def test_blocks_of_a_matrix_have_a_name_in_their_middle_and_a_white_line_between_them(side: str) -> None:
    axes = blocks(side, 4, 3)
    axis = axes.xaxis if side == "x" else axes.yaxis
    assert floats(axis.get_ticklocs()) == [1.5, 5.5, 9.5]
    assert ticks(axis.get_ticklabels()) == ["b0", "b1", "b2"]
    assert axis.get_tick_params()["length"] == 0
    across = [floats(line.get_xdata() if side == "x" else line.get_ydata()) for line in axes.lines]
    along = [floats(line.get_ydata() if side == "x" else line.get_xdata()) for line in axes.lines]
    assert across == [[3.5, 3.5], [7.5, 7.5]]
    assert along == [[0, 1], [0, 1]]
    assert {line.get_color() for line in axes.lines} == {"white"}


def test_up_to_40_blocks_have_lines_and_names_and_of_more_every_so_many_has_a_name_only() -> None:
    few = blocks("x", 2, 40)
    assert len(few.lines) == 39
    assert ticks(few.get_xticklabels()) == [f"b{number}" for number in range(40)]
    more = blocks("x", 2, 41)
    assert len(more.lines) == 0
    assert ticks(more.get_xticklabels()) == [f"b{number}" for number in range(0, 41, 4)]
    assert floats(more.get_xticks()) == [2 * number + 0.5 for number in range(0, 41, 4)]
    assert ticks(blocks("y", 1, 81).get_yticklabels()) == [f"b{number}" for number in range(0, 81, 6)]


def test_a_grid_has_its_lines_with_their_colours_on_a_ground_and_room_around_the_routers() -> None:
    begins_and_ends = np.array([[[0.0, 0.0], [0.46, 0.0]], [[1.0, 0.0], [1.0, 0.46]]])
    axes = shown(Grid((3, 2), begins_and_ends, np.array([0.5, 2.0])), 4.0)
    (lines,) = axes.collections
    assert isinstance(lines, LineCollection)
    assert np.array(lines.get_segments()).tolist() == begins_and_ends.tolist()
    assert floats(np.asarray(lines.get_array())) == [0.5, 2.0]
    assert lines.get_clim() == (0, 4)
    assert colours(lines, [0.0, 4.0]) == [
        to_hex(COLOURS(0.0)),
        to_hex(COLOURS(1.0)),
    ]
    assert axes.get_xlim() == (-0.8, pytest.approx(2.8))
    assert axes.get_ylim() == (-0.8, pytest.approx(1.8))
    assert labels(axes) == ["x", "y"]
    assert axes.get_aspect() == 1
    assert to_hex(axes.get_facecolor()) == to_hex("0.85")
    assert lines_of_grid(axes) == 0


@pytest.mark.parametrize(
    ("sides", "width"), [((2, 2), 5.0), ((30, 2), 72 * 4.2 / 30 * 0.2), ((2, 60), 1.008)]
)
def test_lines_of_a_large_grid_are_so_thin_that_they_do_not_touch(
    sides: tuple[int, int], width: float
) -> None:
    axes = shown(Grid(sides, np.array([[[0.0, 0.0], [0.46, 0.0]]]), np.array([1.0])))
    (lines,) = axes.collections
    assert floats(lines.get_linewidth()) == [pytest.approx(width)]


def test_some_links_are_rows_of_all_their_columns() -> None:
    some = TWO.where(np.array([True] + [False] * 8 + [True]))
    assert [floats(column) for column in (some.router, some.port, some.peer, some.used)] == [
        [0, 5],
        [1, 0],
        [1, 60],
        [0.1, 9.0],
    ]
