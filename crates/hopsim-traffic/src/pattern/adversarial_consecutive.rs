//! Adversarial-consecutive traffic: see [`Config`].

use super::{Site, Targets};
use hopsim_network::error::ConfigError;
use hopsim_network::topology::Interconnect;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A group sends to the groups behind the global links of its last router, each packet to a random node of the job
/// there. All minimal paths then leave through that bottleneck router, and the arbiters decide who gets its links:
/// the pattern that shows unfairness. In the palm tree these are the h next groups; the pattern is defined from the links, so that it is the same stress in any
/// arrangement.
///
/// The papers' text names h groups, and that is the default. Their figures come from h − 1 (g + 1 … g + h − 1), which
/// leaves global port 0 of the bottleneck router without minimal traffic: `groups` = h − 1 reproduces them.
///
/// In short `"ADVc"`. Source: Fuentes' thesis (2017), §3.1.3.1 and figure 3.1.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "AdversarialConsecutivePattern")]
pub struct Config {
    /// Number of target groups \[1 … h\], taken from the last global port of the router down; default h.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub groups: Option<u32>,
}

impl Config {
    /// Lists by source group.
    pub fn targets(&self, site: &Site<'_>) -> Result<Targets, ConfigError> {
        let Some(dragonfly) = site.topology.dragonfly() else {
            return Err(ConfigError::new("", "needs a topology with groups").valid("topology.dragonfly"));
        };
        let h = dragonfly.h();
        let groups = self.groups.unwrap_or(h);
        if groups == 0 || groups > h {
            return Err(ConfigError::new("groups", format!("a router has h = {h} global links"))
                .value(groups)
                .valid(format!("1 … {h}")));
        }
        let behind = |group: u32| {
            let last = group * dragonfly.a() + dragonfly.a() - 1;
            let mut targets: Vec<u32> = dragonfly.groups_behind(last).collect();
            targets.reverse();
            targets.truncate(groups as usize);
            targets.sort_unstable();
            targets.dedup();
            targets
        };
        let idle = site.nodes.iter().map(|&node| site.group(node)).find(|&group| behind(group).is_empty());
        if let Some(group) = idle {
            let reason = format!("the last router of group {group} has no connected global link");
            return Err(ConfigError::new("", reason)
                .valid("another pattern, or another number of groups or global links"));
        }
        Targets::new(site, dragonfly.groups(), |node| site.group(node), behind)
    }
}

#[cfg(test)]
mod tests {
    use crate::pattern::{Pattern, PatternConfig, Site};
    use hopsim_network::error::ConfigError;
    use hopsim_network::topology::{Topology, dragonfly};
    use hopsim_random::{Purpose, Stream};

    fn destination_groups(groups: Option<u32>) -> Result<Vec<u32>, ConfigError> {
        let config = dragonfly::Config {
            p: 3,
            a: 6,
            h: 3,
            groups: None,
            trunk: None,
            arrangement: dragonfly::Arrangement::Palmtree,
        };
        let topology = Topology::Dragonfly(dragonfly::Dragonfly::new(&config)?);
        let nodes: Vec<u32> = (0..topology.routers() * 3).collect();
        let site = Site { topology: &topology, nodes: &nodes, seed: 1, job: 0, to_itself: false };
        let pattern: Pattern =
            PatternConfig::AdversarialConsecutive(super::Config { groups }).build(&site)?;
        let mut stream = Stream::new(1, Purpose::Pattern, 0);
        let mut seen: Vec<u32> = (0..500).map(|_| site.group(pattern.destination(0, &mut stream))).collect();
        seen.sort_unstable();
        seen.dedup();
        Ok(seen)
    }

    #[test]
    fn the_palm_tree_gives_the_next_groups() {
        assert_eq!(destination_groups(None).unwrap(), [1, 2, 3]);
        assert_eq!(destination_groups(Some(2)).unwrap(), [1, 2]);
        assert_eq!(destination_groups(Some(4)).unwrap_err().path, "adversarial_consecutive.groups");
    }
}
