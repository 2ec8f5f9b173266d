//! What the columns of the routers that packets pass mean.

use super::{CYCLES, Row};

/// Columns of the table.
pub const PACKET_HOPS: [Row; 24] = [
    ("source", "", "Node that generated the packet."),
    (
        "serial",
        "",
        "Number of the packet among all that its source generated, from 0; dropped packets and replies count.",
    ),
    ("destination", "", "Node that it is for."),
    ("job", "", "Name of its job."),
    ("length", "phits", "Its length."),
    ("generated", CYCLES, "Cycle in which it was generated, warm-up included."),
    (
        "delivered",
        CYCLES,
        "Cycle in which its tail is at its node: generated plus its packet latency. Empty if it was not granted the way to its node by the end of the run.",
    ),
    ("hop", "", "Number of the router among those that the packet passes, from 0, the router of its source."),
    ("router", "", "Router that it passes."),
    ("input_port", "", "Port by which it enters the router."),
    ("input_vc", "", "Virtual channel of that port in whose buffer it waits, from 0."),
    ("port", "", "Output port that it was granted."),
    ("port_class", "", "Class of the link there: terminal (to a node), local, global or network."),
    ("vc", "", "Virtual channel that it was granted, from 0."),
    ("peer_router", "", "Router at the other end of the link; empty for a node."),
    ("arrived", CYCLES, "Cycle in which its head arrived in the input buffer."),
    ("granted", CYCLES, "Cycle in which it was granted the output."),
    ("departed", CYCLES, "Cycle in which its head leaves the router, after crossbar and output queue."),
    ("queued", CYCLES, "It waited behind other packets of its input VC."),
    (
        "room",
        CYCLES,
        "As a head it waited until the buffer behind the output VC that it was granted in the end had room for good.",
    ),
    ("bubble", CYCLES, "It waited until that had room for the bubble, too."),
    ("output", CYCLES, "It waited until the output was no longer busy with others."),
    (
        "crossbar",
        CYCLES,
        "It waited for the crossbar, for an arbiter or for injection control. The five add up to granted - arrived - pipeline_latency of the router.",
    ),
    ("misrouted", "", "1 if it has left its minimal path with this hop or before, else 0."),
];
