//! The vector is scattered along a binomial tree, and its blocks, one for each v, go around a ring.

use super::{Call, Kind, Step, binomial, ring, span};

/// The rounds of the tree, then those of the ring.
pub(super) fn round(call: &Call, round: u32) -> Option<Step> {
    if call.kind != Kind::Bcast {
        return None;
    }
    let bytes = |first: u32, end: u32| span(call.bytes, call.members, first, end);
    match round.checked_sub(binomial::rounds_down(call)) {
        None => binomial::down(call, round, bytes),
        Some(round) => ring::gather(call, round, call.relative(), |block| bytes(block, block + 1)),
    }
}
