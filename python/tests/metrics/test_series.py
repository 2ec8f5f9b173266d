"""Groups over seeds, curves over load and their labels, computed again from the plain list of points."""

from __future__ import annotations

import itertools
import math
import random
import statistics
from collections.abc import Iterable
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import hopsim as hs
from hopsim.metrics.series import (
    OFFERED,
    Abscissa,
    Group,
    Series,
    abscissa_of,
    along,
    axis_names,
    by_job,
    curve_axes,
    curves,
    has_bursts,
    has_flows,
    has_jobs,
    has_programs,
    of_programs,
    of_traffic,
    over_seeds,
)
from hopsim.metrics.stats import Estimate
from hopsim.plot.records import column_of, cycles, mean_of_rows
from hopsim.vocabulary.labels import axis_labels, is_load, labels_of, value_label

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


LOAD = "jobs.{}.traffic.process.bernoulli.load"
VICTIM, AGGRESSOR = LOAD.format(0), LOAD.format(1)
PACKETS = "jobs.{}.traffic.process.synchronised_bursts.packets"


def shared(
    number: int, axes: dict[str, Any], names: tuple[str, ...] = ("victim", "aggressor"), **more: Any
) -> hs.Result:
    """A point whose network jobs share: job by job they accept `number`, `number` + 1, …"""
    record = {
        "config": {"jobs": [{"name": name} for name in names]},
        "result": {"number": number, "offered_load": 0.5},
        "jobs": [
            {"job": name, "offered_load": 0.25, "accepted_load": number + place}
            for place, name in enumerate(names)
        ],
    }
    return hs.Result(record, axes, more.get("tables", {}), more.get("labels"))


def all_of(results: Iterable[hs.Result]) -> hs.Results:
    return hs.Results(dict(enumerate(results)))


def crossed(product: dict[str, list[Any]], names: tuple[str, ...] = ("victim", "aggressor")) -> hs.Results:
    """A point that jobs share for each combination."""
    values = itertools.product(*product.values())
    return all_of(
        shared(number, dict(zip(product, each, strict=True)), names) for number, each in enumerate(values)
    )


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


def test_a_point_that_occurs_again_counts_once() -> None:
    seeds = [1, 1, 2, 1]
    results = all_of(
        point(number, {"load": 0.1, "measure.seed": seed}, seed=seed) for number, seed in enumerate(seeds)
    )
    assert [numbers(group) for group in over_seeds(results)] == [[0, 2]]


def test_a_value_goes_by_the_name_that_it_was_given_or_else_by_its_own() -> None:
    axes = [{"routing": name, "load": load} for name in ("minimal", "valiant") for load in (0.1, 0.2)]
    results = all_of(point(number, each) for number, each in enumerate(axes))
    named = results.labelled({"routing": ["MIN", "VAL"]})
    assert [group.labels for group in over_seeds(results)] == [
        {"routing": each["routing"], "load": str(each["load"])} for each in axes
    ]
    assert [group.labels for group in over_seeds(named)] == [
        {"routing": name, "load": load} for name in ("MIN", "VAL") for load in ("0.1", "0.2")
    ]


def test_values_that_are_too_long_to_be_shown_are_named_by_their_axis() -> None:
    long: dict[str, Any] = {"packet_length": 8, "pattern": "uniform", "request_reply": {}}
    jobs: list[Any] = [[{"traffic": long}], [{"name": "a"}, {"name": "b"}]]
    results = all_of(point(number, {"jobs": value}) for number, value in enumerate(jobs))
    assert [group.labels for group in over_seeds(results)] == [{"jobs": "1 job"}, {"jobs": "2 jobs"}]
    assert [series.label for series in curves(results)] == ["1 job", "2 jobs"]


def test_points_of_one_job_each_are_not_taken_apart() -> None:
    results = crossed({"load": [0.1, 0.2]}, ("alone",))
    assert not has_jobs(results)
    assert by_job(results) is results


def test_taken_apart_each_job_of_each_point_is_a_result_with_its_name_as_an_axis() -> None:
    rows = {"job": ["victim", "aggressor", "victim"], "packets": [1, 2, 3]}
    tables = {"latency_histogram": pa.table(rows), "links": pa.table({"phits": [7, 8]})}
    results = all_of(
        [
            shared(10, {"load": 0.1}, ("victim",)),
            shared(20, {"load": 0.2}, tables=tables, labels={"load": "low"}),
        ]
    )
    parts = by_job(results)
    assert has_jobs(results)
    assert has_jobs(parts)
    assert parts.points == [0, 1, 2]
    assert [part.axes for part in parts] == [
        {"load": 0.1, "job": "victim"},
        {"load": 0.2, "job": "victim"},
        {"load": 0.2, "job": "aggressor"},
    ]
    assert [part.summary for part in parts] == [*results[0].jobs, *results[1].jobs]
    assert [part.config for part in parts] == [results[0].config, results[1].config, results[1].config]
    assert [part.labels for part in parts] == [{}, {"load": "low"}, {"load": "low"}]
    assert [list(part.tables) for part in parts] == [[], list(tables), list(tables)]
    assert [len(part.tables) for part in parts] == [0, 2, 2]
    assert [part.latency_histogram.to_pydict() for part in parts[1:]] == [
        {"job": ["victim", "victim"], "packets": [1, 3]},
        {"job": ["aggressor"], "packets": [2]},
    ]
    assert all(part.links == tables["links"] for part in parts[1:])


def test_two_jobs_are_enough_to_be_several() -> None:
    assert has_jobs(crossed({"load": [0.1]}))
    assert [series.label for series in curves(by_job(crossed({"load": [0.1]})))] == ["victim", "aggressor"]


def test_axes_of_one_of_several_jobs_are_named_after_it() -> None:
    paths = {
        VICTIM: "load of victim",
        AGGRESSOR: "load of aggressor",
        "jobs.1.traffic.packet_length": "packet_length of aggressor",
        # The load that an axis means when it says no more is the offered one.
        "jobs.1.traffic.changes.0.load": "changes.0.load of aggressor",
        "routing": "routing",
        "load": "load",
        "jobs": "jobs",
    }
    # The first of the points has no second job whose name could be told.
    several = all_of([shared(0, {}, ("victim",)), shared(1, {})])
    assert axis_names(several, list(paths)) == list(paths.values())
    alone = crossed({VICTIM: [0.1]}, ("victim",))
    assert axis_names(alone, [VICTIM, "routing"]) == ["load", "routing"]


def test_curves_of_one_job_run_over_the_load_that_is_offered() -> None:
    results = crossed({VICTIM: [0.2, 0.1]}, ("alone",))
    assert abscissa_of(results) == Abscissa(paths=(VICTIM,))
    (series,) = curves(results)
    assert series.places() == [0.5, 0.5]
    assert series.abscissa.label == "Offered load [phits/(node·cycle)]"
    assert series.abscissa.text(series.groups[0]) == "offered load 0.5"


def test_curves_of_several_jobs_whose_loads_do_not_vary_run_over_the_load_that_is_offered() -> None:
    assert abscissa_of(crossed({"routing": ["minimal", "valiant"]})) == OFFERED


def test_curves_of_several_jobs_of_one_load_run_over_the_load_that_is_offered() -> None:
    results = crossed({"routing": ["minimal"], "load": [0.1, 0.2]})
    assert abscissa_of(results) == Abscissa(paths=("load",))
    assert curve_axes(results) == ["routing"]


def test_curves_run_over_the_load_of_the_job_that_it_is_varied_for() -> None:
    results = crossed({AGGRESSOR: [0.4, 0.125]})
    abscissa = Abscissa("offered load of aggressor", path=AGGRESSOR, paths=(AGGRESSOR,))
    assert abscissa_of(results) == abscissa
    assert abscissa.label == "Offered load of aggressor [phits/(node·cycle)]"
    found = curves(by_job(results))
    assert [series.label for series in found] == ["victim", "aggressor"]
    for place, series in enumerate(found):
        assert series.abscissa == abscissa
        assert series.places() == [0.125, 0.4]
        assert [value.mean for value in series.values("accepted_load")] == [1 + place, place]
        assert [abscissa.text(group) for group in series.groups] == [
            "offered load of aggressor 0.125",
            "offered load of aggressor 0.4",
        ]


def test_of_loads_that_vary_independently_curves_run_over_the_fastest() -> None:
    results = crossed(
        {LOAD.format(0): [0.1, 0.2], LOAD.format(2): [0.3, 0.4], LOAD.format(1): [0.5, 0.6]}, ("a", "b", "c")
    )
    fastest = LOAD.format(1)
    assert abscissa_of(results) == Abscissa("offered load of b", path=fastest, paths=(fastest,))
    assert curve_axes(results) == [LOAD.format(0), LOAD.format(2)]
    assert [series.label for series in curves(results)] == [
        f"load of a = {one}, load of c = {other}" for one in (0.1, 0.2) for other in (0.3, 0.4)
    ]
    assert [series.places() for series in curves(results)] == [[0.5, 0.6]] * 4


def test_loads_that_vary_together_are_one_abscissa() -> None:
    pairs = [(0.1, 0.2), (0.2, 0.4)]
    results = all_of(
        shared(number, {VICTIM: one, AGGRESSOR: other}) for number, (one, other) in enumerate(pairs)
    )
    assert abscissa_of(results) == Abscissa("offered load of victim", path=VICTIM, paths=(VICTIM, AGGRESSOR))
    assert curve_axes(results) == []
    (series,) = curves(results)
    assert series.places() == [0.1, 0.2]


def bursts(product: dict[str, list[Any]]) -> hs.Results:
    values = itertools.product(*product.values())
    return all_of(
        point(number, dict(zip(product, each, strict=True)), offered_load=None, cycles_per_burst=100.0)
        for number, each in enumerate(values)
    )


def test_curves_of_bursts_run_over_their_size() -> None:
    path = PACKETS.format(0)
    results = bursts({"routing": ["minimal", "valiant"], path: [20, 1000]})
    abscissa = Abscissa("burst size", "packets/node", path, (path,))
    assert abscissa_of(results) == abscissa
    assert abscissa.label == "Burst size [packets/node]"
    assert curve_axes(results) == ["routing"]
    assert [(series.label, series.places()) for series in curves(results)] == [
        ("minimal", [20.0, 1000.0]),
        ("valiant", [20.0, 1000.0]),
    ]
    assert abscissa.text(curves(results)[0].groups[1]) == "burst size 1e+03"


def test_of_sizes_of_bursts_curves_run_over_the_fastest() -> None:
    paths = [PACKETS.format(number) for number in (0, 2, 1)]
    results = bursts({path: [20, 50] for path in paths})
    assert abscissa_of(results) == Abscissa("burst size", "packets/node", paths[2], (paths[2],))
    assert curve_axes(results) == paths[:2]


def test_bursts_of_one_size_have_no_place() -> None:
    results = bursts({"routing": ["minimal", "valiant"]})
    abscissa = Abscissa("burst size", "packets/node", "", ())
    assert abscissa_of(results) == abscissa
    for series in curves(results):
        assert series.places() == [None]
        assert abscissa.text(series.groups[0]) == ""


def test_one_point_with_bursts_makes_the_curves_those_of_bursts() -> None:
    results = all_of([point(0, {"routing": "a"}, offered_load=0.1), bursts({"routing": ["b"]})[0]])
    assert abscissa_of(results).name == "burst size"


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


FABRIC, PROGRAM = {"throughput_gbps": 7.0}, {"execution_time": 5}


def test_what_a_point_is_of_is_told_by_its_summary() -> None:
    kinds: dict[str, dict[str, Any]] = {
        "traffic": {"offered_load": 0.1},
        "bursts": {"cycles_per_burst": 9.0},
        "program": PROGRAM,
        "fabric": FABRIC,
        "program on a fabric": FABRIC | PROGRAM,
    }
    found = {
        name: [has(all_of([point(0, {}, **summary)])) for has in (has_bursts, has_programs, has_flows)]
        for name, summary in kinds.items()
    }
    assert found == {
        "traffic": [False, False, False],
        "bursts": [True, False, False],
        "program": [False, True, False],
        "fabric": [False, False, True],
        "program on a fabric": [False, True, True],
    }
    # One point is enough.
    every = all_of(point(number, {}, **summary) for number, summary in enumerate(kinds.values()))
    assert (has_bursts(every), has_programs(every), has_flows(every)) == (True, True, True)
    assert [result.summary["number"] for result in of_programs(every)] == [2, 4]
    assert [result.summary["number"] for result in of_traffic(every)] == [0, 1, 3]
    assert (of_programs(every).points, of_traffic(every).points) == ([0, 1], [0, 1, 2])


def test_curves_of_fabrics_run_over_the_load_of_their_links() -> None:
    """Also where several jobs have rates of their own."""
    rate = "jobs.1.messages.rate"
    fabric = crossed({"routing": ["a", "b"], rate: ["1 Gb/s", "2 Gb/s"]})
    for result in fabric:
        result.summary.update(FABRIC)
    abscissa = abscissa_of(fabric)
    assert abscissa == Abscissa("offered load", "of what the links to the nodes carry", None, (rate,))
    assert abscissa.label == "Offered load [of what the links to the nodes carry]"


def grid(**product: list[Any]) -> hs.Results:
    """A point for each combination; `__` stands for a dot. It offers its load and accepts half of it."""
    paths = [name.replace("__", ".") for name in product]
    return all_of(
        point(number, axes, offered_load=axes.get("load", 0.2), accepted_load=axes.get("load", 0.2) / 2)
        for number, values in enumerate(itertools.product(*product.values()))
        for axes in [dict(zip(paths, values, strict=True))]
    )


def test_along_the_usual_axis_curves_are_the_usual_ones() -> None:
    results = grid(routing=["a", "b"], load=[0.1, 0.2])
    assert along(results, "load") == abscissa_of(results) == Abscissa(paths=("load",))
    # Where the load is no axis, what is offered is measured as all else is.
    assert along(grid(routing=["a", "b"]), "load").key == "load"
    bursts_ = bursts({PACKETS.format(0): [20, 50]})
    assert along(bursts_, PACKETS.format(0)) == abscissa_of(bursts_)
    jobs = crossed({VICTIM: [0.1, 0.2]})
    assert (
        along(jobs, VICTIM)
        == abscissa_of(jobs)
        == Abscissa("offered load of victim", path=VICTIM, paths=(VICTIM,))
    )


def test_along_a_column_of_the_summary_curves_run_over_what_was_measured() -> None:
    results = grid(routing=["a", "b"], load=[0.1, 0.2])
    abscissa = along(results, "accepted_load")
    assert abscissa == Abscissa("accepted load", "phits/(node·cycle)", None, ("load",), "accepted_load")
    for series in curves(results, abscissa=abscissa):
        assert series.places() == [0.05, 0.1]
        assert abscissa.text(series.groups[1]) == "accepted load 0.1"
    assert along(results, "packet_latency_p99") == Abscissa(
        "packet latency p99", "cycles", None, ("load",), "packet_latency_p99"
    )


def test_what_was_measured_has_its_points_in_the_order_of_what_was_varied() -> None:
    """Here the accepted load falls while the offered one grows."""
    results = all_of(
        point(number, {"load": load}, offered_load=load, accepted_load=1 - load)
        for number, load in enumerate([0.4, 0.1, 0.3])
    )
    (series,) = curves(results, abscissa=along(results, "accepted_load"))
    assert series.places() == [0.9, 0.7, 0.6]


def test_along_another_axis_of_numbers_curves_run_over_its_values() -> None:
    results = grid(routing=["a", "b"], router__cioq__buffers__network=[64, 8, 16], load=[0.1, 0.2])
    path = "router.cioq.buffers.network"
    abscissa = along(results, path)
    assert abscissa == Abscissa("buffers.network", "phits", path, (path,))
    found = curves(results, abscissa=abscissa)
    assert [series.label for series in found] == [
        f"{name}, load = {load}" for name in ("a", "b") for load in (0.1, 0.2)
    ]
    for series in found:
        assert series.places() == [8.0, 16.0, 64.0]
        assert abscissa.text(series.groups[2]) == "buffers.network 64"
    # By one axis: all loads at each place.
    (one, _) = curves(results, ["routing"], abscissa)
    assert one.places() == [8.0, 8.0, 16.0, 16.0, 64.0, 64.0]


def test_the_axis_of_a_job_is_named_after_it() -> None:
    path = "jobs.1.traffic.packet_length"
    results = crossed({path: [4, 8]})
    assert along(results, path) == Abscissa("packet_length of aggressor", "phits", path, (path,))


def test_an_axis_of_numbers_is_named_by_the_last_two_parts_of_its_path() -> None:
    results = grid(jobs__0__traffic__pattern__hotspot__fraction=[0.1, 0.2])
    assert along(results, "jobs.0.traffic.pattern.hotspot.fraction").name == "hotspot.fraction"


def test_axes_that_follow_from_that_of_the_curves_tell_none_apart() -> None:
    zipped = [(2, 20, "a"), (3, 30, "a"), (4, 20, "b")]
    results = all_of(
        point(number, {"h": h, "size": size, "routing": name, "load": 0.1}, offered_load=0.1)
        for number, (h, size, name) in enumerate(zipped)
    )
    assert along(results, "h").paths == ("h", "size", "routing", "load")
    assert along(results, "size").paths == ("size", "load")
    (series,) = curves(results, abscissa=along(results, "h"))
    assert (series.label, series.places()) == ("", [2.0, 3.0, 4.0])


def test_along_an_axis_of_names_groups_stand_at_their_numbers() -> None:
    results = grid(routing=["minimal", {"valiant": {"policy": "crg"}}, "olm"], load=[0.1, 0.2])
    abscissa = along(results, "routing")
    names = {'"minimal"': "minimal", '{"valiant": {"policy": "crg"}}': "valiant (policy=crg)", '"olm"': "olm"}
    assert abscissa == Abscissa("routing", "", "routing", ("routing",), names=names)
    assert abscissa.label == "Routing"
    found = curves(results, abscissa=abscissa)
    assert [series.label for series in found] == ["load = 0.1", "load = 0.2"]
    for series in found:
        assert series.places() == [0.0, 1.0, 2.0]
        assert [abscissa.text(group) for group in series.groups] == [
            "routing minimal",
            "routing valiant (policy=crg)",
            "routing olm",
        ]
    # A point without the axis stands nowhere, and comes first as one without load does.
    without = all_of([*results, point(9, {"load": 0.1})])
    (series, _) = curves(without, abscissa=along(without, "routing"))
    assert series.places() == [0.0, None, 1.0, 2.0]
    assert abscissa.text(Group({"load": 0.1}, [])) == ""


@pytest.mark.parametrize(("values", "are_numbers"), [([1, 2.5], True), ([1, True], False), ([1, "a"], False)])
def test_numbers_have_their_place_and_truths_and_texts_a_name(values: list[Any], are_numbers: bool) -> None:
    abscissa = along(grid(vcs=values), "vcs")
    assert bool(abscissa.names) is not are_numbers
    assert [abscissa.of(group) for group in over_seeds(grid(vcs=values))] == (
        values if are_numbers else [0.0, 1.0]
    )


def test_numbers_that_have_names_stand_at_the_numbers_of_these() -> None:
    results = grid(vcs=[8, 2]).labelled({"vcs": ["many", "few"]})
    abscissa = along(results, "vcs")
    assert abscissa.names == {"8": "many", "2": "few"}
    (series,) = curves(results, abscissa=abscissa)
    assert series.places() == [0.0, 1.0]
    assert abscissa.value_text(series.groups[1]) == "few"
