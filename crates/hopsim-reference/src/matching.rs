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
    /// The diagonal whose turn it is.
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
