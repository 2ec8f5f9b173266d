//! What an adaptive mechanism may read where its head stands, and what the engine must keep for it.
//!
//! Everything here but [`View::outstanding`], which no real router could know, is known to the router itself: its own outputs and counters,
//! and what its neighbours told it one link latency ago. Loads of buffers count a packet from its grant until its credit comes back, so packets
//! in the output queue, on the wire and credits under way are included; a router knows nothing more of its
//! neighbours' buffers.

use super::prospect::Productive;
use super::{Head, Request};
use hopsim_random::Stream;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// The state of a router as its heads see it in one allocator iteration.
pub trait View {
    /// Whether the packet could be granted this output VC now: credit for all of it, output free, room in its queue.
    fn open(&self, request: Request) -> bool;
    /// Free phits of the buffer behind the output VC.
    fn credits(&self, request: Request) -> u32;
    /// Occupied phits of the buffer behind the output VC as far as this router knows.
    fn occupancy(&self, request: Request) -> u32;
    /// Occupied phits of the buffer behind the output VC by packets that have never left their minimal path (minCred).
    fn minimal_occupancy(&self, request: Request) -> u32;
    /// Size of the buffers behind the output VCs of a link class \[phits\].
    fn capacity(&self, class: u8) -> u32;
    /// Contention counter of an output port: heads whose minimal path it is, at the beginning of the cycle.
    fn contention(&self, port: usize) -> u32;
    /// Contention counter of an output port, exponentially averaged.
    fn filtered_contention(&self, port: usize) -> f64;
    /// Heads for `group` at injection and global inputs of the routers of the own group, own ones as they are and
    /// others as last heard.
    fn combined_contention(&self, group: u32) -> u32;
    /// Whether a global output VC is marked saturated, as known here: one of the own router, or of that at `position` of
    /// its group.
    fn saturated(&self, position: Option<u32>, request: Request) -> bool;
    /// What is outstanding in all VCs together of a link port of any router as the cycle begins \[phits\].
    fn outstanding(&self, router: u32, port: usize) -> u32;
    /// Length of the head's packet \[phits\].
    fn length(&self) -> u32;
    /// The head.
    fn head(&self) -> Head;
    /// Whether FlexVC may manage the VCs; where it is known at compile time that it does not, this says so.
    fn flexible(&self) -> bool {
        true
    }
    /// Of the output VCs `vcs` of the productive ports, the open one with most credits, of several the one
    /// that `draw` picks by its number among them, ports ascending, then VCs.
    fn roomiest(
        &self,
        productive: &Productive,
        vcs: Range<u8>,
        draw: impl FnOnce(u32) -> u32,
    ) -> Option<Request> {
        let mut open = Vec::new();
        productive.each(|port| {
            let requests = vcs.clone().map(|vc| Request { port, vc });
            open.extend(requests.filter(|&request| self.open(request)));
        });
        let most = open.iter().map(|&request| self.credits(request)).max()?;
        open.retain(|&request| self.credits(request) == most);
        let nth = if open.len() > 1 { draw(open.len() as u32) } else { 0 };
        open.get(nth as usize).copied()
    }
    /// Visits those of `ports`, all of link class `class`, that could be open in VC `vc` (with FlexVC in that or one
    /// below), ascending; others too if it is not worth finding out.
    fn each_candidate(&self, ports: Range<usize>, _class: u8, _vc: u8, visit: impl FnMut(usize)) {
        ports.for_each(visit);
    }
    /// Whether all that [`Self::each_candidate`] visits are known to be open.
    fn candidates_are_open(&self) -> bool {
        false
    }
}

/// The random numbers of one decision.
pub trait Draws {
    /// Numbers that are the same at every attempt of a head in a router.
    fn head(&self) -> Stream;
    /// Numbers of this attempt.
    fn attempt(&mut self) -> &mut Stream;
}

/// What is read of a buffer whose port has several VCs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Sensing {
    /// The VC that the packet would use.
    #[default]
    Vc,
    /// The mean over the port's VCs that the mechanism uses.
    Port,
}

/// Which packets count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Packets {
    /// All packets.
    #[default]
    All,
    /// Packets that have never left their minimal path (minCred; thesis §5.2.4).
    Minimal,
}

/// What the engine must keep for a mechanism; nothing by default.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sensors {
    /// Contention counters.
    pub contention: bool,
    /// Weight of the past in the exponential average of the contention counters, if that is read.
    pub alpha: Option<f64>,
    /// Counters by destination group, exchanged inside the group.
    pub exchange: Option<Exchange>,
    /// Marks of saturated global links.
    pub saturation: Option<Saturation>,
    /// Occupancy by packets on their minimal path.
    pub minimal_occupancy: bool,
    /// What is outstanding at the outputs of the whole network as a cycle begins.
    pub outstanding: bool,
}

/// When routers tell their group how many heads want each other group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exchange {
    /// Cycles from one message to the next.
    pub period: u32,
    /// Phits that each message occupies on every local link.
    pub message_length: u32,
}

/// When a global output is marked: its occupancy exceeds `factor` times the mean over the global outputs of its
/// router plus `threshold`.
#[derive(Clone, Debug, PartialEq)]
pub struct Saturation {
    /// Factor on the mean.
    pub factor: f64,
    /// What is added to the mean \[packets\].
    pub threshold: f64,
    /// Whether occupancies are read by VC or by port.
    pub sensing: Sensing,
    /// Which packets count.
    pub packets: Packets,
    /// VCs that belong to a port's occupancy: 0 … this − 1.
    pub vcs: u8,
    /// VCs whose occupancy the marks that are read depend on, a bit each.
    pub read: u16,
    /// Whether the other routers of the group hear of the mark, one local-link latency later.
    pub exchanged: bool,
}
