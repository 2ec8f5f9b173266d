"""The names of the tables that a run may record beside its summary; users call them record streams.

The simulator makes the tables; here is only the order in which they are listed. `results/result.py` lists
by it what results hold, and `report/overview.py` names by it what a report leaves out. Most tables are
asked for by `measure.streams`, some by other keys (`timeseries` by `measure.interval`). A new one gets a
row here: a test compares the names with those of the simulator, whose columns `columns.py` describes.
"""

from __future__ import annotations

STREAMS = (
    "nodes",
    "routers",
    "links",
    "timeseries",
    "generation_series",
    "occupancy",
    "injection_waits",
    "ranks",
    "messages",
    "operations",
    "message_sizes",
    "latency_histogram",
    "batches",
    "flows",
    "flow_series",
    "queue_series",
    "link_series",
    "victims",
    "waits",
    "flow_waits",
    "packet_hops",
    "congestion_trees",
    "congestion_flows",
    "standing_packets",
)
"""The names, in the order in which tables are listed."""
