//! Packets that stand still: what the heads of input VCs wait for, seen from outside between two cycles.

use crate::observer::WaitReason;

/// What a head waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wait {
    /// The crossbar, an arbiter, or leave to be injected: the output could take the packet.
    Crossbar,
    /// A link, or an output, that is busy.
    Busy,
    /// Room in the buffer behind an output VC.
    Room,
}

impl Wait {
    /// What a head waits for that has this reason to wait.
    pub fn of(reason: WaitReason) -> Self {
        match reason {
            WaitReason::Credits | WaitReason::Bubble | WaitReason::Lbr => Self::Room,
            WaitReason::Output => Self::Busy,
            WaitReason::Arbitration | WaitReason::Ipr | WaitReason::Input | WaitReason::Sat => Self::Crossbar,
        }
    }
}

/// A packet that stands still.
#[derive(Clone, Copy, Debug)]
pub struct StandingPacket {
    /// Source node.
    pub source: u32,
    /// Cycle of generation.
    pub generated: u32,
    /// Destination node.
    pub destination: u32,
    /// Length \[phits\].
    pub length: u32,
    /// Number of the packet's job.
    pub job: u8,
}

/// The packets of an input VC whose head waits.
#[derive(Clone, Debug)]
pub struct Standing {
    /// Router of the input VC.
    pub router: u32,
    /// Slot of the input VC in its router.
    pub slot: u32,
    /// What the head waits for.
    pub wait: Wait,
    /// The output port that the head waits for.
    pub port: usize,
    /// The output VC that the head waits for.
    pub vc: usize,
    /// The packets of the input VC, the head first.
    pub packets: Vec<StandingPacket>,
}
