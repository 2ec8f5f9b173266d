"""What `Result` and `Results` give and show, from records that are written down here."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import hopsim as hs
from hopsim.errors import ConfigError, NotRecordedError
from hopsim.insight import packets
from hopsim.insight.packets import Choice
from hopsim.results.result import Result, Results

SUMMARY: dict[str, Any] = {
    "offered_load": 0.25,
    "accepted_load": 0.2468135,
    "packet_latency_mean": 1234.5678,
    "packet_latency_p99": 999,
    "hops_mean": 3.0,
    "router_injection_max_min_ratio": None,
    "verdict": "steady",
}
"""Without Jain's index."""
FABRIC: dict[str, Any] = {
    "throughput_gbps": 12.3456789,
    "flow_throughput_min_gbps": 1.5,
    "flow_throughput_max_gbps": 2.5,
    "jain_index": 0.75,
    "packet_latency_mean_ns": 4321.0,
    "packets_marked": 1234567,
}


def result(summary: dict[str, Any] | None = None, axes: dict[str, Any] | None = None, **more: Any) -> Result:
    record = {"config": more.get("config", {}), "result": dict(summary or {}), "jobs": more.get("jobs", [])}
    return Result(record, axes or {}, more.get("tables", {}), more.get("labels"))


def html_of(shown: Any) -> str:
    return shown._repr_html_()


def test_a_result_in_a_line_and_as_a_table() -> None:
    tables = {"nodes": pa.table({"node": [1]}), "a<b": pa.table({"x": [1]})}
    one = result(SUMMARY, tables=tables)
    assert repr(one) == (
        "Result(offered_load=0.25, accepted_load=0.24681, packet_latency_mean=1234.6, "
        "packet_latency_p99=999, hops_mean=3, router_injection_max_min_ratio=–, jain_index=–, verdict=steady)"
    )
    rows = [
        ("offered_load", "0.25", "phits/(node·cycle)"),
        ("accepted_load", "0.24681", "phits/(node·cycle)"),
        ("packet_latency_mean", "1234.6", "cycles"),
        ("packet_latency_p99", "999", "cycles"),
        ("hops_mean", "3", ""),
        ("router_injection_max_min_ratio", "–", ""),
        ("jain_index", "–", ""),
        ("verdict", "steady", ""),
    ]
    body = "".join(f"<tr><th>{name}</th><td>{value}</td><td>{unit}</td></tr>" for name, value, unit in rows)
    assert html_of(one) == f"<table>{body}</table><p>Tables: nodes, a&lt;b</p>"
    assert html_of(result(SUMMARY)).endswith("<p>Tables: none</p>")


def test_a_result_of_a_fabric_has_other_figures() -> None:
    one = result(FABRIC)
    assert repr(one) == (
        "Result(throughput_gbps=12.346, flow_throughput_min_gbps=1.5, flow_throughput_max_gbps=2.5, "
        "jain_index=0.75, packet_latency_mean_ns=4321, packets_marked=1234567, verdict=–)"
    )
    assert "<tr><th>throughput_gbps</th><td>12.346</td><td>Gb/s</td></tr>" in html_of(one)


def test_the_record_is_one_line_of_json_with_the_jobs_if_there_are_several() -> None:
    jobs = [{"job": "a", "x": 1}, {"job": "b", "x": 2}]
    one, two = (result({"x": 0.5}, config={"c": [1, 2]}, jobs=jobs[:count]) for count in (1, 2))
    assert one.json() == '{"config":{"c":[1,2]},"result":{"x":0.5}}'
    assert two.json() == (
        '{"config":{"c":[1,2]},"result":{"x":0.5},"jobs":[{"job":"a","x":1},{"job":"b","x":2}]}'
    )
    assert Result({"config": {}, "result": {}}, {}, {}).jobs == []


def test_what_was_not_recorded_is_told_with_what_records_it() -> None:
    one = result()
    for name, how in (
        ("nodes", 'measure.streams = ["nodes"]'),
        ("timeseries", "measure.interval > 0"),
        ("flow_waits", 'measure.streams = ["waits"]'),
    ):
        with pytest.raises(NotRecordedError) as refused:
            getattr(one, name)
        assert str(refused.value) == f"{name} was not recorded; set {how}"
    table = pa.table({"node": [1]})
    assert result(tables={"nodes": table}).nodes is table


def test_packets_are_those_of_the_choice(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[Result, Choice, bool]] = []

    def of(of_what: Result, choice: Choice, *, with_flits: bool) -> list[packets.Packet]:
        asked.append((of_what, choice, with_flits))
        return []

    monkeypatch.setattr(packets, "of", of)
    one = result()
    assert one.packets(source=1, destination=2, serial=3, every=4, after=5, slowest=6) == []
    assert one.packets(flits=True) == []
    assert asked == [(one, Choice(1, 2, 3, 4, 5, 6), False), (one, Choice(), True)]


AXES: list[dict[str, Any]] = [
    {"routing": {"valiant": {"policy": "crg"}}, "links.local.latency": 10},
    {"routing": "minimal", "links.local.latency": 10},
    {"routing": "minimal", "links.global.latency": 5, "size": 4},
]


def several() -> Results:
    """Three points in another order than that of their numbers, two of which recorded a table."""
    tables = [{"nodes": pa.table({"node": [0, 1]})}, {}, {"nodes": pa.table({"node": [2], "late": [0.5]})}]
    found = [
        result(
            {**SUMMARY, "offered_load": 0.1 * at, "verdict": ("steady", "steady", None)[at]},
            axes,
            tables=tables[at],
            jobs=[{"job": "a", "x": at}],
        )
        for at, axes in enumerate(AXES)
    ]
    return Results({9: found[2], 2: found[0], 5: found[1]})


def test_points_are_in_the_order_of_their_numbers() -> None:
    results = several()
    assert results.points == [2, 5, 9]
    assert [each.axes for each in results] == AXES
    assert [results[at].axes for at in (0, -1)] == [AXES[0], AXES[2]]
    assert len(results) == 3
    assert results.axes == ["routing", "links.local.latency", "links.global.latency", "size"]
    part = results[1:]
    assert (part.points, [each.axes for each in part]) == ([5, 9], AXES[1:])
    assert results.origin is part.origin is None


def test_columns_are_those_of_the_table() -> None:
    results = several()
    # In order of their first appearance: the last point has axes of its own.
    assert results.column_names == ["point", *list(AXES[0]), *SUMMARY, "links.global.latency", "size"]
    assert results["offered_load"].to_pylist() == [0.0, 0.1, 0.2]
    assert results["size"].to_pylist() == [None, None, 4]
    assert results.to_pylist() == results.table.to_pylist()
    assert results.to_pylist()[1] == {
        "point": 5,
        "routing": "minimal",
        "links.local.latency": 10,
        "links.global.latency": None,
        "size": None,
        **SUMMARY,
        "offered_load": 0.1,
    }
    assert results.jobs.to_pylist()[2]["x"] == 2
    with pytest.raises(KeyError, match="ofered_load: no such column; did you mean offered_load"):
        _ = results["ofered_load"]


def test_a_stream_has_the_rows_of_all_points_with_their_numbers() -> None:
    results = several()
    assert results.recorded == ["nodes"]
    assert [part.num_rows for part in results.parts("nodes")] == [2, 1]
    assert results.stream("nodes").to_pylist() == [
        {"point": 2, "node": 0, "late": None},
        {"point": 2, "node": 1, "late": None},
        {"point": 9, "node": 2, "late": 0.5},
    ]
    with pytest.raises(NotRecordedError, match=r"^links was not recorded; recorded: nodes$"):
        results.stream("links")
    with pytest.raises(NotRecordedError, match=r"^links was not recorded; recorded: none$"):
        Results({0: result()}).stream("links")
    two = Results({0: result(tables={name: pa.table({"x": [1]}) for name in ("links", "nodes")})})
    with pytest.raises(NotRecordedError, match=r"^ranks was not recorded; recorded: nodes, links$"):
        two.stream("ranks")


def test_a_point_is_found_by_its_number_or_if_it_is_the_only_one() -> None:
    results = several()
    assert results.by_number(5) is results[1]
    assert Results({7: results[1]}).by_number() is results[1]
    assert Results({7: results[1]}).by_number(7) is results[1]
    for point in (0, True, "5"):
        wrong: Any = point
        with pytest.raises(ConfigError) as refused:
            results.by_number(wrong)
        assert str(refused.value) == (f"point {point!r}: has not finished or is not there; valid: 2, 5, 9")
    # 1 is there, True is not.
    with pytest.raises(ConfigError, match="point True: has not finished"):
        Results({1: results[1]}).by_number(True)
    for number in (None, 0):
        with pytest.raises(
            ConfigError, match=rf"^point {number}: has not finished or is not there; valid: none"
        ):
            Results({}).by_number(number)
    with pytest.raises(ConfigError) as refused:
        results.by_number()
    assert str(refused.value) == (
        "3 points; valid: the number of one of these\n"
        "  2: routing = {'valiant': {'policy': 'crg'}}, links.local.latency = 10\n"
        "  5: routing = minimal, links.local.latency = 10\n"
        "  9: routing = minimal, links.global.latency = 5, size = 4"
    )


def test_why_is_that_of_the_point(monkeypatch: pytest.MonkeyPatch) -> None:
    def explain(of_what: Result) -> list[str]:
        return [f"{of_what.axes}"]

    monkeypatch.setattr("hopsim.insight.why.explain", explain)
    assert several().why(9) == several()[2].why() == [f"{AXES[2]}"]


def test_an_axis_is_named_by_its_path_or_an_end_of_it() -> None:
    results = several()
    assert results.axis("links.local.latency", "--x") == "links.local.latency"
    assert results.axis("local.latency", "--x") == "links.local.latency"
    assert results.axis("size", "--x") == "size"
    axes = "axes: routing, links.local.latency, links.global.latency, size"
    with pytest.raises(ConfigError) as refused:
        results.axis("latency", "--x")
    assert str(refused.value).startswith(f"--x latency: is the end of several axes; {axes}")
    with pytest.raises(ConfigError) as refused:
        results.axis("rooting", "--x")
    assert str(refused.value) == (f"--x rooting: is not an axis of the sweep; {axes}; did you mean routing?")
    # An end begins at a dot.
    with pytest.raises(ConfigError, match=r"^--by ize: is not an axis of the sweep; axes: routing"):
        results.axis("ize", "--by")
    with pytest.raises(ConfigError, match=r"^--by x: is not an axis of the sweep; axes: none$"):
        Results({0: result()}).axis("x", "--by")
    # A path is preferred to the end of another one.
    both = Results({0: result(axes={"a.load": 1, "load": 2})})
    assert both.axis("load", "--x") == "load"


def test_values_of_an_axis_are_told_once_each() -> None:
    swept = Results({at: result(axes={"x": value}) for at, value in enumerate([2, 1, {"b": 1, "a": 2}, 2])})
    same = Results(
        {at: result(axes={"x": value}) for at, value in enumerate([{"a": 2, "b": 1}, {"b": 1, "a": 2}])}
    )
    assert swept.axis_values("x") == [2, 1, {"b": 1, "a": 2}]
    assert same.axis_values("x") == [{"a": 2, "b": 1}]


def routed() -> Results:
    values: list[Any] = ["minimal", {"valiant": {}}, "minimal"]
    return Results(
        {
            3 + at: result(
                SUMMARY,
                {"router.routing": value, "size": at},
                labels={"size": f"n{at}"},
                tables={"nodes": pa.table({"node": [at]})},
                jobs=[{"job": "a"}],
                config={"at": at},
            )
            for at, value in enumerate(values)
        }
    )


def test_values_have_the_names_that_they_are_given() -> None:
    results = routed()
    found = results.labelled({"routing": ["MIN", "VAL"]})
    assert [each.labels for each in found] == [
        {"size": f"n{at}", "router.routing": name} for at, name in enumerate(("MIN", "VAL", "MIN"))
    ]
    assert found.points == results.points == [3, 4, 5]
    for each, before in zip(found, results, strict=True):
        assert (each.config, each.summary, each.jobs, each.axes, each.tables) == (
            before.config,
            before.summary,
            before.jobs,
            before.axes,
            before.tables,
        )
    both = results.labelled({"routing": ["", "VAL"], "size": ["a", "b", "c"]})
    assert [list(each.labels.values()) for each in both] == [["a", ""], ["b", "VAL"], ["c", ""]]
    assert [each.labels for each in results] == [{"size": f"n{at}"} for at in range(3)]


@pytest.mark.parametrize("names", [["MIN"], ["MIN", "VAL", "X"], ["MIN", "MIN"], []])
def test_each_value_has_a_name_of_its_own(names: list[str]) -> None:
    with pytest.raises(ConfigError) as refused:
        routed().labelled({"routing": names})
    assert str(refused.value) == (
        f"--label routing={', '.join(names)}: must be 2 different names, for the values minimal, valiant"
    )
    with pytest.raises(ConfigError, match="--label x: is not an axis"):
        routed().labelled({"x": names})


def test_results_in_a_line_and_as_a_table() -> None:
    results = several()
    assert repr(results) == (
        "Results(3 points, axes: routing, links.local.latency, links.global.latency, size, "
        "verdicts: 2 steady)"
    )
    assert repr(Results({0: result()})) == "Results(1 points, axes: none)"
    mixed = [result({"verdict": name}) for name in ("steady", "saturated", None, "steady")]
    assert repr(Results(dict(enumerate(mixed)))) == (
        "Results(4 points, axes: none, verdicts: 2 steady, 1 saturated)"
    )
    head = [*results.axes, *list(SUMMARY)[:6], "jain_index", "verdict"]
    cells = [
        ["valiant (policy=crg)", "10", "–", "–", "0", "0.24681", "1234.6", "999", "3", "–", "–", "steady"],
        ["minimal", "10", "–", "–", "0.1", "0.24681", "1234.6", "999", "3", "–", "–", "steady"],
        ["minimal", "–", "5", "4", "0.2", "0.24681", "1234.6", "999", "3", "–", "–", "–"],
    ]
    named = "".join(f"<th>{name}</th>" for name in head)
    rows = "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>" for row in cells)
    assert html_of(results) == f"<table><thead><tr>{named}</tr></thead><tbody>{rows}</tbody></table>"


def test_a_table_of_fabrics_has_their_figures_and_no_tags_of_its_own() -> None:
    shown = html_of(Results({0: result(FABRIC, {"a<b": "<c>"}), 1: result()}))
    assert "<th>a&lt;b</th><th>throughput_gbps</th>" in shown
    assert "<tr><td>&lt;c&gt;</td><td>12.346</td>" in shown
    assert "offered_load" not in shown


def test_a_report_is_written_to_the_path(tmp_path: Path) -> None:
    results = hs.sweep(
        {"topology": {"ring": {"routers": 3}}, "measure": {"warmup": 0, "cycles": 50}},
        load=[0.1, 0.2],
        workers=1,
        progress=False,
    )
    path = results.report(str(tmp_path / "report.html"))
    assert path == tmp_path / "report.html"
    assert path.read_text("utf-8").startswith("<!DOCTYPE html>")
    assert json.loads(results[0].json())["result"] == results[0].summary
