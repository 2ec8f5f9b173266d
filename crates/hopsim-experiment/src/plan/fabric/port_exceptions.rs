//! Output ports for which congestion control has values of their own.

use super::congestion::{key, thresholds, victim_mask};
use super::wiring::Cables;
use crate::config::infiniband::congestion::{CongestionControlConfig, Thresholds};
use crate::config::infiniband::port_exceptions::{PortException, PortKind, PortThresholds};
use hopsim_infiniband::congestion::PortRules;
use hopsim_infiniband::fabric::NONE;
use hopsim_network::error::ConfigError;
use std::collections::BTreeMap;

/// Says of the thresholds of exceptions what the document leaves to those of all ports.
pub fn resolve(control: &mut CongestionControlConfig) {
    let all = &control.thresholds;
    for own in control.exceptions.iter_mut().filter_map(|exception| exception.thresholds.as_mut()) {
        if own.high.is_none() && own.weight.is_none() {
            (own.high, own.weight) = (all.high.clone(), all.weight);
        }
        if own.low.is_none() && own.distance.is_none() {
            (own.low, own.distance) = (all.low.clone(), all.distance.clone());
        }
    }
}

/// What is set for the ports that are exceptions, by port, where `all` is set for the others. Packets have at most `mtu` bytes, and
/// input buffers of ports to hosts and to switches these blocks.
pub fn build(
    control: &CongestionControlConfig,
    all: PortRules,
    (mtu, buffers): (u32, [u32; 2]),
    cables: &Cables,
) -> Result<BTreeMap<u32, PortRules>, ConfigError> {
    let mut rules = BTreeMap::new();
    for (index, exception) in control.exceptions.iter().enumerate() {
        let path = format!("exceptions.{index}");
        let ports = named(exception, cables).map_err(|error| error.within(&key(&path)))?;
        let PortException { thresholds: own, victim_mask: mask, marking_rate, packet_size, .. } = exception;
        if own.is_none() && mask.is_none() && marking_rate.is_none() && packet_size.is_none() {
            return Err(ConfigError::new(key(&path), "sets nothing for its ports")
                .valid("thresholds, victim_mask, marking_rate or packet_size"));
        }
        let own = own.as_ref().map(|own| {
            let own = as_for_all(own, control);
            thresholds(&own, mtu, buffers, &format!("{path}.thresholds"))
        });
        let own = own.transpose()?;
        for port in ports {
            let rules = rules.entry(port).or_insert(all);
            [rules.high, rules.low] = own.unwrap_or([rules.high, rules.low]);
            rules.victim_mask = mask.map_or(rules.victim_mask, victim_mask);
            rules.marking_rate = marking_rate.unwrap_or(rules.marking_rate);
            rules.packet_size = packet_size.unwrap_or(rules.packet_size);
        }
    }
    Ok(rules)
}

fn as_for_all(own: &PortThresholds, control: &CongestionControlConfig) -> Thresholds {
    let PortThresholds { high, low, weight, distance } = own.clone();
    Thresholds { mode: control.thresholds.mode, high, low, weight, distance }
}

/// The ports that an exception names, at least one.
fn named(exception: &PortException, cables: &Cables) -> Result<Vec<u32>, ConfigError> {
    let &PortException { ports, switch, port, node, between, .. } = exception;
    match (ports, switch, port, node, between) {
        (None, Some(switch), None, None, None) => {
            Ok(cables.ports(within_switches(switch, cables)?).collect())
        }
        (None, Some(switch), Some(port), None, None) => {
            let mut all = cables.ports(within_switches(switch, cables)?);
            let count = all.len();
            all.nth(port as usize).map(|port| vec![port]).ok_or_else(|| {
                let reason = format!("switch {switch} has {count} ports that are plugged");
                ConfigError::new("port", reason).value(port).valid(format!("0 … {}", count.saturating_sub(1)))
            })
        }
        (Some(kind), switch, None, None, None) => of_kind(kind, switch, cables),
        (None, None, None, Some(node), None) if node < cables.hosts => Ok(vec![cables.peers[node as usize]]),
        (None, None, None, Some(node), None) => {
            let reason = format!("the network has {} nodes", cables.hosts);
            Err(ConfigError::new("node", reason).value(node).valid(format!("0 … {}", cables.hosts - 1)))
        }
        (None, None, None, None, Some(between)) => of_link(between, cables),
        _ => {
            let valid = "ports = \"hosts\", switch = 3, switch = 3 with ports or port = 0, node = 5, or between = [0, 1]";
            Err(ConfigError::new("", "names no ports, or names them twice").valid(valid))
        }
    }
}

fn within_switches(switch: u32, cables: &Cables) -> Result<u32, ConfigError> {
    let count = cables.switches();
    if switch < count {
        return Ok(switch);
    }
    let reason = format!("the network has {count} switches");
    Err(ConfigError::new("switch", reason).value(switch).valid(format!("0 … {}", count - 1)))
}

/// The ports of a switch, or of all, to hosts or to switches.
fn of_kind(kind: PortKind, switch: Option<u32>, cables: &Cables) -> Result<Vec<u32>, ConfigError> {
    let all = match switch {
        Some(switch) => cables.ports(within_switches(switch, cables)?),
        None => cables.hosts..cables.peers.len() as u32,
    };
    let leads_to_host = |port: &u32| cables.ends[*port as usize] == NONE;
    let found: Vec<u32> = all.filter(|port| leads_to_host(port) == (kind == PortKind::Hosts)).collect();
    if !found.is_empty() {
        return Ok(found);
    }
    let (name, one, other) = match kind {
        PortKind::Hosts => ("hosts", "host", "switches"),
        PortKind::Switches => ("switches", "switch", "hosts"),
    };
    let whose = switch.map_or("the network".into(), |switch| format!("switch {switch}"));
    Err(ConfigError::new("ports", format!("{whose} has no port to a {one}"))
        .value(format!("{name:?}"))
        .valid(format!("{other:?}")))
}

/// The ports of two switches to each other.
fn of_link([one, other]: [u32; 2], cables: &Cables) -> Result<Vec<u32>, ConfigError> {
    let leads = |from: u32, to: u32| {
        let links = (from < cables.switches()).then(|| cables.links(from)).into_iter().flatten();
        links.filter(move |&(_, end)| end == to).map(|(port, _)| port)
    };
    let found: Vec<u32> = leads(one, other).chain(leads(other, one)).collect();
    if found.is_empty() {
        return Err(ConfigError::new("between", "no link joins these switches")
            .value(format!("[{one}, {other}]"))
            .valid("two switches that a link joins"));
    }
    Ok(found)
}
