//! Proofs without a look at heads: VCs that increase along every path.

use super::{Ground, Proof};
use crate::plan::Plan;
use hopsim_routing::Safety;

/// The proof of plans, the last of which is the one in force and the others those that packets under way have come by.
///
/// Every hop has one VC, which the VC before and the class of its link say. If all VCs of all classes have an order in which that VC
/// is always behind the one before, and no path has more links than there are VCs for, a channel depends on those behind it only,
/// whatever the paths. With FlexVC the highest VC that a hop may use, which a packet can always ask for, is such a one. `None` if it is
/// not so.
pub fn by_ranks(plans: &[&Plan]) -> Option<Proof> {
    let plan = plans.last().filter(|_| plans.iter().all(|plan| increases(plan)))?;
    let (network, vcs) = (&plan.system.network, plan.system.routing.vcs());
    let links =
        (0..network.routers).flat_map(|router| (0..network.layout.ports()).map(move |port| (router, port)));
    let is_joined = |&(router, port): &(u32, usize)| network.link(router, port).peer.is_some();
    let used = |(_, port): (u32, usize)| usize::from(vcs.used(network.layout.class[port] - 1));
    // What waits for an answer is a channel besides, in every router with nodes.
    let answers =
        if network.classes.request_reply() { plan.system.topology.routers_with_nodes() as usize } else { 0 };
    let channels = links.filter(is_joined).map(used).sum::<usize>() + answers;
    let ground = if vcs.look_ahead() { Ground::HighestRanks } else { Ground::Ranks };
    Some(Proof { ground, rings: 0, channels, dependencies: 0, heads: 0 })
}

fn increases(plan: &Plan) -> bool {
    let system = &plan.system;
    let full = system.router.full_reserve(system.longest_packet());
    let classes = system.network.classes.links.len();
    let is_shared = system
        .router
        .damq()
        .is_some_and(|shares| shares.iter().take(classes).any(|share| share.reserve < full));
    let most = match &plan.paths.safety {
        Safety::ByHop { vcs, .. } => *vcs,
        Safety::Ordered(order) => order.sequence.len() as u32,
        _ => return false,
    };
    // Opportunistic hops, which the sequence does not count, use VCs again.
    let fits = plan.paths.hops <= most;
    fits && !is_shared && system.routing.vcs().increase()
}
