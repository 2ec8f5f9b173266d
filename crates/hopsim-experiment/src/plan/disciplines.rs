//! Which VC the hops of a path have, where a routing leaves that open.

use crate::config::Experiment;
use crate::config::router::Discipline;
use hopsim_network::error::ConfigError;
use hopsim_network::topology::{Interconnect as _, Topology};
use hopsim_routing::layers::MOST_ROUTERS;
use hopsim_routing::{Paths, RoutingConfig, Safety};

/// The paths of a document over a topology, its VCs by the discipline that it says.
pub fn paths(experiment: &Experiment, topology: &Topology) -> Result<Paths, ConfigError> {
    let given = experiment.router.vcs().discipline;
    if let (RoutingConfig::Minimal(minimal), Topology::Graph(graph)) = (&experiment.routing, topology) {
        if given == Some(Discipline::ByHop) {
            return minimal.paths_by_hop(graph).map_err(|error| error.within(&key(experiment)));
        }
        if graph.routers() > MOST_ROUTERS && !graph.goes_up_and_down() {
            let reason = format!(
                "to sort the paths between {} routers into layers would take too long",
                graph.routers()
            );
            return Err(ConfigError::new(key(experiment), reason)
                .value("\"layers\"")
                .valid(format!("\"by_hop\", or at most {MOST_ROUTERS} routers")));
        }
        return experiment.routing.paths(topology).map_err(|error| error.within("routing"));
    }
    let paths = experiment.routing.paths(topology).map_err(|error| error.within("routing"))?;
    given.map_or(Ok(()), |given| check(experiment, given, &paths))?;
    Ok(paths)
}

fn key(experiment: &Experiment) -> String {
    format!("router.{}.vcs.discipline", experiment.router.name())
}

/// Refuses a discipline that paths do not have, whose routing says it alone.
fn check(experiment: &Experiment, given: Discipline, paths: &Paths) -> Result<(), ConfigError> {
    let by_hop = matches!(paths.safety, Safety::ByHop { .. });
    if by_hop && given == Discipline::ByHop {
        return Ok(());
    }
    let value = match given {
        Discipline::Layers => "\"layers\"",
        Discipline::ByHop => "\"by_hop\"",
    };
    let place = format!("routing {} on topology.{}", experiment.routing.name(), experiment.topology.name());
    let (reason, own) = if by_hop {
        (format!("{place} has VCs by hop and no other discipline"), "\"by_hop\", ")
    } else {
        (format!("{place} has neither layers nor VCs by hop, but an order of its own"), "")
    };
    Err(ConfigError::new(key(experiment), reason)
        .value(value)
        .valid(format!("{own}no such key, or routing.minimal on topology.graph or a family of graphs")))
}
