//! What hangs from routers: nodes of some kind, which offer packets and take them. Nodes know their router by the doors that it
//! has for them, and nothing else of it.

pub mod interface;
pub mod program;
pub mod synthetic;

use crate::kernel::Kernel;
use crate::kernel::doors::Doors;
use crate::kernel::ids::{RegionNode, Terminal};
use crate::kernel::packet::Packet;
use crate::mode::Mode;
use crate::node::interface::InterfaceState;
use crate::observer::Observer as _;
use crate::system::System;
use hopsim_network::topology::faults::Retransmit;
use hopsim_programs::host::Letter;
use hopsim_programs::host::machine::Sending;
use hopsim_programs::standstill::RankState;
use serde::Serialize;
use serde::de::DeserializeOwned;

/// The nodes of a region, which have numbers of their own in the region: see [`RegionNode`].
///
/// A kind of node is a folder here and a row of `modes`. What such nodes do not care to hear costs nothing: calls are static.
///
/// What a router owes its nodes: a head that a node sends to a door gets a grant one day, of which the node hears by
/// [`Self::be_granted`] and [`Self::leave_injection`] or [`Self::leave_flit`]; a packet that leaves for a node is handed over by [`deliver`]; credits that a node sends to an
/// ejection VC arrive, and no more is sent there than [`Self::ejection_space`] allows.
pub trait Nodes<M: Mode>: Sized + Send {
    /// The nodes of a network in a snapshot.
    type Saved: SavedNodes + Default + Serialize + DeserializeOwned;

    /// The nodes of a region at cycle 0.
    fn new(kernel: &Kernel<'_, M>, doors: Doors) -> Self;

    /// A window begins: the cycles for which the region is now simulated by itself. Traffic changes only where a window begins.
    fn begin_window(&mut self, _kernel: &mut Kernel<'_, M>) {}

    /// What nodes do in a cycle, after their routers: above all they send packets to the doors.
    fn run(&mut self, kernel: &mut Kernel<'_, M>);

    /// The head of injection VC `vc` at a terminal port, of a packet of `length` phits, has been granted its way through the router.
    fn be_granted(&mut self, kernel: &mut Kernel<'_, M>, at: Terminal, vc: usize, length: u32);

    /// The packet of `length` phits that was granted its way out of injection VC `vc` at a terminal port leaves room there, at once or
    /// when its last flit has left. Returns the packet that is the head from now on, or `NONE`.
    fn leave_injection(&mut self, kernel: &mut Kernel<'_, M>, at: Terminal, vc: usize, length: u32) -> u32;

    /// A flit has left injection VC `vc` at a terminal port, whose router knows the packets that are there: when its credit sets out, and
    /// how many flits its packet has if it is the tail. Where flits travel by themselves this is told instead of [`Self::leave_injection`].
    fn leave_flit(&mut self, kernel: &mut Kernel<'_, M>, at: (Terminal, usize), leaves: (u32, Option<u32>));

    /// A packet, which the network forgets now, leaves for its node at `departure`: see [`deliver`].
    fn hear(&mut self, _kernel: &mut Kernel<'_, M>, _packet: u32, _departure: u32) {}

    /// Whether a node had no packet to inject when cycle `now` began.
    fn has_nothing(&self, node: RegionNode, now: u32) -> bool;

    /// Room behind each ejection VC for requests of a node of the network \[phits\]: packets take it until the node has dealt
    /// with them. Behind the other VCs there is always room.
    fn ejection_space(_plan: &System, _node: u32) -> u32 {
        0
    }

    /// How much of the room behind an ejection VC for requests of a node, counted from 1, is taken \[phits\], what is on its way back apart.
    #[cfg(feature = "trace")]
    fn ejection_space_taken(&self, _kernel: &Kernel<'_, M>, _node: RegionNode, _vc: usize) -> u32 {
        0
    }

    /// The rank on a node, which another simulator drives, sends a message in cycle `now`, before the node does anything.
    fn post(&mut self, _node: RegionNode, _now: u32, _message: Sending) {
        unreachable!("only nodes that run programs are driven")
    }

    /// Messages that wait at a node, which another simulator drives: some packet of them has still to be admitted.
    fn messages_left(&self, _node: RegionNode) -> usize {
        unreachable!("only nodes that run programs are driven")
    }

    /// Moves the messages for ranks that another simulator drives, and whose last phit is there by cycle `now`, to `delivered`.
    fn take_delivered(&mut self, _now: u32, _delivered: &mut Vec<DeliveredLetter>) {}

    /// The ranks of programs in the region.
    fn ranks(&self) -> Vec<RankState<'_>> {
        Vec::new()
    }

    /// Whether the programs of the region, if there are any, are done.
    fn are_done(&self) -> bool {
        true
    }

    /// The first cycle from `now` on in which nodes do, or may do, anything that does not follow from a grant; `u32::MAX` if
    /// there is none.
    fn next_event(&self, now: u32) -> u32 {
        now
    }

    /// Counts what the nodes would have done by cycle `end`, the last of the run.
    fn finish(&mut self, _kernel: &mut Kernel<'_, M>, _end: u32) {}

    /// Adds the state of the nodes of the region to the state of all nodes of a network.
    fn save(&self, kernel: &Kernel<'_, M>, saved: &mut Self::Saved);

    /// Goes on, at the cycle of the kernel and without a packet so far, with the part of the region in the state of a network.
    fn load(&mut self, kernel: &Kernel<'_, M>, saved: &Self::Saved);

    /// Counts the packets behind the heads of the injection VCs for the time that they have waited there by the end of the run.
    fn count_held(&mut self, kernel: &mut Kernel<'_, M>);

    /// Packets that are not in the network yet.
    #[cfg(feature = "trace")]
    fn waiting(&self) -> usize;

    /// Flits in injection VC `vc` of a node or on their way there, where flits travel by themselves.
    #[cfg(feature = "trace")]
    fn injected_flits(&self, node: RegionNode, vc: usize) -> u32;
}

/// The nodes of a network in a snapshot.
pub trait SavedNodes {
    /// The interface of a node that draws packets.
    fn interface(&mut self, node: u32) -> &mut InterfaceState;

    /// A packet for a node is lost for good.
    fn lose(&mut self, _packet: &Packet, _node: u32) {}
}

/// What is lost under way as cycle `now` begins goes back to its source, if that sends it again; else who waits for it is told. Returns what
/// is lost for good.
pub fn send_back(
    system: &System,
    nodes: &mut impl SavedNodes,
    lost: impl IntoIterator<Item = Packet>,
    now: u32,
) -> Vec<Packet> {
    let per_router = system.topology.nodes_per_router();
    let mut comes_back = |packet: &Packet| {
        let comes = system.nic.retransmit.is_some_and(|Retransmit { timeout, most }| {
            let at = packet.injection.granted.saturating_add(timeout).max(now);
            nodes.interface(packet.source).lose(packet.again(per_router), at, most)
        });
        if !comes {
            nodes.lose(packet, packet.destination(per_router));
        }
        comes
    };
    lost.into_iter().filter(|packet| !comes_back(packet)).collect()
}

/// A message for a rank that another simulator drives.
pub struct DeliveredLetter {
    /// The job.
    pub job: u8,
    /// The message.
    pub letter: Letter,
    /// Cycle in which the last phit of the message is there.
    pub at: u32,
}

/// A mode with the kind of nodes that takes part.
pub trait Run: Mode {
    /// The kind of nodes that takes part.
    type Nodes: Nodes<Self> + 'static;
}

/// A packet leaves for its node at `departure`, and the network forgets it: its last phit follows one packet length later. Where flits
/// travel by themselves this is called with the last one, and `departure` may be before now: the packet counts as if its flits
/// had come one behind the other.
#[expect(clippy::inline_always, reason = "per packet; measured")]
#[inline(always)]
pub fn deliver<M: Run>(kernel: &mut Kernel<'_, M>, nodes: &mut M::Nodes, id: u32, departure: u32) {
    let packet = kernel.packets.get(id);
    let topology = &kernel.constants.system.topology;
    kernel.worker.observer.delivered(&mut kernel.places, packet, departure, topology);
    nodes.hear(kernel, id, departure);
    kernel.packets.remove(id);
}
