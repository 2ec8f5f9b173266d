//! Progressive adaptive routing where there are no groups: the comparison of UGAL at the source, and once more after the first hop.

use super::grants::each_by_route;
use super::minimal::Minimal;
use super::prospect::Prospect;
use super::source::{Source, SourceRule};
use super::view::{Draws, View};
use super::{Decision, Head, Mechanism, Place, Route, RouteState, Way};
use hopsim_random::Stream;

/// Of [`RouteState::flags`]: the packet has made its first hop on its minimal path, and decides again.
const MAY_TURN: u8 = 4;

/// Decides at the source, and again where the first hop of the minimal path has led.
#[derive(Clone, Debug)]
pub struct Progressive {
    source: Source,
}

impl Progressive {
    /// The mechanism over the minimal paths of `base`, with the comparison of `rule`.
    pub fn new(rule: SourceRule, base: Minimal) -> Self {
        Self { source: Source::new(rule, base) }
    }
}

impl Mechanism for Progressive {
    fn base(&self) -> &Minimal {
        self.source.base()
    }

    fn bound_for(&self, head: &Head, state: RouteState) -> u32 {
        self.source.bound_for(head, state)
    }

    // Out of line, as is `decide`: what is not PAR stays short then.
    #[inline(never)]
    fn route(&self, head: &Head, state: &mut RouteState, draw: impl Fn() -> Stream) -> Route {
        if head.at_injection() || state.flags & MAY_TURN != 0 {
            self.source.consider(head, state, draw)
        } else {
            self.source.go_on(head, state, draw)
        }
    }

    fn each_grant(&self, head: &Head, state: RouteState, visit: &mut impl FnMut(Option<Way>, RouteState)) {
        if head.at_injection() {
            self.source.each_considered(head, (MAY_TURN, Place::Injection), visit);
        } else if state.flags & MAY_TURN != 0 {
            self.source.each_considered(head, (0, Place::SourceGroup), visit);
        } else {
            each_by_route(self, head, state, visit);
        }
    }

    #[inline(never)]
    fn decide(
        &self,
        prospect: &Prospect,
        state: &mut RouteState,
        view: &impl View,
        draws: &mut impl Draws,
    ) -> Decision {
        let turns = state.flags & MAY_TURN != 0;
        let mut decision = self.source.decide(prospect, state, view, draws);
        if Source::is_on_detour(decision.after) {
            decision.after.place = if turns { Place::SourceGroup } else { Place::Injection } as u8;
        } else if !turns {
            decision.after.flags = MAY_TURN;
        }
        decision
    }

    fn redecides(&self) -> bool {
        true
    }
}
