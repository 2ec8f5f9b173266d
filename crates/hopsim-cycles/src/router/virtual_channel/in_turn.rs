//! Allocation in routers that serve all in turn, with separable allocators which begin at the inputs: what most routers have, and with
//! at most 64 inputs and outputs. It grants what `allocator.rs` would, which has a bid where there is a bit here.

use crate::choices::{FlitAllocator, FlitArbiter, Speculation, SwitchInput};
use crate::kernel::ids::{Id as _, RegionRouter, SlotId};
use crate::node::Run;
use crate::router::virtual_channel::region::VirtualChannel;
use crate::router::virtual_channel::requests::VcRequest;
use crate::system::VirtualChannelPlan;

/// What the inputs of an allocator ask for: one output each.
pub struct AskedOutputs<T> {
    /// The inputs that ask for an output, a bit each, by output.
    inputs: Vec<u64>,
    /// The outputs that are asked for, a bit each.
    outputs: u64,
    /// What an input asks for, by input, where it asks at all.
    requests: Vec<Option<T>>,
}

impl<T: Copy> AskedOutputs<T> {
    /// Nobody asks for anything, of so many outputs with so many inputs.
    pub fn new((inputs, outputs): (usize, usize)) -> Self {
        Self { inputs: vec![0; outputs], outputs: 0, requests: vec![None; inputs] }
    }

    /// An input asks for an output.
    #[inline]
    pub fn ask(&mut self, input: usize, output: usize, request: T) {
        self.inputs[output] |= 1 << input;
        self.outputs |= 1 << output;
        self.requests[input] = Some(request);
    }

    /// Takes out the first of the outputs that are asked for, with the inputs that ask for it.
    #[inline]
    pub fn take_output(&mut self) -> Option<(usize, u64)> {
        let output = (self.outputs != 0).then(|| self.outputs.trailing_zeros() as usize)?;
        self.outputs &= self.outputs - 1;
        Some((output, std::mem::take(&mut self.inputs[output])))
    }

    /// What an input asked for last.
    #[inline]
    pub fn request(&self, input: usize) -> Option<T> {
        self.requests[input]
    }
}

/// Whether output VCs are allocated in turn.
pub fn allocates_vcs(plan: &VirtualChannelPlan, (inputs, outputs): (usize, usize)) -> bool {
    let begins_at_inputs = matches!(plan.vc_allocator, FlitAllocator::SeparableInputFirst(_));
    begins_at_inputs && matches!(plan.arbiter, FlitArbiter::RoundRobin(_)) && inputs.max(outputs) <= 64
}

/// Whether the switch is allocated in turn, to one VC of an input of the crossbar.
pub fn allocates_switch(plan: &VirtualChannelPlan, (inputs, outputs): (usize, usize)) -> bool {
    let picks_vc = matches!(plan.switch_allocator, FlitAllocator::SeparableInputFirst(_))
        && plan.switch_input == SwitchInput::Vc;
    let asks_alone = plan.speculation == Speculation::None && !plan.hold_switch;
    let in_turn = matches!(plan.arbiter, FlitArbiter::RoundRobin(_)) && inputs.max(outputs) <= 64;
    picks_vc && asks_alone && in_turn
}

/// The first one of some, a bit each, from a pointer on.
#[inline]
pub fn next_from(pointer: u32, among: u64) -> u32 {
    (among.rotate_right(pointer).trailing_zeros() + pointer) % 64
}

impl<M: Run> VirtualChannel<'_, M> {
    /// Grants output VCs to those that have asked for them in a router that serves all in turn.
    pub(super) fn allocate_vcs_in_turn(&mut self, number: RegionRouter, asked: &mut AskedOutputs<VcRequest>) {
        while let Some((output, inputs)) = asked.take_output() {
            let input = self.vc_allocator.serve_in_turn(number, output, inputs);
            if let Some(request) = asked.request(input) {
                self.grant_vc(request);
            }
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
                let slot = port.first_slot.up(vc as usize);
                if let Some(output) = self.may_cross(&self.routers.inputs[slot]) {
                    asked.ask(input, output, slot);
                    break;
                }
            }
        }
        while let Some((output, inputs)) = asked.take_output() {
            let input = self.switch_allocator.serve_in_turn(number, output, inputs);
            if let Some(slot) = asked.request(input) {
                self.routers.turns_mut(number)[input] = (self.routers.inputs[slot].place.vc + 1) % 64;
                self.cross(slot);
            }
        }
    }
}
