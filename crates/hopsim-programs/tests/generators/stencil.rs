//! Times of stencils, and who is whose neighbour.

use crate::run::{finish, network, records};
use hopsim_programs::generators::stencil::{Neighbours, StencilParameters, StencilProgram};
use hopsim_programs::host::rules::Rules;
use hopsim_programs::record::Record;
use std::sync::Arc;

fn parameters(sides: &[u32]) -> StencilParameters {
    StencilParameters {
        sides: sides.to_vec(),
        periodic: true,
        bytes: 400,
        compute: 0,
        iterations: 1,
        neighbours: Neighbours::Faces,
        overlap: true,
    }
}

/// Peers of the messages that a rank sends, in order.
fn peers(parameters: StencilParameters, rank: u32) -> Vec<u32> {
    let program = Arc::new(StencilProgram::new(parameters).unwrap());
    let send = |record: &Record| match record {
        Record::Send { message, .. } => Some(message.peer),
        _ => None,
    };
    records(&program, rank).iter().filter_map(send).collect()
}

#[test]
fn in_a_periodic_grid_an_iteration_takes_the_longer_of_computation_and_messages() {
    // k messages of 100 phits one after the other, the last one's latency, and as long again in the next iteration.
    for (sides, all, k) in
        [(&[5][..], false, 2), (&[3, 4], false, 4), (&[2, 3, 4], false, 6), (&[3, 3], true, 8)]
    {
        let neighbours = if all { Neighbours::All } else { Neighbours::Faces };
        let messages = 50 + k * 100;
        for compute in [0, 30, messages - 1, messages, messages + 1, 5000] {
            for iterations in [1, 4] {
                let with = |overlap| {
                    let parameters = StencilParameters {
                        compute: compute.into(),
                        iterations,
                        neighbours,
                        overlap,
                        ..parameters(sides)
                    };
                    let times =
                        finish(StencilProgram::new(parameters).unwrap(), Rules::default(), network(50, 1));
                    assert!(times.iter().all(|&time| time == times[0]), "{times:?}");
                    times[0]
                };
                assert_eq!(with(true), iterations * compute.max(messages), "{sides:?} {compute}");
                assert_eq!(with(false), iterations * (compute + messages), "{sides:?} {compute}");
            }
        }
    }
}

#[test]
fn at_the_ends_of_a_line_there_is_one_neighbour() {
    // Three ranks in a line, messages of 100 phits, latency 50. Ends send at 0; the middle sends to rank 0, then to rank 2.
    let program = StencilProgram::new(StencilParameters { periodic: false, ..parameters(&[3]) }).unwrap();
    assert_eq!(finish(program, Rules::default(), network(50, 1)), [150, 150, 250]);
}

#[test]
fn neighbours_come_dimension_by_dimension_minus_before_plus() {
    // Rank 5 of a grid of 4 x 3 is at (1, 1).
    assert_eq!(peers(parameters(&[4, 3]), 5), [4, 6, 1, 9]);
    assert_eq!(peers(parameters(&[4, 3]), 0), [3, 1, 8, 4]);
    let all = StencilParameters { neighbours: Neighbours::All, ..parameters(&[4, 3]) };
    assert_eq!(peers(all.clone(), 5), [0, 1, 2, 4, 6, 8, 9, 10]);
    assert_eq!(peers(StencilParameters { periodic: false, ..all }, 0), [1, 4, 5]);
    assert_eq!(peers(parameters(&[2]), 0), [1, 1]);
}

#[test]
fn the_two_messages_between_ranks_of_a_side_of_two_are_told_apart() {
    // What goes minus comes in from plus: the tags of rank 0's receives are those of rank 1's sends, crosswise.
    let program = Arc::new(StencilProgram::new(parameters(&[2])).unwrap());
    let tags = |rank, sends: bool| -> Vec<u32> {
        let tag = |record: &Record| match record {
            Record::Send { message, .. } if sends => Some(message.tag),
            Record::Receive { message, .. } if !sends => Some(message.tag),
            _ => None,
        };
        records(&program, rank).iter().filter_map(tag).collect()
    };
    assert_eq!(tags(0, true), [0, 2]);
    assert_eq!(tags(1, false), [2, 0]);
}
