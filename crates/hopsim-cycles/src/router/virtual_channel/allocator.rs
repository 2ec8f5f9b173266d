//! Allocators: who of those that ask is granted what (Dally & Towles, chapter 19). An input is granted one output at most, and an
//! output to one input; the VC allocator has input VCs and output VCs, the switch allocator input ports and output ports.

use crate::choices::FlitAllocator;
use crate::kernel::ids::{Id as _, RegionRouter};
use hopsim_random::Stream;
use serde::{Deserialize, Serialize};

/// An input that asks for an output.
#[derive(Clone, Copy, Debug)]
pub struct Bid {
    /// The input, by its number in the router.
    pub input: u16,
    /// The output, by its number in the router.
    pub output: u16,
    /// Whether all bids that are not late go before this one.
    pub is_late: bool,
    /// Of bids that are late, or are not, those with a smaller stamp go before others.
    pub stamp: u32,
}

impl Bid {
    /// Bids of a smaller rank go before others.
    #[inline]
    pub fn rank(&self) -> (bool, u32) {
        (self.is_late, self.stamp)
    }
}

/// Where the arbiters of a router begin.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Turns {
    /// The output that each input looks at first.
    inputs: Vec<u16>,
    /// The input that each output looks at first.
    outputs: Vec<u16>,
    /// The diagonal that is looked at first.
    diagonal: u16,
}

/// An allocator of each router of a region.
pub struct FlitMatcher {
    method: FlitAllocator,
    turns: Vec<Turns>,
    scratch: Scratch,
}

/// What an allocation needs for itself.
#[derive(Default)]
struct Scratch {
    /// The bid that each input has picked; empty between allocations.
    by_input: Vec<Option<u32>>,
    /// The bid that each output has picked; empty between allocations.
    by_output: Vec<Option<u32>>,
    /// The bids that neither input nor output has been granted yet.
    left: Vec<u32>,
}

impl FlitMatcher {
    /// Allocators of so many routers, each with so many inputs and outputs.
    pub fn new(method: FlitAllocator, routers: usize, (inputs, outputs): (usize, usize)) -> Self {
        let turns = Turns { inputs: vec![0; inputs], outputs: vec![0; outputs], diagonal: 0 };
        let scratch =
            Scratch { by_input: vec![None; inputs], by_output: vec![None; outputs], left: Vec::new() };
        Self { method, turns: vec![turns; routers], scratch }
    }

    /// Where the arbiters of a router begin, if it has such an allocator.
    pub fn turns(&self, router: RegionRouter) -> Option<&Turns> {
        self.turns.get(router.index())
    }

    /// Lets the arbiters of a router begin somewhere.
    pub fn set_turns(&mut self, router: RegionRouter, turns: &Turns) {
        self.turns[router.index()].clone_from(turns);
    }

    /// Puts the indices of the bids of a router that are granted into `granted`, ascending by output. `draws` are the random numbers of
    /// this allocation.
    pub fn allocate(
        &mut self,
        router: RegionRouter,
        bids: &[Bid],
        draws: impl FnOnce() -> Stream,
        granted: &mut Vec<u32>,
    ) {
        granted.clear();
        if bids.is_empty() {
            return;
        }
        let mut allocation =
            Matching { bids, turns: &mut self.turns[router.index()], scratch: &mut self.scratch, granted };
        match self.method {
            FlitAllocator::SeparableInputFirst(_) => allocation.input_first(),
            FlitAllocator::SeparableOutputFirst(_) => allocation.output_first(1),
            FlitAllocator::Islip(config) => allocation.output_first(config.iterations),
            FlitAllocator::Pim(config) => allocation.at_random(config.iterations, draws()),
            FlitAllocator::Wavefront(_) => allocation.wavefront(),
        }
        granted.sort_unstable_by_key(|&index| bids[index as usize].output);
    }
}

/// The allocation of a router in a cycle.
struct Matching<'a> {
    bids: &'a [Bid],
    turns: &'a mut Turns,
    scratch: &'a mut Scratch,
    granted: &'a mut Vec<u32>,
}

impl Matching<'_> {
    /// Who goes first at the arbiter of an output: the oldest, of several the first one from the pointer on.
    fn rank_at_output(&self, index: u32) -> ((bool, u32), usize) {
        let bid @ Bid { input, output, .. } = self.bids[index as usize];
        (bid.rank(), distance(self.turns.outputs[output as usize], input, self.turns.inputs.len()))
    }

    /// Which output an input picks.
    fn rank_at_input(&self, index: u32) -> ((bool, u32), usize) {
        let bid @ Bid { input, output, .. } = self.bids[index as usize];
        (bid.rank(), distance(self.turns.inputs[input as usize], output, self.turns.outputs.len()))
    }

    /// A bid is one of those that its input may pick.
    fn offer_to_input(&mut self, index: u32) {
        let input = self.bids[index as usize].input as usize;
        let best = self.scratch.by_input[input];
        if best.is_none_or(|best| self.rank_at_input(index) < self.rank_at_input(best)) {
            self.scratch.by_input[input] = Some(index);
        }
    }

    /// A bid is one of those that its output may pick.
    fn offer_to_output(&mut self, index: u32) {
        let output = self.bids[index as usize].output as usize;
        let best = self.scratch.by_output[output];
        if best.is_none_or(|best| self.rank_at_output(index) < self.rank_at_output(best)) {
            self.scratch.by_output[output] = Some(index);
        }
    }

    /// A bid is granted, and its input and output look behind each other next time.
    fn serve(&mut self, index: u32) {
        let Bid { input, output, .. } = self.bids[index as usize];
        self.turns.inputs[input as usize] = (output + 1) % self.turns.outputs.len() as u16;
        self.turns.outputs[output as usize] = (input + 1) % self.turns.inputs.len() as u16;
    }

    fn input_first(&mut self) {
        for index in 0..self.bids.len() as u32 {
            self.offer_to_input(index);
        }
        for index in 0..self.bids.len() as u32 {
            if self.scratch.by_input[self.bids[index as usize].input as usize] == Some(index) {
                self.offer_to_output(index);
            }
        }
        for index in 0..self.bids.len() as u32 {
            let Bid { input, output, .. } = self.bids[index as usize];
            if self.scratch.by_output[output as usize] == Some(index) {
                self.granted.push(index);
            }
            if self.scratch.by_input[input as usize] == Some(index) {
                self.scratch.by_input[input as usize] = None;
            }
        }
        for at in 0..self.granted.len() {
            let index = self.granted[at];
            self.scratch.by_output[self.bids[index as usize].output as usize] = None;
            self.serve(index);
        }
    }

    fn output_first(&mut self, iterations: u32) {
        self.begin();
        for iteration in 0..iterations {
            for at in 0..self.scratch.left.len() {
                self.offer_to_output(self.scratch.left[at]);
            }
            for at in 0..self.scratch.left.len() {
                let index = self.scratch.left[at];
                if self.scratch.by_output[self.bids[index as usize].output as usize] == Some(index) {
                    self.offer_to_input(index);
                }
            }
            let before = self.granted.len();
            self.take_picked();
            if iteration == 0 {
                (before..self.granted.len()).for_each(|at| self.serve(self.granted[at]));
            }
            if !self.leave_others(before) {
                break;
            }
        }
        self.scratch.left.clear();
    }

    /// Parallel iterative matching: draws for outputs ascending, then for inputs ascending.
    fn at_random(&mut self, iterations: u32, mut draws: Stream) {
        self.begin();
        for _ in 0..iterations {
            self.draw_at_outputs(&mut draws);
            self.draw_at_inputs(&mut draws);
            let before = self.granted.len();
            self.take_picked();
            if !self.leave_others(before) {
                break;
            }
        }
        self.scratch.left.clear();
    }

    /// Every output picks one of the bids that are left, at random.
    fn draw_at_outputs(&mut self, draws: &mut Stream) {
        let bids = self.bids;
        self.scratch
            .left
            .sort_unstable_by_key(|&index| (bids[index as usize].output, bids[index as usize].input));
        for rivals in self.scratch.left.chunk_by(|&a, &b| bids[a as usize].output == bids[b as usize].output)
        {
            let output = bids[rivals[0] as usize].output as usize;
            self.scratch.by_output[output] = Some(pick(rivals, draws));
        }
    }

    /// Every input picks one of the bids that outputs have picked, at random.
    fn draw_at_inputs(&mut self, draws: &mut Stream) {
        let (bids, by_output) = (self.bids, &self.scratch.by_output);
        let mut picked: Vec<u32> = self.scratch.left.clone();
        picked.retain(|&index| by_output[bids[index as usize].output as usize] == Some(index));
        picked.sort_unstable_by_key(|&index| (bids[index as usize].input, bids[index as usize].output));
        for rivals in picked.chunk_by(|&a, &b| bids[a as usize].input == bids[b as usize].input) {
            let input = bids[rivals[0] as usize].input as usize;
            self.scratch.by_input[input] = Some(pick(rivals, draws));
        }
    }

    fn wavefront(&mut self) {
        let outputs = self.turns.outputs.len();
        let diagonals = self.turns.inputs.len().max(outputs);
        self.begin();
        let (bids, first) = (self.bids, self.turns.diagonal);
        self.scratch.left.sort_unstable_by_key(|&index| {
            let bid @ Bid { input, output, .. } = bids[index as usize];
            (bid.rank(), distance(first, (input + output) % diagonals as u16, diagonals))
        });
        for at in 0..self.scratch.left.len() {
            let index = self.scratch.left[at];
            let Bid { input, output, .. } = self.bids[index as usize];
            let (by_input, by_output) = (&mut self.scratch.by_input, &mut self.scratch.by_output);
            if by_input[input as usize].is_none() && by_output[output as usize].is_none() {
                (by_input[input as usize], by_output[output as usize]) = (Some(index), Some(index));
                self.granted.push(index);
            }
        }
        for &index in &*self.granted {
            let Bid { input, output, .. } = self.bids[index as usize];
            (self.scratch.by_input[input as usize], self.scratch.by_output[output as usize]) = (None, None);
        }
        self.scratch.left.clear();
        self.turns.diagonal = (first + 1) % diagonals as u16;
    }

    /// All bids are left.
    fn begin(&mut self) {
        self.scratch.left.extend(0..self.bids.len() as u32);
    }

    /// The bids that both their outputs and their inputs have picked are granted, and nobody has picked anything any more.
    fn take_picked(&mut self) {
        for at in 0..self.scratch.left.len() {
            let index = self.scratch.left[at];
            let Bid { input, output, .. } = self.bids[index as usize];
            if self.scratch.by_input[input as usize] == Some(index) {
                self.scratch.by_input[input as usize] = None;
                self.granted.push(index);
            }
            if self.scratch.by_output[output as usize] == Some(index) {
                self.scratch.by_output[output as usize] = None;
            }
        }
    }

    /// Bids stay whose input and output have not been granted to anybody since `before`; whether something was granted and some stay.
    fn leave_others(&mut self, before: usize) -> bool {
        let (bids, new) = (self.bids, &self.granted[before..]);
        let meets = |index: u32| {
            let bid = bids[index as usize];
            new.iter()
                .map(|&index| bids[index as usize])
                .any(|b| b.input == bid.input || b.output == bid.output)
        };
        self.scratch.left.retain(|&index| !meets(index));
        !new.is_empty() && !self.scratch.left.is_empty()
    }
}

/// How far a number is behind a pointer, cyclic.
fn distance(pointer: u16, number: u16, count: usize) -> usize {
    (number as usize + count - pointer as usize) % count
}

/// One of several, at random.
fn pick(rivals: &[u32], draws: &mut Stream) -> u32 {
    if rivals.len() == 1 { rivals[0] } else { rivals[draws.below(rivals.len() as u32) as usize] }
}
