"""What the sections of a report hold, exactly: numbers, names, notes and what is left out."""

from __future__ import annotations

import base64
import gzip
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import hopsim as hs
from drawn import T_OF_TWO, floats, together
from hopsim import _core
from hopsim.errors import ConfigError
from hopsim.metrics import tables
from hopsim.report import overview, payload
from hopsim.report.curves import figures_of
from hopsim.report.layout import layout_of
from hopsim.report.links import links_of, times
from hopsim.report.network import network_of
from hopsim.report.points import Named, key_of, named_points, numbers_of, shown_first
from hopsim.report.ranks import ranks_of
from hopsim.report.trees import LISTED, SHOWN, trees_of
from hopsim.results.origin import Origin

LOAD = "Offered load [phits/(node·cycle)]"


def point(
    summary: dict[str, Any] | None = None,
    axes: dict[str, Any] | None = None,
    config: dict[str, Any] | None = None,
    streams: Mapping[str, pa.Table] | None = None,
) -> hs.Result:
    """A point of a sweep over the seed and `axes`; the load of these is what was offered."""
    given, told = axes or {}, {"seed": 1, "verdict": "steady", **(summary or {})}
    record: dict[str, Any] = {
        "config": {"jobs": [], "measure": {"seed": told["seed"]}, **(config or {})},
        "result": {"offered_load": given.get("load"), **told},
    }
    return hs.Result(record, {"measure.seed": told["seed"], **given}, streams or {})


class Unreadable(Mapping[str, pa.Table]):
    """Tables of which one cannot be read."""

    def __init__(self, name: str, readable: Mapping[str, pa.Table] | None = None) -> None:
        self._name, self._readable = name, readable or {}

    def __getitem__(self, name: str) -> pa.Table:
        if name == self._name:
            raise ConfigError("it is damaged")
        return self._readable[name]

    def __contains__(self, name: object) -> bool:
        return name == self._name or name in self._readable

    def __iter__(self) -> Iterator[str]:
        return iter([self._name, *self._readable])

    def __len__(self) -> int:
        return 1 + len(self._readable)


def unpacked(packed: dict[str, Any]) -> dict[str, list[float]]:
    """The arrays of a packed object, as the browser gets them."""
    types = {
        "Int8Array": "i1",
        "Uint8Array": "u1",
        "Uint16Array": "<u2",
        "Uint32Array": "<u4",
        "Float32Array": "<f4",
        "Float64Array": "<f8",
    }
    data = gzip.decompress(base64.b64decode(packed["data"]))
    found: dict[str, list[float]] = {}
    for name, (kind, offset, length) in packed["fields"].items():
        assert offset % 8 == 0
        found[name] = np.frombuffer(data, types[kind], length, offset).astype(float).tolist()
    return found


# Numbers for a page.


def test_arrays_are_packed_one_behind_the_other_at_multiples_of_eight_bytes() -> None:
    arrays = {
        "a": np.array([-1, 2, 3], dtype=np.int8),
        "b": np.array([1], dtype=np.uint8),
        "c": np.array([65535, 1, 2, 3, 4], dtype=np.uint16),
        "d": np.array([[1, 2], [3, 4]], dtype=np.uint32),
        "e": np.array([0.5], dtype=np.float32),
        "f": np.array([0.1, 0.2], dtype=">f8"),
        "g": np.array([], dtype=np.float64),
    }
    packed = payload.pack({name: array for name, array in arrays.items() if name != "f"} | {"f": arrays["f"]})
    assert packed["fields"] == {
        "a": ["Int8Array", 0, 3],
        "b": ["Uint8Array", 8, 1],
        "c": ["Uint16Array", 16, 5],
        "d": ["Uint32Array", 32, 4],
        "e": ["Float32Array", 48, 1],
        "g": ["Float64Array", 56, 0],
        "f": ["Float64Array", 56, 2],
    }
    assert unpacked(packed) == {
        "a": [-1, 2, 3],
        "b": [1],
        "c": [65535, 1, 2, 3, 4],
        "d": [1, 2, 3, 4],
        "e": [0.5],
        "g": [],
        "f": [0.1, 0.2],
    }
    data = packed["data"]
    assert isinstance(data, str)
    assert len(gzip.decompress(base64.b64decode(data))) == 56 + 16


def test_the_same_bytes_are_the_same_text_without_a_time() -> None:
    content = b"hopsim" * 100
    text = payload.compressed(content)
    raw = base64.b64decode(text)
    assert gzip.decompress(raw) == content
    assert raw[4:8] == bytes(4)
    assert text == base64.b64encode(gzip.compress(content, 6, mtime=0)).decode()


# The points of a sweep.


def test_points_are_named_in_the_order_of_curves_and_of_places_on_them() -> None:
    results = hs.Results(
        {
            3: point({"seed": 1}, {"routing": "a", "load": 0.2}),
            4: point({"seed": 2}, {"routing": "a", "load": 0.2}),
            7: point({"seed": 1}, {"routing": "b", "load": 0.1}),
            9: point({"seed": 1}, {"routing": "a", "load": 0.1}),
        }
    )
    found = named_points(results)
    assert [(each.number, each.label, each.seeds, each.from_top) for each in found] == [
        (9, "a, offered load 0.1", (1,), 1),
        (3, "a, offered load 0.2", (1, 2), 0),
        (7, "b, offered load 0.1", (1,), 0),
    ]
    assert [each.result for each in found] == [results[3], results[0], results[2]]
    assert shown_first(found) == 1
    assert shown_first(found[:1]) == 0
    assert shown_first([]) == 0
    assert [each.label for each in named_points(together(point()))] == ["the only point"]
    assert shown_first([Named(1, "", results[0], (1,), 2), Named(1, "", results[0], (1,), 0)]) == 1


def test_the_key_of_a_point_is_that_of_its_jobs_and_has_its_seed() -> None:
    one = point({"seed": 5}, {"load": 0.1, "job": "x"})
    assert key_of(one) == key_of(point({"seed": 5}, {"load": 0.1}))
    assert json.loads(key_of(one)) == [{"load": 0.1}, 5]
    assert key_of(one) != key_of(point({"seed": 6}, {"load": 0.1}))
    assert key_of(point({}, {"b": 1, "a": 2})) == key_of(point({}, {"a": 2, "b": 1}))
    twice = hs.Results({2: point({}, {"load": 0.1}), 5: point({}, {"load": 0.1})})
    assert numbers_of(twice) == {key_of(point({}, {"load": 0.1})): 2}


# Curves.


def traffic(routing: str, load: float | None, seed: int = 1, **summary: Any) -> hs.Result:
    axes: dict[str, Any] = {"routing": routing} | ({} if load is None else {"load": load})
    return point({"seed": seed, **summary}, axes)


def test_curves_of_traffic_have_a_panel_per_metric_with_its_unit() -> None:
    results = hs.Results(
        {
            number: traffic(
                routing,
                load,
                seed,
                packet_latency_mean=latency,
                accepted_load=load,
                jain_index=0.5,
                router_injection_max_min_ratio=None,
                verdict=verdict,
            )
            for number, (routing, load, seed, latency, verdict) in enumerate(
                [
                    ("a", 0.1, 1, 10.0, "steady"),
                    ("a", 0.1, 2, 12.0, "steady"),
                    ("a", 0.3, 1, 70.0, "saturated"),
                    ("a", 0.3, 2, 90.0, "steady"),
                    ("b", 0.1, 1, 20.0, None),
                    ("b", 0.3, 1, None, "not converged"),
                ],
                10,
            )
        }
    )
    (figure,) = figures_of(results)
    assert figure["title"] == "Latency, accepted load and fairness over nodes against offered load"
    assert figure["common"] == ""
    assert figure["x"] == LOAD
    assert figure["bars"] is False
    assert figure["note"] == "Hollow: saturated or not converged."
    assert figure["labels"] == ["a", "b"]
    latency, accepted, jain = figure["panels"]
    first, second = latency["curves"]
    assert [panel["key"] for panel in figure["panels"]] == [
        "packet_latency_mean",
        "accepted_load",
        "jain_index",
    ]
    assert [panel["heading"] for panel in figure["panels"]] == [
        "Latency",
        "Accepted load",
        "Fairness over nodes",
    ]
    assert [panel["label"] for panel in figure["panels"]] == [
        "Packet latency [cycles]",
        "Accepted load [phits/(node·cycle)]",
        "Jain's index over the nodes (1: all equal)",
    ]
    # Six times the lowest of any curve.
    assert [panel["limit"] for panel in figure["panels"]] == [66, None, None]
    assert latency["above"] == "1 of the points, up to 80, are above the axis"
    assert [panel["above"] for panel in (accepted, jain)] == ["", ""]
    assert [panel["diagonal"] for panel in figure["panels"]] == [False, True, False]
    assert first["x"] == [0.1, 0.3]
    assert first["y"] == [11, 80]
    assert first["half"] == pytest.approx([T_OF_TWO, 10 * T_OF_TWO])
    assert first["below"] == first["above"] == first["half"]
    assert first["verdict"] == ["steady", "saturated (1 of 2)"]
    assert first["hollow"] == [False, True]
    assert first["point"] == [10, 12]
    assert second == {
        "x": [0.1, 0.3],
        "y": [20, None],
        "half": [None, None],
        "below": [0, 0],
        "above": [0, 0],
        "verdict": ["", "not converged"],
        "hollow": [False, True],
        "point": [14, 15],
    }
    assert jain["curves"][0]["below"] == [0, 0]
    assert figure["rows"] == [
        ["a", "0.1", "11.0 ± 12.7", "0.1000 ± 0.0000", "0.5000 ± 0.0000"],
        ["a", "0.3", "80.0 ± 127.1", "0.3000 ± 0.0000", "0.5000 ± 0.0000"],
        ["b", "0.1", "20.0", "0.1000", "0.5000"],
        ["b", "0.3", "–", "0.3000", "0.5000"],
    ]


def test_intervals_are_drawn_where_values_can_be_and_of_values_without_one_nothing() -> None:
    points = [
        traffic("a", load, seed, jain_index=value) for load, seed, value in ((0.1, 1, 0.9), (0.1, 2, 1.0))
    ]
    points += [traffic("a", 0.2, 1, jain_index=0.5), traffic("a", 0.3, 1)]
    ((panel,),) = (figure["panels"] for figure in figures_of(together(*points)))
    (curve,) = panel["curves"]
    half = T_OF_TWO * 0.05
    assert curve["half"] == [pytest.approx(half), None, None]
    assert curve["below"] == pytest.approx([half, 0, 0])
    assert curve["above"] == pytest.approx([0.05, 0, 0])
    open_ended = [traffic("a", 0.1, 1, accepted_load=1.0), traffic("a", 0.1, 2, accepted_load=3.0)]
    ((panel,),) = (
        figure["panels"]
        for figure in figures_of(together(*open_ended, traffic("a", 0.2, 1, accepted_load=5.0)))
    )
    assert panel["curves"][0]["below"] == pytest.approx([T_OF_TWO, 0])
    assert panel["curves"][0]["above"] == pytest.approx([T_OF_TWO, 0])


def test_curves_of_one_point_each_are_bars_without_an_end_of_the_axis() -> None:
    results = together(
        traffic("a", 0.1, packet_latency_mean=10.0, accepted_load=0.1),
        traffic("b", 0.1, packet_latency_mean=1000.0, accepted_load=0.1),
    )
    (figure,) = figures_of(results)
    assert figure["title"] == "Latency and accepted load"
    assert figure["common"] == "offered load 0.1"
    assert figure["bars"] is True
    assert figure["note"] == ""
    assert [panel["limit"] for panel in figure["panels"]] == [None, None]
    assert [panel["diagonal"] for panel in figure["panels"]] == [False, False]
    assert figure["rows"][1] == ["b", "0.1", "1,000.0", "0.1000"]
    alone = together(point({"accepted_load": 9.99996}), point({"accepted_load": -10.0, "seed": 2}))
    (figure,) = figures_of(hs.Results({0: alone[0]}))
    assert figure["labels"] == ["all"]
    assert figure["title"] == "Accepted load"
    assert figure["rows"] == [["all", "–", "10.0000"]]
    (figure,) = figures_of(hs.Results({0: alone[1]}))
    assert figure["rows"] == [["all", "–", "-10.0"]]
    (figure,) = figures_of(together(point({"accepted_load": 10.0})))
    assert figure["rows"] == [["all", "–", "10.0"]]


def test_places_of_rows_have_four_digits_and_a_diagonal_needs_the_offered_load() -> None:
    results = together(
        *(
            point({"accepted_load": 1.0, "cycles_per_burst": 5.0}, {"synchronised_bursts.packets": size})
            for size in (12345, 2)
        )
    )
    (figure,) = figures_of(results)
    assert figure["x"] == "Burst size [packets/node]"
    assert figure["title"] == "Accepted load and time of a burst against burst size"
    assert [panel["label"] for panel in figure["panels"]] == [
        "Accepted load [phits/(node·cycle)]",
        "Cycles per burst",
    ]
    assert [panel["diagonal"] for panel in figure["panels"]] == [False, False]
    assert [row[:2] for row in figure["rows"]] == [["all", "2"], ["all", "1.234e+04"]]


def test_curves_of_fabrics_and_of_programs_have_their_own_labels() -> None:
    fabric = {
        "throughput_gbps": 1.0,
        "message_latency_mean_ns": 5.0,
        "packet_latency_mean_ns": 4.0,
        "accepted_load": 0.5,
        "jain_index": 0.9,
        "router_injection_max_min_ratio": 2.0,
    }
    (figure,) = figures_of(together(*(point(fabric, {"load": load}) for load in (0.1, 0.2))))
    assert [panel["label"] for panel in figure["panels"]] == [
        "Message latency [ns]",
        "Packet latency [ns]",
        "Accepted load [of what the links to the nodes carry]",
        "Jain's index over the flows (1: all equal)",
        "Injected packets per router, max/min",
    ]
    # Two of one heading are named once.
    assert figure["title"] == (
        "Latency, accepted load, fairness over nodes and spread over routers against offered load"
    )
    program = {"execution_time": 100, "wait_time_mean": 5.0, "message_latency_mean": 7.0}
    figures = figures_of(
        together(point(program, {"load": 0.1}), point({"accepted_load": 0.1}, {"load": 0.1}))
    )
    assert [figure["title"] for figure in figures] == [
        "Accepted load",
        "Execution time, waiting and message latency",
    ]
    assert [panel["label"] for panel in figures[1]["panels"]] == [
        "Execution time [cycles]",
        "Waiting of a rank, mean [cycles]",
        "Message latency [cycles]",
    ]
    assert figures_of(together(point())) == []
    assert [figure["title"] for figure in figures_of(together(point(program)))] == [
        "Execution time, waiting and message latency"
    ]


def test_jobs_of_a_point_are_curves_of_their_own_with_its_number() -> None:
    jobs = [{"job": name, "seed": 1, "accepted_load": load} for name, load in (("x", 0.1), ("y", 0.2))]
    config = {"jobs": [{"name": "x"}, {"name": "y"}], "measure": {"seed": 1}}
    made = hs.Result({"config": config, "result": {"seed": 1}, "jobs": jobs}, {}, {})
    (figure,) = figures_of(hs.Results({4: made}))
    assert figure["labels"] == ["x", "y"]
    assert [curve["point"] for curve in figure["panels"][0]["curves"]] == [[4], [4]]


# Links.

RING = pa.table(
    {
        "router": [1, 0, 0, 1, 1, 0, 0],
        "port": [1, 2, 2, 0, 1, 0, 1],
        "vc": [0, 0, 1, 0, 1, 0, 0],
        "port_class": ["local", "local", "local", "terminal", "local", "terminal", "global"],
        "peer_router": pa.array([0, 1, 1, None, 0, None, 1], pa.uint32()),
        "utilisation": [0.5, 0.25, 0.125, 0.75, None, 0.0625, 0.5],
    }
)
"""Two routers with a node each: links 0.0, 0.1, 0.2, 1.0 and 1.1 by router and port."""


def test_links_are_those_between_vertices_with_their_classes() -> None:
    links = links_of(RING)
    assert (links.routers, links.nodes) == (2, 2)
    assert [divmod(int(key), 1 << 20) for key in links.keys] == [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1)]
    assert links.source.tolist() == [0, 0, 0, 1, 1]
    # Nodes follow the routers, in the order of the ports that lead to them.
    assert links.target.tolist() == [2, 1, 1, 3, 0]
    assert links.classes == ("global", "local", "terminal")
    assert links.kinds.tolist() == [2, 0, 1, 2, 1]


def test_what_a_link_carries_is_the_sum_over_its_vcs_or_their_largest() -> None:
    links = links_of(RING)
    assert links.values(RING, "utilisation").tolist() == [[0.0625, 0.5, 0.375, 0.75, 0.5]]
    assert links.values(RING, "utilisation", largest=True).tolist() == [[0.0625, 0.5, 0.25, 0.75, 0.5]]
    assert floats(times(RING)) == []


def test_what_a_link_carries_over_time_has_a_row_per_time() -> None:
    links = links_of(RING)
    series = pa.table(
        {
            "cycle": [300, 100, 100, 300, 300],
            "router": [0, 0, 1, 1, 1],
            "port": [2, 0, 1, 1, 1],
            "utilisation": [0.5, 0.25, 0.125, 0.25, 0.5],
        }
    )
    assert floats(times(series)) == [100, 300]
    assert links.values(series, "utilisation").tolist() == [[0.25, 0, 0, 0, 0.125], [0, 0, 0.5, 0, 0.75]]
    assert links.values(series, "utilisation", largest=True)[1].tolist() == [0, 0, 0.5, 0, 0.5]


FABRIC = pa.table(
    {
        "from": ["node 1", "switch 0", "switch 0", "node 0", "switch 1"],
        "port": [0, 3, 1, 0, 2],
        "to": ["switch 1", "switch 1", "node 0", "switch 0", "node 1"],
        "utilisation": [0.5, 0.25, 0.125, 0.0625, 1.0],
    }
)


def test_links_of_a_fabric_are_between_switches_and_nodes_by_their_names() -> None:
    links = links_of(FABRIC)
    assert (links.routers, links.nodes) == (2, 2)
    assert links.source.tolist() == [0, 0, 1, 2, 3]
    assert links.target.tolist() == [2, 1, 3, 0, 1]
    assert [links.classes[kind] for kind in links.kinds] == [
        "terminal",
        "network",
        "terminal",
        "terminal",
        "terminal",
    ]
    assert links.values(FABRIC, "utilisation").tolist() == [[0.125, 0.25, 1, 0.0625, 0.5]]
    series = FABRIC.append_column("time_s", pa.array([0.5, 0.25, 0.5, 0.5, 0.25]))
    assert floats(times(series)) == [0.25, 0.5]
    assert links.values(series, "utilisation").tolist() == [
        [0, 0.25, 1, 0, 0],
        [0.125, 0, 0, 0.0625, 0.5],
    ]


@pytest.mark.parametrize(
    "name", ["x", "switch", "switch x", "hub 1", "node -1", "node 1 2", "switch 9999999999"]
)
def test_an_end_of_a_link_that_is_no_vertex_is_refused_by_its_name(name: str) -> None:
    with pytest.raises(ConfigError, match=f"the stream links: '{name}' is no end of a link"):
        links_of(pa.table({"from": ["node 0"], "port": [0], "to": [name]}))


def test_a_fabric_of_which_only_nodes_are_named_has_no_switch() -> None:
    links = links_of(pa.table({"from": ["node 0"], "port": [0], "to": ["node 2"]}))
    assert (links.routers, links.nodes) == (0, 3)
    assert links.classes == ("terminal",)
    assert links_of(FABRIC.slice(1, 1)).nodes == 0
    far = links_of(pa.table({"from": ["switch 10"], "port": [7], "to": ["switch 2"]}))
    assert (far.routers, far.source.tolist(), far.target.tolist()) == (11, [10], [2])


# The network.

TOPOLOGY: dict[str, Any] = {"ring": {"routers": 2}}


def with_links(
    load: float | None = None,
    factor: float = 1.0,
    series: list[tuple[int, float]] | None = None,
    seed: int = 1,
    **streams: pa.Table,
) -> hs.Result:
    """A point with the links of `RING`, all but two unused; `series`: cycles with a factor of their use."""
    used = pa.array([factor * value for value in (0.5, 0.25, 0.0, 0.0, 0.0, 0.0, 0.0)])
    stalled = pa.array([0.1, 0.2, 0.3, 0.0, 0.4, 0.0, 0.0])
    table = RING.drop_columns(["utilisation"]).append_column("utilisation", used)
    table = table.append_column("credit_stall_fraction", stalled)
    found: dict[str, pa.Table] = {"links": table, **streams}
    if series:
        steps = [
            table.drop_columns(["utilisation", "credit_stall_fraction"])
            .append_column("utilisation", pa.array([share * value.as_py() for value in used]))
            .append_column("cycle", pa.array([cycle] * len(used)))
            for cycle, share in series
        ]
        found["link_series"] = pa.concat_tables(steps).drop_columns(["peer_router", "port_class"])
    axes = {} if load is None else {"load": load}
    return point({"seed": seed}, axes, {"topology": TOPOLOGY}, found)


def test_a_network_has_its_vertices_links_and_places() -> None:
    section = network_of(hs.Results({7: with_links()}))
    (network,), (shown,) = section.networks, section.points
    assert {name: network[name] for name in network if name not in ("digest", "data", "fields")} == {
        "shape": "circle",
        "legend": "",
        "routers": 2,
        "nodes": 2,
        "links": 5,
        "classes": ["global", "local", "terminal"],
        "router": "router",
        "topology": "ring",
    }
    arrays = unpacked(network)
    layout = layout_of(TOPOLOGY, links_of(RING))
    assert arrays["source"] == [0, 0, 0, 1, 1]
    assert arrays["target"] == [2, 1, 1, 3, 0]
    assert arrays["kind"] == [2, 0, 1, 2, 1]
    assert arrays["bend"] == floats(layout.bends)
    assert len(set(arrays["bend"])) > 1
    assert arrays["places"] == pytest.approx(floats(layout.places.ravel()))
    assert arrays["group"] == []
    kinds = {name: kind for name, (kind, *_) in network["fields"].items()}
    assert kinds == {
        "source": "Uint32Array",
        "target": "Uint32Array",
        "kind": "Uint8Array",
        "bend": "Int8Array",
        "places": "Float32Array",
        "group": "Uint16Array",
    }
    assert len(network["digest"]) == 64
    assert (shown["label"], shown["point"], shown["network"]) == ("the only point", 7, 0)
    assert unpacked(shown) == {
        "utilisation": [0, 0, 250, 0, 500],
        "credit_stall_fraction": [0, 0, 300, 0, 400],
    }
    assert {kind for kind, *_ in shown["fields"].values()} == {"Uint16Array"}
    assert section.notes == []
    assert section.first == 0


def test_groups_of_a_network_are_told() -> None:
    made = with_links()
    made.config["topology"] = {"dragonfly": {"a": 1, "p": 1, "h": 1}}
    (network,) = network_of(together(made)).networks
    assert unpacked(network)["group"] == [0, 1]
    assert network["topology"] == "dragonfly"


def test_like_networks_are_held_once() -> None:
    other = with_links(0.3)
    other.config["topology"] = {"graph": {}}
    section = network_of(together(with_links(0.1), with_links(0.2), other))
    assert len(section.networks) == 2
    assert [(shown["label"], shown["network"]) for shown in section.points] == [
        ("offered load 0.1", 1),
        ("offered load 0.2", 1),
        ("offered load 0.3", 0),
    ]
    assert section.networks[0]["topology"] == "graph"
    assert section.networks[0]["digest"] != section.networks[1]["digest"]
    assert section.first == 2


def test_shares_are_rounded_and_those_beyond_the_scale_cut() -> None:
    (shown,) = network_of(together(with_links(factor=200.0))).points
    assert unpacked(shown)["utilisation"] == [0, 0, 50000, 0, 65535]
    (shown,) = network_of(together(with_links(factor=0.00122))).points
    assert unpacked(shown)["utilisation"] == [0, 0, 0, 0, 1]


def test_what_carries_more_than_all_of_the_time_is_explained() -> None:
    note = (
        "A packet counts as a whole when it departs: in a short time a busy link can carry some more "
        "than 100 %."
    )
    assert network_of(together(with_links(factor=2.1))).notes == [note]
    assert network_of(together(with_links(factor=2.0))).notes == []
    assert network_of(together(with_links(factor=1.0, series=[(0, 1.0), (100, 3.0)]))).notes == [note]


def test_loads_over_time_have_a_step_per_time() -> None:
    section = network_of(together(with_links(series=[(0, 1.0), (100, 0.5)])))
    (shown,) = section.points
    assert shown["times"] == {"name": "cycle", "unit": "cycles", "values": [0, 100]}
    assert unpacked(shown)["utilisation"] == [0, 0, 250, 0, 500]
    assert unpacked(shown)["utilisation_series"] == [0, 0, 250, 0, 500, 0, 0, 125, 0, 250]
    assert "credit_stall_fraction_series" not in shown["fields"]
    assert section.notes == []


FIVE = [(0, 1.0), (100, 0.5), (200, 0.0), (300, 1.0), (400, 1.5)]


def test_steps_are_put_together_as_far_as_they_must() -> None:
    # 25 values beside the 5 of the window.
    whole = network_of(together(with_links(series=FIVE)), most=30)
    assert whole.points[0]["times"]["values"] == [0, 100, 200, 300, 400]
    assert whole.notes == []
    section = network_of(together(with_links(series=FIVE)), most=29)
    (shown,) = section.points
    assert shown["times"]["values"] == [0, 200, 400]
    assert unpacked(shown)["utilisation_series"][4::5] == [375, 250, 750]
    assert section.notes == [
        "Over time each step is the mean of up to 2 intervals, to keep the file small; all of them are in "
        "streams/link_series.parquet."
    ]
    one = network_of(together(with_links(series=FIVE)), most=5)
    assert one.points[0]["times"]["values"] == [0]
    assert unpacked(one.points[0])["utilisation_series"][4] == 400
    # Of two points each has half of the room.
    both = network_of(together(with_links(0.1, series=FIVE), with_links(0.2, series=FIVE)), most=10 + 2 * 15)
    assert [shown["times"]["values"] for shown in both.points] == [[0, 200, 400]] * 2
    # The first of them needs none.
    part = network_of(together(with_links(0.1), with_links(0.2, series=FIVE)), most=10 + 25)
    assert "times" not in part.points[0]
    assert part.points[1]["times"]["values"] == [0, 100, 200, 300, 400]


def of_fabric(times_s: list[float]) -> hs.Result:
    steps = [FABRIC.append_column("time_s", pa.array([time] * FABRIC.num_rows)) for time in times_s]
    return point(
        {"throughput_gbps": 1.0},
        {},
        {"topology": {"fat_tree": {"k": 2, "levels": 2}}},
        {"link_series": pa.concat_tables(steps)},
    )


def test_a_fabric_is_drawn_from_its_series_alone_with_the_ends_of_intervals() -> None:
    fabric = of_fabric([0.25, 0.5, 0.75])
    section = network_of(together(fabric))
    (network,), (shown,) = section.networks, section.points
    assert network["router"] == "switch"
    assert shown["times"] == {"name": "time", "unit": "s", "values": [0.25, 0.5, 0.75]}
    assert unpacked(shown) == {"utilisation_series": [125, 250, 1000, 62, 500] * 3}
    assert section.notes == ["Links that no flow uses are not recorded, and not drawn."]
    both = of_fabric([0.25])
    both.tables = {**both.tables, "links": FABRIC}
    assert list(unpacked(network_of(together(both)).points[0])) == ["utilisation", "utilisation_series"]
    merged = network_of(together(fabric), most=5 + 10)
    assert merged.points[0]["times"]["values"] == [0.5, 0.75]


def test_points_of_the_highest_loads_are_drawn_first_and_what_is_left_out_is_told() -> None:
    points = [with_links(load) for load in (0.1, 0.2, 0.3)]
    section = network_of(together(*points), most=10)
    assert [shown["point"] for shown in section.points] == [1, 2]
    assert section.notes == [
        "2 of 3 points are drawn, those of the highest loads, to keep the file small; the others are in "
        "streams/links.parquet."
    ]
    assert section.first == 1
    assert [shown["point"] for shown in network_of(together(*points), most=14).points] == [1, 2]
    assert [shown["point"] for shown in network_of(together(*points), most=15).points] == [0, 1, 2]
    assert network_of(together(*points), most=15).notes == []


def test_points_without_links_and_of_further_seeds_are_told() -> None:
    without = point({}, {"load": 0.3}, {"topology": TOPOLOGY})
    with_series = point(
        {},
        {"load": 0.4},
        {"topology": TOPOLOGY},
        {"link_series": pa.table({"cycle": [1], "router": [0], "port": [0]})},
    )
    section = network_of(together(with_links(0.1), with_links(0.1, seed=2), without))
    assert section.notes == [
        '1 of 3 points are not drawn for want of measure.streams = ["links"].',
        "Of points that differ in their seed the first seed is drawn.",
    ]
    assert [shown["label"] for shown in section.points] == ["offered load 0.1"]
    assert network_of(together(with_series)).notes == [
        "The stream link_series alone does not say what links lead to; hopsim plot --kind links draws it."
    ]
    assert network_of(together(without)).notes == []
    assert network_of(together(without)).points == []


def test_points_whose_links_cannot_be_read_or_were_not_used_are_told() -> None:
    damaged = point({}, {"load": 0.1}, {"topology": TOPOLOGY}, Unreadable("links"))
    empty = with_links(0.2, links=RING.slice(0, 0))
    section = network_of(hs.Results({3: damaged, 5: empty, 6: with_links(0.3)}))
    assert sorted(section.notes) == [
        "Point 3 is not drawn: it is damaged.",
        "Point 5 is not drawn: no link was used.",
    ]
    assert [shown["point"] for shown in section.points] == [6]
    # Nor are others left out for them.
    hot = point({}, {"load": 0.5}, {"topology": TOPOLOGY}, Unreadable("links"))
    hot_and_empty = with_links(0.4, links=RING.slice(0, 0))
    section = network_of(hs.Results({3: with_links(0.1), 5: hot_and_empty, 6: hot}))
    assert [shown["point"] for shown in section.points] == [3]
    readable = with_links(0.3).tables["links"]
    half = point({}, {}, {"topology": TOPOLOGY}, Unreadable("link_series", {"links": readable}))
    section = network_of(hs.Results({8: half}))
    assert section.notes == ["Point 8 is not drawn over time: it is damaged."]
    assert list(unpacked(section.points[0])) == ["utilisation", "credit_stall_fraction"]


# Ranks.


def of_operations(rows: list[tuple[str, int, int, str, int, int]]) -> pa.Table:
    """Job, rank, stream, activity, begin and end of each."""
    columns = ("job", "rank", "stream", "activity", "begin", "end")
    kinds = {"rank": pa.uint32(), "begin": pa.uint32(), "end": pa.uint32()}
    return pa.table(
        {name: pa.array([row[place] for row in rows], kinds.get(name)) for place, name in enumerate(columns)}
    )


WORK = of_operations(
    [
        ("x", 0, 0, "compute", 0, 30),
        ("x", 0, 0, "wait", 30, 40),
        ("x", 1, 0, "compute", 0, 10),
        ("x", 1, 1, "compute", 0, 40),
        ("y", 3, 0, "wait_send", 0, 20),
        ("x", 2, 0, "wait", 0, 20),
        ("y", 3, 0, "compute", 20, 40),
    ]
)


def test_operations_of_the_first_streams_are_there_job_by_job() -> None:
    section = ranks_of(hs.Results({4: point(streams={"operations": WORK})}))
    first, second = section.charts
    assert (first["label"], first["point"], second["label"]) == (
        "the only point, x",
        4,
        "the only point, y",
    )
    assert (first["ranks"], first["all"], first["end"], first["streams"]) == ([0, 1, 2], 3, 40, True)
    assert unpacked(first) == {
        "rank": [0, 0, 1, 2],
        "activity": [0, 6, 0, 6],
        "begin": [0, 30, 0, 0],
        "end": [30, 40, 10, 20],
    }
    assert (second["ranks"], second["all"], second["end"], second["streams"]) == ([3], 1, 40, False)
    assert unpacked(second)["activity"] == [4, 0]
    assert unpacked(second)["rank"] == [0, 0]
    assert first["shares"] == [
        ["computation", "33.3%", "0.0% (rank 2)", "75.0% (rank 0)"],
        ["waits for messages", "25.0%", "0.0% (rank 1)", "50.0% (rank 2)"],
    ]
    assert second["shares"] == [
        ["computation", "50.0%", "50.0% (rank 3)", "50.0% (rank 3)"],
        ["waits to send", "50.0%", "50.0% (rank 3)", "50.0% (rank 3)"],
    ]
    assert section.notes == ["Of ranks with several streams the first stream is drawn."]
    kinds = {name: kind for name, (kind, *_) in first["fields"].items()}
    assert kinds == {
        "rank": "Uint16Array",
        "activity": "Uint8Array",
        "begin": "Float64Array",
        "end": "Float64Array",
    }


def test_of_too_many_operations_some_ranks_are_drawn_evenly_chosen() -> None:
    rows = [("x", rank, 0, "compute", 0, 10) for rank in range(10)]
    results = together(point(streams={"operations": of_operations(rows)}))
    for most, ranks in ((10, list(range(10))), (9, [0, 2, 4, 6, 8]), (3, [0, 4, 8]), (1, [0]), (0, [0])):
        section = ranks_of(results, most)
        (chart,) = section.charts
        assert chart["ranks"] == ranks
        assert chart["all"] == 10
        assert unpacked(chart)["rank"] == list(range(len(ranks)))
        assert chart["shares"] == [["computation", "100.0%", "100.0% (rank 0)", "100.0% (rank 0)"]]
        assert section.notes == (
            []
            if most == 10
            else [
                f"To keep the file small some ranks are drawn, evenly chosen, such as {len(ranks)} of 10 of "
                "the only point; the others are in streams/operations.parquet."
            ]
        )
    # The room is for all points, and of each for all jobs.
    two = [("x", rank, 0, "compute", 0, 10) for rank in range(4)]
    two += [("y", rank, 0, "compute", 0, 10) for rank in range(4)]
    points = [point({}, {"load": load}, None, {"operations": of_operations(two)}) for load in (0.1, 0.2)]
    assert [chart["ranks"] for chart in ranks_of(together(*points), 16).charts] == [[0, 1, 2, 3]] * 4
    section = ranks_of(together(*points), 15)
    assert [chart["ranks"] for chart in section.charts] == [[0, 2]] * 4
    assert "such as 2 of 4 of offered load 0.1, x; the others" in section.notes[0]


def test_points_without_operations_or_of_further_seeds_or_unreadable_are_told() -> None:
    good = {"operations": WORK.slice(4, 1)}
    points = {
        1: point({"seed": 1}, {"load": 0.1}, None, good),
        2: point({"seed": 2}, {"load": 0.1}, None, good),
        3: point({}, {"load": 0.2}, None, Unreadable("operations")),
        4: point({}, {"load": 0.3}),
        5: point({}, {"load": 0.4}, None, good),
    }
    section = ranks_of(hs.Results(points))
    assert [(chart["label"], chart["point"]) for chart in section.charts] == [
        ("offered load 0.1", 1),
        ("offered load 0.4", 5),
    ]
    assert section.notes == [
        "Point 3 is not drawn: it is damaged.",
        "Of points that differ in their seed the first seed is drawn.",
    ]
    assert ranks_of(hs.Results({4: points[4]})).charts == []


def test_ranks_that_do_nothing_have_no_shares() -> None:
    rows = [("x", 0, 0, "compute", 0, 0), ("x", 1, 1, "compute", 0, 5)]
    (chart,) = ranks_of(together(point(streams={"operations": of_operations(rows)}))).charts
    assert (chart["shares"], chart["end"], chart["ranks"]) == ([], 0, [0])
    short = of_operations([("x", 0, 0, "compute", 0, 1)])
    (chart,) = ranks_of(together(point(streams={"operations": short}))).charts
    assert chart["shares"] == [["computation", "100.0%", "100.0% (rank 0)", "100.0% (rank 0)"]]


# Congestion trees.


def of_trees(rows: list[dict[str, Any]]) -> pa.Table:
    usual = {
        "cycle": 100,
        "router": 0,
        "port": 0,
        "port_class": "local",
        "peer_router": None,
        "links": 1,
        "depth": 1,
        "packets": 1,
        "victims": 0,
    }
    kinds = {"peer_router": pa.uint32()}
    return pa.table(
        {name: pa.array([{**usual, **row}[name] for row in rows], kinds.get(name)) for name in usual}
    )


def test_roots_of_trees_are_in_the_order_of_the_time_that_packets_stood_in_them() -> None:
    table = of_trees(
        [
            {"cycle": 200, "router": 1, "port": 2, "peer_router": 7, "packets": 10, "victims": 3, "links": 4},
            {"cycle": 100, "router": 0, "port": 3, "packets": 15, "port_class": "terminal", "victims": 15},
            {
                "cycle": 300,
                "router": 1,
                "port": 2,
                "peer_router": 7,
                "packets": 1500,
                "links": 1200,
                "depth": 1000,
            },
            {"cycle": 300, "router": 1, "port": 1, "peer_router": 8, "packets": 15},
        ]
    )
    section = trees_of(hs.Results({6: point(streams={"congestion_trees": table})}))
    (shown,) = section.points
    assert (shown["label"], shown["point"]) == ("the only point", 6)
    assert shown["cycles"] == [100, 200, 300]
    # Of two alike that of the smaller router.
    assert shown["packets"] == [[0, 10, 1500], [15, 0, 0], [0, 0, 15]]
    assert shown["total"] == [15, 10, 1515]
    assert shown["roots"] == 3
    assert shown["rows"] == [
        {
            "router": 1,
            "name": "router 1 → router 7",
            "cells": ["local", "503.3", "1,500", "1,200", "1,000", "0 %", "200", "67 %"],
        },
        {
            "router": 0,
            "name": "router 0 → port 3 to a node",
            "cells": ["terminal", "5.0", "15", "1", "1", "100 %", "100", "33 %"],
        },
        {
            "router": 1,
            "name": "router 1 → router 8",
            "cells": ["local", "5.0", "15", "1", "1", "0 %", "300", "33 %"],
        },
    ]
    assert section.notes == []
    assert section.first == 0


def test_shares_of_victims_are_of_the_packets_that_stood_in_a_tree() -> None:
    rows = [
        {"cycle": cycle, "packets": packets, "victims": victims}
        for cycle, packets, victims in ((1, 3, 1), (2, 5, 2))
    ]
    (shown,) = trees_of(together(point(streams={"congestion_trees": of_trees(rows)}))).points
    assert shown["rows"][0]["cells"][5] == "38 %"
    (shown,) = trees_of(together(point(streams={"congestion_trees": of_trees([{"packets": 0}])}))).points
    assert shown["rows"][0]["cells"][5] == "0 %"


def test_of_many_roots_the_first_have_a_curve_and_some_more_a_row() -> None:
    rows = [{"router": number, "packets": 100 - number} for number in range(LISTED + 1)]
    section = trees_of(together(point(streams={"congestion_trees": of_trees(rows)})))
    (shown,) = section.points
    assert shown["packets"] == [[100 - number] for number in range(SHOWN)]
    assert [row["router"] for row in shown["rows"]] == list(range(LISTED))
    assert shown["roots"] == LISTED + 1
    assert shown["total"] == [sum(100 - number for number in range(LISTED + 1))]
    assert section.notes == [
        "The 15 roots are listed in whose trees packets stood longest; all trees are in "
        "streams/congestion_trees.parquet."
    ]
    assert trees_of(together(point(streams={"congestion_trees": of_trees(rows[:-1])}))).notes == []


def test_many_roots_that_are_alike_are_in_the_order_of_routers_and_ports() -> None:
    rows = [{"router": number // 3, "port": number % 3} for number in reversed(range(40))]
    (shown,) = trees_of(together(point(streams={"congestion_trees": of_trees(rows)}))).points
    assert [row["name"] for row in shown["rows"]] == [
        f"router {number // 3} → port {number % 3} to a node" for number in range(LISTED)
    ]


def test_points_with_trees_that_cannot_be_read_or_of_further_seeds_are_told() -> None:
    good = {"congestion_trees": of_trees([{}])}
    points = {
        1: point({"seed": 1}, {"load": 0.1}, None, good),
        2: point({"seed": 2}, {"load": 0.1}, None, good),
        3: point({}, {"load": 0.2}, None, good),
        4: point({}, {"load": 0.3}, None, Unreadable("congestion_trees")),
        5: point({}, {"load": 0.4}),
    }
    other = point({}, {"load": 0.05}, None, Unreadable("congestion_trees"))
    assert [shown["point"] for shown in trees_of(hs.Results({0: other, 1: points[1]})).points] == [1]
    section = trees_of(hs.Results(points))
    assert [shown["label"] for shown in section.points] == ["offered load 0.1", "offered load 0.2"]
    assert section.notes == [
        "Point 4 is not shown: it is damaged.",
        "Of points that differ in their seed the first seed is shown.",
    ]
    # The one of the highest load cannot be shown.
    assert section.first == 0
    assert trees_of(hs.Results({1: points[1], 3: points[3]})).first == 1


# What was run.


def origin(**changes: Any) -> Origin:
    usual: dict[str, Any] = {
        "root": Path("results"),
        "version": "0.1.0+abc",
        "experiment": "some/where.toml",
        "document": "load = 0.1\n",
        "overrides": ("load=0.2",),
        "seeds": (1,),
        "total": 2,
        "failures": {},
        "wall_time_s": 1234.56,
        "written": "2026-01-02T03:04:05",
        "platform": "Linux",
        "unfinished": (),
        "damaged": (),
    }
    return Origin(**{**usual, **changes})


def run_of(*points: hs.Result, of: Origin | None = None) -> hs.Results:
    return hs.Results(dict(enumerate(points)), of)


def measured(measure: dict[str, Any], topology: dict[str, Any] | None = None, **axes: Any) -> hs.Result:
    seed = axes.pop("seed", 1)
    config = {"measure": measure, "topology": topology or {"dragonfly": {"p": 2, "a": 4, "h": 2}}}
    return point({"seed": seed}, axes, config)


CYCLES = {"warmup": 1000, "cycles": 20000}


def test_facts_say_what_was_run_and_how() -> None:
    points = [measured(CYCLES, load=load, vcs=1, seed=seed) for load in (0.1, 0.2) for seed in (3, 1)]
    assert overview.facts(run_of(*points)) == [
        ("Network", "dragonfly (p = 2, a = 4, h = 2)"),
        ("Points", "4"),
        ("Varied", "load, vcs"),
        ("Seeds", "1, 3"),
        ("Measured", "20,000 cycles after 1,000 of warm-up"),
        ("hopsim", _core.version()),
    ]
    stored = overview.facts(run_of(measured(CYCLES), of=origin()))
    assert stored[1:3] == [("Points", "1 of 2 finished"), ("Varied", "nothing")]
    assert stored[5:] == [
        ("hopsim", "0.1.0+abc"),
        ("Directory", "results"),
        ("Written", "2026-01-02T03:04:05"),
        ("Run time", "1,234.6 s"),
        ("Ran on", "Linux"),
    ]
    whole = dict(overview.facts(run_of(measured(CYCLES), of=origin(total=1, platform=""))))
    assert whole["Points"] == "1, all finished"
    assert "Ran on" not in whole


def test_facts_say_once_which_nodes_are_cut_off_and_when() -> None:
    document = {
        "load": 0.1,
        "topology": {"graph": {"edges": [{"between": [0, 1]}, {"between": [1, 2]}]}},
        "faults": [{"at": 2000, "links": {"between": [[1, 2]]}, "unreachable": "drop"}],
        "measure": {"warmup": 0, "cycles": 8000},
    }
    (one,) = hs.Experiment.of(document).points()
    config = json.loads(one.config)
    results = run_of(*(point({"seed": seed}, {}, config) for seed in (1, 2)))
    assert dict(overview.facts(results))["Parts"] == "cut off from cycle 7,500 on: 1 of 3 nodes, 2"
    assert "Parts" not in dict(overview.facts(run_of(measured(CYCLES))))


def test_networks_are_named_with_their_parameters_four_at_most() -> None:
    def network(*topologies: dict[str, Any]) -> str:
        points = [measured(CYCLES, topology, number=number) for number, topology in enumerate(topologies)]
        return dict(overview.facts(run_of(*points)))["Network"]

    assert network({"fat_tree": {"k": 2, "levels": 3, "weights": [1.5], "ratio": 0.5, "name": "t"}}) == (
        "fat tree (k = 2, levels = 3, name = t)"
    )
    assert network({"torus": {"sides": [4, 4]}}) == "torus (sides = [4, 4])"
    assert network({"graph": {"edges": [[0, 1]]}}) == "graph"
    rings: list[dict[str, Any]] = [{"ring": {"routers": count}} for count in range(3, 8)]
    assert network(*rings[:2], rings[0]) == "ring (routers = 3); ring (routers = 4)"
    four = "; ".join(f"ring (routers = {count})" for count in range(3, 7))
    assert network(*rings[:4]) == four
    assert network(*rings) == f"{four} and 1 more"


def test_the_window_is_told_as_the_document_has_it() -> None:
    def window(measure: dict[str, Any]) -> str:
        return dict(overview.facts(run_of(measured(measure))))["Measured"]

    assert (
        window({"time": {"window": "20 us", "interval": "2 us", "extra": None}})
        == "window 20 us, interval 2 us"
    )
    assert window({"streams": []}) == "until the programs end"
    assert window({"cycles": 500}) == "500 cycles after 0 of warm-up"


def test_what_a_run_lacks_is_told_with_the_numbers_of_points() -> None:
    warned = ["one thing"]
    assert overview.lacking(run_of(measured(CYCLES)), warned) is warned
    assert overview.lacking(run_of(measured(CYCLES), of=origin()), warned) == ["one thing"]
    failed = origin(total=5, failures={3: "deadlock", 2: "no room"}, unfinished=(1, 2, 3, 4))
    assert overview.lacking(run_of(measured(CYCLES), of=failed), warned) == [
        "one thing",
        "The run is not complete: 1 of 5 points are here; the command that has begun it goes on with it. "
        "Missing: point 1, 4.",
        "Point 2 failed: no room",
        "Point 3 failed: deadlock",
    ]
    assert warned == ["one thing"]
    only = origin(total=2, failures={1: "deadlock"}, unfinished=(1,))
    assert overview.lacking(run_of(measured(CYCLES), of=only), []) == ["Point 1 failed: deadlock"]
    for count, told in (
        (20, ", ".join(map(str, range(20)))),
        (21, ", ".join(map(str, range(20))) + " and 1 more"),
    ):
        (text,) = overview.lacking(
            run_of(measured(CYCLES), of=origin(total=30, unfinished=tuple(range(count)))), []
        )
        assert text.endswith(f"Missing: point {told}.")


def test_streams_that_no_section_shows_are_told_with_what_draws_them() -> None:
    table = pa.table({"x": [1]})

    def told(*names: str, has_network: bool = True) -> str:
        return overview.not_shown(run_of(point(streams=dict.fromkeys(names, table))), has_network=has_network)

    assert told() == told("operations", "congestion_trees", "links", "link_series") == ""
    assert told("links", has_network=False) == (
        "Recorded and not shown here: links (link_map). They are in streams/ of the results directory; "
        "in brackets the kinds of figures of hopsim plot that draw them."
    )
    assert told("latency_histogram", "operations", "waits") == (
        "Recorded and not shown here: waits, latency_histogram (histogram and cdf). They are in streams/ of "
        "the results directory; in brackets the kinds of figures of hopsim plot that draw them."
    )
    assert told("waits") == (
        "Recorded and not shown here: waits. They are in streams/ of the results directory."
    )


def test_the_document_is_that_of_the_run_or_the_configuration_of_the_first_point() -> None:
    made = measured(CYCLES)
    assert overview.document_of(run_of(made, of=origin())) == (
        "load = 0.1\n",
        "where.toml",
        "hopsim run where.toml --set load=0.2",
    )
    text, name, command = overview.document_of(run_of(made, measured({"cycles": 1})))
    assert json.loads(text) == made.config
    assert text.startswith('{\n  "jobs"')
    assert (name, command) == ("configuration.json", "")


def test_the_table_of_points_is_that_of_the_terminal_without_its_markup() -> None:
    points = [
        point({"accepted_load": 0.25, "hops_mean": 2.0}, {"routing": "[bold]", "load": 0.25}),
        point({"accepted_load": 0.5, "verdict": "saturated"}, {"routing": "b", "load": 0.75}),
    ]
    cells = overview.points_table(run_of(*points))
    assert cells.headings == [
        "routing",
        "load",
        "accepted",
        "latency",
        "p99",
        "hops",
        "max/min",
        "Jain",
        "verdict",
    ]
    assert cells.numeric == [False, False, True, True, True, True, True, True, False]
    assert cells.rows == [
        ["[bold]", "0.25", "0.2500", "–", "–", "2.00", "–", "–", "steady"],
        ["b", "0.75", "0.5000", "–", "–", "–", "–", "–", "saturated"],
    ]
    assert cells.caption.startswith("Loads in phits/(node·cycle), latencies in cycles;")
    assert tables.NODE == 2**32 - 1
