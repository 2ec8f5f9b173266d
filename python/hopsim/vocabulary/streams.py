"""The record streams that results may have."""

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
"""Names of the tables that a simulation can record."""
