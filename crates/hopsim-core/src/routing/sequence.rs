//! Virtual channels in increasing order along the path, against deadlock: see [`crate::config::router::Vcs`]. In a
//! sequence the letter `l` stands for a link of class 0 and `g` for one of class 1.

use crate::network::Classes;

/// The code of the injection VCs of replies; those of all other packets have code 0.
pub const REPLY_INJECTION: u8 = u8::MAX;

/// Whether a head stands in an injection VC.
#[inline]
pub fn at_injection(code: u8) -> bool {
    code.wrapping_add(1) < 2
}

/// The next VC for every input and class of output link.
#[derive(Clone, Debug)]
pub struct VcSequence {
    /// `next[code][class]`; `u8::MAX` where the sequence has no later link of the class -- constant.
    next: Box<[[u8; 2]; 256]>,
    /// First code of each link class -- constant.
    offset: [u8; 2],
}

/// The link class of a letter.
fn class_of(letter: char) -> usize {
    usize::from(letter == 'g')
}

/// VCs of each link class that `sequence` needs.
pub fn vcs_needed(sequence: &str) -> [u8; 2] {
    let mut needed = [0; 2];
    sequence.chars().for_each(|letter| needed[class_of(letter)] += 1);
    needed
}

impl VcSequence {
    /// The tables of `sequence` for a network with these VCs. With request-reply the sequence is there twice, and replies
    /// begin with the second half.
    pub fn new(sequence: &str, classes: &Classes) -> Self {
        let start = sequence.len();
        let sequence = sequence.repeat(if classes.request_reply() { 2 } else { 1 });
        let vcs: Vec<u8> = classes.links.iter().map(|c| c.vcs).collect();
        let offset = [1, 1 + vcs.first().copied().unwrap_or(0)];
        let mut table = Self { next: Box::new([[u8::MAX; 2]; 256]), offset };
        let mut positions = vec![(0, 0), (REPLY_INJECTION, start)];
        let mut seen = [0u8; 2];
        for (index, letter) in sequence.chars().enumerate() {
            let class = class_of(letter);
            positions.push((offset[class] + seen[class], index + 1));
            seen[class] += 1;
        }
        for (code, after) in positions {
            let mut count = [0u8; 2];
            for (index, letter) in sequence.chars().enumerate() {
                let class = class_of(letter);
                if index >= after && table.next[code as usize][class] == u8::MAX {
                    table.next[code as usize][class] = count[class];
                }
                count[class] += 1;
            }
        }
        table
    }

    /// No order at all: every hop uses VC 0, which can deadlock.
    #[cfg(test)]
    pub fn unordered(classes: &Classes) -> Self {
        Self { next: Box::new([[0; 2]; 256]), ..Self::new("lg", classes) }
    }

    /// The code of an input VC of link class `class`.
    pub fn code(&self, class: u8, vc: u8) -> u8 {
        self.offset[class as usize] + vc
    }

    /// The VC for the next hop over a link of class `class`, from an input with code `code`.
    #[inline]
    pub fn next(&self, code: u8, class: u8) -> u8 {
        let vc = self.next[code as usize][class as usize & 1];
        debug_assert!(vc != u8::MAX, "the path is longer than the VC sequence");
        vc
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network::ClassSpec;

    fn classes(local: u8, global: u8) -> Classes {
        let spec = |vcs| ClassSpec { vcs, buffer: 8, latency: 1 };
        Classes { terminal: spec(1), links: vec![spec(local), spec(global)], ejection: 1 }
    }

    #[test]
    fn valiant_paths_get_the_vcs_of_the_papers() {
        // The table of the increasing sequence l0 g0 l1 l2 g1 l3: injection, then each hop of a full path.
        let sequence = VcSequence::new("lgllgl", &classes(4, 2));
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
        assert_eq!(vcs_needed("lgllgl"), [4, 2]);
    }

    #[test]
    fn replies_use_the_second_half() {
        let sequence = VcSequence::new("lgl", &Classes { ejection: 2, ..classes(4, 2) });
        for (injection, [first, global, last]) in [(0, [0, 0, 1]), (REPLY_INJECTION, [2, 1, 3])] {
            assert_eq!(sequence.next(injection, 0), first);
            assert_eq!(sequence.next(injection, 1), global);
            assert_eq!(sequence.next(sequence.code(0, first), 1), global);
            assert_eq!(sequence.next(sequence.code(1, global), 0), last);
        }
    }

    #[test]
    fn extra_vcs_stay_unused() {
        let sequence = VcSequence::new("lgl", &classes(4, 2));
        assert_eq!(sequence.next(0, 0), 0);
        assert_eq!(sequence.next(sequence.code(0, 0), 1), 0);
        assert_eq!(sequence.next(sequence.code(1, 0), 0), 1);
    }
}
