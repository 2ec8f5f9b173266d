//! Which VC a hop uses: the one of an increasing sequence, or one of those FlexVC allows.

use super::flexvc::{FlexVc, roomiest};
use super::sequence::VcSequence;
use super::view::{Draws, View};
use super::{Head, Hop, Leg, Request, Way};
use crate::topology::GLOBAL;

/// The VC management of a mechanism.
#[derive(Clone, Debug)]
pub struct Vcs {
    /// The increasing sequence; with FlexVC and by phase only its codes count.
    pub sequence: VcSequence,
    flex: Option<FlexVc>,
    /// Whether the VC tells the phase: 0 on the way to the intermediate router, 1 on the way to the destination -- constant.
    phases: bool,
    /// VCs of each class that packets use -- constant.
    used: [u8; 2],
    /// Whether hops that enter a ring ask for entries -- constant.
    entries: bool,
}

impl Vcs {
    /// Increasing VCs.
    pub fn increasing(sequence: VcSequence) -> Self {
        let used = sequence.used();
        Self { sequence, flex: None, phases: false, used, entries: false }
    }

    /// VCs that the mechanism itself picks, `used` of each class.
    pub fn chosen(sequence: VcSequence, used: [u8; 2]) -> Self {
        Self { sequence, flex: None, phases: false, used, entries: false }
    }

    /// A VC for each of two phases, of `used` of each class.
    pub fn by_phase(sequence: VcSequence, used: [u8; 2]) -> Self {
        Self { sequence, flex: None, phases: true, used, entries: false }
    }

    /// FlexVC over `used` VCs of each class; `sequence` only tells the codes.
    pub fn flexible(sequence: VcSequence, flex: FlexVc, used: [u8; 2]) -> Self {
        Self { sequence, flex: Some(flex), phases: false, used, entries: false }
    }

    /// The same where hops that enter a ring ask for entries.
    #[must_use]
    pub fn with_entries(self, entries: bool) -> Self {
        Self { entries, ..self }
    }

    /// Whether hops that enter a ring ask for entries.
    #[inline]
    pub fn has_entries(&self) -> bool {
        self.entries
    }

    /// Whether the VC depends on more than the VC that a packet comes from.
    #[inline]
    pub fn depends_on_hop(&self) -> bool {
        self.flex.is_some() || self.phases || self.entries
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
            None if self.phases => u8::from(matches!(leg, Leg::ToGroup | Leg::Final)),
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
        // Entries are numbered on behind the VCs.
        let first = if way.vc < self.used(way.class) { 0 } else { self.used(way.class) };
        let credits = |vc| view.credits(Request { vc: first + vc, ..request });
        let vc = if flex.joins_shortest() {
            roomiest((way.vc - first, view.capacity(way.class)), credits)
        } else {
            flex.select_by_rank(request.port, way.vc - first, (credits, view.length()), draws)
        };
        Request { vc: first + vc, ..request }
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
