//! Loads that differ from node to node: see [`NodeLoads`].

use super::SHARES;
use super::process::{LOADS, ProcessConfig, Rate, check_load};
use crate::pattern::Site;
use hopsim_network::error::{ConfigError, valid};
use hopsim_network::nothing::Nothing;
use hopsim_random::{Purpose, Stream};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Which nodes of a job offer another load than its process says.
///
/// Source: Izu and Vallejo, Simulation 2019, §5.3 (workloads 1 and 2).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum NodeLoads {
    /// None: all nodes offer the same.
    Equal(Nothing),
    /// Listed nodes, each list with a load of its own.
    Listed(Vec<Listed>),
    /// All nodes: some offer a load of 1, the others each a load of its own.
    Random(Random),
}

/// Some nodes and their load.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Listed {
    /// The nodes, of this job.
    pub nodes: Vec<u32>,
    /// What each of them offers \[phits/(node·cycle)\].
    #[schemars(range(min = *LOADS.start(), max = *LOADS.end()))]
    pub load: f64,
}

/// Loads drawn once, by the seed of the run.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Random {
    /// Share of the nodes that offer a load of 1; each of the others offers a load drawn uniformly from 0 to 1.
    #[schemars(range(min = *SHARES.start(), max = *SHARES.end()))]
    pub saturated: f64,
}

impl Default for NodeLoads {
    fn default() -> Self {
        Self::Equal(Nothing {})
    }
}

impl NodeLoads {
    /// Whether all nodes offer the same.
    pub fn are_equal(&self) -> bool {
        matches!(self, Self::Equal(_))
    }

    /// The load of every node of the job in their order, where `load` is that of the process.
    pub fn loads(&self, load: f64, site: &Site<'_>) -> Result<Vec<f64>, ConfigError> {
        let count = site.nodes.len();
        match self {
            Self::Equal(_) => Ok(vec![load; count]),
            Self::Listed(lists) => {
                let mut loads = vec![load; count];
                for (index, list) in lists.iter().enumerate() {
                    assign(list, site, &mut loads)
                        .map_err(|e| e.within(&index.to_string()).within("listed"))?;
                }
                Ok(loads)
            }
            Self::Random(Random { saturated }) => {
                if !SHARES.contains(saturated) {
                    return Err(ConfigError::new("random.saturated", "is a share of the nodes")
                        .value(*saturated)
                        .valid(valid(&SHARES)));
                }
                Ok(draw((*saturated * count as f64).round() as usize, site))
            }
        }
    }
}

fn assign(list: &Listed, site: &Site<'_>, loads: &mut [f64]) -> Result<(), ConfigError> {
    let load = check_load(list.load)?;
    for (index, &node) in list.nodes.iter().enumerate() {
        let Ok(place) = site.nodes.binary_search(&node) else {
            return Err(ConfigError::new(format!("nodes.{index}"), "is not a node of the job")
                .value(node)
                .valid("the numbers of its nodes"));
        };
        loads[place] = load;
    }
    Ok(())
}

/// A load of 1 for `saturated` of the nodes, drawn without replacement.
fn draw(saturated: usize, site: &Site<'_>) -> Vec<f64> {
    let mut stream = Stream::new(site.seed, Purpose::NodeLoads, site.job);
    let mut order: Vec<usize> = (0..site.nodes.len()).collect();
    for place in 0..saturated {
        let other = place + stream.below((order.len() - place) as u32) as usize;
        order.swap(place, other);
    }
    let mut loads = vec![1.0; order.len()];
    for &place in &order[saturated..] {
        loads[place] = stream.unit();
    }
    loads
}

/// The process of every node in the order of `loads`.
pub fn processes(
    config: &ProcessConfig,
    loads: &[f64],
    rate: Rate,
) -> Result<Vec<super::process::Process>, ConfigError> {
    let at = |&load: &f64| {
        let mut config = config.clone();
        if let Some(own) = config.load_mut() {
            *own = Some(load);
        }
        config.build(rate)
    };
    loads.iter().map(at).collect()
}
