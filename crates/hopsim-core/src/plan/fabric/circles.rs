//! Whether packets can wait for each other in a circle: each for room behind a link that the next one holds.

use super::FabricPlan;
use super::wiring::outputs;
use crate::error::ConfigError;
use petgraph::algo::tarjan_scc;
use petgraph::graphmap::DiGraphMap;

/// Refuses flows whose packets, or the notifications that are sent back, can wait for each other in a circle.
pub fn check(plan: &FabricPlan) -> Result<(), ConfigError> {
    let Some((lane, circle)) = find(plan) else { return Ok(()) };
    let fabric = &plan.fabric;
    let switch = |port: u32| fabric.first_port.partition_point(|&first| first <= port) - 1;
    let way: Vec<String> =
        circle.iter().chain(circle.first()).map(|&port| format!("switch {}", switch(port))).collect();
    let reason = format!(
        "packets of VL {lane} can wait for each other in a circle, for room behind these links: {}",
        way.join(" → ")
    );
    Err(ConfigError::new("topology", reason).valid(
        "a topology whose shortest paths close no circle (fat_tree, mesh, hyperx, a graph that is a tree), \
         router.infiniband.forwarding = \"up_down\", flows whose service levels have other VLs, or router.infiniband.lanes.allow_deadlock = true",
    ))
}

/// The output ports of a circle and its VL: that of the lowest port, if there is one.
fn find(plan: &FabricPlan) -> Option<(u8, Vec<u32>)> {
    let fabric = &plan.fabric;
    let mut waits: DiGraphMap<(u8, u32), ()> = DiGraphMap::new();
    for (there, lane) in plan.ways() {
        let back = fabric.congestion.is_some().then_some([there[1], there[0]]);
        for way in std::iter::once(there).chain(back) {
            for pair in outputs(fabric, way).windows(2) {
                waits.add_edge((lane, pair[0]), (lane, pair[1]), ());
            }
        }
    }
    let circles = tarjan_scc(&waits).into_iter().filter(|component| component.len() > 1);
    let component = circles.min_by_key(|component| component.iter().min().copied())?;
    let mut way = vec![*component.iter().min()?];
    // Every member has a successor among them, so that the way comes round.
    loop {
        let last = *way.last()?;
        let next = waits.neighbors(last).filter(|next| component.contains(next)).min()?;
        if let Some(start) = way.iter().position(|&member| member == next) {
            return Some((next.0, way.split_off(start).into_iter().map(|(_, port)| port).collect()));
        }
        way.push(next);
    }
}
