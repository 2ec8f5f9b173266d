//! Fixed-size bit sets: slots, pairs or ports of one router, `W` words of 64, `W` a power of two.
//!
//! Word indices are masked with W − 1, which the compiler turns into no check at all.

use std::ops::{BitAnd, BitOrAssign};

/// A set of small integers below 64·W.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mask<const W: usize>([u64; W]);

impl<const W: usize> Mask<W> {
    /// The empty set.
    pub const EMPTY: Self = Self([0; W]);

    /// All integers below 64·W.
    pub const ALL: Self = Self([u64::MAX; W]);

    /// The set of the low bits of `bits`.
    #[inline]
    pub fn from_bits(bits: u64) -> Self {
        let mut mask = Self::EMPTY;
        mask.0[0] = bits;
        mask
    }

    /// Adds `bit`.
    #[inline]
    pub fn insert(&mut self, bit: usize) {
        self.0[(bit / 64) & (W - 1)] |= 1 << (bit % 64);
    }

    /// Takes `bit` out.
    #[inline]
    pub fn remove(&mut self, bit: usize) {
        self.0[(bit / 64) & (W - 1)] &= !(1 << (bit % 64));
    }

    /// Whether `bit` is in the set.
    #[inline]
    pub fn contains(&self, bit: usize) -> bool {
        self.0[(bit / 64) & (W - 1)] >> (bit % 64) & 1 == 1
    }

    /// Whether the set is empty.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.0.iter().all(|&word| word == 0)
    }

    /// The only element, `None` if there are none or several.
    #[inline]
    pub fn single(&self) -> Option<usize> {
        let mut found = None;
        for (index, &word) in self.0.iter().enumerate() {
            if word != 0 {
                if found.is_some() || word & (word - 1) != 0 {
                    return None;
                }
                found = Some(index * 64 + word.trailing_zeros() as usize);
            }
        }
        found
    }

    /// The smallest element.
    #[inline]
    pub fn first(&self) -> Option<usize> {
        self.0.iter().position(|&w| w != 0).map(|i| i * 64 + self.0[i].trailing_zeros() as usize)
    }

    /// The smallest element at or after `from`, else the smallest of all.
    #[inline]
    pub fn first_from(&self, from: usize) -> Option<usize> {
        let start = from / 64;
        if start < W {
            let high = self.0[start] & (u64::MAX << (from % 64));
            if high != 0 {
                return Some(start * 64 + high.trailing_zeros() as usize);
            }
            for index in start + 1..W {
                if self.0[index] != 0 {
                    return Some(index * 64 + self.0[index].trailing_zeros() as usize);
                }
            }
        }
        self.first()
    }

    /// Takes out and returns the bits of `field`, a mask of the word that holds `bit`.
    #[inline]
    pub fn take_field(&mut self, bit: usize, field: u64) -> u64 {
        let word = &mut self.0[(bit / 64) & (W - 1)];
        let taken = *word & field;
        *word &= !field;
        taken
    }

    /// The elements that are not in `other`.
    #[inline]
    pub fn without(mut self, other: Self) -> Self {
        self.0.iter_mut().zip(other.0).for_each(|(word, other)| *word &= !other);
        self
    }

    /// Adds the bits of `field`, a mask of the word that holds `bit`.
    #[inline]
    pub fn insert_field(&mut self, bit: usize, field: u64) {
        self.0[(bit / 64) & (W - 1)] |= field;
    }

    /// The set with every element moved up by `count` < 64 inside its word.
    #[inline]
    pub fn shifted(mut self, count: u32) -> Self {
        self.0.iter_mut().for_each(|word| *word <<= count);
        self
    }

    /// The elements, ascending.
    #[inline]
    pub fn iter(self) -> impl Iterator<Item = usize> {
        self.0.into_iter().enumerate().flat_map(|(index, mut word)| {
            std::iter::from_fn(move || {
                (word != 0).then(|| {
                    let bit = word.trailing_zeros() as usize;
                    word &= word - 1;
                    index * 64 + bit
                })
            })
        })
    }

    /// Calls `visit` for every element, ascending; the plain loop that hot code wants.
    #[inline]
    pub fn for_each(self, mut visit: impl FnMut(usize)) {
        for (index, mut word) in self.0.into_iter().enumerate() {
            while word != 0 {
                visit(index * 64 + word.trailing_zeros() as usize);
                word &= word - 1;
            }
        }
    }

    /// Number of elements.
    #[inline]
    pub fn len(&self) -> usize {
        self.0.iter().map(|w| w.count_ones() as usize).sum()
    }
}

impl<const W: usize> FromIterator<usize> for Mask<W> {
    fn from_iter<I: IntoIterator<Item = usize>>(bits: I) -> Self {
        let mut mask = Self::EMPTY;
        bits.into_iter().for_each(|bit| mask.insert(bit));
        mask
    }
}

impl<const W: usize> BitAnd for Mask<W> {
    type Output = Self;
    #[inline]
    fn bitand(mut self, other: Self) -> Self {
        for (word, other) in self.0.iter_mut().zip(other.0) {
            *word &= other;
        }
        self
    }
}

impl<const W: usize> BitOrAssign for Mask<W> {
    #[inline]
    fn bitor_assign(&mut self, other: Self) {
        for (word, other) in self.0.iter_mut().zip(other.0) {
            *word |= other;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mask(bits: &[usize]) -> Mask<2> {
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
        assert_eq!(Mask::<2>::EMPTY.first_from(5), None);
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
