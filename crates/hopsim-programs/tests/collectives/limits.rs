//! The largest communicators and sizes, and members that begin anywhere.

use hopsim_programs::collectives::{Algorithm, Call, Kind, MAX_MEMBERS, check};

#[test]
fn the_largest_communicators_do_not_overflow() {
    for members in [MAX_MEMBERS, MAX_MEMBERS - 1, MAX_MEMBERS / 2 + 1] {
        for kind in Kind::ALL {
            for algorithm in Algorithm::serving(kind).filter(|&a| check(kind, a, members).is_ok()) {
                for place in [0, 1, members / 2, members - 1] {
                    let call = Call { kind, members, place, root: members - 1, bytes: u64::MAX, each: None };
                    for round in [0, members - 4, 2 * (members - 1) - 3] {
                        stays_inside(algorithm, &call, round);
                    }
                }
            }
        }
    }
}

/// Takes steps from this round on: their partners exist and are not the member itself.
fn stays_inside(algorithm: Algorithm, call: &Call, mut round: u32) {
    for _ in 0..70 {
        let Some(step) = algorithm.step(call, &mut round) else { return };
        for part in [step.send, step.receive].into_iter().flatten() {
            assert!(
                part.member < call.members && part.member != call.place,
                "{algorithm:?} {call:?} {part:?}"
            );
        }
    }
}

#[test]
fn blocks_of_huge_vectors_are_exact() {
    let (members, bytes) = (3, u64::MAX - 1);
    let call = Call { kind: Kind::Allreduce, members, place: 0, root: 0, bytes, each: None };
    let sent: Vec<u64> =
        Algorithm::Ring.steps(&call).filter_map(|step| step.send).map(|part| part.bytes).collect();
    // Blocks 2 and 1 of the reduce-scatter, 0 and 2 of the allgather; three of them have 2⁶⁴ − 2 bytes.
    let third = bytes / 3;
    assert_eq!(bytes % 3, 2);
    assert_eq!(sent, [third + 1, third + 1, third, third + 1]);
}

#[test]
fn a_step_depends_on_its_round_alone() {
    let members = 1 << 20;
    let call = Call { kind: Kind::Alltoall, members, place: 5, root: 0, bytes: 8, each: None };
    let mut round = members - 2;
    let last = Algorithm::Pairwise.step(&call, &mut round);
    assert_eq!(last.and_then(|step| step.send).map(|part| part.member), Some((members - 1) ^ 5));
    assert_eq!(Algorithm::Pairwise.step(&call, &mut round), None);
}
