//! Arrays by numbers that could be mistaken for each other.

use crate::kernel::ids::Id;
use serde::{Deserialize, Serialize};
use std::marker::PhantomData;
use std::ops::{Index, IndexMut};

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
