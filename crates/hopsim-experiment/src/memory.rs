//! How much memory networks take. What is done where there is not enough of it: see [`hopsim_memory`].

use hopsim_network::network::Link;
use hopsim_network::topology::Topology;

/// Bytes of a network that is empty per router, and more per port; per node of a plan. Set by hand, from the address space that two
/// tori took before their first cycle.
const ROUTER_BYTES: u64 = 3200;
const PORT_BYTES: u64 = 400;
const NODE_BYTES: u64 = 40;

/// Bytes that the state of so many routers with so many ports altogether takes before the first cycle, about.
pub fn of_state(routers: u64, ports: u64) -> u64 {
    ROUTER_BYTES * routers + PORT_BYTES * ports
}

/// Bytes that a plan of this network takes, about: its links, and what its jobs know of nodes.
pub fn of_plan(topology: &Topology) -> u64 {
    let links = u64::from(topology.routers()) * topology.ports().len() as u64;
    links * size_of::<Link>() as u64 + NODE_BYTES * u64::from(topology.nodes())
}
