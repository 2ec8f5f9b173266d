//! Everyone tells members ever farther away.

use super::{Call, Kind, Step, levels};

/// Round k: sends to r + 2^k and receives from r − 2^k.
pub(super) fn round(call: &Call, round: u32) -> Option<Step> {
    (call.kind == Kind::Barrier && round < levels(call.members))
        .then(|| Step::both((call.after(1 << round), 0), (call.before(1 << round), 0)))
}
