//! Partners halve what they are responsible for, the farthest ones first, until everyone has its own block.

use super::{Call, Kind, Step, times};

/// Round k: exchanges p / 2^(k + 1) blocks with the member at that distance.
pub(super) fn round(call: &Call, round: u32) -> Option<Step> {
    let valid = call.kind == Kind::ReduceScatter && call.members.is_power_of_two();
    (valid && round < call.members.ilog2()).then(|| {
        let distance = call.members >> (round + 1);
        let partner = (call.place ^ distance, times(call.bytes, distance));
        Step::both(partner, partner).reducing()
    })
}
