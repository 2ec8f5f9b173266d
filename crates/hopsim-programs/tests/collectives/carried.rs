//! Which blocks a message carries, by the rules of the algorithms: a second description, which knows nothing of steps.
//!
//! A message is told from others by its source, its destination and its number among those from the one to the other.

use crate::case::Case;
use hopsim_programs::collectives::{Algorithm, Kind};
use std::collections::BTreeMap;

/// What a member has of each block: the set of members that contributed to it.
pub type Held = BTreeMap<u32, u128>;

/// A message: from, to, and how many there were before.
#[derive(Clone, Copy, Debug)]
pub struct Message {
    pub from: u32,
    pub to: u32,
    pub nth: u32,
}

/// The set of this member alone.
pub fn only(member: u32) -> u128 {
    1 << member
}

/// The set of the first members.
pub fn first(members: u32) -> u128 {
    (0..members).map(only).sum()
}

/// Number of blocks that the algorithm works on.
pub fn blocks(case: &Case) -> u32 {
    match (case.kind, case.algorithm) {
        (Kind::Allreduce, Algorithm::Rabenseifner) => largest_power(case.members),
        (_, Algorithm::ScatterRing)
        | (Kind::Allreduce, Algorithm::Ring)
        | (Kind::Allgather | Kind::Gather | Kind::Scatter | Kind::ReduceScatter, _) => case.members,
        (Kind::Alltoall | Kind::Alltoallv, _) => case.members * case.members,
        _ => 1,
    }
}

/// Bytes of a block. A block of an all-to-all is numbered source · p + destination.
pub fn size(case: &Case, block: u32) -> u64 {
    let (n, all) = (case.bytes, u64::from(blocks(case)));
    let b = u64::from(block);
    match case.kind {
        Kind::Barrier => 0,
        Kind::Bcast | Kind::Reduce | Kind::Allreduce | Kind::Scan => (b + 1) * n / all - b * n / all,
        Kind::Alltoallv => case.pair(block / case.members, block % case.members),
        Kind::Allgather | Kind::Gather | Kind::Scatter | Kind::ReduceScatter | Kind::Alltoall => n,
    }
}

/// What a member has when it begins.
pub fn brought(case: &Case, place: u32) -> Held {
    let (p, all) = (case.members, 0..blocks(case));
    let own = |blocks: Vec<u32>| blocks.into_iter().map(|block| (block, only(place))).collect();
    match case.kind {
        Kind::Bcast | Kind::Scatter if place != case.root => Held::new(),
        Kind::Allgather | Kind::Gather => own(vec![place]),
        Kind::Alltoall | Kind::Alltoallv => own((0..p).map(|to| place * p + to).collect()),
        _ => own(all.collect()),
    }
}

/// What the operation must leave with a member.
pub fn due(case: &Case, place: u32) -> Held {
    let (p, all) = (case.members, 0..blocks(case));
    let everyone = first(p);
    match case.kind {
        Kind::Reduce | Kind::Gather if place != case.root => Held::new(),
        Kind::Barrier | Kind::Reduce | Kind::Allreduce => all.map(|block| (block, everyone)).collect(),
        Kind::Bcast => all.map(|block| (block, only(case.root))).collect(),
        Kind::Allgather | Kind::Gather => all.map(|block| (block, only(block))).collect(),
        Kind::Scatter => Held::from([(place, only(case.root))]),
        Kind::ReduceScatter => Held::from([(place, everyone)]),
        Kind::Alltoall | Kind::Alltoallv => (0..p).map(|from| (from * p + place, only(from))).collect(),
        Kind::Scan => Held::from([(0, first(place + 1))]),
    }
}

/// What a message carries of what its source holds.
pub fn carried(case: &Case, held: &Held, message: Message) -> Held {
    if (case.kind, case.algorithm) == (Kind::Allreduce, Algorithm::Fsin) {
        // An all-to-all of the vectors as they were brought.
        return Held::from([(0, only(message.from))]);
    }
    let content =
        |block| (block, *held.get(&block).unwrap_or_else(|| panic!("{case:?} {message:?}: {block}")));
    numbers(case, message).into_iter().map(content).collect()
}

fn numbers(case: &Case, message: Message) -> Vec<u32> {
    let Message { from, to, nth } = message;
    match (case.algorithm, case.kind) {
        (Algorithm::Binomial, Kind::Scatter) => subtree(case, to),
        (Algorithm::Binomial, Kind::Gather) => subtree(case, from),
        (Algorithm::ScatterRing, _) => scatter_ring(case, message),
        (Algorithm::Rabenseifner, _) => rabenseifner(case, message),
        (Algorithm::Ring, kind) => vec![ring(case, kind, from, nth)],
        (Algorithm::Bruck, Kind::Allgather) => {
            let distance = (from + case.members - to) % case.members;
            (0..distance.min(case.members - distance)).map(|i| (from + i) % case.members).collect()
        }
        (Algorithm::Bruck, _) => bruck_alltoall(case, message),
        (Algorithm::RecursiveHalving, _) => {
            let half = from ^ to;
            let lo = to / half * half;
            (lo..lo + half).collect()
        }
        (_, Kind::Alltoall | Kind::Alltoallv) => vec![from * case.members + to],
        _ => vec![0],
    }
}

/// Places, counted from the root, that the binomial tree reaches through this one.
fn reached(case: &Case, v: u32) -> std::ops::Range<u32> {
    v..case.members.min(v + (v & v.wrapping_neg()))
}

/// The members whose places the binomial tree reaches through a member.
fn subtree(case: &Case, place: u32) -> Vec<u32> {
    reached(case, case.relative(place)).map(|v| (v + case.root) % case.members).collect()
}

/// First the tree, if the one is the parent of the other, then the ring. Blocks are numbered from the root.
fn scatter_ring(case: &Case, message: Message) -> Vec<u32> {
    let (v, to) = (case.relative(message.from), case.relative(message.to));
    let child = to != 0 && to & (to - 1) == v;
    match message.nth {
        0 if child => reached(case, to).collect(),
        nth => vec![(v + case.members + u32::from(child) - nth) % case.members],
    }
}

fn ring(case: &Case, kind: Kind, from: u32, nth: u32) -> u32 {
    let p = case.members;
    match kind {
        Kind::Allgather => (from + p - nth) % p,
        Kind::Allreduce if nth >= p - 1 => ring(case, Kind::Allgather, from, nth - (p - 1)),
        _ => (from + 2 * p - nth - 1) % p,
    }
}

/// A block that goes a distance j goes 2^k for every bit k of j, the lowest first.
fn bruck_alltoall(case: &Case, message: Message) -> Vec<u32> {
    let p = case.members;
    let step = (message.to + p - message.from) % p;
    let source = |j: u32| (message.from + p - j % step) % p;
    (1..p).filter(|j| j & step != 0).map(|j| source(j) * p + (source(j) + j) % p).collect()
}

fn rabenseifner(case: &Case, message: Message) -> Vec<u32> {
    let power = largest_power(case.members);
    let rest = case.members - power;
    let number = |place: u32| if place < 2 * rest { place / 2 } else { place - rest };
    let (u, other) = (number(message.from), number(message.to));
    if u == other {
        return (0..power).collect();
    }
    let (mut lo, mut hi, mut mask) = (0, power, 1);
    loop {
        let mid = u32::midpoint(lo, hi);
        let (kept, sent) = if u & mask == 0 { ((lo, mid), (mid, hi)) } else { ((mid, hi), (lo, mid)) };
        if u ^ other == mask {
            let (lo, hi) = if message.nth == 0 { sent } else { kept };
            return (lo..hi).collect();
        }
        (lo, hi) = kept;
        mask *= 2;
    }
}

pub fn largest_power(members: u32) -> u32 {
    (members + 1).next_power_of_two() / 2
}
