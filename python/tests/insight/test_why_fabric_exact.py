"""Why an InfiniBand fabric is slow, told from rows of its streams that are written down here."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

import hopsim as hs
from hopsim.errors import NotRecordedError
from hopsim.insight import limit_note, why_fabric
from hopsim.results.result import Result

Flow = tuple[str, str, float | None]
"""Name, role, and the share of the window in which it was held up."""


def victims(output: tuple[str, int, str], *flows: Flow, job: str = "a") -> list[dict[str, Any]]:
    """Rows of the stream: what is held up at an output."""
    origin, port, to = output
    at = {"from": origin, "port": port, "to": to, "job": job}
    return [{**at, "name": name, "role": role, "lost_fraction": lost} for name, role, lost in flows]


def fabric(
    *rows: list[dict[str, Any]],
    tables: dict[str, pa.Table] | None = None,
    control: dict[str, Any] | None = None,
    **summary: Any,
) -> Result:
    router = {"infiniband": {"congestion_control": control} if control else {}}
    config = {"router": router, "measure": {"streams": ["flows"]}}
    table = pa.Table.from_pylist(
        [row for each in rows for row in each],
        schema=pa.schema(
            {
                **dict.fromkeys(("from", "to", "job", "name", "role"), pa.string()),
                "port": pa.uint32(),
                "lost_fraction": pa.float64(),
            }
        ),
    )
    measured = {"throughput_gbps": 12.34567, "time_s": 0.003, **summary}
    return Result({"config": config, "result": measured}, {}, {"victims": table, **(tables or {})})


HOT = ("switch 3", 4, "node 9")
COLD = ("switch 1", 0, "switch 2")
NOTHING = "No flow is held up by congestion for more than 1% of the window."


def told(*rows: list[dict[str, Any]], **more: Any) -> list[str]:
    """All but the line about the throughput."""
    return why_fabric.explain(fabric(*rows, **more))[1:]


def test_the_first_line_is_the_throughput_with_the_verdict_if_there_is_one() -> None:
    assert why_fabric.explain(fabric()) == ["Throughput 12.35 Gb/s of all flows.", NOTHING]
    (line, _) = why_fabric.explain(fabric(verdict="steady"))
    assert line == "Throughput 12.35 Gb/s of all flows: steady."


def test_an_output_at_which_congestion_begins_is_told_with_whom_it_holds_up() -> None:
    rows = victims(
        HOT,
        ("f1", "contributor", 0.2),
        ("f2", "contributor", 0.55),
        ("f3", "victim", 0.7),
        ("f4", "victim", None),
    )
    assert told(rows) == [
        "Congestion begins at port 4 of switch 3, to node 9; contributors held up, for so much of the "
        "window: f2 of a 55%, f1 of a 20%; victims, which do not use it, held up, for so much of the window: "
        "f3 of a 70%, f4 of a 0%."
    ]
    assert told(victims(HOT, ("f1", "contributor", 0.2))) == [
        "Congestion begins at port 4 of switch 3, to node 9; contributors held up, for so much of the "
        "window: f1 of a 20%; no victims."
    ]
    assert told(victims(HOT, ("f1", "victim", 0.2))) == [
        "Congestion begins at port 4 of switch 3, to node 9; victims, which do not use it, held up, for so "
        "much of the window: f1 of a 20%."
    ]


def test_rows_of_a_flow_add_up_and_those_of_other_jobs_do_not() -> None:
    (line,) = told(
        victims(HOT, ("f", "victim", 0.25), ("f", "victim", 0.125)),
        victims(HOT, ("f", "victim", 0.5), job="b"),
    )
    assert line.endswith(": f of b 50%, f of a 38%.")


def test_three_flows_are_named_by_how_long_they_were_held_up_and_then_by_name() -> None:
    shares = {"z": 0.4, "b": 0.1, "a": 0.1, "y": 0.1, "c": 0.05}
    for count, end in ((3, ""), (4, ", and 1 more"), (5, ", and 2 more")):
        flows = [(name, "victim", share) for name, share in list(shares.items())[:count]]
        named = "z of a 40%, a of a 10%, b of a 10%"
        assert told(victims(HOT, *flows))[0].endswith(f"window: {named}{end}.")


def test_an_output_at_which_each_is_held_up_slightly_is_not_told() -> None:
    assert told(victims(HOT, ("f", "victim", 0.01), ("g", "victim", 0.01))) == [NOTHING]
    (line,) = told(
        victims(COLD, ("f", "victim", 0.01)),
        victims(HOT, ("f", "contributor", 0.0101), ("g", "victim", 0.001)),
    )
    assert line.startswith("Congestion begins at port 4 of switch 3, to node 9; contributors")
    # One of the roles is enough.
    assert len(told(victims(HOT, ("f", "contributor", 0.001), ("g", "victim", 0.0101)))) == 1


def test_outputs_are_told_by_all_that_is_lost_at_them_and_the_others_counted() -> None:
    lost = {0: 0.2, 1: 0.3, 2: 0.3, 3: 0.25, 4: 0.05}
    rows = [
        victims(("switch 1", port, "node 0"), ("f", "victim", share), ("g", "contributor", share / 2))
        for port, share in lost.items()
    ]
    for count, ports, end in (
        (1, [0], ""),
        (3, [1, 2, 0], ""),
        (4, [1, 2, 3], "Congestion begins at 1 more output, where less is lost."),
        (5, [1, 2, 3], "Congestion begins at 2 more outputs, where less is lost."),
    ):
        lines = told(*rows[:count])
        beginnings = [f"Congestion begins at port {port} of switch 1, to node 0;" for port in ports]
        assert [line.split(";")[0] + ";" for line in lines[: len(ports)]] == beginnings
        assert lines[len(ports) :] == ([end] if end else [])


def queues(*rows: tuple[float, int, int, int, int, bool]) -> dict[str, pa.Table]:
    """`queue_series`: end of an interval [ms], switch, port, VL, bytes queued, whether it is congested."""
    names: Any = ("time_s", "switch", "port", "vl", "queued_bytes", "is_congested")
    listed: list[dict[str, Any]] = [dict(zip(names, (row[0] / 1e3, *row[1:]), strict=True)) for row in rows]
    return {"queue_series": pa.Table.from_pylist(listed)}


ONE = victims(HOT, ("f", "victim", 0.5))
SERIES = queues(
    # Of the warm-up of 2 ms, of another switch and of another port: none of them counts.
    (1, 3, 4, 0, 90_000, True),
    (2, 3, 4, 0, 80_000, True),
    (3, 3, 4, 0, 1_000, False),
    (4, 3, 4, 0, 2_000, True),
    (5, 3, 4, 0, 6_000, False),
    (3, 3, 4, 1, 2_500, True),
    (4, 3, 4, 1, 2_500, True),
    (5, 3, 4, 1, 3_000, True),
    (5, 2, 4, 0, 70_000, True),
    (5, 3, 5, 0, 60_000, True),
)


def test_what_waits_at_an_output_is_that_of_its_fullest_lane_in_the_window() -> None:
    waits = "There 3,000 bytes wait on average, 6,000 at most"
    assert told(ONE, tables=SERIES)[1:] == [f"{waits}."]
    controlled = told(ONE, tables=SERIES, control={"ccti_limit": 127, "cct": "linear"})
    assert controlled[1:] == [f"{waits}; it is congested at the end of 33% of the intervals."]


def test_an_interval_that_ends_a_little_late_belongs_to_the_window() -> None:
    late = queues(
        (1.0000001, 3, 4, 0, 8, False), (2.0000001, 3, 4, 0, 4, False), (3.0000001, 3, 4, 0, 2, False)
    )
    assert told(ONE, tables=late, time_s=0.002)[1:] == ["There 3 bytes wait on average, 4 at most."]


def test_of_nodes_and_of_ports_that_were_not_recorded_there_are_no_queues() -> None:
    assert len(told(victims(("node 3", 4, "switch 1"), ("f", "victim", 0.5)), tables=SERIES)) == 1
    assert len(told(victims(("switch 4", 4, "node 1"), ("f", "victim", 0.5)), tables=SERIES)) == 1
    assert len(told(ONE)) == 1


def test_each_output_is_followed_by_its_queues() -> None:
    second = victims(("switch 2", 4, "node 1"), ("f", "victim", 0.4))
    lines = told(ONE, second, tables=SERIES)
    assert [line.split()[0] for line in lines] == ["Congestion", "There", "Congestion", "There"]
    assert lines[3] == "There 70,000 bytes wait on average, 70,000 at most."


LIMIT = {"ccti_limit": 7, "cct": "linear"}


def test_congestion_control_at_its_end_is_told_with_the_flows_most_at_it() -> None:
    shares = {"f": 0.5, "g": 0.9, "h": 0.05, "i": 0.06, "j": None}
    rows = [{"job": "a", "name": name, limit_note.KEY: share} for name, share in shares.items()]
    flows = {"flows": pa.Table.from_pylist(rows)}
    limited = fabric(ONE, tables=flows, control=LIMIT, ccti_at_limit_fraction=0.9)
    sentence = limit_note.sentence(limited)
    assert why_fabric.explain(limited)[1] == f"{sentence} Most at it: g of a 90%, f of a 50%, i of a 6%."
    without = fabric(ONE, control=LIMIT, ccti_at_limit_fraction=0.9)
    assert why_fabric.explain(without)[1] == sentence
    for share in (0.05, 0.0, None):
        slight = fabric(ONE, tables=flows, control=LIMIT, ccti_at_limit_fraction=share)
        assert why_fabric.explain(slight)[1].startswith("Congestion begins")


def test_it_says_how_much_links_are_paused_and_which_one_most() -> None:
    assert told(pauses=0, paused_fraction=0.0)[0] == "No link is paused."
    on_average = "Links are paused 1,234 times, 2.5% of the time on average"
    paused = {"pauses": 1234, "paused_fraction": 0.025}
    assert told(**paused)[0] == f"{on_average}."
    names = ("from", "port", "to", "pauses", "paused_fraction")
    rows = [("node 3", 0, "switch 1", 1000, 0.1), ("switch 0", 2, "switch 1", 234, 0.456)]
    links = pa.Table.from_pylist([dict(zip(names, row, strict=True)) for row in rows])
    assert told(tables={"links": links}, **paused)[0] == (
        f"{on_average}; most that of port 2 of switch 0, to switch 1: 234 times, 46% of the time."
    )


def test_without_its_stream_it_says_what_to_set() -> None:
    result = fabric()
    result.tables = {}
    with pytest.raises(NotRecordedError) as refused:
        why_fabric.explain(result)
    assert str(refused.value) == (
        "victims not recorded; run it again into another directory, with --set "
        '\'measure.streams=["flows", "victims"]\' (queue_series, with measure.time.interval, tells of queues)'
    )


def test_where_links_fail_it_says_what_is_lost_by_cause_and_which_messages_are_not_there() -> None:
    lost = {
        "packets_sent": 5000,
        "packets_lost": 1203,
        "packets_lost_on_links": 2,
        "packets_discarded": 1201,
        "packets_spoiled": 0,
    }
    by_cause = (
        "1,203 of 5,000 packets are lost, 2 on links that failed, 1,201 discarded by switches without a way"
    )
    assert told(**lost)[0] == f"Links fail: {by_cause}."
    assert told(**lost, messages_lost=1)[0] == f"Links fail: {by_cause}; 1 message is never there."
    assert told(**lost, messages_lost=1100)[0] == f"Links fail: {by_cause}; 1,100 messages are never there."
    assert told(packets_lost=0, packets_sent=7, messages_lost=0) == [
        "Links fail: 0 of 7 packets are lost.",
        NOTHING,
    ]


def test_it_says_which_ways_there_are_not() -> None:
    result = hs.run(
        "router = 'infiniband'\ntopology.xgft = { children = [2, 2], parents = [1, 2] }\n"
        "faults = [{ links.between = [[0, 2]], time = { at = '20 us', until = '20.5 us' } }]\n"
        "jobs = [{ messages = { rate = '1 Gb/s' } }]\n"
        "measure = { time = { window = '40 us' }, streams = ['victims'] }\n",
        progress=False,
    )
    said = "Cut off from 20 us to 20.5 us: up to 8 of 12 ways between nodes at once, first "
    assert why_fabric.explain(result)[2].startswith(said)
