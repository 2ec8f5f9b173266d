//! What the columns of congestion mean.

use super::{CYCLES, PACKETS, Row};

/// Columns of the table of trees.
pub const TREES: [Row; 12] = [
    ("cycle", CYCLES, "Cycle in which was looked, the first one after the interval, warm-up included."),
    ("router", "", "Router that the root leaves, the link at which the tree begins."),
    ("port", "", "Output port of the root there."),
    ("port_class", "", "Class of the root: terminal (to a node), local, global or network."),
    ("peer_router", "", "Router at the other end of the root; empty for a node."),
    ("links", "links", "Links whose packets stand still because of the root, itself included."),
    (
        "depth",
        "links",
        "Most links one behind the other of which each waits for the next, the root included.",
    ),
    (
        "packets",
        PACKETS,
        "Packets that stand in the tree: sum of the contributors, other contributors and victims.",
    ),
    ("phits", "phits", "Phits of them."),
    ("contributors", PACKETS, "Those whose path leads over the root."),
    (
        "other_contributors",
        PACKETS,
        "Those whose path leads over the root of another tree, and not over this one.",
    ),
    ("victims", PACKETS, "Those whose path leads over no root: they stand behind others that want one."),
];

/// Columns of the table of flows in trees.
pub const FLOWS: [Row; 10] = [
    ("router", "", "Router that the root leaves, the link at which the trees begin."),
    ("port", "", "Output port of the root there."),
    ("port_class", "", "Class of the root: terminal (to a node), local, global or network."),
    ("peer_router", "", "Router at the other end of the root; empty for a node."),
    ("job", "", "Name of the job of the packets."),
    ("source_group", "", "Group of their sources; the router in a network without groups."),
    ("destination_group", "", "Group of their destinations; the router in a network without groups."),
    (
        "contributor_cycles",
        "packets·cycles",
        "Time that packets which want the root stood in its trees in the window: those seen, times the interval.",
    ),
    ("other_contributor_cycles", "packets·cycles", "The same of packets that want the root of another tree."),
    ("victim_cycles", "packets·cycles", "The same of packets that want no root."),
];

/// Columns of the table of what stands still.
pub const STANDING: [Row; 6] = [
    ("cycle", CYCLES, "Cycle in which was looked, the first one after the interval, warm-up included."),
    (
        "standing",
        PACKETS,
        "Packets in input buffers that wait, or stand behind one that does. Sum of all that follows.",
    ),
    ("in_trees", PACKETS, "Those that stand in a congestion tree."),
    ("contending", PACKETS, "Those that wait for a busy link while nothing waits for room because of it."),
    ("crossing", PACKETS, "Those whose head waits for the crossbar or an arbiter, or is held at injection."),
    (
        "circling",
        PACKETS,
        "Those whose heads wait for each other in a circle, which adaptive routing may leave.",
    ),
];

/// Columns of the table of output VCs that packets waited for.
pub const LINK_OF_WAITS: [Row; 4] = [
    ("router", "", "Router that the link leaves."),
    ("port", "", "Output port there."),
    ("port_class", "", "Class of the link: terminal (to a node), local, global or network."),
    ("vc", "", "Virtual channel, from 0."),
];

/// Columns of the table of flows that waited.
pub const FLOW_OF_WAITS: [Row; 3] = [
    ("job", "", "Name of the job of the packets."),
    ("source_group", "", "Group of their sources; the router in a network without groups."),
    ("destination_group", "", "Group of their destinations; the router in a network without groups."),
];

/// Columns that both have.
pub const WAITS: [Row; 6] = [
    ("packets", PACKETS, "Grants in the window: packets, each as often as it was granted an output."),
    ("queued", CYCLES, "They waited behind other packets of their input VC."),
    (
        "room",
        CYCLES,
        "As heads they waited until the buffer behind the output VC that they were granted in the end had room for good.",
    ),
    ("bubble", CYCLES, "They waited until it had room for the bubble, too."),
    ("output", CYCLES, "They waited until the output was no longer busy with others."),
    ("crossbar", CYCLES, "They waited for the crossbar, for an arbiter or for injection control."),
];
