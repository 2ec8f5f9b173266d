//! What each member sends, in closed form.

use crate::carried::largest_power;
use crate::case::{Case, cases};
use hopsim_programs::collectives::{Algorithm, Kind};

/// Bytes that can be cut into as many blocks as any of the cases has members, or the largest power of two up to that.
const BYTES: u64 = 64 * 9 * 25 * 7 * 11 * 13 * 17 * 31;

/// Messages and bytes.
type Sent = (u64, u64);

/// ⌈log₂ p⌉
fn levels(members: u32) -> u64 {
    f64::from(members).log2().ceil() as u64
}

/// Number of places, counted from the root, that the binomial tree reaches through this one.
fn subtree(case: &Case, place: u32) -> u64 {
    let v = case.relative(place);
    let lowest = if v == 0 { case.members } else { 1 << v.trailing_zeros() };
    lowest.min(case.members - v).into()
}

/// The number of powers of two that the binomial tree adds to this place.
fn children(case: &Case, place: u32) -> u64 {
    let v = case.relative(place);
    (0..31).map(|k| 1 << k).take_while(|mask| v & mask == 0 && v + mask < case.members).count() as u64
}

/// What a member sends in algorithms for powers of two: its vector alone, or `part`, with a result if it took another's vector.
fn folded(case: &Case, place: u32, part: Sent) -> Sent {
    let pairs = 2 * (case.members - largest_power(case.members));
    match place % 2 {
        0 if place < pairs => (1, case.bytes),
        1 if place < pairs => (part.0 + 1, part.1 + case.bytes),
        _ => part,
    }
}

fn expected(case: &Case, place: u32) -> Sent {
    let (n, p) = (case.bytes, u64::from(case.members));
    let power = u64::from(largest_power(case.members));
    let to_root = u64::from(place != case.root);
    match (case.kind, case.algorithm) {
        (Kind::Barrier, Algorithm::Dissemination) => (levels(case.members), 0),
        (Kind::Barrier, _) => (p - 1, 0),
        (Kind::Bcast, Algorithm::Binomial) => (children(case, place), children(case, place) * n),
        (Kind::Bcast, Algorithm::ScatterRing) => {
            (children(case, place) + p - 1, (subtree(case, place) - 1 + p - 1) * (n / p))
        }
        (Kind::Bcast, _) => ((1 - to_root) * (p - 1), (1 - to_root) * (p - 1) * n),
        (Kind::Reduce, _) => (to_root, to_root * n),
        (Kind::Gather, _) => (to_root, to_root * subtree(case, place) * n),
        (Kind::Scatter, _) => (children(case, place), (subtree(case, place) - 1) * n),
        (Kind::Allreduce, Algorithm::RecursiveDoubling) => {
            let rounds = u64::from(power.ilog2());
            folded(case, place, (rounds, rounds * n))
        }
        (Kind::Allreduce, Algorithm::Rabenseifner) => {
            folded(case, place, (2 * u64::from(power.ilog2()), 2 * (power - 1) * (n / power)))
        }
        (Kind::Allreduce, Algorithm::Ring) => (2 * (p - 1), 2 * (p - 1) * (n / p)),
        (Kind::Allgather, Algorithm::Bruck) | (Kind::ReduceScatter, Algorithm::RecursiveHalving) => {
            (levels(case.members), (p - 1) * n)
        }
        (Kind::Alltoall, Algorithm::Bruck) => {
            let hops: u32 = (1..case.members).map(u32::count_ones).sum();
            (levels(case.members), u64::from(hops) * n)
        }
        (Kind::Alltoallv, _) => {
            let pairs = (0..case.members).filter(|&to| to != place).map(|to| case.pair(place, to));
            let pairs: Vec<u64> = pairs.filter(|&bytes| bytes > 0).collect();
            (pairs.len() as u64, pairs.iter().sum())
        }
        (Kind::Scan, _) => {
            let count = (0..levels(case.members)).filter(|k| u64::from(place) + (1 << k) < p).count() as u64;
            (count, count * n)
        }
        _ => (p - 1, (p - 1) * n),
    }
}

#[test]
fn every_member_sends_as_many_messages_and_bytes_as_the_closed_form_says() {
    for case in cases(BYTES) {
        for (place, steps) in (0..).zip(case.steps()) {
            let sent: Vec<u64> = steps.iter().filter_map(|step| step.send).map(|part| part.bytes).collect();
            let sent = (sent.len() as u64, sent.iter().sum());
            assert_eq!(sent, expected(&case, place), "{case:?}, member {place}");
        }
    }
}

#[test]
fn one_member_has_no_steps_and_no_step_is_empty() {
    for case in cases(10) {
        let steps = case.steps().concat();
        assert_eq!(steps.is_empty(), case.members == 1, "{case:?}");
        assert!(steps.iter().all(|step| step.send.is_some() || step.receive.is_some()), "{case:?}");
    }
}
