//! Local adversarial traffic: see [`Config`].

use super::{Site, Targets};
use hopsim_network::error::ConfigError;
use hopsim_network::topology::Interconnect;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// All nodes of a router send to the router `offset` positions ahead in the same group (mod a), each packet to a
/// random node of the job there, so that p nodes share one local link and minimal routing accepts at most 1/p.
///
/// In short `"ADV-local"`. Source: García et al., ICPP 2012; Fuentes' thesis (2017), §1.6.1.2.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "AdversarialLocalPattern")]
pub struct Config {
    /// How many positions ahead \[1 … a − 1\].
    #[serde(default = "one")]
    pub offset: u32,
}

fn one() -> u32 {
    1
}

impl Default for Config {
    fn default() -> Self {
        Self { offset: one() }
    }
}

impl Config {
    /// Lists by source router.
    pub fn targets(&self, site: &Site<'_>) -> Result<Targets, ConfigError> {
        let Some(dragonfly) = site.topology.dragonfly() else {
            return Err(ConfigError::new("", "needs a topology with groups").valid("topology.dragonfly"));
        };
        let a = dragonfly.a();
        if self.offset == 0 || self.offset >= a {
            return Err(ConfigError::new("offset", format!("a group has {a} routers"))
                .value(self.offset)
                .valid(format!("1 … {}", a.saturating_sub(1))));
        }
        let ahead = |router: u32| {
            let (group, position) = (dragonfly.group(router), dragonfly.position(router));
            vec![group * a + (position + self.offset) % a]
        };
        Targets::new(site, dragonfly.routers(), |node| site.router(node), ahead)
    }
}
