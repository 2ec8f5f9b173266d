"""Labels of sweep axes and their values: short, and no two alike."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hopsim.labels import LONGEST, axis_labels, is_load, labels_of


def mix(share: float) -> dict[str, Any]:
    parts = [(share, "uniform"), (round(1 - share, 6), {"adversarial": {"offset": 1}})]
    return {"mix": [{"weight": weight, "pattern": pattern} for weight, pattern in parts]}


def traffic(**more: Any) -> dict[str, Any]:
    return {"pattern": "uniform", "packet_length": 8, **more}


AXES: list[tuple[str, list[Any], list[str]]] = [
    ("load", [0.1, 1.0], ["0.1", "1"]),
    ("load", [0.12345678, 0.12345679], ["0.12345678", "0.12345679"]),
    ("routing", ["minimal", {"valiant": {"policy": "crg"}}], ["minimal", "valiant (policy=crg)"]),
    (
        "routing",
        [
            {"olm": {"trigger": "congestion"}},
            {"olm": {"trigger": {"ectn": {"threshold": 3, "period": 100}}}},
        ],
        ["olm (trigger=congestion)", "olm (trigger=ectn)"],
    ),
    (
        "topology",
        [
            {"torus": {"sides": [8, 8]}},
            {"dragonfly": {"p": 4, "a": 8, "h": 4, "arrangement": "palmtree"}},
        ],
        ["torus", "dragonfly"],
    ),
    (
        "topology",
        [{"dragonfly": {"p": p, "a": 8, "h": 4, "arrangement": "palmtree"}} for p in (4, 8)],
        ["dragonfly (p=4)", "dragonfly (p=8)"],
    ),
    (
        "topology",
        [{"torus": {"sides": [8, side], "nodes_per_router": 12345}} for side in (4, 8)],
        ["torus (sides=[8, 4])", "torus (sides=[8, 8])"],
    ),
    ("jobs.0.traffic.request_reply", [{}, {"outstanding": 4}], ["default", "outstanding=4"]),
    ("jobs.0.traffic", [traffic(), traffic(request_reply={})], ["no request_reply", "request_reply"]),
    ("jobs.0.traffic.pattern", [mix(0.9), mix(0.5)], ["mix=0.9 + 0.1", "mix=0.5 + 0.5"]),
    (
        "jobs.0.traffic.pattern",
        ["uniform", mix(0.5)],
        ["uniform", "mix=0.5 uniform + 0.5 adversarial (offset=1)"],
    ),
    (
        "jobs",
        [[{"traffic": traffic(request_reply={})}], [{"name": "a"}, {"name": "b"}]],
        ["1 job", "2 jobs"],
    ),
    ("jobs", [[{"name": "a"}, {"name": "b"}], [{"name": "a"}, {"name": "c"}]], ["a + b", "a + c"]),
    ("routing", ["minimal", {"minimal": {}}], ["minimal (1)", "minimal (2)"]),
]


@pytest.mark.parametrize(("path", "values", "labels"), AXES)
def test_values_of_an_axis_are_told_apart_in_few_words(
    path: str, values: list[Any], labels: list[str]
) -> None:
    assert labels_of(path, values) == labels


VALUES = st.recursive(
    st.booleans()
    | st.integers(-3, 3)
    | st.floats(0, 1)
    | st.sampled_from(["uniform", "minimal", "", " ", "x" * 70]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["name", "p", "valiant", "load"]), inner, max_size=3)
    ),
    max_leaves=8,
)


@settings(max_examples=200)
@given(st.lists(VALUES, min_size=1, max_size=6, unique_by=lambda value: json.dumps(value, sort_keys=True)))
def test_labels_are_short_and_no_two_alike_whatever_the_values(values: list[Any]) -> None:
    labels = labels_of("jobs.0.traffic", values)
    assert len(set(labels)) == len(values)
    assert all(0 < len(label) <= LONGEST + len(" (6)") for label in labels)


def test_axes_have_the_shortest_names_that_tell_them_apart() -> None:
    assert axis_labels(["a.b.speedup", "a.b.iterations"]) == ["speedup", "iterations"]
    assert axis_labels(["nic.latency", "links.latency"]) == ["nic.latency", "links.latency"]
    paths = ["load", "jobs.0.traffic.changes.0.load"]
    assert axis_labels(paths)[1] == "changes.0.load"


def test_offered_loads_are_told_from_other_loads() -> None:
    assert is_load("load")
    assert is_load("jobs.1.traffic.process.bernoulli.load")
    assert not is_load("jobs.0.traffic.changes.0.load")
    assert not is_load("jobs.0.traffic.node_loads.listed.0.load")


def test_changes_say_when_they_happen_and_an_empty_list_that_there_is_none() -> None:
    changes = [[], [{"cycle": 2000, "load": 0.6}], [{"cycle": 2000, "pattern": "ADV+1"}]]
    assert labels_of("jobs.0.traffic.changes", changes) == ["none", "0.6 at 2000", "ADV+1 at 2000"]
