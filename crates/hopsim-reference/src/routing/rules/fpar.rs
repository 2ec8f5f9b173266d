//! Groups of leaves and spines, for fully progressive adaptive routing.

use crate::routing::ways::Ways;
use hopsim_experiment::plan::Plan;
use hopsim_routing::fpar::Config;

/// What packets with fully progressive adaptive routing know of their network.
pub struct Fpar {
    /// The lowest leaf in the group of every router, which stands for the group.
    groups: Vec<usize>,
    /// Number of leaves, which are the first routers.
    leaves: usize,
    /// VCs of every link.
    pub vcs: u8,
    /// How many times as much must be outstanding straight on as on a detour.
    pub weight: u32,
    /// How much more besides \[packets\].
    pub threshold: u32,
}

impl Fpar {
    pub fn new(plan: &Plan, ways: &Ways, config: &Config) -> Self {
        let leaves = ways.routers_with_nodes();
        // The leaves of a group are joined to the same spines.
        let lowest_of_spine = |spine: usize| peers(ways, spine).into_iter().min().expect("it has leaves");
        let lowest = |router: usize| {
            if router < leaves { lowest_of_spine(peers(ways, router)[0]) } else { lowest_of_spine(router) }
        };
        let groups = (0..ways.routers()).map(lowest).collect();
        // As many are used of all classes.
        let vcs =
            plan.system.network.classes.links.iter().map(|link| link.vcs).min().expect("there are links");
        Self { groups, leaves, vcs, weight: config.detour_weight, threshold: config.threshold }
    }

    pub fn group(&self, router: usize) -> usize {
        self.groups[router]
    }

    pub fn is_leaf(&self, router: usize) -> bool {
        router < self.leaves
    }
}

/// The routers at the other ends of the links of a router.
pub fn peers(ways: &Ways, router: usize) -> Vec<usize> {
    ways.links(router).into_iter().filter_map(|port| ways.neighbour(router, port)).collect()
}
