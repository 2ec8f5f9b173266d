//! The schedule of training and its times, against a second description.

use crate::run::{finish, network, records};
use hopsim_programs::collectives::Choices;
use hopsim_programs::generators::training::{TrainingParameters, TrainingProgram};
use hopsim_programs::host::rules::Rules;
use hopsim_programs::record::{Record, Script};
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::sync::Arc;

const PLAIN: TrainingParameters = TrainingParameters {
    data: 1,
    tensor: 1,
    pipeline: 1,
    layers: 1,
    activation: 4,
    gradient: 4,
    forward: 10,
    backward: 20,
    micro_batches: 1,
    overlap: false,
};

/// Vectors are always exchanged whole, so that an all-reduce of 2^k ranks takes k messages one after the other.
fn rules() -> Rules {
    let collectives = Choices::from_names([("allreduce", "recursive_doubling")]).unwrap();
    Rules { collectives, ..Rules::default() }
}

/// F or B for every pass of the rank of a stage.
fn passes(pipeline: u32, micro_batches: u32, stage: u32) -> String {
    let parameters = TrainingParameters { pipeline, layers: pipeline, micro_batches, ..PLAIN };
    let program = Arc::new(TrainingProgram::new(parameters).unwrap());
    let pass = |record: &Record| match record {
        Record::Compute { nanoseconds: 10 } => Some('F'),
        Record::Compute { nanoseconds: 20 } => Some('B'),
        _ => None,
    };
    records(&program, stage).iter().filter_map(pass).collect()
}

#[test]
fn passes_are_in_the_order_of_the_figure_of_1f1b() {
    // Narayanan et al. 2021, figure 4, top: four stages, eight micro-batches.
    assert_eq!(passes(4, 8, 0), "FFFFBFBFBFBFBBBB");
    assert_eq!(passes(4, 8, 1), "FFFBFBFBFBFBFBBB");
    assert_eq!(passes(4, 8, 2), "FFBFBFBFBFBFBFBB");
    assert_eq!(passes(4, 8, 3), "FBFBFBFBFBFBFBFB");
    // Fewer micro-batches than stages: first all forward, then all backward.
    assert_eq!(passes(6, 2, 0), "FFBB");
}

/// Times of a pipeline: of a pass forward and backward, and from one stage to the next.
#[derive(Clone, Copy, Debug)]
struct Pipeline {
    stages: u32,
    micro_batches: u32,
    forward: u32,
    backward: u32,
    hop: u32,
}

/// A pass: its stage, whether it goes forward, and its micro-batch.
type Pass = (u32, bool, u32);

impl Pipeline {
    /// Passes of a stage as a processor that never forwards more micro-batches ahead than stages behind it: it goes backward
    /// whenever as many are under way.
    fn order(&self, stage: u32) -> Vec<Pass> {
        let (mut forward, mut backward, mut order) = (0, 0, Vec::new());
        while backward < self.micro_batches {
            let is_full = forward - backward == self.stages - stage || forward == self.micro_batches;
            order.push((stage, !is_full, if is_full { backward } else { forward }));
            *(if is_full { &mut backward } else { &mut forward }) += 1;
        }
        order
    }

    /// When the last pass of every stage ends: relaxes until nothing moves.
    fn ends(&self) -> Vec<u32> {
        let mut ends: BTreeMap<Pass, u32> = BTreeMap::new();
        let mut last = Vec::new();
        for _ in 0..=2 * self.stages * self.micro_batches {
            last = (0..self.stages).map(|stage| self.relax(stage, &mut ends)).collect();
        }
        last
    }

    fn relax(&self, stage: u32, ends: &mut BTreeMap<Pass, u32>) -> u32 {
        let mut now = 0;
        for pass in self.order(stage) {
            let (_, is_forward, micro_batch) = pass;
            let from = if is_forward { stage.checked_sub(1) } else { Some(stage + 1) };
            let from = from.filter(|&from| from < self.stages);
            let there =
                from.map_or(0, |from| ends.get(&(from, is_forward, micro_batch)).unwrap_or(&0) + self.hop);
            now = now.max(there) + if is_forward { self.forward } else { self.backward };
            ends.insert(pass, now);
        }
        now
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn without_communication_the_pipeline_takes_the_bubble_formula(
        stages in 1u32..7, micro_batches in 1u32..12, forward in 1u32..30, backward in 1u32..30,
    ) {
        let pipeline = Pipeline { stages, micro_batches, forward, backward, hop: 0 };
        let expected = (micro_batches + stages - 1) * (forward + backward);
        prop_assert_eq!(pipeline.ends().into_iter().max(), Some(expected));
    }

    #[test]
    fn every_rank_finishes_when_the_second_description_says(
        powers in (0u32..3, 0u32..3), stages in 1u32..6, each in 1u32..4, micro_batches in 1u32..9,
        times in (0u32..40, 0u32..40), latency in 1u32..30,
    ) {
        let (data, tensor) = (1 << powers.0, 1 << powers.1);
        let parameters = TrainingParameters {
            data, tensor, pipeline: stages, layers: stages * each, micro_batches,
            forward: times.0.into(), backward: times.1.into(), ..PLAIN
        };
        let pass = |time: u32| each * (time + powers.1 * latency);
        let (forward, backward) = (pass(times.0), pass(times.1));
        let ends = Pipeline { stages, micro_batches, forward, backward, hop: latency }.ends();
        // Rank numbers: tensor fastest, then the stage.
        let gradients = each * powers.0 * latency;
        let expected: Vec<u32> =
            (0..data * stages * tensor).map(|rank| ends[(rank / tensor % stages) as usize] + gradients).collect();
        prop_assert_eq!(finish(TrainingProgram::new(parameters).unwrap(), rules(), network(latency, 0)), expected);
    }
}

#[test]
fn a_step_with_a_network_of_no_length_takes_the_bubble_formula_and_little_more() {
    let parameters = TrainingParameters {
        pipeline: 4,
        layers: 8,
        micro_batches: 10,
        forward: 100_000,
        backward: 200_000,
        ..PLAIN
    };
    let last =
        finish(TrainingProgram::new(parameters).unwrap(), rules(), network(1, 0)).into_iter().max().unwrap();
    let formula = (10 + 4 - 1) * 300_000 * 2;
    // At most every pass waits for one message.
    assert!((formula + 2 * 3..=formula + 20).contains(&last), "{last}");
}

/// Two copies of a model of three layers, two micro-batches: passes take 2 · 3 · 30 cycles, the last backward one begins at
/// cycle 120.
fn two_copies(gradient: u64, overlap: bool) -> u32 {
    let parameters = TrainingParameters { data: 2, layers: 3, micro_batches: 2, gradient, overlap, ..PLAIN };
    let times = finish(TrainingProgram::new(parameters).unwrap(), rules(), network(7, 1));
    assert_eq!(times[0], times[1]);
    times[0]
}

#[test]
fn gradients_are_summed_up_after_or_beside_backward() {
    // An all-reduce of 40 B, 10 phits, takes 17.
    assert_eq!(two_copies(40, false), 180 + 3 * 17);
    // Those of the first two layers are over before the last one ends.
    assert_eq!(two_copies(40, true), 180 + 17);
    // 100 phits: the first one begins at 120 + 20, and the wire is never free until the end.
    assert_eq!(two_copies(400, true), 140 + 3 * 100 + 7);
}

#[test]
fn groups_are_tensor_then_pipeline_then_data() {
    let parameters = TrainingParameters { data: 2, tensor: 3, pipeline: 2, layers: 2, ..PLAIN };
    let program = TrainingProgram::new(parameters).unwrap();
    let groups: Vec<Vec<u32>> = program.communicators().iter().map(|group| group.to_vec()).collect();
    assert_eq!(groups[0], (0..12).collect::<Vec<u32>>());
    assert_eq!(groups[1..5], [[0, 1, 2], [3, 4, 5], [6, 7, 8], [9, 10, 11]]);
    assert_eq!(groups[5..], [[0, 6], [1, 7], [2, 8], [3, 9], [4, 10], [5, 11]]);
}
