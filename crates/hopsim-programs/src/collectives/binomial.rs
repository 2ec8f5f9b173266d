//! A binomial tree: the parent of v is v without its lowest bit.

use super::{Call, Kind, Step, levels, times};

/// The rounds of a binomial tree, down from the root or up to the root.
pub(super) fn round(call: &Call, round: u32) -> Option<Step> {
    let whole = |_: u32, _: u32| call.bytes;
    let parts = |first: u32, end: u32| times(call.bytes, end - first);
    match call.kind {
        Kind::Bcast => down(call, round, whole),
        Kind::Scatter => down(call, round, parts),
        Kind::Reduce => up(call, round, whole).map(Step::reducing),
        Kind::Gather => up(call, round, parts),
        _ => None,
    }
}

/// Number of powers of two that lead from v to places below it in the tree, or beyond p.
fn height(call: &Call) -> u32 {
    match call.relative() {
        0 => levels(call.members),
        v => v.trailing_zeros(),
    }
}

/// Rounds of [`down`].
pub(super) fn rounds_down(call: &Call) -> u32 {
    height(call) + 1
}

/// Round 0: receives from the parent. Then sends to the members below, the one with most below it first. `bytes` says what the
/// places from the first up to, and without, the second need.
pub(super) fn down(call: &Call, round: u32, bytes: impl Fn(u32, u32) -> u64) -> Option<Step> {
    let (v, height) = (call.relative(), height(call));
    match round {
        0 if v == 0 => Some(Step::default()),
        0 => Some(Step::receive(parent(call), bytes(v, end(v, call.members)))),
        _ if round <= height => Some(below(call, 1 << (height - round), bytes, Step::send)),
        _ => None,
    }
}

/// The reverse of [`down`]: receives from the members below, the one with least below it first, and at last sends to the parent.
fn up(call: &Call, round: u32, bytes: impl Fn(u32, u32) -> u64) -> Option<Step> {
    let (v, height) = (call.relative(), height(call));
    if round < height {
        return Some(below(call, 1 << round, bytes, Step::receive));
    }
    (round == height && v > 0).then(|| Step::send(parent(call), bytes(v, end(v, call.members))))
}

/// The member from which the own place is reached.
fn parent(call: &Call) -> u32 {
    let v = call.relative();
    call.at(v & (v - 1))
}

/// The end of the places that are reached from v > 0, itself included.
fn end(v: u32, members: u32) -> u32 {
    members.min(v + (1 << v.trailing_zeros()))
}

/// A step with the member that is so far below, if there is one.
fn below(call: &Call, mask: u32, bytes: impl Fn(u32, u32) -> u64, step: impl Fn(u32, u64) -> Step) -> Step {
    let child = call.relative() + mask;
    if child < call.members {
        step(call.at(child), bytes(child, end(child, call.members)))
    } else {
        Step::default()
    }
}
