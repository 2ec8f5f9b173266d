//! Tables of paths with the VCs that somebody has given them: whether their packets could wait for each other in a circle.

use crate::circle;
use crate::circles::Graph;
use crate::config::Experiment;
use hopsim_network::error::ConfigError;
use hopsim_network::interrupt;
use hopsim_network::network::Network;
use hopsim_routing::path_table::PathTable;
use hopsim_routing::vcs::MOST;
use hopsim_routing::{Paths, Safety};

/// Refuses a table by which packets could wait for each other in a circle, unless the document accepts that.
pub fn check(experiment: &Experiment, network: &Network, paths: &Paths) -> Result<(), ConfigError> {
    let Safety::Given { table, .. } = &paths.safety else { return Ok(()) };
    if experiment.router.vcs().allow_deadlock {
        return Ok(());
    }
    let ports = network.layout.ports() as u32;
    let waits = waits(network, table);
    let channels = (network.routers * ports * MOST) as usize;
    let Some(circle) = Graph::new(channels, waits).shortest_circle() else { return Ok(()) };
    let name = |&channel: &u32| {
        let (link, vc) = (channel / MOST, channel % MOST);
        format!("router {} {} VC {vc}", link / ports, network.port_name((link % ports) as usize))
    };
    let way: Vec<String> = circle.iter().map(name).collect();
    Err(ConfigError::new("routing.table", circle::in_words("packets", "outputs", &way)).valid(format!(
        "a table whose paths close no circle, other VCs in it, or router.{}.vcs.allow_deadlock = true",
        experiment.router.name()
    )))
}

/// The channels of links that follow each other on a path, by number: (router · ports + port) · most VCs + VC.
fn waits(network: &Network, table: &PathTable) -> Vec<(u32, u32)> {
    let (ports, mut waits) = (network.layout.ports() as u32, Vec::new());
    for (from, to, number) in table.all() {
        let (mut at, mut before) = (from, None);
        for (port, vc) in table.links(from, to, number) {
            let channel = (at * ports + u32::from(port)) * MOST + u32::from(vc);
            waits.extend(before.map(|before| (before, channel)));
            before = Some(channel);
            at = network.link(at, port.into()).peer.map_or(at, |(next, _)| next);
        }
        interrupt::steps(8);
    }
    waits
}
