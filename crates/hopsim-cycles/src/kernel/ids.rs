//! Numbers that could be mistaken for each other.
//!
//! In the network routers and nodes have plain numbers (`u32`), and topology, routing and traffic know no others. A
//! region numbers its own routers and nodes from 0: those numbers have types of their own, and what the engine keeps by such
//! numbers is `By` them (`by.rs`).

use std::fmt::{self, Display, Formatter};

/// A number that entries of arrays and elements of sets are known by.
pub trait Id: Copy {
    /// The number with this index.
    fn at(index: usize) -> Self;
    /// The index of the number.
    fn index(self) -> usize;

    /// The number that is further on by `count`.
    #[inline]
    #[must_use]
    fn up(self, count: usize) -> Self {
        Self::at(self.index() + count)
    }

    /// By how many this number is further on than `first`.
    #[inline]
    fn above(self, first: Self) -> usize {
        self.index() - first.index()
    }
}

/// A row for each type of number: its documentation, its name, what it is kept in.
macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident($type:ty);)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
        pub struct $name($type);

        impl Display for $name {
            fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }

        impl Id for $name {
            #[inline]
            fn at(index: usize) -> Self {
                Self(index as $type)
            }
            #[inline]
            fn index(self) -> usize {
                self.0 as usize
            }
        }
    )*};
}

ids! {
    /// The number of a router in its region. `Span::router` tells its number in the network.
    RegionRouter(usize);
    /// The number of a node in its region. `Span::node` tells its number in the network.
    RegionNode(usize);
    /// An input VC of a router: see [`Layout`](hopsim_network::network::Layout).
    Slot(usize);
    /// An output VC of a router, or an entry.
    Pair(u16);
    /// A slot of a region, as the kind of its router numbers them.
    SlotId(u32);
    /// A pair of a region, as the kind of its router numbers them.
    PairId(u32);
}

impl Id for usize {
    #[inline]
    fn at(index: usize) -> Self {
        index
    }
    #[inline]
    fn index(self) -> usize {
        self
    }
}

impl Slot {
    /// The slot that has bit `bit` of the word of a mask that has a bit for this slot.
    #[inline]
    #[must_use]
    pub fn in_word(self, bit: usize) -> Self {
        Self::at(self.index() / 64 * 64 + bit)
    }
}

/// A terminal port of a router of the region: where one of its nodes is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Terminal {
    /// The router.
    pub router: RegionRouter,
    /// The port.
    pub port: usize,
}

impl Terminal {
    /// The terminal port of a node, where routers have `per_router` nodes.
    #[inline]
    pub fn of(node: RegionNode, per_router: u32) -> Self {
        let node = node.0 as u32;
        let router = node / per_router;
        Self { router: RegionRouter(router as usize), port: (node - router * per_router) as usize }
    }

    /// The node at this terminal port, where routers have `per_router` nodes.
    #[inline]
    pub fn node(self, per_router: u32) -> RegionNode {
        RegionNode(self.router.0 * per_router as usize + self.port)
    }
}
