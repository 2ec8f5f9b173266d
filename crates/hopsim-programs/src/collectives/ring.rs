//! Blocks go around a ring: everyone sends to the next member and receives from the one before.

use super::{Call, Kind, Step, back, block};

/// The rounds of reduce-scatter, of allgather, or of the one and then the other on the p blocks of n.
pub(super) fn round(call: &Call, round: u32) -> Option<Step> {
    let part = |number: u32| block(call.bytes, call.members, number);
    match call.kind {
        Kind::Allgather => gather(call, round, call.place, |_| call.bytes),
        Kind::ReduceScatter => scatter(call, round, |_| call.bytes),
        Kind::Allreduce => {
            scatter(call, round, part).or_else(|| gather(call, round - (call.members - 1), call.place, part))
        }
        _ => None,
    }
}

/// Round i: sends block place − i and receives block place − i − 1; the place is that in the ring.
pub(super) fn gather(call: &Call, round: u32, place: u32, bytes: impl Fn(u32) -> u64) -> Option<Step> {
    pass(call, round, back(place, round, call.members), bytes)
}

/// Round i: sends block r − i − 1 and receives the operands of block r − i − 2.
fn scatter(call: &Call, round: u32, bytes: impl Fn(u32) -> u64) -> Option<Step> {
    pass(call, round, call.before(round.saturating_add(1)), bytes).map(Step::reducing)
}

/// One of p − 1 rounds: sends this block, and receives the one before.
fn pass(call: &Call, round: u32, sent: u32, bytes: impl Fn(u32) -> u64) -> Option<Step> {
    let received = back(sent, 1, call.members);
    (round < call.members - 1)
        .then(|| Step::both((call.after(1), bytes(sent)), (call.before(1), bytes(received))))
}
