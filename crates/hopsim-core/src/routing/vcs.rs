//! Which VC a hop uses: the one of an increasing sequence, or one of those FlexVC allows.

use super::flexvc::{FlexVc, roomiest};
use super::sequence::VcSequence;
use super::view::{Draws, View};
use super::{Head, Hop, Leg, Request, Way};
use crate::topology::GLOBAL;

/// The VC management of a mechanism.
#[derive(Clone, Debug)]
pub struct Vcs {
    /// The increasing sequence; with FlexVC only its codes count.
    pub sequence: VcSequence,
    flex: Option<FlexVc>,
    /// VCs of each class that packets use -- constant.
    used: [u8; 2],
}

impl Vcs {
    /// Increasing VCs.
    pub fn increasing(sequence: VcSequence) -> Self {
        let used = sequence.used();
        Self { sequence, flex: None, used }
    }

    /// FlexVC over `used` VCs of each class; `sequence` only tells the codes.
    pub fn flexible(sequence: VcSequence, flex: FlexVc, used: [u8; 2]) -> Self {
        Self { sequence, flex: Some(flex), used }
    }

    /// Whether a hop may have several VCs.
    #[inline]
    pub fn is_flexible(&self) -> bool {
        self.flex.is_some()
    }

    /// Whether VCs are picked at random, so that an attempt may see another VC, and decide otherwise, than the one before.
    pub fn draws(&self) -> bool {
        self.flex.as_ref().is_some_and(FlexVc::draws)
    }

    /// VCs of a class that packets use: 0 … this − 1.
    pub fn used(&self, class: u8) -> u8 {
        self.used[class as usize]
    }

    /// The VCs that a hop may use.
    #[inline]
    pub fn way(&self, head: &Head, Hop { port, class, leg, reuses }: Hop) -> Way {
        let opportunistic = matches!(leg, Leg::MisrouteSource | Leg::MisrouteInside | Leg::MisrouteFinal);
        let vc = match &self.flex {
            Some(flex) => flex.highest(leg, class, head.reply),
            None if opportunistic && reuses => self.sequence.reused(head.code),
            None => self.sequence.next(head.code, class),
        };
        Way { port, class, vc }
    }

    /// The VC that a packet asks for now.
    #[expect(clippy::inline_always, reason = "per decision; measured")]
    #[inline(always)]
    pub fn pick(&self, way: Way, view: &impl View, draws: &mut impl Draws) -> Request {
        let request = way.highest();
        let Some(flex) = self.flex.as_ref().filter(|_| view.flexible()) else { return request };
        let credits = |vc| view.credits(Request { vc, ..request });
        let vc = if flex.joins_shortest() {
            roomiest((way.vc, view.capacity(way.class)), credits)
        } else {
            flex.select_by_rank(request.port, way.vc, (credits, view.length()), draws)
        };
        Request { vc, ..request }
    }

    /// FlexVC, if it manages the VCs.
    #[inline]
    pub fn flex(&self) -> Option<&FlexVc> {
        self.flex.as_ref()
    }

    /// The global VC whose saturation mark stands for the minimal path: the first that the packet would use, with
    /// FlexVC the last of all.
    #[inline]
    pub fn sensed_global(&self, reply: bool) -> u8 {
        if self.flex.is_some() { self.used[GLOBAL as usize] - 1 } else { self.sequence.first(GLOBAL, reply) }
    }
}
