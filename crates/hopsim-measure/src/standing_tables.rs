//! The record stream of congestion trees as tables.

use super::standing::{Census, Congestion, Link, Role, Tree};
use super::{Column, Table};
use hopsim_experiment::plan::Plan;
use hopsim_network::network::NONE;

/// The tables.
pub fn tables(plan: &Plan, congestion: &Congestion) -> [(String, Table); 3] {
    [
        ("congestion_trees".into(), trees(plan, &congestion.trees)),
        ("congestion_flows".into(), flows(plan, congestion)),
        ("standing_packets".into(), censuses(&congestion.censuses)),
    ]
}

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

fn trees(plan: &Plan, trees: &[Tree]) -> Table {
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

fn flows(plan: &Plan, congestion: &Congestion) -> Table {
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

fn censuses(censuses: &[Census]) -> Table {
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
