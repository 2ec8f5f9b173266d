//! What holds for generated programs of any parameters.

use crate::run::{network, records, run, sent};
use hopsim_programs::collectives::{Choices, Kind};
use hopsim_programs::generators::collective::{CollectiveParameters, CollectiveProgram};
use hopsim_programs::generators::stencil::{Neighbours, StencilParameters, StencilProgram};
use hopsim_programs::generators::training::{TrainingParameters, TrainingProgram};
use hopsim_programs::host::rules::{Rules, SendCompletes};
use hopsim_programs::record::Script;
use hopsim_programs::trace::{Tape, Trace};
use proptest::prelude::*;
use std::sync::Arc;

/// Hosts that send everything eagerly, or everything by rendezvous, and whose eager sends are done early or late.
fn rules() -> Vec<Rules> {
    let names = [("allreduce", "ring"), ("alltoall", "pairwise"), ("bcast", "binomial")];
    let plain = Rules { collectives: Choices::from_names(names).unwrap(), ..Rules::default() };
    let injected = Rules { send_completes: SendCompletes::Injected, ..plain.clone() };
    let rendezvous = Rules { eager_limit: Some(0), ..plain.clone() };
    let overheads = Rules { send_overhead: 3, receive_overhead: 5, gap: 7, ..plain.clone() };
    vec![plain, injected, rendezvous, overheads]
}

/// The program finishes, and sends so many messages and bytes. Its records are as many as it says, and make a sound trace.
fn check(program: impl Script + Clone + 'static, expected: (u64, u64)) {
    for rules in rules() {
        let figures = run(program.clone(), rules, network(20, 1));
        assert_eq!(sent(&figures), expected);
    }
    let program = Arc::new(program);
    let tape = |rank| {
        let mut tape = Tape::default();
        for record in records(&program, rank) {
            tape.push(&record);
        }
        tape
    };
    let ranks = (0..program.ranks()).map(tape).collect();
    let trace = Trace { ranks, communicators: program.communicators().to_vec(), ..Trace::default() };
    trace.check().unwrap();
}

fn stencils() -> impl Strategy<Value = StencilParameters> {
    let flags = (any::<bool>(), any::<bool>(), any::<bool>());
    (prop::collection::vec(2u32..5, 1..4), flags, 0u64..200, 0u64..300, 1u32..4).prop_map(
        |(sides, (periodic, all, overlap), bytes, compute, iterations)| {
            let neighbours = if all { Neighbours::All } else { Neighbours::Faces };
            StencilParameters { sides, periodic, bytes, compute, iterations, neighbours, overlap }
        },
    )
}

/// Pairs of neighbours, each in both directions.
fn pairs(parameters: &StencilParameters) -> u64 {
    let sides = || parameters.sides.iter().map(|&side| u64::from(side));
    let ranks: u64 = sides().product();
    // Steps along a side: minus or plus, from wherever there is somebody to go to.
    let steps = |side: u64| if parameters.periodic { 2 * side } else { 2 * (side - 1) };
    match parameters.neighbours {
        Neighbours::Faces => sides().map(|side| ranks / side * steps(side)).sum(),
        Neighbours::All => sides().map(|side| side + steps(side)).product::<u64>() - ranks,
    }
}

fn trainings() -> impl Strategy<Value = TrainingParameters> {
    let degrees = (1u32..4, 1u32..4, 1u32..5, 1u32..4);
    let sizes = (0u64..300, 0u64..300, 0u64..100, 0u64..100);
    (degrees, sizes, 1u32..7, any::<bool>()).prop_map(
        |(
            (data, tensor, pipeline, each),
            (activation, gradient, forward, backward),
            micro_batches,
            overlap,
        )| {
            TrainingParameters {
                data,
                tensor,
                pipeline,
                layers: pipeline * each,
                activation,
                gradient,
                forward,
                backward,
                micro_batches,
                overlap,
            }
        },
    )
}

/// Messages and bytes of an all-reduce by rings: every member sends 2(p − 1) of the p blocks.
fn ring(members: u32, bytes: u64) -> (u64, u64) {
    let (p, rounds) = (u64::from(members), 2 * (u64::from(members) - 1));
    (p * rounds, bytes * rounds)
}

fn volume(parameters: &TrainingParameters) -> (u64, u64) {
    let TrainingParameters { data, tensor, pipeline, layers, activation, gradient, micro_batches, .. } =
        *parameters;
    let [data_, tensor_, layers, micro_batches] = [data, tensor, layers, micro_batches].map(u64::from);
    let sums = 2 * data_ * layers * micro_batches;
    let (messages, bytes) = ring(tensor, activation);
    let (gradient_messages, gradient_bytes) = ring(data, gradient);
    let moves = 2 * micro_batches * data_ * tensor_ * u64::from(pipeline - 1);
    (
        sums * messages + moves + tensor_ * layers * gradient_messages,
        sums * bytes + moves * activation + tensor_ * layers * gradient_bytes,
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn stencils_finish_and_send_a_message_to_every_neighbour(parameters in stencils()) {
        let messages = pairs(&parameters) * u64::from(parameters.iterations);
        let bytes = messages * parameters.bytes;
        check(StencilProgram::new(parameters).unwrap(), (messages, bytes));
    }

    #[test]
    fn training_finishes_and_sends_what_its_groups_need(parameters in trainings()) {
        check(TrainingProgram::new(parameters).unwrap(), volume(&parameters));
    }

    #[test]
    fn repeated_collectives_finish_and_send_what_one_does_as_often(
        ranks in 1u32..20, which in 0usize..4, bytes in 0u64..500, repeat in 1u32..5, compute in 0u64..2,
    ) {
        let p = u64::from(ranks);
        let (kind, bytes, (messages, all)) = match which {
            0 => (Kind::Barrier, 0, (p * u64::from(ranks.next_power_of_two().ilog2()), 0)),
            1 => (Kind::Bcast, bytes, (p - 1, (p - 1) * bytes)),
            2 => (Kind::Allreduce, bytes, ring(ranks, bytes)),
            _ => (Kind::Alltoall, bytes, (p * (p - 1), p * (p - 1) * bytes)),
        };
        let root = (kind == Kind::Bcast).then_some(ranks / 2);
        let parameters =
            CollectiveParameters { ranks, kind, bytes, root, repeat, compute: 1000 * compute };
        let repeat = u64::from(repeat);
        check(CollectiveProgram::new(parameters).unwrap(), (repeat * messages, repeat * all));
    }
}
