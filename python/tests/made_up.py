"""Results that were not simulated, for the entries of `hopsim reproduce`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pyarrow as pa

from hopsim.plot.breakdown import COMPONENTS
from hopsim.results.result import Result
from hopsim_reproduce.model import Entry, Results, Scale

Rates = Callable[[str, float], float]
"""Name of a flow and end of an interval [s] -> throughput [Gb/s]."""
SUMMARY = {
    "accepted_load": 0.3,
    "router_injection_min": 0.25,
    "router_injection_max_min_ratio": 1.2,
    "router_injection_cov": 0.02,
    "node_injection_min": 0.2,
    "node_injection_mean": 0.3,
    "node_injection_max": 0.4,
    "packet_latency_mean": 150.0,
    "packet_latency_max": 900.0,
    "hops_mean": 5.0,
    "cycles_per_burst": 5000.0,
    "execution_time": 1_000_000,
    "compute_time_mean": 500_000.0,
    "message_bytes": 16_000_000,
    "nodes": 72,
    "seed": 1,
    **dict.fromkeys(COMPONENTS, 30.0),
}
VICTIMS = pa.table(
    {
        "name": ["f1"],
        "role": ["victim"],
        "from": ["switch 1"],
        "to": ["node 5"],
        "lost_fraction": [0.59],
    }
)
"""As in figure 9 of Gran et al.: 59 % of the run."""
LINKS = pa.table(
    {
        "router": [0, 0, 1],
        "port": [0, 1, 2],
        "port_class": ["terminal", "global", "global"],
        "peer_router": [0, 4, 5],
        "phits": [1000, 600, 200],
    }
)
"""Of one group: of what its nodes get 80 % crosses two global links."""
MESSAGES = pa.table(
    {
        "communicator": pa.array([0, 1, 4, 8, 12, 14], pa.uint32()),
        "bytes": pa.array([16 * 15, 0, 16_000, 16_000_000, 16_000, 0], pa.uint64()),
    }
)
"""Of a search of four levels: queries of 16 B, and notices."""
OPERATIONS = pa.table(
    {
        "rank": [rank for rank in range(16) for _ in range(9_000)],
        "activity": ["compute", "wait_receive"] * 8 * 9_000,
        "begin": [100 * number + 5 for number in range(9_000)] * 16,
        "end": [100 * number + 55 for number in range(9_000)] * 16,
    }
)
MESSAGE_SIZES = pa.table({"bytes_from": [0, 65], "messages": [6_000, 250_000]})
ROUTERS = pa.table({"group": [0] * 8 + [1] * 8, "injection_load": [0.3, *[0.35] * 6, 0.3, *[0.0] * 8]})


def made_up(entry: Entry, scale: Scale = "quick", **changes: float | None) -> Results:
    """A result for every point of an entry, all alike."""
    return {
        experiment.name: [
            result(
                {} if value is None else {experiment.axis: value},
                {**SUMMARY, **changes},
                experiment.document,
            )
            for value in experiment.values or [None]
            for _ in range(2)
        ]
        for experiment in entry.experiments(scale, 2)
    }


def result(axes: Mapping[str, Any], summary: Mapping[str, Any], document: Mapping[str, Any]) -> Result:
    """One point with the tables that its document asks for."""
    measure = document["measure"]
    streams = measure.get("streams", [])
    tables = {"routers": ROUTERS}
    if "generation" in streams:
        tables["generation_series"] = generation(measure)
    if "links" in streams:
        tables["links"] = LINKS
    flows: list[dict[str, Any]] = document["jobs"][0].get("flows", []) if "jobs" in document else []
    if "messages" in streams:
        tables["messages"] = program_messages(document["jobs"][0]["program"])
    if "operations" in streams:
        tables["operations"] = OPERATIONS
    if "message_sizes" in streams:
        tables["message_sizes"] = MESSAGE_SIZES
    if "flow_series" in streams:
        tables["flow_series"] = flow_series(flows, measure["time"])
    if "victims" in streams:
        tables["victims"] = VICTIMS
    if "flows" in streams:
        tables["flows"] = pa.table(
            {
                "source": [flow["source"] for flow in flows],
                "destination": [flow["destination"] for flow in flows],
                "throughput_gbps": [1.0] * len(flows),
            }
        )
    if "nodes" in streams:
        tables["nodes"] = nodes(measure["cycles"])
    return Result({"config": dict(document), "result": dict(summary)}, dict(axes), tables)


def generation(measure: Mapping[str, Any]) -> pa.Table:
    """Latency and misrouted share that rise at once when the traffic changes."""
    cycles = range(0, measure["warmup"] + measure["cycles"], measure["interval"])
    changed = [cycle >= measure["warmup"] for cycle in cycles]
    return pa.table(
        {
            "cycle": cycles,
            "packets": [100] * len(changed),
            "latency_mean": [200.0 if late else 120.0 for late in changed],
            "misrouted_fraction": [0.9 if late else 0.1 for late in changed],
        }
    )


def program_messages(program: Mapping[str, Any]) -> pa.Table:
    """The messages of a trace, of a search whose pairs of processes are looked at, or of another one."""
    if "trace" in program:
        return messages_of_ranks()
    return messages_of_pairs() if program["graph500"]["coalescing"] == 256 else MESSAGES


def messages_of_pairs() -> pa.Table:
    """Each of 16 processes sends each other one 20 messages in level 1, evenly, and one in level 2."""
    rows = [
        {
            "communicator": communicator,
            "source": source,
            "destination": (source + 1 + number % 15) % 16,
            "bytes": 4096,
            "joined": 100_000 * communicator + 100 * number + 1,
            "left": 100_000 * communicator + 100 * number + 11,
            "arrived": 100_000 * communicator + 100 * number + 61,
            "matched": 100_000 * communicator + 100 * number + 61,
        }
        for communicator, count in ((4, 300), (8, 15))
        for source in range(16)
        for number in range(count)
    ]
    return pa.Table.from_pylist(rows)


def messages_of_ranks() -> pa.Table:
    """Nodes of a ring that send long and short messages in turn, to the next node and the opposite one."""
    rows = [
        {
            "source": node,
            "destination": (node + step) % 16,
            "bytes": size,
            "is_collective": 0,
            "joined": 1_000 * (number + 1) + node,
            "left": 1_000 * (number + 1) + node + 10,
            "arrived": 1_000 * (number + 1) + node + 300,
            "matched": 1_000 * (number + 1) + node + 310,
        }
        for node in range(16)
        for number, (size, step) in enumerate(4 * [(14_000, 1), (14_000, 8), (8, 1), (8, 8)])
    ]
    return pa.Table.from_pylist(rows)


def flow_series(
    flows: Sequence[Mapping[str, Any]], time: Mapping[str, str], rates: Rates | None = None
) -> pa.Table:
    """Flows that begin one after the other; `rates` says what one has at a time, else all share 13 Gb/s."""
    window, interval = (float(time[key].split()[0]) for key in ("window", "interval"))
    ends = [interval * (number + 1) for number in range(round(window / interval))]
    starts = {flow["name"]: float(flow["start"].split()[0]) for flow in flows}

    def even(name: str, end: float) -> float:
        begun = [other for other, start in starts.items() if start < end - interval / 2]
        return 13.0 / len(begun) if name in begun else 0.0

    rows = [(end, name) for end in ends for name in starts]
    return pa.table(
        {
            "time_s": [end for end, _ in rows],
            "job": ["job0"] * len(rows),
            "name": [name for _, name in rows],
            "throughput_gbps": [(rates or even)(name, end) for end, name in rows],
            "marked": [10] * len(rows),
            "notifications": [65] * len(rows),
            "ccti": [90] * len(rows),
        }
    )


def nodes(cycles: int) -> pa.Table:
    """64 nodes that offer 0.6, 0.4 and 0.3 phits per cycle in turn and inject at most 0.4."""
    offered = [(0.6, 0.4, 0.3)[node % 3] for node in range(64)]
    packets = {
        "generated": [round(load * cycles / 16) for load in offered],
        "injected": [round(min(load, 0.4) * cycles / 16) for load in offered],
    }
    return pa.table({"node": range(64), "job": ["job0"] * 64, **packets, "delivered": packets["injected"]})
