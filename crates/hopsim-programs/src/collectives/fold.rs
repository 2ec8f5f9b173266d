//! What algorithms for powers of two do with other numbers of members: some hand over their vector and wait for the result.
//!
//! P is the largest power of two up to p. Of the first 2·(p − P) members the even ones send their vector to the next one and
//! are out; the odd ones have number u = ⌊r / 2⌋ among the P that are left, all later ones u = r − (p − P).

use super::{Call, Step};

/// The members that are left.
pub(super) struct Fold {
    /// P, the number of members that are left.
    pub power: u32,
    /// p − P, the number of members that are out.
    rest: u32,
}

impl Fold {
    pub(super) fn new(members: u32) -> Self {
        let power = 1 << members.ilog2();
        Self { power, rest: members - power }
    }

    /// Number u of a member that is not out.
    fn number(&self, place: u32) -> Option<u32> {
        match place.checked_sub(2 * self.rest) {
            Some(later) => Some(later + self.rest),
            None => (place % 2 == 1).then_some(place / 2),
        }
    }

    /// The member with this number.
    pub(super) fn member(&self, number: u32) -> u32 {
        if number < self.rest { 2 * number + 1 } else { number + self.rest }
    }

    /// Round 0 hands over, the last one gives back; `inner` says what number u does in each of the `rounds` between, from 0.
    pub(super) fn round(
        &self,
        call: &Call,
        round: u32,
        rounds: u32,
        inner: impl Fn(u32, u32) -> Step,
    ) -> Option<Step> {
        let (partner, bytes) = (call.place ^ 1, call.bytes);
        let out = self.number(call.place).is_none();
        let folded = call.place < 2 * self.rest;
        match round {
            0 if out => Some(Step::send(partner, bytes)),
            0 if folded => Some(Step::receive(partner, bytes).reducing()),
            0 => Some(Step::default()),
            _ if round <= rounds => {
                Some(self.number(call.place).map_or_else(Step::default, |number| inner(number, round - 1)))
            }
            _ if round > rounds + 1 || !folded => None,
            _ if out => Some(Step::receive(partner, bytes)),
            _ => Some(Step::send(partner, bytes)),
        }
    }
}
