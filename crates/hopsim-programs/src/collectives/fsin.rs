//! What FSIN makes of collectives: nothing but blocking sends and receives of the full size.

use super::{Call, Kind, Step};

/// Exchanges with all others, or the root serves them one after the other.
pub(super) fn round(call: &Call, round: u32) -> Option<Step> {
    match call.kind {
        Kind::Barrier => exchange(call, round, 0),
        Kind::Alltoall => exchange(call, round, call.bytes),
        Kind::Allreduce => exchange(call, round, call.bytes).map(Step::reducing),
        Kind::Bcast => star(call, round, Step::send, Step::receive),
        Kind::Reduce => star(call, round, Step::receive, Step::send).map(Step::reducing),
        _ => None,
    }
}

/// Stride 1 … p − 1, two rounds each: a blocking send, then a blocking receive.
fn exchange(call: &Call, round: u32, bytes: u64) -> Option<Step> {
    let stride = round / 2 + 1;
    let (to, from) = if stride >= call.members {
        return None;
    } else if call.members.is_power_of_two() {
        (partner(call, stride), partner(call, stride))
    } else {
        (call.after(stride), call.before(stride))
    };
    Some(if round.is_multiple_of(2) { Step::send(to, bytes) } else { Step::receive(from, bytes) })
}

/// r − stride if ⌊r / g⌋ is odd, else r + stride: g, the greatest common divisor of the stride and a power of two, is the
/// lowest bit of the stride.
fn partner(call: &Call, stride: u32) -> u32 {
    let odd = call.place >> stride.trailing_zeros() & 1 == 1;
    if odd { call.before(stride) } else { call.after(stride) }
}

/// Round k of the root: the k-th of the others, in order of their places. The others have one round.
fn star(
    call: &Call,
    round: u32,
    root: impl Fn(u32, u64) -> Step,
    other: impl Fn(u32, u64) -> Step,
) -> Option<Step> {
    if call.place == call.root {
        let member = if round < call.root { round } else { round + 1 };
        (member < call.members).then(|| root(member, call.bytes))
    } else {
        (round == 0).then(|| other(call.root, call.bytes))
    }
}
