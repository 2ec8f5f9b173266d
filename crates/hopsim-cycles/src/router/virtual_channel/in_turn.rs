//! Allocation in routers that serve all in turn, with separable allocators which begin at the inputs: what most routers have, and with
//! at most 64 inputs and outputs. It grants what `allocator.rs` would, which has a bid where there is a bit here.

use crate::kernel::ids::{Id as _, RegionRouter, SlotId};
use crate::node::Run;
use crate::router::virtual_channel::asked::{AskedOutputs, next_from};
use crate::router::virtual_channel::region::VirtualChannel;
use crate::router::virtual_channel::requests::VcRequest;
use hopsim_routing::RouteState;

impl<M: Run> VirtualChannel<'_, M> {
    /// Grants output VCs to those that have asked for them in a router that serves all in turn.
    pub(super) fn allocate_vcs_in_turn(
        &mut self,
        number: RegionRouter,
        asked: &mut AskedOutputs<VcRequest>,
        decided: &[RouteState],
    ) {
        while let Some((output, inputs)) = asked.take_output() {
            let input = self.vc_allocator.serve_in_turn(number, output, inputs);
            self.grant_vc(asked.request(input), decided);
        }
    }

    /// Lets flits of a router cross that serves all in turn.
    pub(super) fn allocate_switch_in_turn(&mut self, number: RegionRouter, asked: &mut AskedOutputs<SlotId>) {
        let (ports, turns) = (self.routers.ports(number), self.routers.turns(number));
        for (input, &(port, own)) in self.shared.crossbar.iter().enumerate() {
            let port = &ports[port];
            let mut vcs = port.senders & own;
            while vcs != 0 {
                let vc = next_from(turns[input].into(), vcs);
                vcs &= !(1 << vc);
                let slot = port.link.first_slot.up(vc as usize);
                if let Some(output) = self.may_cross(&self.routers.inputs[slot]) {
                    asked.ask(input, output, slot);
                    break;
                }
            }
        }
        while let Some((output, inputs)) = asked.take_output() {
            let input = self.switch_allocator.serve_in_turn(number, output, inputs);
            let slot = asked.request(input);
            self.routers.pass_turn(self.routers.inputs[slot].place, input);
            self.be_granted(slot);
        }
    }
}
