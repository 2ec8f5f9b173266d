//! Numbers that could be mistaken for each other.
//!
//! In the network routers and nodes have plain numbers (`u32`), and topology, routing, traffic and the recorder know no others. A
//! region numbers its own routers and nodes from 0: those numbers have types of their own, and what the engine keeps by such
//! numbers is [`By`] them.

use serde::{Deserialize, Serialize};
use std::fmt::{self, Display, Formatter};
use std::marker::PhantomData;
use std::ops::{Index, IndexMut};

/// A number that entries of arrays and elements of sets are known by.
pub trait Id: Copy {
    /// The number with this index.
    fn at(index: usize) -> Self;
    /// The index of the number.
    fn index(self) -> usize;

    /// The number that is further on by `count`.
    #[inline]
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

/// An array by numbers of one type.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(bound(serialize = "T: Serialize", deserialize = "T: Deserialize<'de>"))]
pub struct By<I, T> {
    entries: Vec<T>,
    numbers: PhantomData<I>,
}

impl<I: Id, T> By<I, T> {
    /// Whether the array has no entries.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The numbers of all entries, ascending.
    pub fn ids(&self) -> impl Iterator<Item = I> + use<I, T> {
        (0..self.entries.len()).map(I::at)
    }

    /// The entry of a number, if there is one.
    #[inline]
    pub fn get(&self, id: I) -> Option<&T> {
        self.entries.get(id.index())
    }

    /// The entry of a number, if there is one, to be changed.
    #[inline]
    pub fn get_mut(&mut self, id: I) -> Option<&mut T> {
        self.entries.get_mut(id.index())
    }

    /// `count` entries from a number on.
    pub fn run(&self, first: I, count: usize) -> &[T] {
        &self.entries[first.index()..][..count]
    }

    /// All entries in the order of their numbers.
    pub fn as_slice(&self) -> &[T] {
        &self.entries
    }

    /// All entries in the order of their numbers, to be changed.
    pub fn as_mut_slice(&mut self) -> &mut [T] {
        &mut self.entries
    }

    /// The entries in the order of their numbers.
    pub fn iter(&self) -> std::slice::Iter<'_, T> {
        self.entries.iter()
    }

    /// The entries in the order of their numbers, to be changed.
    pub fn iter_mut(&mut self) -> std::slice::IterMut<'_, T> {
        self.entries.iter_mut()
    }

    /// The entries with their numbers.
    pub fn numbered(&self) -> impl Iterator<Item = (I, &T)> {
        self.entries.iter().enumerate().map(|(index, entry)| (I::at(index), entry))
    }

    /// The entries with their numbers, to be changed.
    pub fn numbered_mut(&mut self) -> impl Iterator<Item = (I, &mut T)> {
        self.entries.iter_mut().enumerate().map(|(index, entry)| (I::at(index), entry))
    }
}

impl<I, T: Clone> By<I, T> {
    /// `count` equal entries.
    pub fn all(entry: T, count: usize) -> Self {
        Self::from(vec![entry; count])
    }
}

impl<I, T> From<Vec<T>> for By<I, T> {
    fn from(entries: Vec<T>) -> Self {
        Self { entries, numbers: PhantomData }
    }
}

impl<I, T> FromIterator<T> for By<I, T> {
    fn from_iter<S: IntoIterator<Item = T>>(entries: S) -> Self {
        Self::from(Vec::from_iter(entries))
    }
}

impl<I: Id, T> Index<I> for By<I, T> {
    type Output = T;
    #[inline]
    fn index(&self, id: I) -> &T {
        &self.entries[id.index()]
    }
}

impl<I: Id, T> IndexMut<I> for By<I, T> {
    #[inline]
    fn index_mut(&mut self, id: I) -> &mut T {
        &mut self.entries[id.index()]
    }
}
