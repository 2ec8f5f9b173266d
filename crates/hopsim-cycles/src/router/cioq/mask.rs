//! Fixed-size bit sets: slots, pairs or ports of one router, `W` words of 64, `W` a power of two.
//!
//! Word indices are masked with W − 1, which the compiler turns into no check at all.

use crate::kernel::ids::Id;
use std::marker::PhantomData;
use std::ops::{BitAnd, BitOrAssign};

/// A set of numbers of one type, below 64·W.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mask<I, const W: usize> {
    words: [u64; W],
    numbers: PhantomData<I>,
}

impl<I: Id, const W: usize> Mask<I, W> {
    /// The empty set.
    pub const EMPTY: Self = Self { words: [0; W], numbers: PhantomData };

    /// All numbers below 64·W.
    pub const ALL: Self = Self { words: [u64::MAX; W], numbers: PhantomData };

    /// The set of the low bits of `bits`.
    #[inline]
    pub fn from_bits(bits: u64) -> Self {
        let mut mask = Self::EMPTY;
        mask.words[0] = bits;
        mask
    }

    /// The set with these words, as far as there is room for them.
    pub fn from_words(words: &[u64]) -> Self {
        let mut mask = Self::EMPTY;
        mask.words.iter_mut().zip(words).for_each(|(word, &bits)| *word = bits);
        mask
    }

    /// The words of the set.
    pub fn words(&self) -> &[u64; W] {
        &self.words
    }

    /// Adds `element`.
    #[inline]
    pub fn insert(&mut self, element: I) {
        let bit = element.index();
        self.words[(bit / 64) & (W - 1)] |= 1 << (bit % 64);
    }

    /// Takes `element` out.
    #[inline]
    pub fn remove(&mut self, element: I) {
        let bit = element.index();
        self.words[(bit / 64) & (W - 1)] &= !(1 << (bit % 64));
    }

    /// Whether `element` is in the set.
    #[inline]
    pub fn contains(&self, element: I) -> bool {
        let bit = element.index();
        self.words[(bit / 64) & (W - 1)] >> (bit % 64) & 1 == 1
    }

    /// Whether the set is empty.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.words.iter().all(|&word| word == 0)
    }

    /// The only element, `None` if there are none or several.
    #[inline]
    pub fn single(&self) -> Option<I> {
        let mut found = None;
        for (index, &word) in self.words.iter().enumerate() {
            if word != 0 {
                if found.is_some() || word & (word - 1) != 0 {
                    return None;
                }
                found = Some(I::at(index * 64 + word.trailing_zeros() as usize));
            }
        }
        found
    }

    /// The smallest element.
    #[inline]
    pub fn first(&self) -> Option<I> {
        self.words
            .iter()
            .position(|&w| w != 0)
            .map(|i| I::at(i * 64 + self.words[i].trailing_zeros() as usize))
    }

    /// The smallest element at or after `from`, else the smallest of all.
    #[inline]
    pub fn first_from(&self, from: I) -> Option<I> {
        let from = from.index();
        let start = from / 64;
        if start < W {
            let high = self.words[start] & (u64::MAX << (from % 64));
            if high != 0 {
                return Some(I::at(start * 64 + high.trailing_zeros() as usize));
            }
            for index in start + 1..W {
                if self.words[index] != 0 {
                    return Some(I::at(index * 64 + self.words[index].trailing_zeros() as usize));
                }
            }
        }
        self.first()
    }

    /// Takes out and returns the bits of `field`, a mask of the word that holds `element`.
    #[inline]
    pub fn take_field(&mut self, element: I, field: u64) -> u64 {
        let word = &mut self.words[(element.index() / 64) & (W - 1)];
        let taken = *word & field;
        *word &= !field;
        taken
    }

    /// The elements that are not in `other`.
    #[inline]
    pub fn without(mut self, other: Self) -> Self {
        self.words.iter_mut().zip(other.words).for_each(|(word, other)| *word &= !other);
        self
    }

    /// Adds the bits of `field`, a mask of the word that holds `element`.
    #[inline]
    pub fn insert_field(&mut self, element: I, field: u64) {
        self.words[(element.index() / 64) & (W - 1)] |= field;
    }

    /// The set with every element moved up by `count` < 64 inside its word.
    #[inline]
    pub fn shifted(mut self, count: u32) -> Self {
        self.words.iter_mut().for_each(|word| *word <<= count);
        self
    }

    /// The elements, ascending.
    #[inline]
    pub fn iter(self) -> impl Iterator<Item = I> {
        self.words.into_iter().enumerate().flat_map(|(index, mut word)| {
            std::iter::from_fn(move || {
                (word != 0).then(|| {
                    let bit = word.trailing_zeros() as usize;
                    word &= word - 1;
                    I::at(index * 64 + bit)
                })
            })
        })
    }

    /// Calls `visit` for every element, ascending; the plain loop that hot code wants.
    #[inline]
    pub fn for_each(self, mut visit: impl FnMut(I)) {
        for (index, mut word) in self.words.into_iter().enumerate() {
            while word != 0 {
                visit(I::at(index * 64 + word.trailing_zeros() as usize));
                word &= word - 1;
            }
        }
    }

    /// Number of elements.
    #[inline]
    pub fn len(&self) -> usize {
        self.words.iter().map(|w| w.count_ones() as usize).sum()
    }
}

impl<I: Id, const W: usize> FromIterator<I> for Mask<I, W> {
    fn from_iter<S: IntoIterator<Item = I>>(elements: S) -> Self {
        let mut mask = Self::EMPTY;
        elements.into_iter().for_each(|element| mask.insert(element));
        mask
    }
}

impl<I, const W: usize> BitAnd for Mask<I, W> {
    type Output = Self;
    #[inline]
    fn bitand(mut self, other: Self) -> Self {
        for (word, other) in self.words.iter_mut().zip(other.words) {
            *word &= other;
        }
        self
    }
}

impl<I, const W: usize> BitOrAssign for Mask<I, W> {
    #[inline]
    fn bitor_assign(&mut self, other: Self) {
        for (word, other) in self.words.iter_mut().zip(other.words) {
            *word |= other;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mask(bits: &[usize]) -> Mask<usize, 2> {
        let mut mask = Mask::EMPTY;
        for &b in bits {
            mask.insert(b);
        }
        mask
    }

    #[test]
    fn first_from_wraps_round_over_words() {
        let m = mask(&[3, 70]);
        for (from, first) in [(0, 3), (3, 3), (4, 70), (70, 70), (71, 3), (127, 3), (128, 3)] {
            assert_eq!(m.first_from(from), Some(first), "from {from}");
        }
        assert_eq!(Mask::<usize, 2>::EMPTY.first_from(5), None);
    }

    #[test]
    fn fields_are_taken_out() {
        let mut m = mask(&[64, 66, 70]);
        assert_eq!(m.take_field(64, 0b111), 0b101);
        assert_eq!(m, mask(&[70]));
        assert_eq!(m.single(), Some(70));
        assert_eq!(mask(&[1, 99]).single(), None);
        assert_eq!(mask(&[1, 99]).iter().collect::<Vec<_>>(), [1, 99]);
    }
}
