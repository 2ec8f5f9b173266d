//! Paths that mechanisms allow: the classes of their links, in the order in which packets take them.
//!
//! Users read a letter per link, the initial of its class: `lgl` in a dragonfly, `nnnn` where all links are of one class,
//! `network`.

use hopsim_network::by_class::ByClass;
use hopsim_network::topology::{GLOBAL, LOCAL};

/// A local link of a dragonfly in a path.
pub const L: u8 = LOCAL;
/// A global link of a dragonfly in a path.
pub const G: u8 = GLOBAL;

/// A path as users read it, given the names of the classes that there are.
pub fn letters(path: &[u8], names: &[&str]) -> String {
    path.iter().map(|&class| &names[class as usize][..1]).collect()
}

/// VCs of each link class that a path needs, with a VC for every link.
pub fn vcs_needed(path: &[u8]) -> ByClass<u8> {
    let mut needed = ByClass::default();
    for &class in path {
        needed[class as usize] += 1;
    }
    needed
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_read_by_the_initials_of_its_classes() {
        assert_eq!(letters(&[L, G, L, L, G, L], &["local", "global"]), "lgllgl");
        assert_eq!(letters(&[0; 4], &["network"]), "nnnn");
        assert_eq!(letters(&[], &["network"]), "");
    }

    #[test]
    fn a_path_needs_a_vc_for_every_link() {
        assert_eq!(vcs_needed(&[L, G, L, L, G, L]), ByClass::from([4, 2]));
    }
}
