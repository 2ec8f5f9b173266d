"""The entries of virtual channels and of the textbook's formulas, on results that were not simulated."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any, get_args

import pyarrow as pa
import pytest

from hopsim.results.result import Result
from hopsim_reproduce.dally_towles import butterfly, formulas
from hopsim_reproduce.dally_towles.cubes import MESH, TORUS, Cube
from hopsim_reproduce.dally_towles.system import STORAGE
from hopsim_reproduce.entries import BY_NAME
from hopsim_reproduce.jiang import rtl
from hopsim_reproduce.model import Outcome, Results, Scale, slug
from hopsim_reproduce.panels import ACCEPTED, LATENCY, OF_SENDERS, value_of
from made_up import made_up, result

CUBES = {"dally-towles-mesh-vcs": MESH, "dally-towles-torus-vcs": TORUS}
OF_VCS = ("dally-lanes", "dally-stages", *CUBES)


def vcs_of(document: Mapping[str, Any]) -> int:
    return document["router"]["virtual_channel"]["vcs"]["network"]


def with_summary(name: str, change: Any) -> Results:
    """The made-up results of an entry, with what `change` makes of configuration and axes."""
    return {
        experiment: [
            Result(
                {"config": each.config, "result": {**each.summary, **change(each)}}, each.axes, each.tables
            )
            for each in points
        ]
        for experiment, points in made_up(BY_NAME[name]).items()
    }


def failing(outcome: Outcome) -> list[str]:
    return [fact.statement for fact in outcome.facts if not fact.holds]


def conclude(name: str, change: Any) -> Outcome:
    return BY_NAME[name].conclude("quick", with_summary(name, change))


@pytest.mark.parametrize("name", OF_VCS)
def test_all_numbers_of_vcs_share_the_same_storage(name: str) -> None:
    for scale in get_args(Scale):
        found = [each.document for each in BY_NAME[name].experiments(scale, 1)]
        assert {vcs_of(each) * each["router"]["virtual_channel"]["buffers"]["network"] for each in found} == {
            STORAGE
        }
        assert len({vcs_of(each) for each in found}) >= 3


def test_a_torus_has_a_vc_for_each_class() -> None:
    assert (MESH.vcs, TORUS.vcs) == ((1, 2, 4, 8), (2, 4, 8))


@pytest.mark.parametrize("stages", [2, 3, 6])
def test_a_butterfly_has_one_path_of_all_stages_from_each_source_to_each_sink(stages: int) -> None:
    root, links = butterfly.edges(stages)
    rows = 2 ** (stages - 1)
    switches = stages * rows
    below: dict[int, list[int]] = {}
    for above, under in links:
        below.setdefault(above, []).append(under)
    for source in range(rows, 2 * rows):
        ends = [source]
        for _ in range(stages - 1):
            ends = [under for router in ends for under in below[router]]
        assert sorted(ends) == list(range(rows))
    # Everything behind the switches is above the first stage, at the same height.
    depths = {root: 0}
    for above, under in sorted(links, key=lambda link: -link[0]):
        if above >= switches:
            depths[under] = depths[above] + 1
    assert {depths[router] for router in range(rows, 2 * rows)} == {max(depths.values())}
    assert len(links) == (stages - 1) * 2 * rows + len(depths) - 1


def test_only_sources_send_and_only_to_sinks() -> None:
    document = butterfly.document(3, 4, "quick")
    traffic = document["jobs"][0]["traffic"]
    assert traffic["node_loads"]["listed"] == [{"nodes": list(range(8)), "load": 0.0}]
    assert traffic["pattern"] == {"hot_region": {"fraction": 1.0, "share": 0.5}}
    run = result({}, {ACCEPTED: 0.3}, document)
    assert value_of(run, OF_SENDERS) == pytest.approx(0.6)


def accepts(by_vcs: Mapping[int, float], latencies: Mapping[int, float] | None = None) -> Any:
    """Networks that accept so much of the offered load, by VCs."""

    def change(each: Result) -> dict[str, float]:
        vcs = vcs_of(each.config)
        load = min(each.axes["load"], by_vcs[vcs])
        senders = 0.5 if "graph" in each.config["topology"] else 1.0
        return {ACCEPTED: load * senders, LATENCY: (latencies or {}).get(vcs, 40.0)}

    return change


SLOWER = {1: 40.0, 2: 41.0, 4: 42.0, 8: 50.0, 16: 60.0}


def test_lanes_as_published_hold_and_lanes_without_effect_do_not() -> None:
    gains = {1: 0.25, 2: 0.4, 4: 0.55, 8: 0.7, 16: 0.87}
    outcome = conclude("dally-lanes", accepts(gains, SLOWER))
    assert failing(outcome) == []
    assert [each.agrees for each in outcome.comparisons] == [True]
    flat = conclude("dally-lanes", accepts(dict.fromkeys(gains, 0.6), dict.fromkeys(gains, 40.0)))
    assert len(failing(flat)) == len(flat.facts)
    assert [each.agrees for each in flat.comparisons] == [False]


def test_lanes_that_help_deep_networks_no_more_than_flat_ones_do_not_hold() -> None:
    def change(kept: Mapping[int, float]) -> Any:
        def found(each: Result) -> dict[str, float]:
            deep = each.config["topology"]["graph"]["routers_with_nodes"] > 2**4
            lanes = vcs_of(each.config)
            return {ACCEPTED: 0.2 * lanes**0.2 * (kept[lanes] if deep else 1.0)}

        return found

    helped = {lanes: 0.6 + 0.02 * lanes for lanes in butterfly.LANES}
    assert failing(conclude("dally-stages", change(helped))) == []
    alike = conclude("dally-stages", change(dict.fromkeys(butterfly.LANES, 0.6)))
    assert failing(alike) == [
        "with lanes throughput depends less on the depth",
        "lanes gain more in deeper networks",
    ]
    (gain,) = alike.comparisons
    assert (gain.agrees, "5,120 routers" in gain.only) == (None, True)


@pytest.mark.parametrize(("name", "cube"), CUBES.items())
def test_meshes_and_tori_whose_vcs_change_nothing_do_not_hold(name: str, cube: Cube) -> None:
    good = {vcs: cube.capacity * share for vcs, share in {1: 0.45, 2: 0.48, 4: 0.65, 8: 0.75}.items()}

    def falls(each: Result) -> dict[str, float]:
        found = accepts(good, SLOWER)(each)
        late = cube is TORUS and each.axes["load"] == 1.0
        return {**found, ACCEPTED: found[ACCEPTED] * (0.8 if late else 1.0)}

    assert failing(conclude(name, falls)) == []
    same = conclude(name, accepts(dict.fromkeys(good, 1.2 * cube.capacity), dict.fromkeys(good, 40.0)))
    holds = {fact.statement for fact in same.facts if fact.holds}
    assert all("beyond saturation the mesh accepts as much" in each for each in holds)


def links(pairs: Sequence[tuple[int, int]], phits: int) -> pa.Table:
    here, there = zip(*pairs, strict=True)
    columns = {"router": here, "peer_router": there, "port_class": ["network"] * len(pairs)}
    return pa.table({**columns, "phits": [phits] * len(pairs)})


@pytest.mark.parametrize("cube", [MESH, TORUS], ids=lambda cube: cube.kind)
def test_the_load_of_the_bisection_is_that_of_its_channels(cube: Cube) -> None:
    rows = [(8 * y + x, 8 * y + x + 1) for y in range(8) for x in range(7)]
    pairs = [*rows, *((b, a) for a, b in rows), *((a + 56, a) for a in range(8) if cube is TORUS)]
    crossing = [
        pair for pair in pairs if (pair[0] % 8 < 4) != (pair[1] % 8 < 4) or abs(pair[0] - pair[1]) == 56
    ]
    run = Result(
        {"config": {"measure": {"cycles": 100}}, "result": {ACCEPTED: 0.2}},
        {},
        {"links": links([*pairs, *crossing], 20)},
    )
    # Those that cross have two VCs of 20 phits each: 40 phits in 100 cycles, twice what a node sends.
    assert formulas.bisection_load(run) == pytest.approx(2.0)


def test_formulas_are_the_textbooks() -> None:
    assert (MESH.capacity, TORUS.capacity) == (0.5, 1.0)
    assert (MESH.hops, TORUS.hops) == (pytest.approx(16 / 3), 4.0)
    alone = {row.title: row.zero_load for row in formulas.ROWS}
    assert alone["torus, t_r = 3, L = 5"] == 5 * 3 + 5 + 5
    assert alone["mesh, t_r = 1, L = 5"] == pytest.approx(19 / 3 + 19 / 3 + 5)
    assert len(alone) == len(formulas.ROWS)


def test_a_latency_below_that_of_a_packet_alone_does_not_hold() -> None:
    alone = {slug(row.title): row.zero_load for row in formulas.ROWS}

    def outcome(factor: float) -> Outcome:
        found = {
            name: [
                Result(
                    {
                        "config": each.config,
                        "result": {**each.summary, LATENCY: factor * alone[name], "hops_mean": 4},
                    },
                    each.axes,
                    each.tables,
                )
                for each in points
            ]
            for name, points in made_up(BY_NAME["dally-towles-formulas"]).items()
        }
        return BY_NAME["dally-towles-formulas"].conclude("quick", found)

    for factor, holds, agrees in (
        (1.0, True, True),
        (1.04, True, True),
        (1.06, True, False),
        (0.99, False, True),
    ):
        found = outcome(factor)
        assert [fact.holds for fact in found.facts] == [holds], factor
        latencies = {each.agrees for each in found.comparisons if each.quantity == formulas.LATENCY}
        assert latencies == {agrees}, factor


def test_rules_hold_as_long_as_they_differ_no_more_than_booksim_and_hardware() -> None:
    def change(latency: float, accepted: float) -> Any:
        def found(each: Result) -> dict[str, float]:
            ours = "compat" not in each.config
            load = min(0.57, each.axes["load"])
            return {
                LATENCY: rtl.ZERO_LOAD * (latency if ours else 1.0),
                ACCEPTED: load * (accepted if ours else 1.0),
            }

        return found

    assert failing(conclude("jiang-rtl-mesh", change(1.029, 0.971))) == []
    assert all("accepted loads" in each for each in failing(conclude("jiang-rtl-mesh", change(1.0, 0.969))))
    apart = failing(conclude("jiang-rtl-mesh", change(1.051, 1.0)))
    assert sum("latencies differ" in each for each in apart) == len(rtl.BELOW)
    assert len(failing(conclude("jiang-rtl-mesh", change(1.0, 1.031)))) == len(rtl.BELOW) + len(rtl.BEYOND)


def test_both_rules_have_the_same_traffic() -> None:
    documents = {each.name: each.document for each in BY_NAME["jiang-rtl-mesh"].experiments("full", 1)}
    ours, booksim = documents["hopsim"], documents["booksim"]
    assert ours.pop("semantics") == {"self_traffic": "router"}
    assert booksim.pop("compat") == "booksim"
    assert ours == booksim
    assert ours["measure"]["cycles"] == 100_000


def test_gains_of_lanes_are_of_each_doubling() -> None:
    assert all(more == 2 * fewer for fewer, more in pairwise(butterfly.LANES))
