//! All shortest paths in number of links, among which flows choose.

use super::super::wiring::Cables;
use super::MOST_BYTES;
use super::min_hop::Search;
use hopsim_infiniband::paths::Alternatives;
use hopsim_network::error::ConfigError;
use hopsim_network::interrupt;
use hopsim_network::topology::Topology;

/// The ports by which shortest paths begin, of all switches; a topology with too many is refused.
pub fn alternatives(topology: &Topology, cables: &Cables) -> Result<Alternatives, ConfigError> {
    let (switches, homes) = (topology.routers(), topology.routers_with_nodes());
    let bytes = Alternatives::bytes_of_lists(switches.into(), homes.into());
    if bytes > MOST_BYTES {
        let reason =
            format!("the lists of shortest paths of {switches} switches to {homes} would be too large");
        return Err(ConfigError::new("topology", reason)
            .value(format!("{bytes} bytes"))
            .valid(format!("at most {MOST_BYTES} bytes")));
    }
    let mut search = Search::new(cables);
    let switch_of = &cables.ends[..cables.hosts as usize];
    Ok(Alternatives::new(switches, switch_of, |to, found| {
        interrupt::steps(switches.into());
        search.nearer(to, found);
    }))
}
