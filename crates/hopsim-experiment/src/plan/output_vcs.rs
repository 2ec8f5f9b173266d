//! Output VCs that lead to a router or a node: what streams of links have rows for.

use crate::config::measure::RecordStream;
use crate::plan::Plan;
use hopsim_network::network::TERMINAL;

/// Whether something is at a port: a router, or a node, which not every router has.
pub fn is_plugged(plan: &Plan, router: u32, port: usize) -> bool {
    let (network, layout) = (&plan.system.network, &plan.system.network.layout);
    if layout.class[port] != TERMINAL {
        return network.link(router, port).peer.is_some();
    }
    router * plan.system.topology.nodes_per_router() + u32::from(layout.injects_for[port]) < network.nodes
}

/// An output VC that leads to a router or a node.
pub struct OutputVc {
    /// The router that has the VC.
    pub router: u32,
    /// The port of the VC.
    pub port: usize,
    /// The VC.
    pub vc: u8,
    /// The number of the VC among the output VCs of all routers.
    pub pair: usize,
    /// Cycles per phit of the link.
    pub pace: f64,
    /// The router at the other end, and the number of the input VC there among those of all routers.
    pub fed: Option<(u32, usize)>,
}

/// The output VCs of a network that lead somewhere, router by router.
pub fn output_vcs(plan: &Plan) -> Vec<OutputVc> {
    let (network, layout) = (&plan.system.network, &plan.system.network.layout);
    let of_router = |router: u32| {
        let vcs = (0..layout.pairs()).filter_map(move |pair| Some((pair, layout.pair_vc(pair)?)));
        let plugged = vcs.filter(move |&(_, (port, _))| is_plugged(plan, router, port));
        plugged.map(move |(pair, (port, vc))| OutputVc {
            router,
            port,
            vc,
            pair: router as usize * layout.stride() + pair,
            pace: network.link(router, port).cycles_per_phit.into(),
            fed: network.link(router, port).peer.map(|(peer, back)| {
                let slot = usize::from(layout.slot_base[back]) + usize::from(vc);
                (peer, peer as usize * layout.stride() + slot)
            }),
        })
    };
    (0..network.routers).flat_map(of_router).collect()
}

/// How many output VCs of a network lead somewhere.
pub fn count_output_vcs(plan: &Plan) -> usize {
    let vcs = &plan.system.network.layout.output_vcs;
    let of_router = |router: u32| {
        let plugged = vcs.iter().enumerate().filter(|&(port, _)| is_plugged(plan, router, port));
        plugged.map(|(_, &vcs)| usize::from(vcs)).sum::<usize>()
    };
    (0..plan.system.network.routers).map(of_router).sum()
}

/// Rows of the longest table that a plan records for every interval, if it records any.
pub fn rows_per_interval(plan: &Plan) -> u32 {
    let wants = |stream| plan.experiment.measure.streams.contains(&stream);
    let links = if wants(RecordStream::LinkSeries) { count_output_vcs(plan) as u32 } else { 1 };
    // Every output may be the root of a tree.
    let trees = plan.system.network.routers * plan.system.network.layout.ports() as u32;
    if wants(RecordStream::CongestionTrees) { links.max(trees) } else { links }
}
