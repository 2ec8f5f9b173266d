//! Partners at distances 1, 2, 4 … exchange what they have.

use super::fold::Fold;
use super::{Call, Kind, Part, Step, levels};

/// The rounds of allreduce, with fold and unfold, or of scan.
pub(super) fn round(call: &Call, round: u32) -> Option<Step> {
    match call.kind {
        Kind::Allreduce => allreduce(call, round),
        Kind::Scan => (round < levels(call.members)).then(|| scan(call, 1 << round)),
        _ => None,
    }
}

fn allreduce(call: &Call, round: u32) -> Option<Step> {
    let fold = Fold::new(call.members);
    fold.round(call, round, fold.power.ilog2(), |number, k| {
        let partner = (fold.member(number ^ (1 << k)), call.bytes);
        Step::both(partner, partner).reducing()
    })
}

/// Receives the sum of the members before and sends its own sum on, where there are members.
fn scan(call: &Call, distance: u32) -> Step {
    let part = |member| Part { member, bytes: call.bytes };
    let after = call.place + distance;
    Step {
        receive: call.place.checked_sub(distance).map(part),
        send: (after < call.members).then(|| part(after)),
        reduces: false,
    }
    .reducing()
}
