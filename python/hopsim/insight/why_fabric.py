"""Why a fabric is as slow as it is: where congestion begins, and which flows it holds up.

All of it is read from the stream `victims`, and from `queue_series` if that was recorded;
`docs/infiniband.md` says what they count.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pyarrow.compute

from hopsim.document.estimate import fabric, nodes_cut_off
from hopsim.errors import NotRecordedError
from hopsim.insight import limit_note

if TYPE_CHECKING:
    from hopsim.results.result import Result

pc: Any = pyarrow.compute

STREAM = "victims"
"""The stream that it needs."""
SLIGHT = 0.01
"""Share of the window below which it is not worth a word that a flow was held up."""
CAUSES = {
    "packets_lost_on_links": "on links that failed",
    "packets_discarded": "discarded by switches without a way",
    "packets_spoiled": "spoiled as a link failed",
}
"""Columns of packets lost, in words."""
SHOWN = 3
"""Outputs and flows that are named."""

Output = tuple[str, int, str]
"""What an output is a port of, that port, and what is at the other end of its link."""
Flow = tuple[str, str]
"""Job and name of a flow."""


def refuse_unrecorded(result: Result) -> None:
    """Raises `NotRecordedError`, with what to set, if the stream is missing."""
    if STREAM not in result.tables:
        streams = ", ".join(f'"{name}"' for name in [*result.config["measure"]["streams"], STREAM])
        raise NotRecordedError(
            f"{STREAM} not recorded; run it again into another directory, with "
            f"--set 'measure.streams=[{streams}]' (queue_series, with measure.time.interval, tells of queues)"
        )


def explain(result: Result) -> list[str]:
    """A few lines of plain text. Raises `NotRecordedError`."""
    refuse_unrecorded(result)
    rows: list[dict[str, Any]] = result.victims.to_pylist()
    roots: dict[Output, dict[str, dict[Flow, float]]] = {}
    for row in rows:
        output = (str(row["from"]), int(row["port"]), str(row["to"]))
        held = roots.setdefault(output, {}).setdefault(str(row["role"]), {})
        flow = (str(row["job"]), str(row["name"]))
        held[flow] = held.get(flow, 0.0) + (row["lost_fraction"] or 0.0)
    roots = {output: roles for output, roles in roots.items() if max(map(_greatest, roles.values())) > SLIGHT}
    lines = [_throughput(result), *_limited(result), *_lost(result), *_paused(result)]
    if not roots:
        return [*lines, f"No flow is held up by congestion for more than {SLIGHT:.0%} of the window."]
    in_order = sorted(roots, key=lambda output: (-_total(roots[output]), output))
    for output in in_order[:SHOWN]:
        lines += [_root(output, roots[output]), *_queue(result, output)]
    if (more := len(in_order) - SHOWN) > 0:
        outputs = "output" if more == 1 else "outputs"
        lines.append(f"Congestion begins at {more} more {outputs}, where less is lost.")
    return lines


def _throughput(result: Result) -> str:
    verdict = result.summary.get("verdict")
    text = f"Throughput {result.summary['throughput_gbps']:.4g} Gb/s of all flows"
    return f"{text}: {verdict}." if verdict else f"{text}."


def _limited(result: Result) -> list[str]:
    """That congestion control is at its end, if it is, and of which flows, if they were recorded."""
    if limit_note.at_limit(result) <= limit_note.SLIGHT:
        return []
    text = limit_note.sentence(result)
    if "flows" not in result.tables:
        return [text]
    rows: list[dict[str, Any]] = result.flows.to_pylist()
    shares = {(str(row["job"]), str(row["name"])): row[limit_note.KEY] or 0.0 for row in rows}
    held = {flow: share for flow, share in shares.items() if share > limit_note.SLIGHT}
    return [f"{text} Most at it: {_flows(held)}."]


def _lost(result: Result) -> list[str]:
    """What is lost where links fail, by cause, and which ways there are not for a while."""
    summary = result.summary
    if (lost := summary.get("packets_lost")) is None:
        return []
    told = f"Links fail: {lost:,} of {summary['packets_sent']:,} packets are lost"
    if lost:
        causes = ", ".join(f"{summary[key]:,} {text}" for key, text in CAUSES.items() if summary[key])
        told += f", {causes}"
    if messages := summary.get("messages_lost"):
        told += f"; {messages:,} {'message is' if messages == 1 else 'messages are'} never there"
    return [
        f"{told}.",
        *(f"{said[0].upper()}{said[1:]}." for said in nodes_cut_off(json.dumps(result.config))),
    ]


def _paused(result: Result) -> list[str]:
    """How much links are paused, where they can be, and which one most, if links were recorded."""
    if (pauses := result.summary.get("pauses")) is None:
        return []
    if not pauses and not result.summary["paused_fraction"]:
        return ["No link is paused."]
    told = (
        f"Links are paused {pauses:,} times, {result.summary['paused_fraction']:.1%} of the time on average"
    )
    if "links" not in result.tables:
        return [f"{told}."]
    rows: list[dict[str, Any]] = result.links.to_pylist()
    most = max(rows, key=lambda row: row["paused_fraction"])
    return [
        f"{told}; most that of port {most['port']} of {most['from']}, to {most['to']}: "
        f"{most['pauses']:,} times, {most['paused_fraction']:.0%} of the time."
    ]


def _root(output: Output, roles: dict[str, dict[Flow, float]]) -> str:
    told = [
        f"{name} held up, for so much of the window: {_flows(roles[role])}"
        for role, name in (("contributor", "contributors"), ("victim", "victims, which do not use it,"))
        if role in roles
    ]
    if "victim" not in roles:
        told.append("no victims")
    origin, port, to = output
    return f"Congestion begins at port {port} of {origin}, to {to}; {'; '.join(told)}."


def _flows(held: dict[Flow, float]) -> str:
    top = sorted(held.items(), key=lambda item: (-item[1], item[0]))
    named = ", ".join(f"{name} of {job} {share:.0%}" for (job, name), share in top[:SHOWN])
    return named if len(top) <= SHOWN else f"{named}, and {len(top) - SHOWN} more"


def _queue(result: Result, output: Output) -> list[str]:
    """What waits at an output of a switch in the window, if that was recorded; of the VL with the most."""
    origin, port, _ = output
    kind, _, number = origin.partition(" ")
    if "queue_series" not in result.tables or kind != "switch":
        return []
    series: Any = result.queue_series
    at_port = pc.and_(pc.equal(series["switch"], int(number)), pc.equal(series["port"], port))
    ends = sorted(set(series["time_s"].to_pylist()))
    # Half an interval apart from all ends, which are rounded.
    begin = ends[-1] - result.summary["time_s"] + ends[0] / 2
    rows = series.filter(pc.and_(at_port, pc.greater(series["time_s"], begin)))
    if not rows.num_rows:
        return []
    lanes = [rows.filter(pc.equal(rows["vl"], lane)) for lane in pc.unique(rows["vl"])]
    fullest = max(lanes, key=lambda lane: pc.sum(lane["queued_bytes"]).as_py())
    queued, congested = (pc.mean(fullest[name]).as_py() for name in ("queued_bytes", "is_congested"))
    largest = pc.max(fullest["queued_bytes"]).as_py()
    marks = ""
    if (fabric(result.config) or {}).get("congestion_control"):
        marks = f"; it is congested at the end of {congested:.0%} of the intervals"
    return [f"There {queued:,.0f} bytes wait on average, {largest:,.0f} at most{marks}."]


def _greatest(held: dict[Flow, float]) -> float:
    return max(held.values())


def _total(roles: dict[str, dict[Flow, float]]) -> float:
    return sum(sum(held.values()) for held in roles.values())
