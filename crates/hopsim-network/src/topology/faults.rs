//! Links that are out of order: see [`Fault`].

use super::{PortClass, Topology};
use crate::error::{ConfigError, within};
use hopsim_random::{Purpose, Stream};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::ops::RangeInclusive;

/// Shares of the links of a network.
const FRACTIONS: RangeInclusive<f64> = 0.0..=1.0;

/// Links that are out of order from the beginning of a run to its end, in both directions.
///
/// Their ports stay, with nothing plugged in, so that all other ports keep their numbers. Packets are routed as if the links had never been
/// there: shortest paths are those of what is left, and with them distances, virtual channels and the proof that the network is free of
/// deadlock. A network that falls apart is refused.
///
/// In a graph and in the families of topologies that are graphs; other topologies find their paths by coordinates. `hopsim topology export`
/// makes a graph of them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Fault {
    /// First cycle in which the links are out of order; only 0, the beginning, is possible \[cycles\].
    #[serde(default)]
    pub at: u32,
    /// Which links.
    pub links: FailedLinks,
}

/// Links that are named, or drawn, or both. Links of earlier entries of `faults` are not drawn again.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct FailedLinks {
    /// Links by the two routers that each joins; of several between two routers the one by the lowest port of the first router that is not
    /// out of order yet.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub between: Vec<[u32; 2]>,
    /// Share of all links, or of those of `class`, that is drawn: so many of those that are in order, to the nearest whole number of links.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = *FRACTIONS.start(), max = *FRACTIONS.end()))]
    pub fraction: Option<f64>,
    /// Class of the links that are drawn, such as `global` of a dragonfly+; default any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub class: Option<String>,
    /// Seed of the draw, which is another one than that of the traffic; default 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
}

/// Router and port of an end of a link.
type LinkEnd = (u32, usize);

/// The links of a network, each by the end whose router, or port at one router, is the lower one, ascending; with their classes.
fn links(topology: &Topology) -> Vec<(LinkEnd, u8)> {
    let ports = topology.ports();
    let mut links = Vec::new();
    for router in 0..topology.routers() {
        for (port, class) in ports.iter().enumerate() {
            let PortClass::Link(class) = *class else { continue };
            let here = (router, port);
            if topology.neighbour(router, port).is_some_and(|there| here < there) {
                links.push((here, class));
            }
        }
    }
    links
}

/// The topology without the links of some faults.
pub fn without(topology: Topology, faults: &[Fault]) -> Result<Topology, ConfigError> {
    if faults.is_empty() {
        return Ok(topology);
    }
    let at = |index: usize| move |error: ConfigError| error.within(&index.to_string());
    for (index, fault) in faults.iter().enumerate() {
        fault.check().map_err(at(index))?;
    }
    let Topology::Graph(graph) = &topology else {
        let reason = "paths follow from coordinates here, and know of no links that are missing";
        return Err(ConfigError::new("", reason).valid(
            "no such key, or topology.graph or a family of graphs; hopsim topology export makes a graph of a network",
        ));
    };
    let mut failed = BTreeSet::new();
    for (index, fault) in faults.iter().enumerate() {
        fault.links.pick(&topology, &mut failed).map_err(at(index))?;
    }
    graph.without(&failed).map(Topology::Graph)
}

impl Fault {
    fn check(&self) -> Result<(), ConfigError> {
        if self.at > 0 {
            let reason = "links cannot fail in the middle of a run";
            return Err(ConfigError::new("at", reason).value(self.at).valid("0: from the beginning"));
        }
        self.links.fraction.map_or(Ok(()), |fraction| within(FRACTIONS, fraction, "links.fraction"))
    }
}

impl FailedLinks {
    /// Adds the links to those that are out of order, each by one of its ends.
    fn pick(&self, topology: &Topology, failed: &mut BTreeSet<LinkEnd>) -> Result<(), ConfigError> {
        if self.between.is_empty() && self.fraction.is_none() {
            let reason = "names no links";
            return Err(
                ConfigError::new("links", reason).valid("between = [[router, router], …] or fraction")
            );
        }
        for (index, &ends) in self.between.iter().enumerate() {
            let link = named(topology, ends, failed);
            failed.insert(link.map_err(|error| error.within(&format!("links.between.{index}")))?);
        }
        let Some(fraction) = self.fraction else {
            let given = self.class.as_ref().map(|_| "class").or(self.seed.map(|_| "seed"));
            return given.map_or(Ok(()), |key| {
                let reason = "is about links that are drawn, and fraction does not say how many";
                Err(ConfigError::new(format!("links.{key}"), reason)
                    .valid("no such key, or fraction besides"))
            });
        };
        let class = self.class_among(topology.link_classes())?;
        let mut all = links(topology);
        all.retain(|&(_, of)| class.is_none_or(|class| class == of));
        let count = (fraction * all.len() as f64).round() as usize;
        all.retain(|(link, _)| !failed.contains(link));
        Stream::new(self.seed.unwrap_or(1), Purpose::Faults, 0).shuffle(&mut all);
        failed.extend(all.into_iter().take(count).map(|(link, _)| link));
        Ok(())
    }

    fn class_among(&self, names: &[&str]) -> Result<Option<u8>, ConfigError> {
        let Some(class) = &self.class else { return Ok(None) };
        let number = names.iter().position(|name| name == class).ok_or_else(|| {
            let refused = ConfigError::new("links.class", "the topology has no such links");
            refused.value(format!("{class:?}")).valid(names.join(" or "))
        })?;
        Ok(Some(number as u8))
    }
}

/// The first link between two routers that is in order.
fn named(
    topology: &Topology,
    [one, other]: [u32; 2],
    failed: &BTreeSet<LinkEnd>,
) -> Result<LinkEnd, ConfigError> {
    let refuse = |reason: String, valid: &str| {
        Err(ConfigError::new("", reason).value(format!("[{one}, {other}]")).valid(valid))
    };
    let routers = topology.routers();
    if one.max(other) >= routers {
        return refuse(format!("the network has {routers} routers"), &format!("routers 0 … {}", routers - 1));
    }
    let mut joined = false;
    for port in 0..topology.ports().len() {
        let here = (one, port);
        let Some(there) = topology.neighbour(one, port).filter(|&(peer, _)| peer == other) else { continue };
        joined = true;
        if !failed.contains(&here.min(there)) {
            return Ok(here.min(there));
        }
    }
    let reason = if joined {
        "all links between the two routers are out of order already"
    } else {
        "no link joins the two routers"
    };
    refuse(reason.into(), "two routers that a link joins which is in order")
}
