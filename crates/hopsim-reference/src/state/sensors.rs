//! What routers keep for the routing: of their heads, and of each other's links.

use super::delay::DelayLine;
use hopsim_experiment::plan::Plan;
use hopsim_routing::source::SaturationConfig;
use hopsim_routing::view::{Exchange, Packets, Sensing};

/// What routers keep for the routing.
#[derive(Default)]
pub struct Sensors {
    /// Whether routers count heads.
    pub contention: bool,
    /// Weight of the past in the averages of the counts of heads, if the averages are read.
    pub alpha: Option<f64>,
    /// When routers tell the counts by group.
    pub exchange: Option<Exchange>,
    /// When global outputs are marked.
    pub saturation: Option<Saturation>,
}

/// When a global output is marked saturated.
#[derive(Clone)]
pub struct Saturation {
    pub factor: f64,
    /// Threshold of the load \[packets\].
    pub threshold: f64,
    pub sensing: Sensing,
    pub packets: Packets,
    /// VCs that belong to a port's load: 0 … this − 1.
    pub vcs: u8,
    /// Whether the other routers of the group hear of the marks.
    pub exchanged: bool,
}

impl Saturation {
    pub fn new(config: &SaturationConfig, vcs: u8, exchanged: bool) -> Self {
        let &SaturationConfig { sensing, packets, factor, threshold } = config;
        Self { factor, threshold, sensing, packets, vcs, exchanged }
    }
}

/// The saturated VCs of each port.
pub type Marks = Vec<Vec<u8>>;

/// What a router knows, and what it has told the others of its group.
pub struct Knowledge {
    /// Heads whose minimal path leads over each port.
    pub contention: Vec<u32>,
    /// The average over time of the heads whose minimal path leads over each port.
    pub filtered: Vec<f64>,
    /// Heads at injection and global inputs that have to reach each other group.
    pub groups: Vec<u32>,
    /// What the others of the group know of the counts in `groups`.
    pub told: Vec<u32>,
    /// What the others of the group will know of the counts in `groups`.
    pub messages: DelayLine<Vec<u32>>,
    /// What is outstanding behind all VCs of each port, as the cycle began.
    pub outstanding: Vec<u32>,
    /// Saturated global outputs.
    pub marks: Marks,
    /// What the others of the group know of the saturated global outputs.
    pub told_marks: Marks,
    /// What the others of the group will know of the saturated global outputs.
    pub mark_messages: DelayLine<Marks>,
}

impl Knowledge {
    pub fn new(plan: &Plan) -> Self {
        let (ports, groups) = (plan.system.topology.ports(), plan.system.topology.groups() as usize);
        let marks = vec![Vec::new(); ports.len()];
        Self {
            contention: vec![0; ports.len()],
            filtered: vec![0.0; ports.len()],
            groups: vec![0; groups],
            outstanding: vec![0; ports.len()],
            told: vec![0; groups],
            messages: DelayLine::new(),
            told_marks: marks.clone(),
            mark_messages: DelayLine::new(),
            marks,
        }
    }
}
