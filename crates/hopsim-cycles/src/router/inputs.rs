//! What routers of any kind with input VCs read of the network.

use crate::system::System;
use hopsim_network::network::{NONE, Network, TERMINAL};
use hopsim_routing::sequence::REPLY_INJECTION;

/// The code of an input VC, given by its slot, as [`hopsim_routing::sequence::VcSequence`] wants it.
pub fn input_code(system: &System, slot: usize) -> u8 {
    let layout = &system.network.layout;
    match layout.slot_vc(slot) {
        Some((port, vc)) if layout.class[port] != TERMINAL => {
            system.routing.vcs().sequence.code(layout.class[port] - 1, vc)
        }
        Some((_, vc)) if vc >= system.network.classes.first_reply_vc() => REPLY_INJECTION,
        _ => 0,
    }
}

/// Phits the buffer behind a port holds per VC; ejection has no limit, an unplugged port no room.
pub fn room_behind(network: &Network, router: u32, port: usize) -> u32 {
    match network.layout.class[port] {
        TERMINAL => NONE,
        _ if network.link(router, port).peer.is_none() => 0,
        code => network.classes.links[code as usize - 1].buffer,
    }
}
