//! Virtual channels in increasing order along the path, against deadlock: see `router.cioq.vcs`.
//!
//! A path is written as a letter per link, the initial of its class: `lgl` in a dragonfly, `nnnn` where all links are of
//! one class, `network`.

use hopsim_network::network::Classes;

/// Code of the injection VCs of replies; requests and one-way packets have code 0.
pub const REPLY_INJECTION: u8 = u8::MAX;

/// The next VC for every input and class of output link.
#[derive(Clone, Debug)]
pub struct VcSequence {
    /// `next[code][class]`; `u8::MAX` where the sequence has no later link of the class -- constant.
    next: Box<[[u8; 2]; 256]>,
    /// VC of the nearest link of class 0 not after the input's -- constant.
    reused: Box<[u8; 256]>,
    /// First code of each link class -- constant.
    offset: [u8; 2],
    /// First VC of each class that replies use -- constant.
    first_reply: [u8; 2],
    /// VCs of each class that the sequence uses, those of replies included -- constant.
    used: [u8; 2],
}

/// The link classes of a path, given the names of the classes that there are.
pub fn classes_of(path: &str, names: &[&str]) -> Vec<usize> {
    let class = |letter| names.iter().position(|name| name.starts_with(letter));
    path.chars().map(|letter| class(letter).unwrap_or_else(|| unreachable!("no link is {letter}"))).collect()
}

/// VCs of each link class that a path over links of these classes needs.
pub fn vcs_needed(links: &[usize]) -> [u8; 2] {
    let mut needed = [0; 2];
    for &class in links {
        needed[class] += 1;
    }
    needed
}

impl VcSequence {
    /// The tables of a path over links of these classes, in a network with these VCs; with `replies` a second copy follows for
    /// them.
    pub fn new(links: &[usize], classes: &Classes, replies: bool) -> Self {
        let vcs: Vec<u8> = classes.links.iter().map(|c| c.vcs).collect();
        let offset = [1, 1 + vcs.first().copied().unwrap_or(0)];
        let needed = vcs_needed(links);
        let first_reply = if replies { needed } else { [0; 2] };
        let mut table = Self {
            next: Box::new([[u8::MAX; 2]; 256]),
            reused: Box::new([0; 256]),
            offset,
            first_reply,
            used: [needed[0] + first_reply[0], needed[1] + first_reply[1]],
        };
        table.fill(links, 0, [0; 2]);
        if replies {
            table.fill(links, REPLY_INJECTION, needed);
        }
        table
    }

    /// Writes the rows of one copy of the sequence, whose VCs start at `first`.
    fn fill(&mut self, links: &[usize], injection: u8, first: [u8; 2]) {
        let mut numbers = Vec::new();
        let mut count = first;
        for &class in links {
            numbers.push(count[class]);
            count[class] += 1;
        }
        let codes = links.iter().zip(&numbers).map(|(&class, &vc)| self.offset[class] + vc);
        let inputs: Vec<(u8, usize)> =
            std::iter::once(injection).chain(codes).enumerate().map(|(after, code)| (code, after)).collect();
        for (code, after) in inputs {
            for class in 0..2 {
                let later = (after..links.len()).find(|&i| links[i] == class);
                self.next[code as usize][class] = later.map_or(u8::MAX, |i| numbers[i]);
            }
            let earlier = (0..after).rev().find(|&i| links[i] == 0);
            self.reused[code as usize] = earlier.map_or(self.next[code as usize][0], |i| numbers[i]);
        }
    }

    /// No order at all: every hop uses the same VC.
    pub fn unordered(classes: &Classes, vc: u8) -> Self {
        Self { next: Box::new([[vc; 2]; 256]), ..Self::new(&[0, 1], classes, false) }
    }

    /// Every hop uses the VC of the one before.
    pub fn keeping(classes: &Classes) -> Self {
        let mut table = Self::unordered(classes, 0);
        for vc in 0..classes.links[0].vcs {
            table.next[table.code(0, vc) as usize] = [vc; 2];
        }
        table
    }

    /// The code of an input VC of link class `class`; injection has code 0, or [`REPLY_INJECTION`].
    pub fn code(&self, class: u8, vc: u8) -> u8 {
        self.offset[class as usize] + vc
    }

    /// Whether a code is of an input of link class 1.
    #[inline]
    pub fn is_global(&self, code: u8) -> bool {
        code >= self.offset[1] && code != REPLY_INJECTION
    }

    /// The VC for the next hop over a link of class `class`, from an input with code `code`.
    #[inline]
    pub fn next(&self, code: u8, class: u8) -> u8 {
        let vc = self.next[code as usize][class as usize & 1];
        debug_assert!(vc != u8::MAX, "the path is longer than the VC sequence");
        vc
    }

    /// The VC for an opportunistic hop over a link of class 0: that of the nearest such link already passed.
    #[inline]
    pub fn reused(&self, code: u8) -> u8 {
        self.reused[code as usize]
    }

    /// First VC of a class for requests and one-way packets, or for replies.
    #[inline]
    pub fn first(&self, class: u8, reply: bool) -> u8 {
        if reply { self.first_reply[class as usize] } else { 0 }
    }

    /// VCs of each class in use: 0 … this − 1.
    pub fn used(&self) -> [u8; 2] {
        self.used
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hopsim_network::network::ClassSpec;

    fn classes(local: u8, global: u8) -> Classes {
        let spec = |vcs| ClassSpec { vcs, buffer: 8, latency: 1, bubble: 0 };
        Classes { terminal: spec(1), links: vec![spec(local), spec(global)], ejection: 1 }
    }

    fn links(path: &str) -> Vec<usize> {
        classes_of(path, &["local", "global"])
    }

    #[test]
    fn with_one_class_of_links_the_vc_is_the_number_of_links_taken() {
        let spec = ClassSpec { vcs: 7, buffer: 8, latency: 1, bubble: 0 };
        let classes = Classes { terminal: spec, links: vec![spec], ejection: 1 };
        let sequence = VcSequence::new(&classes_of("nnnnn", &["network"]), &classes, false);
        let mut code = 0;
        for taken in 0..5 {
            assert_eq!(sequence.next(code, 0), taken);
            code = sequence.code(0, taken);
        }
        assert_eq!(sequence.used(), [5, 0], "spare VCs stay unused");
    }

    #[test]
    fn valiant_paths_get_the_vcs_of_the_papers() {
        // The table of the increasing sequence l0 g0 l1 l2 g1 l3: injection, then each hop of a full path.
        let sequence = VcSequence::new(&links("lgllgl"), &classes(4, 2), false);
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
        assert_eq!(vcs_needed(&links("lgllgl")), [4, 2]);
    }

    #[test]
    fn extra_vcs_stay_unused() {
        let sequence = VcSequence::new(&links("lgl"), &classes(4, 2), false);
        assert_eq!(sequence.next(0, 0), 0);
        assert_eq!(sequence.next(sequence.code(0, 0), 1), 0);
        assert_eq!(sequence.next(sequence.code(1, 0), 0), 1);
    }

    #[test]
    fn replies_follow_a_second_copy_of_the_sequence() {
        // Minimal replies: l2 g1 l3.
        let sequence = VcSequence::new(&links("lgl"), &classes(4, 2), true);
        let mut code = REPLY_INJECTION;
        for (class, vc) in [(0, 2), (1, 1), (0, 3)] {
            assert_eq!(sequence.next(code, class), vc);
            code = sequence.code(class, vc);
        }
        assert_eq!(sequence.next(sequence.code(1, 0), 0), 1, "requests stay in the first copy");
        assert_eq!((sequence.first(1, true), sequence.used()), (1, [4, 2]));
    }

    #[test]
    fn opportunistic_local_hops_reuse_the_vc_of_the_last_local_link() {
        // OLM, l0 g0 l1 g1 l2: a local misroute after g0 uses l0, after g1 uses l1, after l0 again l0.
        let sequence = VcSequence::new(&links("lglgl"), &classes(3, 2), false);
        assert_eq!(sequence.reused(0), 0);
        assert_eq!(sequence.reused(sequence.code(0, 0)), 0);
        assert_eq!(sequence.reused(sequence.code(1, 0)), 0);
        assert_eq!(sequence.reused(sequence.code(1, 1)), 1);
    }
}
