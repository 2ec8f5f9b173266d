//! Misrouting triggers of in-transit adaptive mechanisms: when a packet looks for another output than the minimal one,
//! and which other output will do.
//! A new trigger is one file here and one row in the enum below.

pub mod congestion;
pub mod contention;

use super::prospect::Misroutes;
use super::vcs::Vcs;
use super::view::{Draws, Exchange, Packets, Sensors, View};
use super::{Place, Request};
use contention::{Contention, Ectn, Filtered, Statistical};
use hopsim_network::error::ConfigError;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// When a packet looks for another output than the minimal one.
///
/// A trigger only chooses among paths that the mechanism allows: VCs and freedom from deadlock and livelock are the
/// mechanism's, whatever the trigger. It reads what the router knows of its own outputs and heads, and what the routers
/// of its group have told it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TriggerConfig {
    /// The minimal output cannot take the packet now.
    Congestion(congestion::Config),
    /// Many heads want the minimal output (Base).
    Contention(Contention),
    /// Many heads have wanted the minimal output for some time (Filtered).
    Filtered(Filtered),
    /// Many heads want the minimal output, or it cannot take the packet now (Hybrid).
    Hybrid(Hybrid),
    /// Many heads of the router want the minimal output, or many of the group want the packet's destination group (ECtN).
    Ectn(Ectn),
    /// Many heads want the minimal output, with a probability that grows with their number.
    Statistical(Statistical),
}

/// Either of `contention` and `congestion`. While the counter of the minimal output has reached `threshold` any output
/// that can take the packet now will do.
///
/// Source: Fuentes' thesis (2017), §4.1.3 (Hybrid).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Hybrid {
    /// Least counter that counts as contention \[packets\].
    #[schemars(range(min = *contention::COUNTERS.start(), max = *contention::COUNTERS.end()))]
    pub threshold: u32,
    /// The congestion trigger.
    pub congestion: congestion::Config,
}

impl Default for Hybrid {
    fn default() -> Self {
        Self { threshold: 8, congestion: congestion::Config::default() }
    }
}

impl Default for TriggerConfig {
    fn default() -> Self {
        Self::Congestion(congestion::Config::default())
    }
}

/// An output that a packet could take.
#[derive(Clone, Copy, Debug)]
pub struct Candidate {
    /// Port and VC.
    pub request: Request,
    /// Link class.
    pub class: u8,
}

/// What another output must keep below to do instead of the minimal one.
#[derive(Clone, Copy, Debug)]
pub enum Bar<'a> {
    /// Nothing.
    None,
    /// An occupancy: `scale` times that of the output must be at most `most`.
    Occupancy {
        /// How occupancies are read.
        config: &'a congestion::Config,
        /// Factor on the occupancy of the output.
        scale: f64,
        /// Most that the occupancy times `scale` may be \[phits\].
        most: f64,
    },
    /// A number of packets that the contention counter of the output must be below.
    Contention(u32),
    /// A number of packets that the exponentially averaged contention counter of the output must be below.
    Filtered(u32),
}

impl Bar<'_> {
    /// Whether `other`, which could take the packet now, will do.
    #[expect(clippy::inline_always, reason = "per decision; measured")]
    #[inline(always)]
    pub fn admits(&self, other: Candidate, (view, vcs): (&impl View, &Vcs)) -> bool {
        let port = other.request.port;
        match *self {
            Self::None => true,
            Self::Occupancy { config, scale, most } => {
                scale * f64::from(config.occupancy_of_one(other, (view, vcs))) <= most
            }
            Self::Contention(threshold) => view.contention(port) < threshold,
            Self::Filtered(threshold) => view.filtered_contention(port) < f64::from(threshold),
        }
    }
}

impl Hybrid {
    fn contention(&self) -> Contention {
        Contention { threshold: self.threshold, local_threshold: None }
    }
}

impl TriggerConfig {
    /// Refuses numbers out of range.
    pub fn check(&self) -> Result<(), ConfigError> {
        match self {
            Self::Congestion(c) => c.check().map_err(|e| e.within("congestion")),
            Self::Contention(c) => c.check().map_err(|e| e.within("contention")),
            Self::Filtered(c) => c.check().map_err(|e| e.within("filtered")),
            Self::Hybrid(c) => c
                .contention()
                .check()
                .and_then(|()| c.congestion.check().map_err(|e| e.within("congestion")))
                .map_err(|e| e.within("hybrid")),
            Self::Ectn(c) => c.check().map_err(|e| e.within("ectn")),
            Self::Statistical(c) => c.check().map_err(|e| e.within("statistical")),
        }
    }

    /// Whether a packet looks for another output than `minimal`.
    #[expect(clippy::inline_always, reason = "per decision; measured")]
    #[inline(always)]
    pub fn fires(
        &self,
        minimal: Candidate,
        misroutes: &Misroutes,
        (view, vcs): (&impl View, &Vcs),
        draws: &impl Draws,
    ) -> bool {
        match self {
            Self::Congestion(c) => c.fires(minimal, (view, vcs)),
            Self::Contention(c) => c.reached(minimal, view),
            Self::Filtered(c) => c.reached(minimal, view),
            Self::Hybrid(c) => {
                c.contention().reached(minimal, view) || c.congestion.fires(minimal, (view, vcs))
            }
            Self::Ectn(c) => {
                Contention { threshold: c.threshold, local_threshold: None }.reached(minimal, view)
                    || (misroutes.leaving
                        && misroutes.place == Place::Injection
                        && c.notified(u32::from(misroutes.target), view))
            }
            Self::Statistical(c) => c.fires(minimal, view, draws),
        }
    }

    /// What outputs of a link class must keep below to do instead of `minimal`.
    #[expect(clippy::inline_always, reason = "per decision; measured")]
    #[inline(always)]
    pub fn bar(&self, class: u8, minimal: Candidate, (view, vcs): (&impl View, &Vcs)) -> Bar<'_> {
        match self {
            Self::Congestion(c) => c.bar(class, minimal, (view, vcs)),
            Self::Contention(c) => Bar::Contention(c.threshold(class)),
            Self::Filtered(c) => Bar::Filtered(c.threshold),
            Self::Hybrid(c) if c.contention().reached(minimal, view) => Bar::None,
            Self::Hybrid(c) => c.congestion.bar(class, minimal, (view, vcs)),
            Self::Ectn(c) => Bar::Contention(c.threshold),
            Self::Statistical(c) => Bar::Contention(c.threshold),
        }
    }

    /// What the engine must keep.
    pub fn sensors(&self, vcs: &Vcs) -> Sensors {
        let congestion = match self {
            Self::Congestion(c) => Some(c),
            Self::Hybrid(c) => Some(&c.congestion),
            _ => None,
        };
        Sensors {
            contention: !matches!(self, Self::Congestion(_)),
            alpha: if let Self::Filtered(c) = self { Some(c.alpha) } else { None },
            exchange: if let Self::Ectn(c) = self {
                Some(Exchange { period: c.period, message_length: c.message_length })
            } else {
                None
            },
            saturation: congestion.map(|c| c.saturation(vcs)),
            minimal_occupancy: congestion.is_some_and(|c| c.packets == Packets::Minimal),
            outstanding: false,
        }
    }
}
