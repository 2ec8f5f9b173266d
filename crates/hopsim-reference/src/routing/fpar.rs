//! Adaptive routing in every router of groups of leaves and spines: `hopsim explain fpar`.

use super::head::Head;
use super::rules::fpar::{Fpar, peers};
use crate::state::packet::{Choice, Memory};
use crate::state::place::Request;
use std::cmp::Reverse;

/// Ports by which a packet may go on, and the VCs that it may use there.
struct WaysOn {
    ports: Vec<usize>,
    vcs: Vec<u8>,
}

/// An output, and what is outstanding behind its port.
struct WayOn {
    to: Request,
    outstanding: u64,
}

impl WaysOn {
    /// Every output VC.
    fn all(&self) -> impl Iterator<Item = Request> {
        self.ports.iter().flat_map(|&port| self.vcs.iter().map(move |&vc| Request { port, vc }))
    }

    /// The port behind which least is outstanding in the VCs that packets use: of those with a VC that can take the packet, one that
    /// is drawn if several are alike, or else of all the first.
    fn least(&self, head: &Head) -> Option<WayOn> {
        let outstanding = |port| u64::from(head.port_occupancy(port));
        let candidate = |port: usize| {
            let open = self.vcs.iter().map(|&vc| Request { port, vc }).filter(|&to| head.open(to));
            let to = open.min_by_key(|&to| (Reverse(head.credits(to)), Reverse(to.vc)));
            (to, outstanding(port))
        };
        let all: Vec<(usize, (Option<Request>, u64))> =
            self.ports.iter().map(|&port| (port, candidate(port))).collect();
        let open: Vec<(Request, u64)> =
            all.iter().filter_map(|&(_, (to, outstanding))| Some((to?, outstanding))).collect();
        let Some(outstanding) = open.iter().map(|each| each.1).min() else {
            let closed = all.into_iter().min_by_key(|&(_, (_, outstanding))| outstanding);
            return closed.map(|(port, (_, outstanding))| {
                let to = Request { port, vc: self.vcs[0] };
                WayOn { to, outstanding }
            });
        };
        let best: Vec<Request> =
            open.into_iter().filter(|each| each.1 == outstanding).map(|each| each.0).collect();
        let nth = if best.len() > 1 { head.attempt().below(best.len() as u32) } else { 0 };
        Some(WayOn { to: best[nth as usize], outstanding })
    }
}

impl Fpar {
    pub fn choose(&self, head: &Head) -> Option<Choice> {
        if head.router() == head.destination() {
            return Some(head.eject());
        }
        let [straight, detours] = self.candidates(head);
        let memory = head.packet().memory.clone();
        let fixed = detours.ports.is_empty() && straight.all().count() == 1;
        if fixed {
            let to = straight.all().next()?;
            return Some(Choice { to, after: memory, fixed, others: Vec::new() });
        }
        let threshold = u64::from(self.threshold) * u64::from(head.packet().length);
        let (straight, detour) = (straight.least(head), detours.least(head));
        let turns = match (&straight, &detour) {
            (Some(straight), Some(detour)) => {
                straight.outstanding > u64::from(self.weight) * detour.outstanding + threshold
            }
            _ => straight.is_none(),
        };
        let chosen = if turns { detour } else { straight };
        let after = Memory { misrouted: memory.misrouted || turns, ..memory };
        Some(Choice { to: chosen?.to, after, fixed, others: Vec::new() })
    }

    /// The output VCs that a head may use.
    pub fn options(&self, head: &Head) -> Vec<Request> {
        if head.router() == head.destination() {
            return head.ejections();
        }
        self.candidates(head).iter().flat_map(WaysOn::all).collect()
    }

    /// By which outputs a packet may go straight on, and by which on a detour.
    fn candidates(&self, head: &Head) -> [WaysOn; 2] {
        let (ways, router, to) = (head.ways(), head.router(), head.destination());
        let [here, there, home] = [router, to, head.source()].map(|router| self.group(router));
        let ports = |holds: &dyn Fn(usize) -> bool| -> Vec<usize> {
            let leads = |port: &usize| ways.neighbour(router, *port).is_some_and(holds);
            ways.links(router).into_iter().filter(leads).collect()
        };
        let (lower, upper) = (0..self.vcs / 2, self.vcs / 2..self.vcs);
        // A packet that has come by the lower half of the VCs, or from its node, may use either.
        let any = if head.came_by().is_none_or(|(_, vc)| lower.contains(&vc)) {
            0..self.vcs
        } else {
            upper.clone()
        };
        let both = |ports, vcs: std::ops::Range<u8>, detours| {
            [WaysOn { ports, vcs: vcs.collect() }, WaysOn { ports: detours, vcs: lower.clone().collect() }]
        };
        let reaches =
            |spine: usize, group: usize| peers(ways, spine).iter().any(|&peer| self.group(peer) == group);
        let leaves_group = |spine: usize| peers(ways, spine).iter().any(|&peer| self.group(peer) != here);
        let to_there = |spine: usize| reaches(spine, there);
        if self.is_leaf(router) {
            return match (here == there, here == home) {
                (true, _) => both(ports(&|_| true), any, Vec::new()),
                (false, true) => {
                    let detours = ports(&|spine| leaves_group(spine) && !to_there(spine));
                    both(ports(&to_there), lower.clone(), detours)
                }
                (false, false) => both(ports(&to_there), upper, Vec::new()),
            };
        }
        let direct = ports(&|peer| self.group(peer) == there);
        if here == there {
            both(ports(&|leaf| leaf == to), any, Vec::new())
        } else if here == home {
            both(direct, any, ports(&|peer| ![here, there].contains(&self.group(peer))))
        } else if direct.is_empty() {
            both(ports(&|leaf| self.group(leaf) == here), lower.clone(), Vec::new())
        } else {
            both(direct, upper, Vec::new())
        }
    }
}
