//! The rules by which packets find their way: made before the first cycle, and anew whenever tables change.
//!
//! What a rule says of a head, which needs the [`Simulator`](crate::simulator::Simulator), is in the file of the same name beside
//! this folder.

pub mod flexvc;
pub mod fpar;
pub mod in_transit;
pub mod layers;
pub mod multipath;
pub mod nue;
pub mod oblivious;
pub mod paths;
pub mod source;
pub mod trigger;
pub mod up_down;
pub mod vcs;

use super::faults::{self, Broken};
use super::ways::Ways;
use crate::state::sensors::Sensors;
use fpar::Fpar;
use hopsim_experiment::plan::Plan;
use hopsim_routing::RoutingConfig;
use hopsim_routing::o1turn::OrderChoice;
use in_transit::InTransitRule;
use multipath::MultipathRule;
use nue::Nue;
use oblivious::ObliviousRule;
use source::SourceRule;
use up_down::UpDown;
use vcs::Vcs;

/// The rules of a network.
pub struct Rules {
    pub mechanism: Mechanism,
    pub ways: Ways,
    pub vcs: Vcs,
}

/// How packets find their way.
pub enum Mechanism {
    Minimal,
    Oblivious(ObliviousRule),
    Source(SourceRule),
    InTransit(InTransitRule),
    Adaptive,
    UpDown(UpDown),
    Nue(Nue),
    Fpar(Fpar),
    O1turn(OrderChoice),
    Multipath(MultipathRule),
    /// With what links are disadvantaged by.
    Polarized([u32; 2]),
}

impl Rules {
    /// The rules of a network that lacks some links and routers besides those that are out of order for good.
    pub fn without(plan: &Plan, broken: &Broken) -> Self {
        let changed;
        // A tree some of whose links are missing at times is no tree at any time.
        let plan = if broken.links.is_empty() && faults::outages(plan).is_empty() {
            plan
        } else {
            changed = faults::without(plan, broken);
            &changed
        };
        let ways = Ways::without(plan, broken);
        let vcs = Vcs::new(plan, &ways);
        let mechanism = match &plan.experiment.routing {
            RoutingConfig::Minimal(_) => Mechanism::Minimal,
            RoutingConfig::Adaptive(_) => Mechanism::Adaptive,
            RoutingConfig::UpDown(config) => Mechanism::UpDown(UpDown::new(plan, config)),
            RoutingConfig::Nue(config) => Mechanism::Nue(Nue::new(plan, config)),
            RoutingConfig::Fpar(config) => Mechanism::Fpar(Fpar::new(plan, &ways, config)),
            RoutingConfig::Valiant(config) => Mechanism::Oblivious(ObliviousRule::new(config)),
            RoutingConfig::Ugal(config) => Mechanism::Source(SourceRule::ugal(config, &ways)),
            RoutingConfig::Piggyback(config) => Mechanism::Source(SourceRule::piggyback(config)),
            RoutingConfig::SourceAdaptive(config) => Mechanism::Source(SourceRule::source_adaptive(config)),
            RoutingConfig::Olm(config) => Mechanism::InTransit(InTransitRule::olm(config)),
            RoutingConfig::O1turn(config) => Mechanism::O1turn(config.order),
            RoutingConfig::Table(config) => Mechanism::Multipath(MultipathRule::table(config, &ways)),
            RoutingConfig::Polarized(config) => Mechanism::Polarized(config.penalties),
            RoutingConfig::Ecmp(config) => Mechanism::Multipath(MultipathRule::ecmp(config)),
            RoutingConfig::FatPaths(config) => {
                Mechanism::Multipath(MultipathRule::fat_paths(config, plan, &ways))
            }
            RoutingConfig::KShortestPaths(config) => {
                Mechanism::Multipath(MultipathRule::k_shortest_paths(config, &ways))
            }
            RoutingConfig::Par(config) if ways.dragonfly().is_none() => {
                Mechanism::Source(SourceRule::par(config))
            }
            RoutingConfig::Function(_) => unreachable!("no function in Python is given to it"),
            RoutingConfig::Par(config) => Mechanism::InTransit(InTransitRule::par(config)),
        };
        Self { mechanism, ways, vcs }
    }

    /// The ways through the network.
    pub fn ways(&self) -> &Ways {
        &self.ways
    }

    /// What routers keep for the mechanism.
    pub fn sensors(&self) -> Sensors {
        let global = self.vcs.used[1];
        match &self.mechanism {
            Mechanism::Source(rule) => Sensors { saturation: rule.marks(global), ..Sensors::default() },
            Mechanism::InTransit(rule) => rule.trigger.sensors(global),
            Mechanism::Minimal
            | Mechanism::Oblivious(_)
            | Mechanism::Adaptive
            | Mechanism::UpDown(_)
            | Mechanism::Nue(_)
            | Mechanism::Fpar(_)
            | Mechanism::O1turn(_)
            | Mechanism::Multipath(_)
            | Mechanism::Polarized(_) => Sensors::default(),
        }
    }
}
