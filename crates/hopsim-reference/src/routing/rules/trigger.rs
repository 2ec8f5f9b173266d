//! Triggers of mechanisms that decide in transit.

use crate::state::sensors::{Saturation, Sensors};
use hopsim_routing::source::SaturationConfig;
use hopsim_routing::trigger::TriggerConfig;
use hopsim_routing::trigger::congestion::Config as Congestion;
use hopsim_routing::view::Exchange;

/// The trigger of a mechanism that decides in transit.
pub struct Trigger(pub TriggerConfig);

impl Trigger {
    /// What routers keep for the trigger, if `vcs` global VCs are in use.
    pub fn sensors(&self, vcs: u8) -> Sensors {
        let congestion = match &self.0 {
            TriggerConfig::Congestion(config) => Some(config),
            TriggerConfig::Hybrid(config) => Some(&config.congestion),
            _ => None,
        };
        Sensors {
            contention: !matches!(self.0, TriggerConfig::Congestion(_)),
            alpha: if let TriggerConfig::Filtered(config) = self.0 { Some(config.alpha) } else { None },
            exchange: if let TriggerConfig::Ectn(config) = self.0 {
                Some(Exchange { period: config.period, message_length: config.message_length })
            } else {
                None
            },
            saturation: congestion.map(|config| restriction(config, vcs)),
        }
    }
}

/// The marks for the restriction on minimal global outputs.
fn restriction(config: &Congestion, vcs: u8) -> Saturation {
    let marks = SaturationConfig {
        sensing: config.sensing,
        packets: config.packets,
        factor: config.restriction.factor,
        threshold: config.restriction.threshold,
    };
    Saturation::new(&marks, vcs, false)
}
