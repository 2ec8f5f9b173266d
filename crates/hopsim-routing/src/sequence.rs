//! Virtual channels in increasing order along the path, against deadlock: see `router.cioq.vcs`.

use super::path::vcs_needed;
use hopsim_network::by_class::{ByClass, MOST_CLASSES};
use hopsim_network::network::Classes;
use hopsim_network::topology::LOCAL;
use petgraph::algo::is_cyclic_directed;
use petgraph::graphmap::DiGraphMap;

/// Code of the injection VCs of replies; requests and one-way packets have code 0.
pub const REPLY_INJECTION: u8 = u8::MAX;

/// The next VC for every input and class of output link.
#[derive(Clone, Debug)]
pub struct VcSequence {
    /// `next[code][class]`; `u8::MAX` where the sequence has no later link of the class -- constant.
    next: Box<[ByClass<u8>; 256]>,
    /// VC of the nearest local link not after the input's -- constant.
    reused: Box<[u8; 256]>,
    /// VCs of each link class that there are -- constant.
    vcs: ByClass<u8>,
    /// First code of each link class -- constant.
    offset: ByClass<u8>,
    /// First VC of each class that replies use -- constant.
    first_reply: ByClass<u8>,
    /// VCs of each class that the sequence uses, those of replies included -- constant.
    used: ByClass<u8>,
}

impl VcSequence {
    /// The tables of a path, in a network with these VCs; with `replies` a second copy follows for them.
    pub fn new(path: &[u8], classes: &Classes, replies: bool) -> Self {
        let vcs = ByClass::from_fn(|class| classes.links.get(class).map_or(0, |link| link.vcs));
        let needed = vcs_needed(path);
        let first_reply = if replies { needed } else { ByClass::default() };
        let mut table = Self {
            next: Box::new([ByClass::splat(u8::MAX); 256]),
            reused: Box::new([0; 256]),
            vcs,
            offset: ByClass::from_fn(|class| 1 + vcs.iter().take(class).sum::<u8>()),
            first_reply,
            used: ByClass::from_fn(|class| needed[class] + first_reply[class]),
        };
        table.fill(path, 0, ByClass::default());
        if replies {
            table.fill(path, REPLY_INJECTION, needed);
        }
        table
    }

    /// Writes the rows of one copy of the sequence, whose VCs start at `first`.
    fn fill(&mut self, path: &[u8], injection: u8, first: ByClass<u8>) {
        let mut numbers = Vec::new();
        let mut count = first;
        for &class in path {
            numbers.push(count[class as usize]);
            count[class as usize] += 1;
        }
        let codes = path.iter().zip(&numbers).map(|(&class, &vc)| self.code(class, vc));
        let inputs: Vec<(u8, usize)> =
            std::iter::once(injection).chain(codes).enumerate().map(|(after, code)| (code, after)).collect();
        for (code, after) in inputs {
            self.next[code as usize] = ByClass::from_fn(|class| {
                let later = (after..path.len()).find(|&i| path[i] as usize == class);
                later.map_or(u8::MAX, |i| numbers[i])
            });
            let earlier = (0..after).rev().find(|&i| path[i] == LOCAL);
            let next = self.next[code as usize][LOCAL as usize];
            self.reused[code as usize] = earlier.map_or(next, |i| numbers[i]);
        }
    }

    /// No order at all: every hop uses the same VC.
    pub fn unordered(classes: &Classes, vc: u8) -> Self {
        Self::always(classes, ByClass::splat(vc))
    }

    /// Every hop uses the VC that the class of its link has.
    pub fn always(classes: &Classes, vcs: ByClass<u8>) -> Self {
        let one_of_each: [u8; MOST_CLASSES] = std::array::from_fn(|class| class as u8);
        Self { next: Box::new([vcs; 256]), ..Self::new(&one_of_each, classes, false) }
    }

    /// Every hop uses the VC of the one before.
    pub fn keeping(classes: &Classes) -> Self {
        let mut table = Self::unordered(classes, 0);
        for (class, link) in (0..).zip(&classes.links) {
            for vc in 0..link.vcs {
                table.next[table.code(class, vc) as usize] = ByClass::splat(vc);
            }
        }
        table
    }

    /// Hop number i of a path of up to `hops` links has VC i, whatever the class of its link; with `replies` those of replies have the VCs
    /// that follow.
    pub fn by_hop(hops: u8, classes: &Classes, replies: bool) -> Self {
        let of_links = |vcs: u8| ByClass::from_fn(|class| if class < classes.links.len() { vcs } else { 0 });
        let copies: &[(u8, u8)] = if replies { &[(0, 0), (REPLY_INJECTION, hops)] } else { &[(0, 0)] };
        let mut table = Self::always(classes, ByClass::splat(u8::MAX));
        for &(injection, first) in copies {
            table.next[injection as usize] = ByClass::splat(first);
            for (class, vc) in
                (0..classes.links.len()).flat_map(|class| (1..hops).map(move |vc| (class, first + vc)))
            {
                table.next[table.code(class as u8, vc - 1) as usize] = ByClass::splat(vc);
            }
            table.used = of_links(first + hops);
        }
        table.first_reply = if replies { of_links(hops) } else { ByClass::default() };
        table
    }

    /// The code of an input VC of link class `class`; injection has code 0, or [`REPLY_INJECTION`].
    pub fn code(&self, class: u8, vc: u8) -> u8 {
        self.offset[class as usize] + vc
    }

    /// The VC of an input of a link class, given its code.
    #[inline]
    pub fn vc(&self, code: u8, class: u8) -> u8 {
        code - self.offset[class as usize]
    }

    /// Whether a code is of an input of a link class.
    #[inline]
    pub fn is_of(&self, code: u8, class: u8) -> bool {
        code.wrapping_sub(self.offset[class as usize]) < self.vcs[class as usize]
    }

    /// The VC for the next hop over a link of class `class`, from an input with code `code`.
    #[inline]
    pub fn next(&self, code: u8, class: u8) -> u8 {
        let vc = *self.next[code as usize].wrapped(class as usize);
        debug_assert!(vc != u8::MAX, "the path is longer than the VC sequence");
        vc
    }

    /// The VC for the next hop as [`Self::next`] has it, `None` if the sequence has no later link of the class.
    pub fn next_if_any(&self, code: u8, class: u8) -> Option<u8> {
        Some(self.next[code as usize][class as usize]).filter(|&vc| vc != u8::MAX)
    }

    /// The VC for an opportunistic hop over a local link: that of the nearest such link already passed.
    #[inline]
    pub fn reused(&self, code: u8) -> u8 {
        self.reused[code as usize]
    }

    /// First VC of a class for requests and one-way packets, or for replies.
    #[inline]
    pub fn first(&self, class: u8, reply: bool) -> u8 {
        if reply { self.first_reply[class as usize] } else { 0 }
    }

    /// Whether all VCs of all classes have an order in which every hop is behind the one before, whatever the classes of their links, and
    /// those of replies are behind those of requests.
    pub fn increases(&self) -> bool {
        let mut order = DiGraphMap::new();
        self.follow(0, &mut order);
        if self.first_reply != ByClass::default() {
            // A request that has arrived waits until its node can answer.
            for code in order.nodes().collect::<Vec<u8>>() {
                order.add_edge(code, REPLY_INJECTION, ());
            }
            self.follow(REPLY_INJECTION, &mut order);
        }
        !is_cyclic_directed(&order)
    }

    /// Adds every hop, from the code of one VC to that of the next, that can follow from a code on.
    fn follow(&self, from: u8, order: &mut DiGraphMap<u8, ()>) {
        let mut open = vec![from];
        while let Some(code) = open.pop() {
            let classes = (0..).zip(&self.vcs).filter(|&(_, &vcs)| vcs > 0);
            for next in
                classes.filter_map(|(class, _)| self.next_if_any(code, class).map(|vc| self.code(class, vc)))
            {
                if order.add_edge(code, next, ()).is_none() {
                    open.push(next);
                }
            }
        }
    }

    /// VCs of each class in use: 0 … this − 1.
    pub fn used(&self) -> ByClass<u8> {
        self.used
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::path::{G, L};
    use hopsim_network::network::ClassSpec;

    fn classes(local: u8, global: u8) -> Classes {
        let spec = |vcs| ClassSpec { vcs, buffer: 8, latency: 1, bubble: 0 };
        Classes { terminal: spec(1), links: vec![spec(local), spec(global)], ejection: 1, one_way: 1 }
    }

    #[test]
    fn with_one_class_of_links_the_vc_is_the_number_of_links_taken() {
        let spec = ClassSpec { vcs: 7, buffer: 8, latency: 1, bubble: 0 };
        let classes = Classes { terminal: spec, links: vec![spec], ejection: 1, one_way: 1 };
        let sequence = VcSequence::new(&[0; 5], &classes, false);
        let mut code = 0;
        for taken in 0..5 {
            assert_eq!(sequence.next(code, 0), taken);
            code = sequence.code(0, taken);
        }
        assert_eq!(sequence.used(), ByClass::from([5]), "spare VCs stay unused");
    }

    #[test]
    fn a_sequence_increases_if_every_hop_has_a_higher_vc_than_the_one_before() {
        let spec = ClassSpec { vcs: 7, buffer: 8, latency: 1, bubble: 0 };
        let one = Classes { terminal: spec, links: vec![spec], ejection: 1, one_way: 1 };
        assert!(
            VcSequence::new(&[0; 3], &one, false).increases()
                && VcSequence::new(&[0; 3], &one, true).increases()
        );
        assert!(!VcSequence::unordered(&one, 0).increases() && !VcSequence::keeping(&one).increases());
        let mut replies_among_requests = VcSequence::new(&[0; 3], &one, true);
        replies_among_requests.next[REPLY_INJECTION as usize][0] = 2;
        assert!(!replies_among_requests.increases());
        assert!(VcSequence::new(&[L, G, L], &classes(2, 1), false).increases());
        assert!(VcSequence::new(&[L, G, L], &classes(4, 2), true).increases());
        // Local, global and local links again have VC 0.
        assert!(!VcSequence::always(&classes(2, 1), ByClass::default()).increases());
        let mut back = VcSequence::new(&[L, G, L], &classes(2, 1), false);
        back.next[back.code(L, 1) as usize][G as usize] = 0;
        assert!(!back.increases(), "behind the last local link there is the global one before it");
    }

    #[test]
    fn valiant_paths_get_the_vcs_of_the_papers() {
        // The table of the increasing sequence l0 g0 l1 l2 g1 l3: injection, then each hop of a full path.
        let sequence = VcSequence::new(&[L, G, L, L, G, L], &classes(4, 2), false);
        let hops = [(0, 0), (1, 0), (0, 1), (0, 2), (1, 1), (0, 3)];
        let mut code = 0;
        for (class, vc) in hops {
            assert_eq!(sequence.next(code, class), vc);
            code = sequence.code(class, vc);
        }
        // Hops left out: global at injection, then the destination group after one global link.
        assert_eq!(sequence.next(0, 1), 0);
        assert_eq!(sequence.next(sequence.code(1, 0), 0), 1);
        assert_eq!(sequence.next(sequence.code(0, 1), 1), 1);
    }

    #[test]
    fn extra_vcs_stay_unused() {
        let sequence = VcSequence::new(&[L, G, L], &classes(4, 2), false);
        assert_eq!(sequence.next(0, 0), 0);
        assert_eq!(sequence.next(sequence.code(0, 0), 1), 0);
        assert_eq!(sequence.next(sequence.code(1, 0), 0), 1);
    }

    #[test]
    fn replies_follow_a_second_copy_of_the_sequence() {
        // Minimal replies: l2 g1 l3.
        let sequence = VcSequence::new(&[L, G, L], &classes(4, 2), true);
        let mut code = REPLY_INJECTION;
        for (class, vc) in [(0, 2), (1, 1), (0, 3)] {
            assert_eq!(sequence.next(code, class), vc);
            code = sequence.code(class, vc);
        }
        assert_eq!(sequence.next(sequence.code(1, 0), 0), 1, "requests stay in the first copy");
        assert_eq!((sequence.first(1, true), sequence.used()), (1, ByClass::from([4, 2])));
    }

    #[test]
    fn opportunistic_local_hops_reuse_the_vc_of_the_last_local_link() {
        // OLM, l0 g0 l1 g1 l2: a local misroute after g0 uses l0, after g1 uses l1, after l0 again l0.
        let sequence = VcSequence::new(&[L, G, L, G, L], &classes(3, 2), false);
        assert_eq!(sequence.reused(0), 0);
        assert_eq!(sequence.reused(sequence.code(0, 0)), 0);
        assert_eq!(sequence.reused(sequence.code(1, 0)), 0);
        assert_eq!(sequence.reused(sequence.code(1, 1)), 1);
    }
}
