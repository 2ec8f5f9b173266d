//! What is asked for where all are served in turn by separable allocators which begin at the inputs: what most routers have. Inputs and
//! outputs are bits then, of which a router has at most 64 each.

use crate::choices::{FlitAllocator, FlitArbiter, Speculation};
use crate::system::VirtualChannelPlan;

/// What the inputs of an allocator ask for: one output each.
pub struct AskedOutputs<T> {
    /// The inputs that ask for an output, a bit each, by output.
    inputs: Vec<u64>,
    /// The outputs that are asked for, a bit each.
    outputs: u64,
    /// What an input has asked for last, by input.
    requests: Vec<T>,
}

impl<T: Copy> AskedOutputs<T> {
    /// Nobody asks for anything, of so many outputs with so many inputs; `none` stands where no request is.
    pub fn new((inputs, outputs): (usize, usize), none: T) -> Self {
        Self { inputs: vec![0; outputs], outputs: 0, requests: vec![none; inputs] }
    }

    /// An input asks for an output.
    #[inline]
    pub fn ask(&mut self, input: usize, output: usize, request: T) {
        self.inputs[output] |= 1 << input;
        self.outputs |= 1 << output;
        self.requests[input] = request;
    }

    /// Takes out the first of the outputs that are asked for, with the inputs that ask for it.
    #[inline]
    pub fn take_output(&mut self) -> Option<(usize, u64)> {
        let output = (self.outputs != 0).then(|| self.outputs.trailing_zeros() as usize)?;
        self.outputs &= self.outputs - 1;
        Some((output, std::mem::take(&mut self.inputs[output])))
    }

    /// What an input has asked for last.
    #[inline]
    pub fn request(&self, input: usize) -> T {
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
    let asks_alone = plan.speculation == Speculation::None && !plan.hold_switch && plan.crossbar_outputs == 1;
    let in_turn = matches!(plan.arbiter, FlitArbiter::RoundRobin(_)) && inputs.max(outputs) <= 64;
    plan.picks_vc() && asks_alone && in_turn
}

/// The first one of some, a bit each, from a pointer on.
#[inline]
pub fn next_from(pointer: u32, among: u64) -> u32 {
    (among.rotate_right(pointer).trailing_zeros() + pointer) % 64
}
