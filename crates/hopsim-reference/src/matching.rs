//! How a virtual-channel router matches those that ask with what they ask for. See *Allocators* in `docs/model.md`.

use hopsim_cycles::choices::{FlitAllocator, FlitArbiter, NextDiagonal};
use hopsim_random::Stream;

/// What goes before others if it is smaller: whether a request is late, and its stamp.
pub type Precedence = (bool, u32);

/// Who asks for what, by input and output: the rank of the request, `None` where there is none.
pub type Asks = Vec<Vec<Option<Precedence>>>;

/// An allocator with its pointers.
pub struct Matcher {
    method: FlitAllocator,
    /// The output whose turn it is, by input.
    input_turns: Vec<usize>,
    /// The input whose turn it is, by output.
    output_turns: Vec<usize>,
    /// The diagonal, or the first input, whose turn it is.
    diagonal: usize,
    /// Whether it is always the turn of the first one.
    is_fixed: bool,
    /// If arbiters look at that, whom they have served, those longest ago first: of each input the outputs, of each output the inputs.
    recent: Option<[Vec<Vec<usize>>; 2]>,
}

/// The pairs of an allocation so far.
type Pairs = Vec<(usize, usize)>;

impl Matcher {
    pub fn new((method, arbiter): (FlitAllocator, FlitArbiter), inputs: usize, outputs: usize) -> Self {
        let descending = |count: usize| (0..count).rev().collect::<Vec<usize>>();
        let recent = [vec![descending(outputs); inputs], vec![descending(inputs); outputs]];
        let looks_back = matches!(arbiter, FlitArbiter::LeastRecentlyServed(_));
        Self {
            method,
            input_turns: vec![0; inputs],
            output_turns: vec![0; outputs],
            diagonal: 0,
            is_fixed: matches!(arbiter, FlitArbiter::FixedPriority(_)),
            recent: looks_back.then_some(recent),
        }
    }

    /// Grants outputs to inputs.
    pub fn grant(&mut self, asks: &Asks, mut stream: Stream) -> Pairs {
        if asks.iter().flatten().all(Option::is_none) {
            return Vec::new();
        }
        match self.method {
            FlitAllocator::SeparableInputFirst(_) => self.inputs_first(asks),
            FlitAllocator::SeparableOutputFirst(_) => self.outputs_first(asks, 1),
            FlitAllocator::Islip(config) => self.outputs_first(asks, config.iterations),
            FlitAllocator::Pim(config) => self.at_random(asks, config.iterations, &mut stream),
            FlitAllocator::LonelyOutput(_) => self.lonely_outputs_first(asks),
            FlitAllocator::Wavefront(config) => self.by_diagonals(asks, config.next),
            FlitAllocator::MaximumSize(_) => self.as_many_as_can_be(asks),
        }
    }

    fn inputs(&self) -> usize {
        self.input_turns.len()
    }

    fn outputs(&self) -> usize {
        self.output_turns.len()
    }

    /// The output that an input picks out of some.
    fn pick_output(&self, asks: &Asks, input: usize, outputs: &[usize]) -> Option<usize> {
        let order = self.recent.as_ref().map(|[of_inputs, _]| &of_inputs[input]);
        pick(outputs, (self.input_turns[input], order), |output| asks[input][output])
    }

    /// The input that an output picks out of some.
    fn pick_input(&self, asks: &Asks, output: usize, inputs: &[usize]) -> Option<usize> {
        let order = self.recent.as_ref().map(|[_, of_outputs]| &of_outputs[output]);
        pick(inputs, (self.output_turns[output], order), |input| asks[input][output])
    }

    fn serve(&mut self, &(input, output): &(usize, usize)) {
        if self.is_fixed {
            return;
        }
        self.input_turns[input] = output + 1;
        self.output_turns[output] = input + 1;
        if let Some([of_inputs, of_outputs]) = &mut self.recent {
            for (order, served) in [(&mut of_inputs[input], output), (&mut of_outputs[output], input)] {
                order.retain(|&other| other != served);
                order.push(served);
            }
        }
    }

    fn lonely_outputs_first(&mut self, asks: &Asks) -> Pairs {
        let asking = |output: usize| asks.iter().filter(|asks| asks[output].is_some()).count();
        let mut picked = Vec::new();
        for input in 0..self.inputs() {
            let all = || (0..self.outputs()).filter(|&output| asks[input][output].is_some());
            let Some(rank) = all().filter_map(|output| asks[input][output]).min() else { continue };
            let first = || all().filter(|&output| asks[input][output] == Some(rank));
            let fewest = first().map(asking).min();
            let lonely: Vec<usize> = first().filter(|&output| Some(asking(output)) == fewest).collect();
            picked.extend(self.pick_output(asks, input, &lonely).map(|output| (input, output)));
        }
        let mut pairs = Vec::new();
        for output in 0..self.outputs() {
            let rivals: Vec<usize> =
                picked.iter().filter(|pair| pair.1 == output).map(|pair| pair.0).collect();
            pairs.extend(self.pick_input(asks, output, &rivals).map(|input| (input, output)));
        }
        for &(input, output) in &pairs {
            self.input_turns[input] = (self.input_turns[input] + 1) % self.outputs();
            self.output_turns[output] = (self.output_turns[output] + 1) % self.inputs();
        }
        pairs
    }

    fn inputs_first(&mut self, asks: &Asks) -> Pairs {
        let all: Vec<usize> = (0..self.outputs()).collect();
        let picked: Vec<Option<usize>> =
            (0..self.inputs()).map(|input| self.pick_output(asks, input, &all)).collect();
        let mut pairs = Vec::new();
        for output in 0..self.outputs() {
            let rivals: Vec<usize> =
                (0..self.inputs()).filter(|&input| picked[input] == Some(output)).collect();
            pairs.extend(self.pick_input(asks, output, &rivals).map(|input| (input, output)));
        }
        for pair in &pairs {
            self.serve(pair);
        }
        pairs
    }

    fn outputs_first(&mut self, asks: &Asks, iterations: u32) -> Pairs {
        let mut pairs = Vec::new();
        for iteration in 0..iterations {
            let (inputs, outputs) = self.left(&pairs);
            let picked: Vec<(usize, usize)> = outputs
                .iter()
                .filter_map(|&output| Some((self.pick_input(asks, output, &inputs)?, output)))
                .collect();
            let mut more = Vec::new();
            for input in inputs {
                let offers: Vec<usize> =
                    picked.iter().filter(|pair| pair.0 == input).map(|pair| pair.1).collect();
                more.extend(self.pick_output(asks, input, &offers).map(|output| (input, output)));
            }
            if iteration == 0 {
                for pair in &more {
                    self.serve(pair);
                }
            }
            pairs.extend(more);
        }
        pairs
    }

    fn at_random(&self, asks: &Asks, iterations: u32, stream: &mut Stream) -> Pairs {
        let mut pairs = Vec::new();
        for _ in 0..iterations {
            let (inputs, outputs) = self.left(&pairs);
            let mut picked = Vec::new();
            for output in outputs {
                let rivals: Vec<usize> =
                    inputs.iter().copied().filter(|&input| asks[input][output].is_some()).collect();
                picked.extend(draw(&rivals, stream).map(|input| (input, output)));
            }
            for input in inputs {
                let offers: Vec<usize> =
                    picked.iter().filter(|pair| pair.0 == input).map(|pair| pair.1).collect();
                pairs.extend(draw(&offers, stream).map(|output| (input, output)));
            }
        }
        pairs
    }

    fn by_diagonals(&mut self, asks: &Asks, next: NextDiagonal) -> Pairs {
        let size = self.inputs().max(self.outputs());
        let mut ranks: Vec<Precedence> = asks.iter().flatten().flatten().copied().collect();
        ranks.sort_unstable();
        ranks.dedup();
        let mut pairs = Vec::new();
        for rank in ranks {
            for diagonal in (0..size).map(|step| (self.diagonal + step) % size) {
                let (inputs, outputs) = self.left(&pairs);
                for input in inputs {
                    let on_it = |output: &&usize| {
                        (input + **output) % size == diagonal && asks[input][**output] == Some(rank)
                    };
                    pairs.extend(outputs.iter().find(on_it).map(|&output| (input, output)));
                }
            }
        }
        let last = match next {
            NextDiagonal::Step => self.diagonal,
            NextDiagonal::Grant => pairs[0].0 + pairs[0].1,
        };
        self.diagonal = (last + 1) % size;
        pairs
    }

    /// Lengthens the matching pair by pair: by the first one of the shortest chains from an input without an output, in which every input takes
    /// over the output of the next one, to an output that is free.
    fn as_many_as_can_be(&mut self, asks: &Asks) -> Pairs {
        let mut pairs: Pairs = Vec::new();
        let inputs = |turn: usize, count: usize| (0..count).map(move |step| (turn + step) % count);
        loop {
            let without = |input: &usize| pairs.iter().all(|pair| pair.0 != *input);
            let first = inputs(self.diagonal, self.inputs()).filter(without);
            let mut chains: Vec<Pairs> = Vec::new();
            let mut ends: Vec<(usize, Pairs)> = first.map(|input| (input, Vec::new())).collect();
            let mut found = None;
            while found.is_none() && !ends.is_empty() {
                let mut longer = Vec::new();
                for (input, chain) in ends {
                    for output in (0..self.outputs()).filter(|&output| asks[input][output].is_some()) {
                        let is_seen = chains.iter().flatten().any(|pair| pair.1 == output);
                        if is_seen || pairs.contains(&(input, output)) || found.is_some() {
                            continue;
                        }
                        let chain: Pairs = chain.iter().copied().chain([(input, output)]).collect();
                        match pairs.iter().find(|pair| pair.1 == output) {
                            None => found = Some(chain.clone()),
                            Some(owner) => longer.push((owner.0, chain.clone())),
                        }
                        chains.push(chain);
                    }
                }
                ends = longer;
            }
            let Some(chain) = found else { break };
            pairs.retain(|old| chain.iter().all(|new| new.0 != old.0));
            pairs.extend(chain);
        }
        self.diagonal = (self.diagonal + 1) % self.inputs();
        pairs
    }

    /// The inputs and the outputs that are in no pair.
    fn left(&self, pairs: &Pairs) -> (Vec<usize>, Vec<usize>) {
        let inputs = (0..self.inputs()).filter(|&input| pairs.iter().all(|pair| pair.0 != input));
        let outputs = (0..self.outputs()).filter(|&output| pairs.iter().all(|pair| pair.1 != output));
        (inputs.collect(), outputs.collect())
    }
}

/// The one of `all` whose request has the smallest rank; of several the first one at or after `turn`, else the first one, or if there is
/// an order the first one in that.
fn pick(
    all: &[usize],
    (turn, order): (usize, Option<&Vec<usize>>),
    rank: impl Fn(usize) -> Option<Precedence>,
) -> Option<usize> {
    let least = all.iter().filter_map(|&each| rank(each)).min()?;
    let best: Vec<usize> = all.iter().copied().filter(|&each| rank(each) == Some(least)).collect();
    match order {
        Some(order) => order.iter().find(|each| best.contains(each)).copied(),
        None => best.iter().find(|&&each| each >= turn).or(best.first()).copied(),
    }
}

/// One of several, each as likely as the others.
fn draw(all: &[usize], stream: &mut Stream) -> Option<usize> {
    match all {
        [] => None,
        [only] => Some(*only),
        several => Some(several[stream.below(several.len() as u32) as usize]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hopsim_network::nothing::Nothing;
    use hopsim_random::Purpose;
    use petgraph::algo::maximum_matching;
    use petgraph::graph::UnGraph;
    use proptest::collection::vec;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_matching_of_maximum_size_has_as_many_pairs_as_another_algorithm_finds(
            asked in (1..7usize, 1..7usize).prop_flat_map(|(inputs, outputs)| vec(vec(any::<bool>(), outputs), inputs))
        ) {
            let (inputs, outputs) = (asked.len(), asked[0].len());
            let method = (FlitAllocator::MaximumSize(Nothing {}), FlitArbiter::default());
            let mut matcher = Matcher::new(method, inputs, outputs);
            let asks: Asks =
                asked.iter().map(|row| row.iter().map(|&asks| asks.then_some((false, 0))).collect()).collect();
            let edges = (0..inputs).flat_map(|input| (0..outputs).map(move |output| (input, output)));
            let edges = edges.filter(|&(input, output)| asked[input][output]);
            let graph = UnGraph::<(), ()>::from_edges(edges.map(|(i, o)| (i as u32, (inputs + o) as u32)));
            for _ in 0..inputs {
                let pairs = matcher.grant(&asks, Stream::new(1, Purpose::Allocation, 0));
                prop_assert!(pairs.iter().all(|&(input, output)| asked[input][output]));
                for side in [|pair: &(usize, usize)| pair.0, |pair: &(usize, usize)| pair.1] {
                    let mut all: Vec<usize> = pairs.iter().map(side).collect();
                    all.sort_unstable();
                    all.dedup();
                    prop_assert_eq!(all.len(), pairs.len());
                }
                prop_assert_eq!(pairs.len(), maximum_matching(&graph).edges().count());
            }
        }
    }
}
