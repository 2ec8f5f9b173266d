//! Adversarial traffic: see [`Config`].

use super::{Site, Targets};
use hopsim_network::error::ConfigError;
use hopsim_network::topology::dragonfly::Dragonfly;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// All nodes of a group send to the group `offset` ahead (mod groups), each packet to a random node of the job
/// there. All minimal paths between the two groups share the global links that join them, so that minimal
/// routing accepts at most 1/(a·p) when there is one such link.
///
/// In short `"ADV+1"`, `"ADV+h"`. With offset h and the palm tree, the detours through an intermediate group all
/// cross it by single local links, which then limit Valiant routing too.
///
/// Source: Fuentes' thesis (2017), §1.6.1.2.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "AdversarialPattern")]
pub struct Config {
    /// How many groups ahead \[1 … groups − 1\], or `"h"`: as many as a router has global links.
    #[serde(default = "one")]
    pub offset: Offset,
}

/// A number of groups, or the `h` of the dragonfly.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Offset {
    /// So many groups.
    Groups(u32),
    /// As many groups as a router has global links.
    H(H),
}

/// The letter `h`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum H {
    /// Global links per router.
    H,
}

fn one() -> Offset {
    Offset::Groups(1)
}

impl Config {
    /// Lists by source group.
    pub fn targets(&self, site: &Site<'_>) -> Result<Targets, ConfigError> {
        let groups = site.topology.groups();
        let offset = match self.offset {
            Offset::Groups(offset) => offset,
            Offset::H(_) => site.topology.dragonfly().map_or(0, Dragonfly::h),
        };
        if matches!(self.offset, Offset::H(_)) && groups > 1 && site.topology.dragonfly().is_none() {
            return Err(ConfigError::new("offset", "h is of a dragonfly, and this is another topology")
                .value("h")
                .valid(format!("1 … {}", groups - 1)));
        }
        if groups < 2 {
            return Err(ConfigError::new("offset", "the network has one group, and no other to send to")
                .value(offset)
                .valid("another pattern, or topology.dragonfly"));
        }
        if offset == 0 || offset >= groups {
            return Err(ConfigError::new("offset", format!("the network has {groups} groups"))
                .value(offset)
                .valid(format!("1 … {}", groups.saturating_sub(1))));
        }
        Targets::new(site, groups, |node| site.group(node), |group| vec![(group + offset) % groups])
    }
}
