//! The order of a member's steps.

use crate::case::Case;
use hopsim_programs::collectives::{Algorithm, Kind, Step};

/// Rows: kind, algorithm, members, root, place, and the steps as [`word`] has them.
const ORDERS: &[(&str, &str, u32, u32, u32, &str)] = &[
    ("barrier", "dissemination", 5, 0, 1, "+2-0 +3-4 +0-2"),
    ("bcast", "binomial", 6, 0, 0, "+4 +2 +1"),
    ("bcast", "binomial", 6, 1, 5, "-1 +0"),
    ("bcast", "binomial", 8, 0, 4, "-0 +6 +5"),
    ("bcast", "scatter_ring", 4, 1, 3, "-1 +0 +0-2 +0-2 +0-2"),
    ("reduce", "binomial", 6, 0, 0, "-1 -2 -4"),
    ("reduce", "binomial", 8, 0, 4, "-5 -6 +0"),
    ("allreduce", "recursive_doubling", 6, 0, 0, "+1 -1"),
    ("allreduce", "recursive_doubling", 6, 0, 1, "-0 +3-3 +4-4 +0"),
    ("allreduce", "recursive_doubling", 6, 0, 4, "+5-5 +1-1"),
    ("allreduce", "rabenseifner", 6, 0, 1, "-0 +3-3 +4-4 +4-4 +3-3 +0"),
    ("allreduce", "ring", 3, 0, 0, "+1-2 +1-2 +1-2 +1-2"),
    ("allgather", "ring", 3, 0, 2, "+0-1 +0-1"),
    ("allgather", "bruck", 5, 0, 1, "+0-2 +4-3 +2-0"),
    ("reduce_scatter", "ring", 3, 0, 1, "+2-0 +2-0"),
    ("reduce_scatter", "recursive_halving", 8, 0, 5, "+1-1 +7-7 +4-4"),
    ("alltoall", "pairwise", 4, 0, 1, "+0-0 +3-3 +2-2"),
    ("alltoall", "pairwise", 5, 0, 1, "+2-0 +3-4 +4-3 +0-2"),
    ("alltoall", "bruck", 5, 0, 1, "+2-0 +3-4 +0-2"),
    ("scatter", "binomial", 8, 0, 4, "-0 +6 +5"),
    ("gather", "binomial", 8, 0, 4, "-5 -6 +0"),
    ("scan", "recursive_doubling", 5, 0, 2, "+3-1 +4-0"),
    ("scan", "recursive_doubling", 5, 0, 0, "+1 +2 +4"),
    ("alltoall", "fsin", 4, 0, 1, "+0 -0 +3 -3 +2 -2"),
    ("allreduce", "fsin", 3, 0, 1, "+2 -0 +0 -2"),
    ("barrier", "fsin", 2, 0, 1, "+0 -0"),
    ("bcast", "fsin", 4, 1, 1, "+0 +2 +3"),
    ("reduce", "fsin", 4, 1, 1, "-0 -2 -3"),
    ("reduce", "fsin", 4, 1, 3, "+1"),
];

/// `+` and the member it sends to, `-` and the member it receives from.
fn word(step: &Step) -> String {
    let send = step.send.map_or_else(String::new, |part| format!("+{}", part.member));
    let receive = step.receive.map_or_else(String::new, |part| format!("-{}", part.member));
    send + &receive
}

#[test]
fn steps_are_in_the_order_of_the_rule() {
    for &(kind, algorithm, members, root, place, expected) in ORDERS {
        let kind = Kind::from_name(kind).unwrap();
        let algorithm = Algorithm::from_name(algorithm).unwrap();
        let case = Case { kind, algorithm, members, root, bytes: 100 };
        let words: Vec<String> = case.steps()[place as usize].iter().map(word).collect();
        assert_eq!(words.join(" "), expected, "{case:?}, member {place}");
    }
}
