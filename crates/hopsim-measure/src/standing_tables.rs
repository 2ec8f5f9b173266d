//! The record stream of congestion trees as tables.

use super::standing::{Census, Congestion, Link, Role, Tree};
use super::{Column, Table};
use crate::table_kind::{CYCLES, ColumnText, PACKETS};
use hopsim_experiment::plan::Plan;
use hopsim_network::network::NONE;

/// Router, port, class and router at the other end of links.
fn links(plan: &Plan, links: &[Link]) -> Table {
    let column = |value: &dyn Fn(Link) -> u32| Column::U32(links.iter().map(|&link| value(link)).collect());
    let class = |&(_, port): &Link| plan.system.network.class_name(port).to_owned();
    let peer = |(router, port)| plan.system.network.link(router, port).peer.map_or(NONE, |(peer, _)| peer);
    vec![
        ("router".into(), column(&|(router, _)| router)),
        ("port".into(), column(&|(_, port)| port as u32)),
        ("port_class".into(), Column::Text(links.iter().map(class).collect())),
        ("peer_router".into(), column(&peer)),
    ]
}

/// Columns of the table of trees.
pub const TREES: [ColumnText; 12] = [
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

/// One row per look and tree.
pub fn trees(plan: &Plan, trees: &[Tree]) -> Table {
    let column = |value: &dyn Fn(&Tree) -> u32| Column::U32(trees.iter().map(value).collect());
    let roots: Vec<Link> = trees.iter().map(|tree| tree.root).collect();
    let mut table = vec![("cycle".into(), column(&|tree| tree.cycle))];
    table.extend(links(plan, &roots));
    table.extend([
        ("links".into(), column(&|tree| tree.links)),
        ("depth".into(), column(&|tree| tree.depth)),
        ("packets".into(), column(&|tree| tree.packets.iter().sum())),
        ("phits".into(), Column::U64(trees.iter().map(|tree| tree.phits).collect())),
        ("contributors".into(), column(&|tree| tree.packets[Role::Contributor as usize])),
        ("other_contributors".into(), column(&|tree| tree.packets[Role::OtherContributor as usize])),
        ("victims".into(), column(&|tree| tree.packets[Role::Victim as usize])),
    ]);
    table
}

/// Columns of the table of flows in trees.
pub const FLOWS: [ColumnText; 10] = [
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

/// One row per root and flow.
pub fn flows(plan: &Plan, congestion: &Congestion) -> Table {
    let interval = u64::from(plan.experiment.measure.interval);
    let keys = || congestion.flows.keys();
    let roots: Vec<Link> = keys().map(|&(root, ..)| root).collect();
    let lost = |role: Role| {
        Column::U64(congestion.flows.values().map(|packets| packets[role as usize] * interval).collect())
    };
    let mut table = links(plan, &roots);
    table.extend([
        (
            "job".into(),
            Column::Text(
                keys().map(|&(_, job, ..)| plan.system.jobs[usize::from(job)].name().to_owned()).collect(),
            ),
        ),
        ("source_group".into(), Column::U32(keys().map(|&(_, _, from, _)| from).collect())),
        ("destination_group".into(), Column::U32(keys().map(|&(.., to)| to).collect())),
        ("contributor_cycles".into(), lost(Role::Contributor)),
        ("other_contributor_cycles".into(), lost(Role::OtherContributor)),
        ("victim_cycles".into(), lost(Role::Victim)),
    ]);
    table
}

/// Columns of the table of what stands still.
pub const STANDING: [ColumnText; 6] = [
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

/// One row per look.
pub fn censuses(censuses: &[Census]) -> Table {
    let column = |value: &dyn Fn(&Census) -> u32| Column::U32(censuses.iter().map(value).collect());
    vec![
        ("cycle".into(), column(&|census| census.cycle)),
        ("standing".into(), column(&|census| census.standing)),
        ("in_trees".into(), column(&|census| census.in_trees)),
        ("contending".into(), column(&|census| census.contending)),
        ("crossing".into(), column(&|census| census.crossing)),
        ("circling".into(), column(&|census| census.circling)),
    ]
}
