//! Which engine runs an experiment.

use super::programs::Library;
use super::{FabricPlan, Plan, external};
use crate::config::Experiment;
use hopsim_network::error::ConfigError;

/// An experiment ready to run, for the engine that its router needs.
#[derive(Clone, Debug)]
pub enum AnyPlan {
    /// A network of routers, in cycles.
    Network(Box<Plan>),
    /// A fabric of InfiniBand or Ethernet, in time.
    Fabric(Box<FabricPlan>),
}

impl AnyPlan {
    /// Checks and resolves an experiment whose programs are in files, which `library` reads.
    pub fn new(experiment: &Experiment, library: &Library<'_>) -> Result<Self, ConfigError> {
        hopsim_memory::or_shortage(|| {
            if experiment.is_fabric() {
                return FabricPlan::new(experiment, library).map(|plan| Self::Fabric(Box::new(plan)));
            }
            Plan::with_programs(experiment, library).map(|plan| Self::Network(Box::new(plan)))
        })
        .map_err(ConfigError::too_large)?
    }

    /// Refuses to run the experiment by itself if another simulator is to drive it.
    pub fn check_alone(&self) -> Result<(), ConfigError> {
        match self {
            Self::Network(plan) => external::check_alone(plan),
            Self::Fabric(_) => Ok(()),
        }
    }

    /// The document with every default filled in.
    pub fn into_experiment(self) -> Experiment {
        match self {
            Self::Network(plan) => plan.experiment,
            Self::Fabric(plan) => plan.experiment,
        }
    }

    /// How long the run is: cycles, or ticks of a fabric.
    pub fn length(&self) -> u64 {
        match self {
            Self::Network(plan) => {
                let measure = &plan.experiment.measure;
                u64::from(measure.warmup.cycles()) + u64::from(measure.cycles)
            }
            Self::Fabric(plan) => plan.span.end,
        }
    }
}
