//! Few messages with many blocks each.

use super::{Call, Kind, Step, levels, times};

/// Round k of ⌈log₂ p⌉. Allgather: sends what it has, or what is still missing there, to r − 2^k, and receives from r + 2^k.
/// All-to-all: sends to r + 2^k the blocks that go a distance with this bit, and receives from r − 2^k.
pub(super) fn round(call: &Call, round: u32) -> Option<Step> {
    if round >= levels(call.members) {
        return None;
    }
    let (after, before) = (call.after(1 << round), call.before(1 << round));
    match call.kind {
        Kind::Allgather => {
            let bytes = times(call.bytes, (1 << round).min(call.members - (1 << round)));
            Some(Step::both((before, bytes), (after, bytes)))
        }
        Kind::Alltoall => {
            let bytes = times(call.bytes, distances(call.members, round));
            Some(Step::both((after, bytes), (before, bytes)))
        }
        _ => None,
    }
}

/// How many of 0 … p − 1 have this bit.
fn distances(members: u32, bit: u32) -> u32 {
    let half = 1 << bit;
    let rest = members & (2 * half - 1);
    (members - rest) / 2 + rest.saturating_sub(half)
}
