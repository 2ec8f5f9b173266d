//! Proofs without a look at heads: VCs by hop, which increase along every path.

use super::{Ground, Proof};
use crate::plan::Plan;
use hopsim_routing::Safety;

/// The proof of plans, the last of which is the one in force and the others those that packets under way have come by. The VC
/// of every hop is a higher one than that of the hop before, if the sequence of VCs says so of every VC and no path is longer
/// than the sequence; with FlexVC the highest VC that a hop may use is, which a packet can always ask for. Then a channel depends on those of higher VCs only, whatever the paths. `None` if it is not so.
pub fn by_ranks(plans: &[&Plan]) -> Option<Proof> {
    let plan = plans.last().filter(|_| plans.iter().all(|plan| increases(plan)))?;
    let (network, vcs) = (&plan.system.network, plan.system.routing.vcs());
    let links =
        (0..network.routers).flat_map(|router| (0..network.layout.ports()).map(move |port| (router, port)));
    let is_joined = |&(router, port): &(u32, usize)| network.link(router, port).peer.is_some();
    let channels = links.filter(is_joined).count() * usize::from(vcs.used(0));
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
    let fits = matches!(plan.paths.safety, Safety::ByHop { vcs, .. } if plan.paths.hops <= vcs);
    fits && !is_shared && system.routing.vcs().increase()
}
