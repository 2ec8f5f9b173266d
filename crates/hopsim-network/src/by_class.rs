//! Values by class of links, and how many classes there can be.

use serde::{Deserialize, Serialize};
use std::ops::{Index, IndexMut};

/// Most classes of links that a topology may have: whatever is kept by class has so many places, used or not.
///
/// One more costs 6 bytes of every packet in the network (`Packet` of `hopsim-cycles`). With two classes it fills its cache line
/// of 64 bytes but for one byte; with three it takes two lines, unless something else leaves it. A number that is no power of two
/// also makes a multiplication of the mask in [`ByClass::wrapped`].
pub const MOST_CLASSES: usize = 2;

/// A value for each class of links, by number of the class.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ByClass<T>([T; MOST_CLASSES]);

impl<T> ByClass<T> {
    /// A value, the same for every class.
    #[inline]
    pub const fn splat(value: T) -> Self
    where
        T: Copy,
    {
        Self([value; MOST_CLASSES])
    }

    /// What `value` gives for each class.
    #[inline]
    pub fn from_fn(value: impl FnMut(usize) -> T) -> Self {
        Self(std::array::from_fn(value))
    }

    /// What `change` makes of every value.
    #[inline]
    pub fn map<U>(self, change: impl FnMut(T) -> U) -> ByClass<U> {
        ByClass(self.0.map(change))
    }

    /// The values in the order of the classes.
    #[inline]
    pub fn as_slice(&self) -> &[T] {
        &self.0
    }

    /// Visits the values in the order of the classes.
    #[inline]
    pub fn iter(&self) -> std::slice::Iter<'_, T> {
        self.0.iter()
    }

    /// Visits the values in the order of the classes, to be changed.
    #[inline]
    pub fn iter_mut(&mut self) -> std::slice::IterMut<'_, T> {
        self.0.iter_mut()
    }

    /// The value of a class, for hot code: no bounds are checked, and a number that no class has stands for one that some class has.
    #[inline]
    pub fn wrapped(&self, class: usize) -> &T {
        &self.0[class % MOST_CLASSES]
    }

    /// The value of a class, to be changed, for hot code; see [`Self::wrapped`].
    #[inline]
    pub fn wrapped_mut(&mut self, class: usize) -> &mut T {
        &mut self.0[class % MOST_CLASSES]
    }
}

/// The values of the first classes; all others have the default.
impl<T: Copy + Default, const N: usize> From<[T; N]> for ByClass<T> {
    #[inline]
    fn from(first: [T; N]) -> Self {
        const { assert!(N <= MOST_CLASSES, "there are not so many classes") };
        let mut all = Self::splat(T::default());
        all.0[..N].copy_from_slice(&first);
        all
    }
}

impl<T> From<ByClass<T>> for [T; MOST_CLASSES] {
    #[inline]
    fn from(all: ByClass<T>) -> Self {
        all.0
    }
}

impl<T> Index<usize> for ByClass<T> {
    type Output = T;

    #[inline]
    fn index(&self, class: usize) -> &T {
        &self.0[class]
    }
}

impl<T> IndexMut<usize> for ByClass<T> {
    #[inline]
    fn index_mut(&mut self, class: usize) -> &mut T {
        &mut self.0[class]
    }
}

impl<T> IntoIterator for ByClass<T> {
    type Item = T;
    type IntoIter = std::array::IntoIter<T, MOST_CLASSES>;

    #[inline]
    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

impl<'a, T> IntoIterator for &'a ByClass<T> {
    type Item = &'a T;
    type IntoIter = std::slice::Iter<'a, T>;

    #[inline]
    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl<'a, T> IntoIterator for &'a mut ByClass<T> {
    type Item = &'a mut T;
    type IntoIter = std::slice::IterMut<'a, T>;

    #[inline]
    fn into_iter(self) -> Self::IntoIter {
        self.iter_mut()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_that_are_left_out_have_the_default() {
        let all = ByClass::from([7u8]);
        assert_eq!((all[0], all[MOST_CLASSES - 1]), (7, 0));
        assert_eq!(all.into_iter().map(u32::from).sum::<u32>(), 7);
    }

    #[test]
    fn values_are_written_as_an_array_is() {
        let written = serde_json::to_string(&ByClass::splat(3)).unwrap();
        assert_eq!(written, serde_json::to_string(&[3; MOST_CLASSES]).unwrap());
        assert_eq!(serde_json::from_str::<ByClass<u32>>(&written).unwrap(), ByClass::splat(3));
    }
}
