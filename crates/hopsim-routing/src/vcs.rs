//! Which VC a hop uses: the one of an increasing sequence, one of those FlexVC allows, or the one that its path keeps.

use super::dateline::Dateline;
use super::flexvc::{FlexVc, Selection, roomiest};
use super::layers::PathVcs;
use super::nue_paths::NuePaths;
use super::sequence::VcSequence;
use super::view::{Draws, View};
use super::{Head, Hop, Leg, Request, Way};
use hopsim_network::by_class::ByClass;
use hopsim_network::network::Classes;
use std::sync::Arc;

/// Most VCs of a port.
pub const MOST: u32 = 16;

/// The VC management of a mechanism.
#[derive(Clone, Debug)]
pub struct Vcs {
    /// The increasing sequence; with FlexVC and by phase only its codes count.
    pub sequence: VcSequence,
    rule: Rule,
    /// Whether the VC of a hop is what the sequence says -- constant. It says what `rule` does: most runs need not look further.
    in_sequence: bool,
    /// VCs of each class that packets use -- constant.
    used: ByClass<u8>,
    /// What hops in rings heed besides -- constant.
    rings: Rings,
}

/// What hops in rings of links heed, so that packets there do not wait for each other in a circle.
#[derive(Clone, Copy, Debug)]
pub enum Rings {
    /// Nothing.
    Free,
    /// Entries for hops that enter a ring, which have room for less than its VCs: bubble flow control.
    Entries,
    /// A class of VCs for every hop: datelines.
    Dateline(Dateline),
}

/// What decides beside the sequence.
#[derive(Clone, Debug)]
enum Rule {
    /// Nothing.
    Sequence,
    /// FlexVC.
    Flexible(FlexVc),
    /// Any VC, out of which FlexVC picks; the sequence gives the highest.
    Any(FlexVc),
    /// The phase: those below `upper` are for the way to the intermediate router, the others up to `last` for the way to the destination.
    Phases { upper: u8, last: u8 },
    /// The path, at injection.
    Path(Arc<PathVcs>),
    /// The destination.
    Destination(Arc<NuePaths>),
    /// The hop says it.
    Given,
    /// The hop says the highest one, from which the rest of its path still fits; FlexVC picks out of it and all below.
    Ahead(FlexVc),
}

impl Vcs {
    fn new(sequence: VcSequence, rule: Rule, used: ByClass<u8>) -> Self {
        let in_sequence = matches!(rule, Rule::Sequence | Rule::Any(_));
        Self { sequence, rule, in_sequence, used, rings: Rings::Free }
    }

    /// Increasing VCs.
    pub fn increasing(sequence: VcSequence) -> Self {
        let used = sequence.used();
        Self::new(sequence, Rule::Sequence, used)
    }

    /// VCs that the mechanism itself picks, `used` of each class.
    pub fn chosen(sequence: VcSequence, used: ByClass<u8>) -> Self {
        Self::new(sequence, Rule::Sequence, used)
    }

    /// Two VCs, one for each of two phases, of `used` of each class.
    pub fn by_phase(sequence: VcSequence, used: ByClass<u8>) -> Self {
        Self::new(sequence, Rule::Phases { upper: 1, last: 1 }, used)
    }

    /// The lower half of `count` VCs for the first of two phases, and the upper half, which may have one more, for the second;
    /// `used` of each class.
    pub fn in_halves(sequence: VcSequence, count: u8, used: ByClass<u8>) -> Self {
        Self::new(sequence, Rule::Phases { upper: count / 2, last: count - 1 }, used)
    }

    /// A VC for every path, which it keeps from end to end; `used` of each class.
    pub fn kept(sequence: VcSequence, vcs: PathVcs, used: ByClass<u8>) -> Self {
        Self::new(sequence, Rule::Path(Arc::new(vcs)), used)
    }

    /// A VC for every destination, which packets to it keep from end to end, out of `used` of each class; `sequence` only tells the codes.
    pub fn by_destination(sequence: VcSequence, paths: Arc<NuePaths>, used: ByClass<u8>) -> Self {
        Self::new(sequence, Rule::Destination(paths), used)
    }

    /// The VC that a hop brings along, out of `used` of each class; `sequence` only tells the codes.
    pub fn given(sequence: VcSequence, used: ByClass<u8>) -> Self {
        Self::new(sequence, Rule::Given, used)
    }

    /// FlexVC over `used` VCs of each class, of which the hop says the highest; `sequence` only tells the codes.
    pub fn ahead(sequence: VcSequence, selection: Selection, used: ByClass<u8>) -> Self {
        Self::new(sequence, Rule::Ahead(FlexVc::of_hops(selection)), used)
    }

    /// FlexVC over `used` VCs of each class; `sequence` only tells the codes.
    pub fn flexible(sequence: VcSequence, flex: FlexVc, used: ByClass<u8>) -> Self {
        Self::new(sequence, Rule::Flexible(flex), used)
    }

    /// Every hop may use any of so many VCs of the class of its link.
    pub fn any(classes: &Classes, counts: ByClass<u8>) -> Self {
        let sequence = VcSequence::always(classes, counts.map(|count| count.saturating_sub(1)));
        Self::new(sequence, Rule::Any(FlexVc::any(counts)), counts)
    }

    /// The VCs, with what hops in rings heed.
    #[must_use]
    pub fn in_rings(self, rings: Rings) -> Self {
        Self { rings, ..self }
    }

    /// What hops in rings heed.
    #[inline]
    pub fn rings(&self) -> Rings {
        self.rings
    }

    /// Whether every hop has one VC, which stands behind that of the hop before in one order of all VCs, or may at least use such a one.
    pub fn increase(&self) -> bool {
        match (&self.rule, self.rings) {
            (Rule::Sequence, Rings::Free) => self.sequence.increases(),
            (Rule::Ahead(_), Rings::Free) => true,
            _ => false,
        }
    }

    /// Whether the VCs that a hop may use follow from the links of its path behind it.
    pub fn look_ahead(&self) -> bool {
        matches!(self.rule, Rule::Ahead(_))
    }

    /// Whether hops that enter a ring ask for entries.
    pub fn has_entries(&self) -> bool {
        matches!(self.rings, Rings::Entries)
    }

    /// Whether every hop may use any VC, wherever the packet comes from.
    pub fn are_alike(&self) -> bool {
        matches!((&self.rule, self.rings), (Rule::Any(_), Rings::Free))
    }

    /// Whether the VC follows from the path at injection, and from the VC that a packet comes from after that.
    pub fn keep_paths(&self) -> bool {
        matches!((&self.rule, self.rings), (Rule::Path(_), Rings::Free))
    }

    /// The paths to every destination where VCs follow from that.
    pub fn of_destinations(&self) -> Option<Arc<NuePaths>> {
        if let Rule::Destination(paths) = &self.rule { Some(Arc::clone(paths)) } else { None }
    }

    /// The VC of a path where VCs follow from that.
    // Out of line, so that where they do not nothing is made ready for it.
    #[inline(never)]
    pub fn of_path(&self, from: u32, to: u32) -> u8 {
        let Rule::Path(vcs) = &self.rule else { unreachable!("VCs do not follow from paths") };
        vcs.vc(from, to)
    }

    /// Whether the VC depends on more than the VC that a packet comes from.
    #[inline]
    pub fn depends_on_hop(&self) -> bool {
        !matches!((&self.rule, self.rings), (Rule::Sequence | Rule::Any(_), Rings::Free))
    }

    /// Whether a hop may have several VCs.
    #[inline]
    pub fn is_flexible(&self) -> bool {
        self.flex().is_some()
    }

    /// Whether VCs are picked at random, so that an attempt may see another VC, and decide otherwise, than the one before.
    pub fn draws(&self) -> bool {
        self.flex().is_some_and(FlexVc::draws)
    }

    /// VCs of a class that packets use: 0 … this − 1.
    pub fn used(&self, class: u8) -> u8 {
        self.used[class as usize]
    }

    /// The VCs that a hop may use.
    #[expect(clippy::inline_always, reason = "per packet-hop; measured")]
    #[inline(always)]
    pub fn way(&self, head: &Head, Hop { port, class, leg, reuses, vc }: Hop) -> Way {
        let opportunistic = || matches!(leg, Leg::MisrouteSource | Leg::MisrouteInside | Leg::MisrouteFinal);
        let in_sequence = || {
            if reuses && opportunistic() {
                self.sequence.reused(head.code)
            } else {
                self.sequence.next(head.code, class)
            }
        };
        if self.in_sequence {
            return Way { port, class, vc: in_sequence() };
        }
        let vc = match &self.rule {
            Rule::Given | Rule::Ahead(_) => vc,
            Rule::Flexible(flex) => flex.highest(leg, class, head.reply),
            Rule::Phases { last, .. } if matches!(leg, Leg::ToGroup | Leg::Final) => *last,
            Rule::Phases { upper, .. } => upper - 1,
            Rule::Destination(paths) => paths.vc(head.destination),
            Rule::Path(vcs) if head.at_injection() => vcs.vc(head.router, head.destination),
            Rule::Sequence | Rule::Any(_) | Rule::Path(_) => in_sequence(),
        };
        Way { port, class, vc }
    }

    /// The lowest VC that a hop may use, that of the way being the highest. Entries are numbered on behind the VCs.
    #[inline]
    pub fn first(&self, way: Way) -> u8 {
        match (self.rings, &self.rule) {
            (Rings::Dateline(dateline), _) => dateline.first(way.vc),
            (_, Rule::Ahead(_)) => 0,
            (_, Rule::Flexible(_) | Rule::Any(_)) if way.vc < self.used(way.class) => 0,
            (_, Rule::Flexible(_) | Rule::Any(_)) => self.used(way.class),
            (Rings::Free, &Rule::Phases { upper, .. }) => {
                if way.vc < upper {
                    0
                } else {
                    upper
                }
            }
            (
                _,
                Rule::Sequence | Rule::Phases { .. } | Rule::Path(_) | Rule::Destination(_) | Rule::Given,
            ) => way.vc,
        }
    }

    /// The VC that a packet asks for now.
    #[expect(clippy::inline_always, reason = "per decision; measured")]
    #[inline(always)]
    pub fn pick(&self, way: Way, view: &impl View, draws: &mut impl Draws) -> Request {
        let request = way.highest();
        if !view.flexible() {
            return request;
        }
        let Some(flex) = self.flex() else {
            return self.pick_of_phase(way, view);
        };
        let first = self.first(way);
        let credits = |vc| view.credits(Request { vc: first + vc, ..request });
        let vc = if flex.joins_shortest() {
            roomiest((way.vc - first, view.capacity(way.class)), credits)
        } else {
            flex.select_by_rank(request.port, way.vc - first, (credits, view.length()), draws)
        };
        Request { vc: first + vc, ..request }
    }

    /// The VC of the phase of a hop that has most room, the only one where a phase has one.
    #[inline]
    fn pick_of_phase(&self, way: Way, view: &impl View) -> Request {
        let first = if let Rule::Phases { .. } = self.rule { self.first(way) } else { way.vc };
        let request = way.highest();
        if first == way.vc {
            return request;
        }
        let credits = |vc| view.credits(Request { vc: first + vc, ..request });
        Request { vc: first + roomiest((way.vc - first, view.capacity(way.class)), credits), ..request }
    }

    /// Whether it is a mechanism's choice which of the VCs that a hop may use a head asks for (FlexVC).
    pub fn selects(&self) -> bool {
        matches!(self.rule, Rule::Flexible(_) | Rule::Ahead(_))
    }

    /// FlexVC, if it manages the VCs.
    #[inline]
    pub fn flex(&self) -> Option<&FlexVc> {
        match &self.rule {
            Rule::Flexible(flex) | Rule::Any(flex) | Rule::Ahead(flex) => Some(flex),
            Rule::Sequence | Rule::Phases { .. } | Rule::Path(_) | Rule::Destination(_) | Rule::Given => None,
        }
    }

    /// The VC of a link class whose saturation mark stands for the minimal path: the first that the packet would use, with
    /// FlexVC the last of all; 0 in a network without such links.
    #[inline]
    pub fn sensed(&self, class: u8, reply: bool) -> u8 {
        if self.is_flexible() {
            self.used(class).saturating_sub(1)
        } else {
            self.sequence.first(class, reply)
        }
    }
}
