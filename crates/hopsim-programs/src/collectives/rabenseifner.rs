//! Partners halve what they are responsible for, and then gather it again, with fold and unfold.

use super::fold::Fold;
use super::{Call, Kind, Step, span};

/// First the rounds that halve the interval of blocks, then the same in reverse.
pub(super) fn round(call: &Call, round: u32) -> Option<Step> {
    if call.kind != Kind::Allreduce {
        return None;
    }
    let fold = Fold::new(call.members);
    let halvings = fold.power.ilog2();
    fold.round(call, round, 2 * halvings, |number, k| {
        let halving = if k < halvings { k } else { 2 * halvings - 1 - k };
        let other = number ^ (1 << halving);
        let member = fold.member(other);
        let bytes = |number| {
            let first = first(number, halving + 1, fold.power);
            span(call.bytes, fold.power, first, first + (fold.power >> (halving + 1)))
        };
        let (own, others) = (bytes(number), bytes(other));
        if k < halvings {
            Step::both((member, others), (member, own)).reducing()
        } else {
            Step::both((member, own), (member, others))
        }
    })
}

/// The first block of what number u is responsible for after so many halvings: bit k of u says which half the k-th one kept.
fn first(number: u32, halvings: u32, blocks: u32) -> u32 {
    (0..halvings).map(|k| (number >> k & 1) * (blocks >> (k + 1))).sum()
}
