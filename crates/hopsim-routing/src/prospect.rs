//! What a head with a choice of outputs may choose from: a kind for each family of mechanisms, whose fields no other family sees,
//! and what the engine asks of every kind.

use super::{NO_VC, Place, Way};
use hopsim_network::by_class::ByClass;
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// What a head with a choice may choose from; the same at every attempt.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Prospect {
    /// The next hop of the minimal path; [`Way::NONE`] if it is not known before an attempt.
    pub minimal: Way,
    /// What the head may choose besides.
    pub choice: Choice,
}

/// What a head may choose besides its minimal path, by the family of its mechanism.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub enum Choice {
    /// Any shortest path, the minimal one being the escape path if there is one (minimal adaptive routing).
    Shortest(Productive),
    /// One detour, drawn before (source-adaptive routing: UGAL, piggyback).
    Detour(Comparison),
    /// A misroute over any link of a class (in-transit adaptive routing: OLM, PAR).
    Misroute(Misroutes),
    /// Up, down or out of a group of leaves and spines, straight on or on a detour (FPAR).
    Levels(Levels),
    /// A path that is drawn anew in every attempt: any output whatever.
    Anew,
}

/// Productive ports: those whose links bring the packet nearer to its destination. The packet could choose them in any VC, or in one alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Productive {
    /// A bit for each port, from port `first` on; at least one is set.
    pub ports: u64,
    /// The port of bit 0.
    pub first: u16,
    /// The only VC, [`NO_VC`] if the packet could choose any.
    pub vc: u8,
}

/// Ports of a leaf or a spine by which a packet goes straight on, and those by which it goes to another group than its destination's. In
/// either set there may be none, but not in both.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Levels {
    /// A bit for each port by which the packet goes straight on, from port `first` on.
    pub straight: u64,
    /// A bit for each port by which it goes on a detour, likewise.
    pub detours: u64,
    /// The port of bit 0.
    pub first: u16,
    /// The first of the VCs in which the packet goes straight on, and the one behind the last.
    pub straight_vcs: [u8; 2],
    /// The one behind the last of the VCs in which it goes on a detour: these begin with VC 0.
    pub detour_vcs: u8,
}

/// What is compared at the source: the minimal path and a detour.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Comparison {
    /// The first hop of the detour, the minimal one if there is none.
    pub detour: Way,
    /// Lengths of the minimal path and of the detour, both 0 if there is none \[links\].
    pub lengths: [u16; 2],
    /// Chosen trunks of the minimal path and of the detour, as [`RouteState`](super::RouteState) has them.
    pub trunks: [u16; 2],
    /// The global link of the minimal path, if that leaves the group.
    pub exit: Option<Exit>,
}

/// A global output VC of a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Exit {
    /// Position of the router in the group \[0 … a − 1\].
    pub position: u16,
    /// Output port of the router.
    pub port: u16,
    /// The VC whose saturation counts.
    pub vc: u8,
}

/// Misroutes open to a head, at injection or in transit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Misroutes {
    /// Which misroutes are looked at.
    pub options: Options,
    /// VC of the misroutes by link class as [`Way`] has it, [`NO_VC`] where there are none.
    pub vcs: ByClass<u8>,
    /// Where the head stands.
    pub place: Place,
    /// Whether the head stands in the group of its source and has to leave it.
    pub leaving: bool,
    /// Group of the destination \[0 … groups − 1\].
    pub target: u16,
}

/// Link classes of misroutes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Options {
    /// Over a local link.
    Local,
    /// Over a global link.
    Global,
    /// Local with probability (a − 1)/a, else global.
    Either,
    /// A global one is due.
    Mandatory,
}

impl Prospect {
    /// A path drawn anew in every attempt, of which nothing is known before.
    pub const ANEW: Self = Self { minimal: Way::NONE, choice: Choice::Anew };

    /// Whether the head could choose any output whatever: the methods below then visit nothing.
    #[inline]
    pub fn draws_anew(&self) -> bool {
        matches!(self.choice, Choice::Anew)
    }

    /// Visits the next hops of the minimal path and the detour.
    #[inline]
    pub fn each_way(&self, mut visit: impl FnMut(Way)) {
        if self.draws_anew() {
            return;
        }
        visit(self.minimal);
        if let Choice::Detour(comparison) = &self.choice
            && comparison.detour != self.minimal
        {
            visit(comparison.detour);
        }
    }

    /// Visits the ports that the head could choose out of a set, ascending, with the only VC or each of several; `None` where it could choose any.
    #[inline]
    pub fn each_productive(&self, mut visit: impl FnMut(usize, Option<u8>)) {
        if let Choice::Shortest(productive) = &self.choice {
            let vc = Some(productive.vc).filter(|&vc| vc != NO_VC);
            productive.each(|port| visit(port, vc));
        }
        if let Choice::Levels(levels) = &self.choice {
            for (ports, vcs) in [levels.straight(), levels.detours()] {
                ports.each(|port| vcs.clone().for_each(|vc| visit(port, Some(vc))));
            }
        }
    }

    /// Visits the link classes any port of which the head could choose, ascending, and the VC as [`Way`] has it.
    #[inline]
    pub fn each_misroute(&self, mut visit: impl FnMut(u8, u8)) {
        if let Choice::Misroute(misroutes) = &self.choice {
            for (class, &vc) in misroutes.vcs.iter().enumerate() {
                if vc != NO_VC {
                    visit(class as u8, vc);
                }
            }
        }
    }

    /// Whether the minimal path goes over a link of class `marked` from here, whose mark the head may read.
    #[inline]
    pub fn may_read_own_mark(&self, marked: u8) -> bool {
        self.minimal.class == marked
    }
}

impl Levels {
    fn ports(&self, ports: u64) -> Productive {
        Productive { ports, first: self.first, vc: NO_VC }
    }

    /// The ports by which the packet goes straight on, and their VCs.
    #[inline]
    pub fn straight(&self) -> (Productive, Range<u8>) {
        let [first, end] = self.straight_vcs;
        (self.ports(self.straight), first..end)
    }

    /// The ports by which it goes on a detour, and their VCs.
    #[inline]
    pub fn detours(&self) -> (Productive, Range<u8>) {
        (self.ports(self.detours), 0..self.detour_vcs)
    }
}

impl Productive {
    /// Visits the ports, ascending.
    #[inline]
    pub fn each(&self, mut visit: impl FnMut(usize)) {
        let mut bits = self.ports;
        while bits != 0 {
            visit(self.first as usize + bits.trailing_zeros() as usize);
            bits &= bits - 1;
        }
    }

    /// The port of this number among them, ascending; there are more.
    #[inline]
    pub fn nth(&self, number: u32) -> usize {
        let left = (0..number).fold(self.ports, |bits, _| bits & (bits - 1));
        self.first as usize + left.trailing_zeros() as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hopsim_network::topology::{GLOBAL, LOCAL};

    const LOCAL_WAY: Way = Way { port: 4, class: LOCAL, vc: 1 };
    const GLOBAL_WAY: Way = Way { port: 9, class: GLOBAL, vc: 0 };

    /// A productive port, and its only VC.
    type PortVc = (usize, Option<u8>);

    /// What the engine is told: the ways, the productive ports and the misroutes.
    fn told(prospect: &Prospect) -> (Vec<Way>, Vec<PortVc>, Vec<(u8, u8)>) {
        let mut told = (Vec::new(), Vec::new(), Vec::new());
        prospect.each_way(|way| told.0.push(way));
        prospect.each_productive(|port, vc| told.1.push((port, vc)));
        prospect.each_misroute(|class, vc| told.2.push((class, vc)));
        told
    }

    /// The VCs of local and global misroutes; those over links of other classes there are not.
    fn by_class([local, global]: [u8; 2]) -> ByClass<u8> {
        let mut vcs = ByClass::splat(NO_VC);
        (vcs[LOCAL as usize], vcs[GLOBAL as usize]) = (local, global);
        vcs
    }

    fn detour(minimal: Way, detour: Way) -> Prospect {
        let comparison = Comparison { detour, lengths: [1, 3], trunks: [0; 2], exit: None };
        Prospect { minimal, choice: Choice::Detour(comparison) }
    }

    #[test]
    fn the_engine_is_told_the_outputs_of_every_kind_once() {
        for (vc, told_vc) in [(NO_VC, None), (7, Some(7))] {
            let ports = Choice::Shortest(Productive { ports: 0b1011, first: 2, vc });
            let shortest = Prospect { minimal: LOCAL_WAY, choice: ports };
            let productive = [2, 3, 5].map(|port| (port, told_vc)).to_vec();
            assert_eq!(told(&shortest), (vec![LOCAL_WAY], productive, vec![]));
        }
        assert_eq!(told(&detour(LOCAL_WAY, GLOBAL_WAY)), (vec![LOCAL_WAY, GLOBAL_WAY], vec![], vec![]));
        assert_eq!(told(&detour(LOCAL_WAY, LOCAL_WAY)), (vec![LOCAL_WAY], vec![], vec![]));
        for (vcs, misroutes) in
            [([2, NO_VC], vec![(0, 2)]), ([NO_VC, 1], vec![(1, 1)]), ([2, 1], vec![(0, 2), (1, 1)])]
        {
            let (options, place, vcs) = (Options::Either, Place::Injection, by_class(vcs));
            let choice = Choice::Misroute(Misroutes { options, vcs, place, leaving: true, target: 0 });
            assert_eq!(
                told(&Prospect { minimal: GLOBAL_WAY, choice }),
                (vec![GLOBAL_WAY], vec![], misroutes)
            );
        }
        assert_eq!(told(&Prospect { minimal: LOCAL_WAY, ..Prospect::ANEW }), (vec![], vec![], vec![]));
    }

    #[test]
    fn a_head_reads_the_mark_of_its_own_router_if_its_minimal_path_goes_over_a_global_link_from_there() {
        assert!(detour(GLOBAL_WAY, LOCAL_WAY).may_read_own_mark(GLOBAL));
        assert!(!detour(LOCAL_WAY, GLOBAL_WAY).may_read_own_mark(GLOBAL));
        // Its path is not known, its minimal path may be.
        assert!(Prospect { minimal: GLOBAL_WAY, ..Prospect::ANEW }.may_read_own_mark(GLOBAL));
        assert!(!Prospect::ANEW.may_read_own_mark(GLOBAL));
    }
}
