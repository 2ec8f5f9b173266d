//! Requests and replies. The ejection port of a node has output VCs for requests whose credits are the free space for
//! the replies: taken when a request is granted its ejection, given back when its reply leaves the injection buffer.
//! The allocator then keeps back a request without room for its reply as it does a packet without credit.

use crate::choices::InjectionVc;
use crate::kernel::ids::RegionNode;
use crate::system::System;

/// A request or reply whose destination node begins to absorb it.
#[derive(Clone, Copy, Debug)]
pub struct Consumed {
    /// The node.
    pub node: RegionNode,
    /// The node to answer; `NONE`: what it absorbs was a reply.
    pub requester: u32,
    /// Cycle of generation of the request.
    pub requested: u32,
}

/// Space for the replies of a node of the network behind one of its ejection VCs for requests \[phits\]. All replies have one
/// length.
pub fn reply_space(system: &System, node: u32) -> u32 {
    let classes = &system.network.classes;
    let Some(job) = system.job_at(node as usize) else { return 0 };
    let vcs = match system.nic.injection_vc {
        InjectionVc::Destination => 1,
        _ => classes.terminal.vcs - classes.first_reply_vc(),
    };
    classes.terminal.buffer / job.longest_packet() * job.longest_packet() * u32::from(vcs)
}
