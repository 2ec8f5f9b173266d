//! Networks that fall apart for a while: which nodes cannot reach the others, by the tables of each time. What is said of fabrics is in
//! [`cut_ways`].

use crate::cut_ways;
use crate::plan::{AnyPlan, Plan};
use crate::proof::grouped;
use hopsim_cycles::system::System;
use hopsim_network::topology::Topology;

/// Nodes that a sentence names.
const NAMED: usize = 8;

/// From when to when which nodes cannot reach the others, a sentence for each time.
pub fn cut_off(plan: &AnyPlan) -> Vec<String> {
    let plan = match plan {
        AnyPlan::Network(plan) => plan,
        AnyPlan::Fabric(plan) => return cut_ways::sentences(plan),
    };
    let times = times(plan);
    let ends = times.iter().skip(1).map(|(from, _)| Some(*from)).chain([None]);
    let parted = times.iter().zip(ends).filter(|((_, nodes), _)| !nodes.is_empty());
    parted.map(|((from, nodes), end)| sentence(plan, (*from, end), nodes)).collect()
}

/// The nodes that are cut off, from each cycle on in which others are.
fn times(plan: &Plan) -> Vec<(u32, Vec<u32>)> {
    let later = plan.epochs.iter().map(|epoch| (epoch.at, &epoch.plan.system));
    let mut times = vec![(0, apart(&plan.system))];
    for (from, system) in later {
        let nodes = apart(system);
        if times.last().is_none_or(|(_, last)| *last != nodes) {
            times.push((from, nodes));
        }
    }
    times
}

/// The nodes outside the largest part of a network, of several as large as that the one with the lowest node; with those of routers that
/// are out of order.
fn apart(system: &System) -> Vec<u32> {
    let Some(topology) = system.routing.apart() else { return Vec::new() };
    let parts = parts(topology);
    let most = parts.iter().map(Vec::len).max();
    let largest = parts.iter().position(|part| Some(part.len()) == most);
    let per_router = topology.nodes_per_router();
    let inside = |router: &u32| largest.is_some_and(|largest| parts[largest].contains(router));
    let outside = (0..topology.routers_with_nodes()).filter(|router| !inside(router));
    outside.flat_map(|router| router * per_router..(router + 1) * per_router).collect()
}

/// The routers with nodes that are in order, by which of them all reach each other. Where some forward nothing one may reach two others that
/// do not: it is in the first part, all of which it reaches.
fn parts(topology: &Topology) -> Vec<Vec<u32>> {
    let mut parts: Vec<Vec<u32>> = Vec::new();
    for router in (0..topology.routers_with_nodes()).filter(|&router| topology.reaches(router, router)) {
        // Where all forward, who reaches one reaches all.
        let asked = if topology.adapters() > 0 { usize::MAX } else { 1 };
        let reaches_all =
            |part: &&mut Vec<u32>| part.iter().take(asked).all(|&other| topology.reaches(other, router));
        match parts.iter_mut().find(reaches_all) {
            Some(part) => part.push(router),
            None => parts.push(vec![router]),
        }
    }
    parts
}

fn sentence(plan: &Plan, (from, end): (u32, Option<u32>), nodes: &[u32]) -> String {
    let until = end.map_or("on".to_owned(), |end| format!("to {}", grouped(u64::from(end) - 1)));
    let named: Vec<String> = nodes.iter().take(NAMED).map(u32::to_string).collect();
    let others = nodes.len().saturating_sub(NAMED);
    let others = if others > 0 { format!(" and {} others", grouped(others as u64)) } else { String::new() };
    format!(
        "cut off from cycle {} {until}: {} of {} nodes, {}{others}",
        grouped(from.into()),
        grouped(nodes.len() as u64),
        grouped(plan.system.network.nodes.into()),
        named.join(", "),
    )
}
