//! The paths of up*/down* routing.

use crate::routing::tables::{Maze, Spot, Step, Tables, destinations};
use hopsim_experiment::plan::Plan;
use hopsim_network::topology::Topology;
use hopsim_network::topology::shortest::Ties;
use hopsim_routing::up_down::Config;

/// The paths of up*/down* routing, and which links lead up.
pub struct UpDown {
    pub tables: Tables,
    /// Links from the root to every router.
    pub depth: Vec<usize>,
}

impl UpDown {
    pub fn new(plan: &Plan, config: &Config) -> Self {
        let topology = &*plan.system.topology;
        let all = (0..topology.routers() as usize).map(|root| depths(topology, root));
        let depth = match config.root {
            Some(root) => depths(topology, root as usize),
            None => all.min_by_key(|depths| depths.iter().copied().max()).expect("there are routers"),
        };
        let tables = Tables::new(&maze(topology, &depth), Ties::Spread);
        Self { tables, depth }
    }
}

/// Links from a root to every router.
fn depths(topology: &Topology, root: usize) -> Vec<usize> {
    let routers = topology.routers() as usize;
    let mut depth = vec![usize::MAX; routers];
    let mut reached = vec![root];
    depth[root] = 0;
    while !reached.is_empty() {
        let mut farther = Vec::new();
        for router in reached {
            for port in 0..topology.ports().len() {
                let Some((peer, _)) = topology.neighbour(router as u32, port) else { continue };
                if depth[peer as usize] == usize::MAX {
                    depth[peer as usize] = depth[router] + 1;
                    farther.push(peer as usize);
                }
            }
        }
        reached = farther;
    }
    depth
}

/// Whether a link leads up: nearer to the root, or to the lower number.
pub fn leads_up(depth: &[usize], from: usize, to: usize) -> bool {
    (depth[to], to) < (depth[from], from)
}

/// The places and steps of up*/down* routing: from a router a packet may go up until it has gone down.
fn maze(topology: &Topology, depth: &[usize]) -> Maze {
    let step = |(only_down, router): Spot, port: usize| {
        let (peer, _) = topology.neighbour(router as u32, port)?;
        let up = leads_up(depth, router, peer as usize);
        let latency = topology.latency(router as u32, port, 1);
        let step = Step { link: (router, port), latency, to: (!up, peer as usize) };
        Some(step).filter(|_| !(only_down && up))
    };
    let ports = topology.ports().len();
    let routers = (0..topology.routers() as usize).map(|router| [(false, router), (true, router)]);
    let steps = |place| (0..ports).filter_map(|port| step(place, port)).collect();
    let places = routers.flatten().map(|place| (place, steps(place)));
    Maze { steps: places.collect(), destinations: destinations(topology), adapters: 0 }
}
