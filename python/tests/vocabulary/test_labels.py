"""Labels of sweep axes and their values: short, and no two alike."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hopsim.vocabulary.labels import (
    FULL,
    LONGEST,
    axis_labels,
    is_load,
    job_of,
    labels_of,
    numbered,
    value_label,
)


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


@pytest.mark.parametrize(
    ("value", "label"),
    [
        # Whole numbers in full, others with six digits.
        (1234567, "1234567"),
        (1234567.0, "1.23457e+06"),
        (0.1234567, "0.123457"),
        (False, "false"),
        (None, "null"),
        ({}, "default"),
        ([], "none"),
        ([1, "a", 0.5], "[1, a, 0.5]"),
        ({"valiant": {}}, "valiant"),
        ({"valiant": {"policy": "crg", "share": 0.5}}, "valiant (policy=crg, share=0.5)"),
        ({"olm": {"trigger": {"ectn": {"period": 100}}}}, "olm (trigger=ectn (period=100))"),
        # A table that is no choice has its fields.
        ({"p": 4}, "p=4"),
        ({"p": 4, "h": 2}, "p=4, h=2"),
        ({"p": 4, "h": 2, "a": 8}, "p=4, h=2, a=8"),
        ({"links": {"local": 3, "global": {}}, "p": 4}, "links (local=3, global), p=4"),
        ({"links": {"local": 3}, "p": 4}, "links (local=3), p=4"),
        ({"links": {"local": {}, "global": 3}, "p": 4}, "links (local, global=3), p=4"),
        ({"links": {"local": {"x": 1}}, "p": 4}, "links=local (x=1), p=4"),
        ([{"name": "a", "x": 1}, {"name": 2, "x": 3}], "a + 2 3"),
        ([{"cycle": 7}, {"load": 0.5, "cycle": 9}, {}], "default at 7 + 0.5 at 9 + default"),
        # Of tables and others it is a list as any other.
        ([{"x": 1}, 2], "[x=1, 2]"),
    ],
)
def test_a_value_as_text(value: object, label: str) -> None:
    assert value_label(value) == label


def test_no_values_have_no_labels() -> None:
    assert labels_of("routing", []) == []


def test_all_values_are_told_in_full_if_the_longest_is_short_enough() -> None:
    def tables(name: str) -> list[dict[str, Any]]:
        return [{"x": name, "y": number} for number in (1, 2)]

    full = "a" * (FULL - len("x=, y=1"))
    assert labels_of("routing", tables(full)) == [f"x={full}, y={number}" for number in (1, 2)]
    assert labels_of("routing", tables(f"{full}a")) == ["y=1", "y=2"]


def test_a_label_that_is_too_long_is_cut() -> None:
    texts = ["x" * LONGEST, "y" * (LONGEST + 1), "z" * (2 * LONGEST)]
    assert labels_of("a.name", texts) == [texts[0], f"{'y' * 59}…", f"{'z' * 59}…"]
    assert labels_of("a.name", ["x" * 99, "x" * 98]) == [f"{'x' * 59}… (1)", f"{'x' * 59}… (2)"]


def test_an_empty_label_is_its_value_as_json() -> None:
    assert labels_of("a.name", ["", " ", "\t", "a"]) == ['""', '" "', '"\\t"', "a"]


def test_labels_that_occur_again_have_numbers_until_no_two_are_alike() -> None:
    assert numbered(["a", "b", "a"]) == ["a (1)", "b", "a (2)"]
    assert numbered(["a", "a (1)", "a"]) == ["a (1) (1)", "a (1) (2)", "a (2)"]
    assert numbered(["a", "b"]) == ["a", "b"]


def test_patterns_have_the_names_of_papers_where_ours_are_of_several_words() -> None:
    path = "jobs.0.traffic.pattern"
    patterns: list[Any] = [
        "uniform",
        "adversarial_consecutive",
        {"adversarial_consecutive": {"groups": 3}},
        {},
    ]
    assert labels_of(path, patterns) == ["uniform", "ADVc", "ADVc (groups=3)", "default"]
    # No other key has such names, and what has none stays as it is.
    for other, name in (("jobs.0.traffic", "adversarial_consecutive"), (path, "no_such_pattern")):
        assert labels_of(other, [name, {name: {"a": 1}}, 3]) == [name, f"{name} (a=1)", "3"]
    assert labels_of(path, [{"adversarial": {"offset": 1}}, 7]) == ["adversarial (offset=1)", "7"]


LONG = "x" * FULL


LONG_VALUES: list[tuple[str, list[Any], list[str]]] = [
    # Lists by their lengths, if these differ.
    ("a.jobs", [[LONG], [LONG] * 2, []], ["1 job", "2 jobs", "0 jobs"]),
    ("jobs", [[LONG], [LONG] * 2], ["1 job", "2 jobs"]),
    ("a.boxes", [[LONG], [LONG] * 2], ["1 boxe", "2 boxes"]),
    ("a.jobs", [[LONG], 7], [f"[{LONG}]", "7"]),
    ("a.jobs", [[LONG, 1], 7], [f"[{LONG}, 1]", "7"]),
    ("a.jobs", [[LONG, 1], [LONG, 2]], [f"[{LONG}, 1]", f"[{LONG}, 2]"]),
    # What a value lacks of the others.
    ("a", [{"x": LONG}, {"x": LONG, "b": 1, "a": 2}], ["no a and no b", "b=1, a=2"]),
    ("a", [{"x": LONG, "b": 1}, {"x": LONG, "c": {}}], ["b=1", "c"]),
    # Choices keep their name, whatever of them is the same.
    (
        "a",
        [{"olm": {"x": LONG, "y": 1}}, {"olm": {"x": LONG, "y": 2}}, "pb"],
        ["olm (y=1)", "olm (y=2)", "pb"],
    ),
    # Of lists of tables the elements that differ.
    (
        "a",
        [[{"name": LONG}, {"p": 1, "q": 2}], [{"name": LONG}, {"p": 3, "q": 2}]],
        ["1", "3"],
    ),
    (
        "a",
        [
            {"x": LONG, "list": [{"p": 1}, {"q": 2}]},
            {"x": LONG, "list": [{"p": 1}, {"q": 3}]},
            {"x": LONG},
        ],
        ["list=2", "list=3", "no list"],
    ),
]


@pytest.mark.parametrize(("path", "values", "labels"), LONG_VALUES)
def test_long_values_are_told_by_what_they_do_not_share(
    path: str, values: list[Any], labels: list[str]
) -> None:
    assert labels_of(path, values) == labels


@pytest.mark.parametrize(
    ("path", "job", "load"),
    [
        ("load", None, True),
        ("jobs", None, False),
        ("jobs.0", None, False),
        ("jobs.12.name", 12, False),
        ("jobs.x.name", None, False),
        ("links.0.name", None, False),
        ("jobs.2.messages.rate", 2, True),
        ("jobs.2.messages.bytes", 2, False),
        ("links.2.messages.rate", None, False),
        ("jobs.3.traffic.process.bernoulli.load", 3, True),
        ("jobs.3.traffic.process.bernoulli.loads", 3, False),
        ("links.3.traffic.process.bernoulli.load", None, False),
        ("jobs.3.traffic.pattern.bernoulli.load", 3, False),
    ],
)
def test_the_job_of_a_path_and_whether_it_is_its_load(path: str, job: int | None, load: bool) -> None:
    assert (job_of(path), is_load(path)) == (job, load)


def test_load_alone_is_an_offered_load() -> None:
    process = "jobs.0.traffic.process.bernoulli.load"
    assert axis_labels(["jobs.0.traffic.changes.0.load"]) == ["changes.0.load"]
    assert axis_labels([process]) == ["load"]
    assert axis_labels([process, "jobs.1.traffic.process.bernoulli.load"]) == [
        process,
        "jobs.1.traffic.process.bernoulli.load",
    ]
