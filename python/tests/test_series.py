"""Groups over seeds, curves over load and their labels, computed again from the plain list of points."""

from __future__ import annotations

import itertools
import math
import random
import statistics
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import hopsim as hs
from hopsim.labels import axis_labels, is_load, labels_of, value_label
from hopsim.plot.records import column_of, cycles, mean_of_rows
from hopsim.series import (
    Group,
    Series,
    curve_axes,
    curves,
    over_seeds,
)
from hopsim.stats import Estimate

STUDENT_1 = math.tan(0.95 * math.pi / 2)
STUDENT_2 = 0.95 * math.sqrt(2 / (1 - 0.95**2))
"""Two-sided 95 % quantiles of Student's t with 1 and 2 degrees of freedom, in closed form."""

PRODUCT: dict[str, list[Any]] = {
    "load": [0.5, 0.1, 0.3],
    "routing": ["minimal", {"valiant": {"policy": "crg"}}],
    "topology.dragonfly.h": [2, 3],
    "measure.seed": [1, 2, 3],
}


def point(number: int, axes: dict[str, Any], **summary: Any) -> hs.Result:
    return hs.Result({"config": {}, "result": {"number": number, **summary}}, axes, {})


def swept(product: dict[str, list[Any]], order: int = 0) -> hs.Results:
    """A point for each combination, in random order, that offers the load of its axis."""
    combinations = [
        dict(zip(product, values, strict=True)) for values in itertools.product(*product.values())
    ]
    random.Random(order).shuffle(combinations)
    return hs.Results(
        {
            number: point(
                number, axes, offered_load=axes.get("load", 0.2), accepted_load=float(number * number)
            )
            for number, axes in enumerate(combinations)
        }
    )


def numbers(group: Group) -> list[int]:
    return [result.summary["number"] for result in group.results]


@pytest.mark.parametrize("order", range(5))
def test_a_group_holds_the_points_that_differ_in_their_seed_only(order: int) -> None:
    results = swept(PRODUCT, order)
    expected: list[tuple[dict[str, Any], list[int]]] = []
    for number, result in enumerate(results):
        rest = {path: value for path, value in result.axes.items() if path != "measure.seed"}
        same = [members for axes, members in expected if axes == rest]
        if same:
            same[0].append(number)
        else:
            expected.append((rest, [number]))
    assert [(group.axes, numbers(group)) for group in over_seeds(results)] == expected
    assert {len(members) for _, members in expected} == {3}


@pytest.mark.parametrize("order", range(5))
def test_a_curve_has_its_loads_in_ascending_order(order: int) -> None:
    found = curves(swept(PRODUCT, order))
    assert len(found) == 4
    for series in found:
        assert [group.axes["load"] for group in series.groups] == [0.1, 0.3, 0.5]
        assert [value.mean for value in series.values("offered_load")] == pytest.approx([0.1, 0.3, 0.5])
        rest = [{**group.axes, "load": None} for group in series.groups]
        assert rest == [rest[0]] * 3


def test_points_without_any_load_come_first() -> None:
    bursts = hs.Results(
        {
            0: point(0, {"load": 0.4}, offered_load=0.4),
            1: point(1, {"load": 0.3}, offered_load=None),
            2: point(2, {"load": 0.1}, offered_load=0.1),
        }
    )
    (series,) = curves(bursts)
    assert [numbers(group) for group in series.groups] == [[1], [2], [0]]


@pytest.mark.parametrize("key", ["accepted_load", "offered_load"])
def test_a_value_of_a_curve_is_the_mean_over_seeds_with_students_interval(key: str) -> None:
    for series in curves(swept(PRODUCT)):
        for group, value in zip(series.groups, series.values(key), strict=True):
            runs = [result.summary[key] for result in group.results]
            assert value.mean == pytest.approx(statistics.fmean(runs), rel=1e-12)
            half = STUDENT_2 * statistics.stdev(runs) / 3**0.5
            assert value.half_width == pytest.approx(half, rel=1e-12, abs=1e-12)


def test_curves_are_told_apart_by_the_axes_that_are_neither_load_nor_seed() -> None:
    results = swept(PRODUCT)
    assert curve_axes(results) == ["routing", "topology.dragonfly.h"]
    labels = {series.label for series in curves(results)}
    assert labels == {
        "minimal, h = 2",
        "minimal, h = 3",
        "valiant (policy=crg), h = 2",
        "valiant (policy=crg), h = 3",
    }


def test_curves_by_one_axis_hold_all_points_that_agree_in_it() -> None:
    found = curves(swept(PRODUCT), ["topology.dragonfly.h"])
    assert {series.label: len(series.groups) for series in found} == {"h = 2": 6, "h = 3": 6}
    for series in found:
        loads = [group.axes["load"] for group in series.groups]
        assert loads == sorted(loads)


def test_a_single_curve_has_no_label() -> None:
    (series,) = curves(swept({"load": [0.2, 0.1]}))
    assert series.label == ""


def test_an_axis_that_only_some_points_have_is_a_dash_in_the_label_of_the_others() -> None:
    results = hs.Results(
        {
            0: point(0, {"load": 0.1, "router.size": 4}, offered_load=0.1),
            1: point(1, {"load": 0.1, "router.ways": 2}, offered_load=0.1),
        }
    )
    assert [series.label for series in curves(results, ["router.size"])] == ["size = 4", "size = –"]


def test_the_first_of_axes_that_vary_together_labels_the_curves() -> None:
    zipped = [("a", 2), ("b", 4), ("c", 4)]
    results = hs.Results(
        {
            number: point(number, {"routing": name, "vcs": count, "load": 0.1}, offered_load=0.1)
            for number, (name, count) in enumerate(zipped)
        }
    )
    assert [series.label for series in curves(results)] == ["a", "b", "c"]
    assert [series.label for series in curves(results, ["vcs", "routing"])] == ["a", "b", "c"]
    assert [series.label for series in curves(results, ["vcs"])] == ["vcs = 2", "vcs = 4"]


def test_of_axes_that_vary_one_to_one_the_first_labels_the_curves() -> None:
    results = hs.Results(
        {
            number: point(number, {"routing": name, "vcs": count, "load": 0.1}, offered_load=0.1)
            for number, (name, count) in enumerate([("a", 2), ("b", 4)])
        }
    )
    assert [series.label for series in curves(results)] == ["a", "b"]
    assert [series.label for series in curves(results, ["vcs", "routing"])] == ["vcs = 2", "vcs = 4"]


def test_the_order_of_the_axes_of_a_point_does_not_matter() -> None:
    axes = [{"routing": "minimal", "load": 0.1}, {"load": 0.1, "routing": "minimal"}]
    results = hs.Results(
        {number: point(number, each, offered_load=0.1, seed=number) for number, each in enumerate(axes)}
    )
    assert [numbers(group) for group in over_seeds(results)] == [[0, 1]]


def test_only_a_path_that_ends_in_load_is_a_load() -> None:
    job = "jobs.0.traffic.process.bernoulli.load"
    paths = ["load", job, "loads", "load.x", "payload", "measure.overload"]
    assert [is_load(path) for path in paths] == [True, True, False, False, False, False]


def test_labels_of_axes_are_their_shortest_ends_that_are_unique_and_begin_with_no_digit() -> None:
    paths = [
        "router.cioq.vcs.local",
        "router.cioq.buffers.local",
        "links.global.latency",
        "jobs.0",
        "jobs.0.load",
        "x.local",
        "load",
    ]
    assert axis_labels(paths) == [
        "vcs.local",
        "buffers.local",
        "latency",
        "jobs.0",
        "jobs.0.load",
        "x.local",
        "load",
    ]
    for path in paths:
        parts = path.split(".")
        ends = [".".join(parts[place:]) for place in range(len(parts) - 1, 0, -1)]
        unique = [
            end
            for end in ends
            if not end[0].isdigit()
            and [other for other in paths if f".{other}".endswith(f".{end}")] == [path]
        ]
        assert axis_labels(paths)[paths.index(path)] == next(iter(unique), path)


@pytest.mark.parametrize(
    ("value", "label"),
    [
        ({"valiant": {}}, "valiant"),
        ({"valiant": {"policy": "crg", "share": 0.50}}, "valiant (policy=crg, share=0.5)"),
        ({"a": {"b": {"c": 1}}}, "a (b (c=1))"),
        ({"a": 1, "b": 2}, "a=1, b=2"),
        ([1, 2], "[1, 2]"),
        (True, "true"),
        (None, "null"),
        (7, "7"),
        (1e-7, "1e-07"),
        ("text", "text"),
    ],
)
def test_a_value_is_labelled_by_what_it_chooses(value: object, label: str) -> None:
    assert value_label(value) == label
    assert labels_of("path", [value]) == [label]


def test_rows_of_a_time_series_are_means_over_seeds_with_students_interval() -> None:
    columns = [
        np.array([1.0, np.nan, 5.0, np.nan]),
        np.array([2.0, 4.0, np.nan, np.nan]),
        np.array([6.0, 6.0, np.nan, np.nan]),
    ]
    first, second, third, last = mean_of_rows(columns)
    assert first.mean == pytest.approx(3.0, rel=1e-12)
    assert first.half_width == pytest.approx(STUDENT_2 * statistics.stdev([1, 2, 6]) / 3**0.5, rel=1e-12)
    assert second.mean == 5.0
    assert second.half_width == pytest.approx(STUDENT_1, rel=1e-12)
    assert (third, last) == (Estimate(5.0), Estimate(None))


def test_a_column_of_a_curve_is_that_of_its_first_point_in_every_seed_that_has_it() -> None:
    def recorded(load: float, seed: int) -> hs.Result:
        table = pa.table({"cycle": [0, 10], "rate": [load + seed, None]})
        axes = {"load": load, "measure.seed": seed}
        return hs.Result({"config": {}, "result": {"offered_load": load}}, axes, {"timeseries": table})

    without = point(9, {"load": 0.1, "measure.seed": 3}, offered_load=0.1)
    results = hs.Results({0: recorded(0.2, 1), 1: recorded(0.1, 1), 2: recorded(0.1, 2), 3: without})
    (series,) = curves(results)
    found = column_of(series, "timeseries", "rate")
    assert [column[0] for column in found] == [1.1, 2.1]
    assert all(np.isnan(column[1]) for column in found)
    assert cycles(series, "timeseries").tolist() == [0, 10]
    assert cycles(Series("", [Group({}, [without])]), "timeseries").size == 0
