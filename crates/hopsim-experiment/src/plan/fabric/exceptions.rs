//! Links of a fabric that differ from the others of their kind.

use super::clock::{Clock, Time};
use super::wiring::Link;
use crate::config::infiniband::{FabricLinks, LinkException};
use hopsim_network::error::ConfigError;
use hopsim_network::topology::Topology;
use rustc_hash::FxHashMap;

/// Where a link is: at a node, or between two switches, the lower one first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum At {
    /// The link of a node.
    Node(u32),
    /// All links between two switches.
    Switches(u32, u32),
}

impl At {
    /// All links between two switches.
    pub fn switches(one: u32, other: u32) -> Self {
        Self::Switches(one.min(other), one.max(other))
    }
}

/// The times of a link that differs from the others of its kind.
pub struct LinkTimes {
    at: At,
    byte: Time,
    delay: Time,
}

/// Reads the exceptions and tells the clock their times.
pub fn read(
    links: &FabricLinks,
    topology: &Topology,
    clock: &mut Clock,
) -> Result<Vec<LinkTimes>, ConfigError> {
    let mut found: Vec<LinkTimes> = Vec::new();
    for (index, exception) in links.exceptions.iter().enumerate() {
        let path = format!("router.infiniband.links.exceptions.{index}");
        let at = place(exception, topology).map_err(|error| error.within(&path))?;
        if let Some(first) = found.iter().position(|other| other.at == at) {
            let reason = format!("is for the same link as exceptions.{first}");
            return Err(ConfigError::new(path, reason).valid("one exception for a link"));
        }
        let (rate, delay, kind) = match at {
            At::Node(_) => (&links.host.rate, &links.host.delay, "host"),
            At::Switches(..) => (&links.switch.rate, &links.switch.delay, "switch"),
        };
        let own = |key: &str| format!("{path}.{key}");
        let of_kind = |key: &str| format!("router.infiniband.links.{kind}.{key}");
        let byte = match &exception.rate {
            Some(rate) => clock.byte(rate, &own("rate"))?,
            None => clock.byte(rate, &of_kind("rate"))?,
        };
        let delay = match &exception.delay {
            Some(delay) => clock.positive(delay, &own("delay"))?,
            None => clock.positive(delay, &of_kind("delay"))?,
        };
        found.push(LinkTimes { at, byte, delay });
    }
    Ok(found)
}

fn place(exception: &LinkException, topology: &Topology) -> Result<At, ConfigError> {
    match (exception.node, exception.between) {
        (Some(node), None) if node < topology.nodes() => Ok(At::Node(node)),
        (Some(node), None) => {
            let reason = format!("the network has {} nodes", topology.nodes());
            Err(ConfigError::new("node", reason).value(node).valid(format!("0 … {}", topology.nodes() - 1)))
        }
        (None, Some([one, other])) => {
            let mut ports = 0..topology.ports().len();
            let leads = |port| topology.neighbour(one, port).is_some_and(|(peer, _)| peer == other);
            if one < topology.routers() && ports.any(leads) {
                return Ok(At::switches(one, other));
            }
            let refused = ConfigError::new("between", "no link joins these switches");
            Err(refused.value(format!("[{one}, {other}]")).valid("two switches that a link joins"))
        }
        _ => Err(ConfigError::new("", "names no link, or two").valid("node = 5, or between = [0, 1]")),
    }
}

/// The links that differ, with their times in ticks.
pub fn links(times: &[LinkTimes], clock: &Clock) -> Result<FxHashMap<At, Link>, ConfigError> {
    let link = |times: &LinkTimes| {
        Ok((times.at, Link { byte: clock.byte_ticks(&times.byte)?, delay: clock.ticks(&times.delay)? }))
    };
    times.iter().map(link).collect()
}
