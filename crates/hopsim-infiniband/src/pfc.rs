//! Priority flow control: a port whose buffer fills up pauses the port at the other end of its link, VL by VL.
//!
//! Source: IEEE 802.1Qbb (in IEEE 802.1Q-2022, clause 36); headroom as in Zhu et al., *Congestion Control for Large-Scale RDMA
//! Deployments*, SIGCOMM 2015, section 4, with what a packet-by-packet fabric adds. The exact rules are in `docs/infiniband.md`.

use crate::fabric::{BLOCK, Fabric, NONE};

/// Bytes of a pause frame.
pub const FRAME: u32 = 64;

/// Bytes that a link carries in a quantum, the unit of pauses: 512 bit times.
pub const QUANTUM: u64 = 64;

/// What is set for priority flow control.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pfc {
    /// The thresholds of every port, by port.
    pub thresholds: Vec<Thresholds>,
    /// How long a pause lasts that is not told again \[quanta, more than 0\]. It is told again after half that time.
    pub quanta: u16,
}

/// When a port pauses a VL of the port at the other end of its link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Thresholds {
    /// Bytes in the buffer of the VL from which on it is paused; more than 0.
    pub pause: u32,
    /// Bytes in the buffer of the VL down to which it is paused; less than `pause`.
    pub resume: u32,
}

/// The least buffer of a port for a VL with which nothing is ever lost, where the VL is paused from `pause` bytes on \[bytes\].
///
/// One byte less than `pause` is in the buffer when the head of a packet comes. From then on the frame waits for the longest packet on its
/// own link, takes its own time and that of the link, and meanwhile the other end goes on sending, as it does for the time of the link
/// before that. When the frame is there a host ends the packet that it has begun, and a switch sends what it has in its output buffer.
/// Two ticks of that time do not count: the packet that the frame waits for has begun a tick before the head comes at the latest, and what
/// the other end begins at the instant of the frame it does not send.
pub fn least_buffer(fabric: &Fabric, port: u32, pause: u32) -> u64 {
    let here = &fabric.ports[port as usize];
    if here.peer == NONE {
        return 0;
    }
    let there = &fabric.ports[here.peer as usize];
    let told = u64::from(fabric.mtu + FRAME) * here.byte + here.delay + there.delay;
    let goes_on = if fabric.is_host(here.peer) { fabric.mtu } else { fabric.switch.output_buffer * BLOCK };
    u64::from(pause) - 1 + (told - 2) / there.byte + u64::from(goes_on)
}
