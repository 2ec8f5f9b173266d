//! Where data packets of flows pass.

use super::ways::Leaving;
use super::{FabricPlan, Ways};

/// A port of a host or a switch, and a VL.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// The port, numbered through the fabric.
    pub port: u32,
    /// The VL.
    pub lane: u8,
}

/// The ports and VLs that data packets of a flow leave by, ascending.
pub fn used(plan: &FabricPlan) -> Vec<Place> {
    let wiring = &plan.wiring;
    let of_lane = |(lane, ways): (u8, Ways)| {
        let mut is_used = vec![false; wiring.cables.peers.len()];
        ways.sources(|host| is_used[host as usize] = true);
        let mut uses = |leaving: Leaving| is_used[leaving.port as usize] = true;
        if wiring.alternatives.is_some() {
            ways.follow_all(&wiring.cables, &|at, to| wiring.outputs(at, to), &mut uses);
        } else {
            plan.tables().for_each(|tables| ways.follow(&wiring.cables, tables, &mut uses));
        }
        let places = (0..).zip(is_used).filter(|(_, is_used)| *is_used);
        places.map(move |(port, _)| Place { port, lane }).collect::<Vec<_>>()
    };
    let mut places: Vec<Place> = plan.ways(false).into_iter().flat_map(of_lane).collect();
    places.sort_unstable();
    places
}
