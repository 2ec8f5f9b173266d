"""The map of links: every link at its place with its utilisation, in the form of its network."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection

import hopsim as hs
from hopsim.plot import KINDS, View


def swept(topology: dict[str, Any], **sweep: list[Any]) -> hs.Results:
    """Short runs with the table of links, two seeds each."""
    document = {
        "topology": topology,
        "load": 0.3,
        "measure": {"warmup": 50, "cycles": 200, "streams": ["links"]},
    }
    return hs.sweep({**document, "sweep": {"product": {"measure.seed": [1, 2], **sweep}}}, progress=False)


def used(results: hs.Results) -> dict[tuple[int, int], tuple[float, int | None]]:
    """(Router, port) -> utilisation of its link, all VCs together, mean over the seeds, and its other end."""
    found: dict[tuple[int, int], tuple[float, int | None]] = {}
    for result in results:
        for row in result.links.to_pylist():
            key = row["router"], row["port"]
            share = row["utilisation"] / len(results)
            found[key] = (found.get(key, (0.0, None))[0] + share, row["peer_router"])
    return found


def panels(results: hs.Results) -> list[Axes]:
    (figure,) = KINDS["link_map"].draw(results, View()).values()
    return figure.axes[:-1]


def cells(axes: Axes) -> np.ndarray:
    (image,) = axes.images
    return np.ma.filled(np.ma.asarray(image.get_array(), dtype=float), np.nan)


def test_a_dragonfly_is_a_matrix_of_groups_and_one_of_the_links_inside() -> None:
    results = swept({"dragonfly": {"p": 1, "a": 3, "h": 1}})
    between, inside = map(cells, panels(results))
    assert between.shape == (4, 4)
    assert inside.shape == (4, 3 * 2)
    local: dict[int, list[float]] = {}
    for (router, _), (share, peer) in sorted(used(results).items()):
        if peer is None:
            continue
        if router // 3 == peer // 3:
            local.setdefault(router // 3, []).append(share)
        else:
            assert between[router // 3, peer // 3] == pytest.approx(share)
    assert np.isnan(np.diag(between)).all()
    assert inside == pytest.approx(np.array([local[group] for group in range(4)]))


def test_of_several_links_between_two_groups_the_busiest_is_shown() -> None:
    results = swept({"dragonfly": {"p": 1, "a": 4, "h": 1, "groups": 3}})
    between = cells(panels(results)[0])
    shares: dict[tuple[int, int], list[float]] = {}
    for (router, _), (share, peer) in used(results).items():
        if peer is not None and router // 4 != peer // 4:
            shares.setdefault((router // 4, peer // 4), []).append(share)
    assert max(map(len, shares.values())) == 2
    for place, several in shares.items():
        assert between[place] == pytest.approx(max(several))


@pytest.mark.parametrize(
    "topology", [{"mesh": {"sides": [3, 2]}}, {"torus": {"sides": [4, 3]}}, {"ring": {"routers": 5}}]
)
def test_a_plane_has_half_a_line_from_every_router_towards_each_neighbour(topology: dict[str, Any]) -> None:
    results = swept(topology)
    ((_, config),) = results[0].config["topology"].items()
    sides = (*config.get("sides", [config.get("routers")]), 1)[:2]
    (axes,) = panels(results)
    (lines,) = (each for each in axes.collections if isinstance(each, LineCollection))
    drawn: dict[tuple[int, tuple[int, ...]], tuple[float, int]] = {}
    for (begin, end), share in zip(lines.get_segments(), np.asarray(lines.get_array()), strict=True):
        router = round(begin[0]) + sides[0] * round(begin[1])
        step = np.round(2 * (np.asarray(end) - np.asarray(begin))).astype(int)
        to = (np.asarray(begin).astype(int) + step) % sides
        drawn[router, tuple(step.tolist())] = (float(share), int(to[0] + sides[0] * to[1]))
    expected = {key: value for key, value in used(results).items() if value[1] is not None}
    assert len(drawn) == len(expected)
    assert sorted((router, peer, round(share, 9)) for (router, _), (share, peer) in drawn.items()) == sorted(
        (router, peer, round(share, 9)) for (router, _), (share, peer) in expected.items()
    )


def test_a_tree_has_a_block_for_every_way_between_levels() -> None:
    results = swept({"fat_tree": {"k": 2, "levels": 3}})
    (axes,) = panels(results)
    names = [tick.get_text() for tick in axes.get_yticklabels()]
    assert names == ["0 to nodes", "0 to 1", "1 to 0", "1 to 2", "2 to 1"]
    image = cells(axes)
    assert image.shape == (5 * 2, 4)
    for (router, port), (share, peer) in used(results).items():
        level = router // 4
        to = "nodes" if peer is None else str(peer // 4)
        row = 2 * names.index(f"{level} to {to}") + port % 2
        assert image[row, router % 4] == pytest.approx(share)
    assert not np.isnan(image).any()


@pytest.mark.parametrize(
    "topology",
    [{"torus": {"sides": [2, 2, 3]}}, {"graph": {"edges": [{"between": [0, 1]}, {"between": [1, 2]}]}}],
)
def test_any_other_network_has_a_row_per_port(topology: dict[str, Any]) -> None:
    results = swept(topology)
    (axes,) = panels(results)
    image = cells(axes)
    links = {key: share for key, (share, peer) in used(results).items() if peer is not None}
    assert np.isfinite(image).sum() == len(links)
    for (router, port), share in links.items():
        assert image[port, router] == pytest.approx(share)


def test_all_curves_share_a_scale_and_each_has_its_panels() -> None:
    results = swept({"dragonfly": {"p": 1, "a": 2, "h": 1}}, load=[0.1, 0.4])
    figures = KINDS["link_map"].draw(results, View())
    (figure,) = figures.values()
    *maps, bar = figure.axes
    assert [axes.get_title() for axes in maps] == [
        f"offered load {load}, {kind} links" for load in (0.1, 0.4) for kind in ("global", "local")
    ]
    assert bar.get_ylabel() == "Utilisation of a link [phits/cycle]"
    limits = {axes.images[0].get_clim() for axes in maps}
    assert limits == {(0, max(np.nanmax(cells(axes)) for axes in maps))}


def test_many_curves_make_files_of_their_own() -> None:
    results = swept({"ring": {"routers": 4}}, **{"links.network.latency": list(range(1, 7))})
    figures = KINDS["link_map"].draw(results, View())
    assert list(figures) == ["link_map-part1", "link_map-part2"]
    titles = [axes.get_title() for figure in figures.values() for axes in figure.axes[:-1]]
    assert titles == [f"latency = {latency}" for latency in range(1, 7)]
