//! The draw of an intermediate router.

use super::ways::{Dragonfly, Ways};
use hopsim_random::Stream;
use hopsim_routing::detour::{IntermediateGroups, IntraGroup, Policy};
use hopsim_routing::detour_region::DetourRegion;

/// What the draw depends on.
#[derive(Clone, Copy)]
pub struct Detour {
    pub policy: Policy,
    pub groups: IntermediateGroups,
    pub intra_group: IntraGroup,
    pub region: DetourRegion,
    /// Whether the detour ends in the group of the intermediate router, and not in that router only.
    pub to_group: bool,
}

impl Detour {
    /// Whether a detour to `via` has come to its end in router `at`.
    pub fn has_reached(self, ways: &Ways, at: usize, via: usize) -> bool {
        if self.to_group { ways.group(at) == ways.group(via) } else { at == via }
    }

    /// Whether packets to their own group have no detour, whatever is drawn.
    pub fn is_never_drawn_within(self, ways: &Ways) -> bool {
        ways.dragonfly().is_some() && self.intra_group == IntraGroup::Minimal
    }

    /// The intermediate router for a packet from one router to another, `None` if the packet has none.
    pub fn draw(self, ways: &Ways, (from, to): (usize, usize), stream: &mut Stream) -> Option<usize> {
        let Some(shape) = ways.dragonfly() else {
            let any = match self.region {
                DetourRegion::Neighbours if ways.distance(from, to) > 1 => {
                    let ports = ways.links(from).into_iter();
                    let beside: Vec<usize> = ports.filter_map(|port| ways.neighbour(from, port)).collect();
                    beside[stream.below(beside.len() as u32) as usize]
                }
                DetourRegion::Network | DetourRegion::Neighbours => {
                    stream.below(ways.routers_with_nodes() as u32) as usize
                }
                region => drawn_by_dimension(region, ways, (from, to), stream),
            };
            return Some(any).filter(|&any| any != from && any != to && ways.reaches(from, any));
        };
        let group = ways.group(from);
        if group == ways.group(to) {
            match self.intra_group {
                IntraGroup::Minimal => return None,
                IntraGroup::Local => return Some(shape.any_router(group, stream)),
                IntraGroup::Global => {}
            }
        }
        if self.groups == IntermediateGroups::Any
            && (stream.below(ways.routers() as u32) as usize) < shape.a - 1
        {
            return Some(shape.any_router(group, stream));
        }
        let ports = self.candidates(shape, from);
        loop {
            let (router, port) = ports[stream.below(ports.len() as u32) as usize];
            // Ports without a link are drawn again.
            if let Some(peer) = ways.neighbour(router, port) {
                return Some(shape.any_router(ways.group(peer), stream));
            }
        }
    }

    /// Router and port of the global links that the policy names, in the order in which draws number them.
    fn candidates(self, shape: &Dragonfly, from: usize) -> Vec<(usize, usize)> {
        let (first, position) = (from / shape.a * shape.a, from % shape.a);
        let positions: Vec<usize> = match self.policy {
            Policy::Rrg => (0..shape.a).collect(),
            Policy::Crg => vec![position],
            Policy::Nrg => (position + 1..shape.a).chain(0..position).collect(),
        };
        let of = |position: usize| shape.global_ports().map(move |port| (first + position, port));
        positions.into_iter().flat_map(of).collect()
    }
}

/// A router of a grid whose coordinates are drawn one by one, where there are several to choose from.
fn drawn_by_dimension(
    region: DetourRegion,
    ways: &Ways,
    (from, to): (usize, usize),
    stream: &mut Stream,
) -> usize {
    let sides = ways.sides();
    let place = |router: usize, dimension: usize| {
        let before: usize = sides[..dimension].iter().product();
        router / before % sides[dimension]
    };
    let mut drawn = 0;
    let mut before = 1;
    for (dimension, &side) in sides.iter().enumerate() {
        let (here, there) = (place(from, dimension), place(to, dimension));
        let candidates: Vec<usize> = (0..side)
            .filter(|&other| match region {
                DetourRegion::Unaligned => here != there || other == here,
                _ => (other >= here || other >= there) && (other <= here || other <= there),
            })
            .collect();
        let chosen = match candidates.as_slice() {
            [only] => *only,
            several => several[stream.below(several.len() as u32) as usize],
        };
        drawn += chosen * before;
        before *= side;
    }
    drawn
}
