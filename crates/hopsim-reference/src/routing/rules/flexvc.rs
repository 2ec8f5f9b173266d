//! FlexVC: all VCs in one order, and which of them leave room for the rest of a path.

use super::paths::{count, number};

/// All VCs of a dragonfly in their one order.
pub struct Order {
    /// Class and VC of every place in the order.
    all: Vec<(u8, u8)>,
    /// How many VCs, the first ones of the order, are open to requests and one-way packets.
    for_requests: usize,
}

impl Order {
    /// The order of `vcs` local and global VCs, of which the last `reply` are for replies alone, by the first of some paths for
    /// which there are enough VCs.
    pub fn new(vcs: [u8; 2], reply: [u8; 2], paths: &[&str]) -> Self {
        let request = [vcs[0] - reply[0], vcs[1] - reply[1]];
        let mut all = lay_out([0, 0], request, paths);
        let for_requests = all.len();
        all.extend(lay_out(request, reply, paths));
        Self { all, for_requests }
    }

    fn open_to(&self, reply: bool) -> &[(u8, u8)] {
        if reply { &self.all } else { &self.all[..self.for_requests] }
    }

    /// Whether a path fits into the order at all.
    pub fn fits(&self, path: &str, reply: bool) -> bool {
        fits(path, self.open_to(reply))
    }

    /// The VCs of a class behind which the rest of the path fits, ascending.
    pub fn allowed(&self, class: u8, rest: &str, reply: bool) -> Vec<u8> {
        let open = self.open_to(reply);
        let leaves_room = |&rank: &usize| open[rank].0 == class && fits(rest, &open[rank + 1..]);
        let mut vcs: Vec<u8> = (0..open.len()).filter(leaves_room).map(|rank| open[rank].1).collect();
        vcs.sort_unstable();
        assert!(!vcs.is_empty(), "the plan refuses too few VCs");
        vcs
    }
}

/// Whether the links of a path find VCs of their class in this order.
fn fits(path: &str, vcs: &[(u8, u8)]) -> bool {
    let mut rest = vcs.iter();
    path.chars().all(|letter| rest.any(|&(class, _)| class == u8::from(letter == 'g')))
}

/// The order of so many local and global VCs, numbered from `first`: spare local ones, spare global ones, then those of the first
/// path for which there are enough. If there is none all are spare.
fn lay_out(first: [u8; 2], vcs: [u8; 2], paths: &[&str]) -> Vec<(u8, u8)> {
    let enough = |path: &&&str| count(path)[0] <= vcs[0] && count(path)[1] <= vcs[1];
    let path = paths.iter().find(enough).copied().unwrap_or("");
    let spare = [vcs[0] - count(path)[0], vcs[1] - count(path)[1]];
    let local = (0..spare[0]).map(|number| (0, first[0] + number));
    let global = (0..spare[1]).map(|number| (1, first[1] + number));
    let ordered = number(path, [first[0] + spare[0], first[1] + spare[1]]);
    local.chain(global).chain(ordered).collect()
}
