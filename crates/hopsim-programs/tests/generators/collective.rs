//! Times of repeated collectives.

use crate::run::{finish, network, records};
use hopsim_programs::collectives::Kind;
use hopsim_programs::generators::collective::{CollectiveParameters, CollectiveProgram};
use hopsim_programs::host::rules::Rules;
use hopsim_programs::record::Record;
use std::sync::Arc;

const ALLREDUCE: CollectiveParameters =
    CollectiveParameters { ranks: 4, kind: Kind::Allreduce, bytes: 8, root: None, repeat: 1, compute: 0 };

#[test]
fn an_allreduce_of_four_ranks_takes_two_exchanges() {
    let program = CollectiveProgram::new(ALLREDUCE).unwrap();
    assert_eq!(finish(program, Rules::default(), network(500, 1)), [1004; 4]);
}

#[test]
fn ranks_compute_between_collectives_and_not_before_or_after() {
    let program =
        CollectiveProgram::new(CollectiveParameters { repeat: 3, compute: 70, ..ALLREDUCE }).unwrap();
    assert_eq!(finish(program, Rules::default(), network(500, 1)), [3 * 1004 + 2 * 70; 4]);
}

#[test]
fn without_a_root_rank_0_is_it() {
    for (root, expected) in [(None, 0), (Some(3), 3)] {
        let program = Arc::new(
            CollectiveProgram::new(CollectiveParameters { kind: Kind::Bcast, root, ..ALLREDUCE }).unwrap(),
        );
        let all = records(&program, 1);
        let [Record::Collective(collective)] = &all[..] else { panic!("{all:?}") };
        assert_eq!(collective.root, Some(expected));
    }
}
