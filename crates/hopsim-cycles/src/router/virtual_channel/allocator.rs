//! Allocators: who of those that ask is granted what (Dally & Towles, chapter 19). An input is granted one output at most, and an
//! output to one input; the VC allocator has input VCs and output VCs, the switch allocator input ports and output ports.

use crate::choices::{FlitAllocator, FlitArbiter, NextDiagonal};
use crate::kernel::ids::{Id as _, RegionRouter, SlotId};
use crate::router::virtual_channel::asked::next_from;
use hopsim_network::nothing::Nothing;
use hopsim_random::Stream;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use std::iter;

/// An input that asks for an output.
#[derive(Clone, Copy, Debug)]
pub struct Bid {
    /// The input, by its number in the router.
    pub input: u16,
    /// The output, by its number in the router.
    pub output: u16,
    /// The input VC whose flit it is about.
    pub slot: SlotId,
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
    /// The diagonal, or the input, that is looked at first.
    diagonal: u16,
    /// When arbiters that look at that have served whom; empty if there are none.
    served: Vec<u64>,
}

/// An allocator of each router of a region.
pub struct FlitMatcher {
    method: FlitAllocator,
    /// Whether arbiters always begin at the first one.
    is_fixed: bool,
    /// The output that each input looks at first, by router · inputs + input.
    input_turns: Vec<u16>,
    /// The input that each output looks at first, by router · outputs + output.
    output_turns: Vec<u16>,
    /// The diagonal of each router that is looked at first.
    diagonals: Vec<u16>,
    /// When arbiters that look at that have served whom, by router; no routers if there are none.
    served: Vec<Served>,
    scratch: Scratch,
}

/// When the arbiters of a router have served whom: smaller numbers go first.
#[derive(Clone)]
struct Served {
    /// Of each input every output, then of each output every input; behind them the next number.
    at: Vec<u64>,
    inputs: usize,
    outputs: usize,
}

impl Served {
    /// Nobody has been served: those with the highest numbers go first.
    fn new(inputs: usize, outputs: usize) -> Self {
        let descending = |count: usize| (0..count as u64).rev();
        let of_inputs = (0..inputs).flat_map(|_| descending(outputs));
        let of_outputs = (0..outputs).flat_map(|_| descending(inputs));
        let next = inputs.max(outputs) as u64;
        Self { at: of_inputs.chain(of_outputs).chain([next]).collect(), inputs, outputs }
    }

    /// Where it stands when an input has served an output.
    fn of_input(&self, input: u16, output: u16) -> usize {
        usize::from(input) * self.outputs + usize::from(output)
    }

    /// Where it stands when an output has served an input.
    fn of_output(&self, input: u16, output: u16) -> usize {
        self.inputs * self.outputs + usize::from(output) * self.inputs + usize::from(input)
    }

    /// An input and an output serve each other.
    fn serve(&mut self, input: u16, output: u16) {
        let (places, last) =
            ([self.of_input(input, output), self.of_output(input, output)], self.at.len() - 1);
        for place in places {
            self.at[place] = self.at[last];
        }
        self.at[last] += 1;
    }
}

/// What an allocation needs for itself.
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
    pub fn new(
        (method, arbiter): (FlitAllocator, FlitArbiter),
        routers: usize,
        (inputs, outputs): (usize, usize),
    ) -> Self {
        let looks_back = arbiter == FlitArbiter::LeastRecentlyServed(Nothing {});
        Self {
            method,
            is_fixed: !arbiter.takes_turns(),
            served: vec![Served::new(inputs, outputs); if looks_back { routers } else { 0 }],
            input_turns: vec![0; routers * inputs],
            output_turns: vec![0; routers * outputs],
            diagonals: vec![0; routers],
            scratch: Scratch {
                by_input: vec![None; inputs],
                by_output: vec![None; outputs],
                left: Vec::new(),
            },
        }
    }

    /// Inputs and outputs of a router.
    #[inline]
    fn sides(&self) -> (usize, usize) {
        (self.scratch.by_input.len(), self.scratch.by_output.len())
    }

    /// Where the arbiters of a router begin, if it has such an allocator.
    pub fn turns(&self, router: RegionRouter) -> Option<Turns> {
        let (router, (inputs, outputs)) = (router.index(), self.sides());
        let diagonal = *self.diagonals.get(router)?;
        Some(Turns {
            inputs: self.input_turns[router * inputs..][..inputs].to_vec(),
            outputs: self.output_turns[router * outputs..][..outputs].to_vec(),
            diagonal,
            served: self.served.get(router).map_or_else(Vec::new, |served| served.at.clone()),
        })
    }

    /// Lets the arbiters of a router begin somewhere.
    pub fn set_turns(&mut self, router: RegionRouter, turns: &Turns) {
        let (router, (inputs, outputs)) = (router.index(), self.sides());
        self.input_turns[router * inputs..][..inputs].copy_from_slice(&turns.inputs);
        self.output_turns[router * outputs..][..outputs].copy_from_slice(&turns.outputs);
        self.diagonals[router] = turns.diagonal;
        if let Some(served) = self.served.get_mut(router) {
            served.at.clone_from(&turns.served);
        }
    }

    /// Picks those of some outputs that an input of a router bids for, a bit each from output `first` on, where it asks for all of them alike:
    /// all, but where the allocation begins at the inputs the one that the input picks.
    #[inline]
    pub fn narrow(&self, router: RegionRouter, (input, first): (u16, u16), outputs: u64) -> u64 {
        if !matches!(self.method, FlitAllocator::SeparableInputFirst(_)) || !self.served.is_empty() {
            return outputs;
        }
        let pointer = self.input_turns[router.index() * self.sides().0 + usize::from(input)];
        let ahead = outputs & u64::MAX.checked_shl(pointer.saturating_sub(first).into()).unwrap_or(0);
        let rivals = if ahead == 0 { outputs } else { ahead };
        rivals & rivals.wrapping_neg()
    }

    /// The one of the inputs that ask for an output of a router, a bit each, whose turn it is; the arbiters move behind it.
    #[inline]
    pub fn serve_in_turn(&mut self, router: RegionRouter, output: usize, among: u64) -> usize {
        let (inputs, outputs) = self.sides();
        let turn = &mut self.output_turns[router.index() * outputs + output];
        let input = next_from((*turn).into(), among) as usize;
        *turn = behind(input, inputs);
        self.input_turns[router.index() * inputs + input] = behind(output, outputs);
        input
    }

    /// Puts the indices of the bids of a router that are granted into `granted`, ascending by output. The bids are ascending by input.
    /// `draws` are the random numbers of this allocation.
    #[inline]
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
        let (router, (inputs, outputs)) = (router.index(), self.sides());
        let mut allocation = Matching {
            bids,
            is_fixed: self.is_fixed,
            inputs: &mut self.input_turns[router * inputs..][..inputs],
            outputs: &mut self.output_turns[router * outputs..][..outputs],
            diagonal: &mut self.diagonals[router],
            served: self.served.get_mut(router),
            scratch: &mut self.scratch,
            granted,
        };
        match self.method {
            FlitAllocator::SeparableInputFirst(_) => allocation.input_first(),
            FlitAllocator::SeparableOutputFirst(_) => allocation.output_first(1),
            FlitAllocator::Islip(config) => allocation.output_first(config.iterations),
            FlitAllocator::Pim(config) => allocation.at_random(config.iterations, draws()),
            FlitAllocator::LonelyOutput(_) => allocation.lonely_output(),
            FlitAllocator::Wavefront(config) => allocation.wavefront(config.next),
            FlitAllocator::MaximumSize(_) => allocation.maximum_size(),
        }
        if granted.len() > 1 {
            granted.sort_unstable_by_key(|&index| bids[index as usize].output);
        }
    }
}

/// The allocation of a router in a cycle.
struct Matching<'a> {
    bids: &'a [Bid],
    is_fixed: bool,
    /// The output that each input looks at first.
    inputs: &'a mut [u16],
    /// The input that each output looks at first.
    outputs: &'a mut [u16],
    /// The diagonal that is looked at first.
    diagonal: &'a mut u16,
    /// When arbiters that look at that have served whom.
    served: Option<&'a mut Served>,
    scratch: &'a mut Scratch,
    granted: &'a mut Vec<u32>,
}

impl Matching<'_> {
    /// Who goes first at the arbiter of an output: the oldest, of several the first one from the pointer on.
    fn rank_at_output(&self, index: u32) -> ((bool, u32), usize) {
        let bid @ Bid { input, output, .. } = self.bids[index as usize];
        let turn = match &self.served {
            None => distance(self.outputs[output as usize], input, self.inputs.len()),
            Some(served) => served.at[served.of_output(input, output)] as usize,
        };
        (bid.rank(), turn)
    }

    /// Which output an input picks.
    fn rank_at_input(&self, index: u32) -> ((bool, u32), usize) {
        let bid @ Bid { input, output, .. } = self.bids[index as usize];
        let turn = match &self.served {
            None => distance(self.inputs[input as usize], output, self.outputs.len()),
            Some(served) => served.at[served.of_input(input, output)] as usize,
        };
        (bid.rank(), turn)
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
    #[inline]
    fn offer_to_output(&mut self, index: u32) {
        let output = self.bids[index as usize].output as usize;
        let best = self.scratch.by_output[output];
        if best.is_none_or(|best| self.rank_at_output(index) < self.rank_at_output(best)) {
            self.scratch.by_output[output] = Some(index);
        }
    }

    /// A bid is granted, and its input and output look behind each other next time.
    fn serve(&mut self, index: u32) {
        if self.is_fixed {
            return;
        }
        let Bid { input, output, .. } = self.bids[index as usize];
        self.inputs[input as usize] = behind(output.into(), self.outputs.len());
        self.outputs[output as usize] = behind(input.into(), self.inputs.len());
        if let Some(served) = &mut self.served {
            served.serve(input, output);
        }
    }

    fn input_first(&mut self) {
        // Mostly an input has but one bid, and nothing to pick.
        if self.bids.windows(2).all(|pair| pair[0].input < pair[1].input) {
            (0..self.bids.len() as u32).for_each(|index| self.offer_to_output(index));
        } else {
            self.pick_at_inputs();
        }
        for index in 0..self.bids.len() as u32 {
            let picked = &mut self.scratch.by_output[self.bids[index as usize].output as usize];
            if *picked == Some(index) {
                *picked = None;
                self.granted.push(index);
                self.serve(index);
            }
        }
    }

    /// Every input picks one of its bids, and offers it to the output.
    #[cold]
    fn pick_at_inputs(&mut self) {
        for index in 0..self.bids.len() as u32 {
            self.offer_to_input(index);
        }
        for index in 0..self.bids.len() as u32 {
            let input = self.bids[index as usize].input as usize;
            if self.scratch.by_input[input] == Some(index) {
                self.offer_to_output(index);
            }
        }
        for bid in self.bids {
            self.scratch.by_input[bid.input as usize] = None;
        }
    }

    fn lonely_output(&mut self) {
        let mut asking = vec![0u16; self.outputs.len()];
        self.bids.iter().for_each(|bid| asking[usize::from(bid.output)] += 1);
        for index in 0..self.bids.len() as u32 {
            let rank = |index: u32| {
                let (rank, turn) = self.rank_at_input(index);
                (rank, asking[usize::from(self.bids[index as usize].output)], turn)
            };
            let picked = &self.scratch.by_input[usize::from(self.bids[index as usize].input)];
            if picked.is_none_or(|best| rank(index) < rank(best)) {
                self.scratch.by_input[usize::from(self.bids[index as usize].input)] = Some(index);
            }
        }
        for index in 0..self.bids.len() as u32 {
            if self.scratch.by_input[usize::from(self.bids[index as usize].input)] == Some(index) {
                self.offer_to_output(index);
            }
        }
        for index in 0..self.bids.len() as u32 {
            let Bid { input, output, .. } = self.bids[index as usize];
            self.scratch.by_input[usize::from(input)] = None;
            if self.scratch.by_output[usize::from(output)] == Some(index) {
                self.scratch.by_output[usize::from(output)] = None;
                self.granted.push(index);
                let (inputs, outputs) = (self.inputs.len(), self.outputs.len());
                let (input, output) =
                    (&mut self.inputs[usize::from(input)], &mut self.outputs[usize::from(output)]);
                (*input, *output) = (behind((*input).into(), outputs), behind((*output).into(), inputs));
            }
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

    fn wavefront(&mut self, next: NextDiagonal) {
        let diagonals = self.inputs.len().max(self.outputs.len());
        self.begin();
        let (bids, first) = (self.bids, *self.diagonal);
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
        let last = match (next, self.granted.first()) {
            (NextDiagonal::Grant, Some(&index)) => {
                self.bids[index as usize].input + self.bids[index as usize].output
            }
            _ => first,
        };
        *self.diagonal = (last + 1) % diagonals as u16;
    }

    /// Takes augmenting paths as long as there are any. The diagonal is the input to begin with.
    fn maximum_size(&mut self) {
        self.begin();
        // A state that somebody has changed may have any number here.
        *self.diagonal %= self.inputs.len() as u16;
        let bids = self.bids;
        self.scratch.left.sort_unstable_by_key(|&index| {
            let Bid { input, output, .. } = bids[index as usize];
            (input, output)
        });
        while let Some(path) = self.augmenting_path() {
            for index in path {
                let Bid { input, output, .. } = self.bids[index as usize];
                self.scratch.by_input[usize::from(input)] = Some(index);
                self.scratch.by_output[usize::from(output)] = Some(index);
            }
        }
        self.granted.extend(self.scratch.by_input.iter_mut().filter_map(Option::take));
        self.scratch.by_output.fill(None);
        self.scratch.left.clear();
        *self.diagonal = behind((*self.diagonal).into(), self.inputs.len());
    }

    /// The bids that are granted along the first shortest path from an input that has nothing to an output that nobody has: those between
    /// give up what they had for the next output of the path.
    fn augmenting_path(&self) -> Option<Vec<u32>> {
        let Scratch { by_input, by_output, left } = &*self.scratch;
        let bid = |index: u32| self.bids[index as usize];
        let mut reached_by: Vec<Option<u32>> = vec![None; by_output.len()];
        let first = usize::from(*self.diagonal);
        let inputs = (first..by_input.len()).chain(0..first);
        let mut waiting: VecDeque<usize> = inputs.filter(|&input| by_input[input].is_none()).collect();
        while let Some(input) = waiting.pop_front() {
            let from = left.partition_point(|&index| usize::from(bid(index).input) < input);
            let own = left[from..].iter().take_while(|&&index| usize::from(bid(index).input) == input);
            for &index in own.filter(|&&index| by_input[input] != Some(index)) {
                let output = usize::from(bid(index).output);
                if reached_by[output].is_some() {
                    continue;
                }
                reached_by[output] = Some(index);
                let Some(owner) = by_output[output] else {
                    // Back from output to output, by what the inputs between have had.
                    let next = |&index: &u32| {
                        let given_up = by_input[usize::from(bid(index).input)]?;
                        reached_by[usize::from(bid(given_up).output)]
                    };
                    return Some(iter::successors(Some(index), next).collect());
                };
                waiting.push_back(bid(owner).input.into());
            }
        }
        None
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

/// The number behind one of so many, cyclic.
fn behind(number: usize, count: usize) -> u16 {
    if number + 1 == count { 0 } else { number as u16 + 1 }
}

/// How far a number is behind a pointer, cyclic.
fn distance(pointer: u16, number: u16, count: usize) -> usize {
    let (number, pointer) = (number as usize, pointer as usize);
    if number >= pointer { number - pointer } else { number + count - pointer }
}

/// One of several, at random.
fn pick(rivals: &[u32], draws: &mut Stream) -> u32 {
    if rivals.len() == 1 { rivals[0] } else { rivals[draws.below(rivals.len() as u32) as usize] }
}
