//! Tables of small numbers, in a byte each where that is enough: those of paths grow with the square of the network.

use hopsim_memory::filled;

/// A number of a table, or none.
pub trait Cell: Copy + Eq {
    /// No number; the greatest value.
    const NONE: Self;
    /// The greatest number.
    const MOST: u16;

    /// A number that fits.
    fn of(number: u16) -> Self;

    /// The number that follows if so it is to be, 0 after none.
    fn after(self, is_next: bool) -> Self;

    /// The number before if so it is to be, none before 0.
    fn before(self, is_next: bool) -> Self;

    /// The number, the greatest value for none.
    fn value(self) -> u16;

    /// A table of such cells.
    fn table(cells: Vec<Self>) -> Numbers;
}

impl Cell for u8 {
    const NONE: Self = Self::MAX;
    const MOST: u16 = Self::MAX as u16 - 1;

    fn of(number: u16) -> Self {
        number as Self
    }

    #[inline]
    fn after(self, is_next: bool) -> Self {
        self.wrapping_add(Self::from(is_next))
    }

    #[inline]
    fn before(self, is_next: bool) -> Self {
        self.wrapping_sub(Self::from(is_next))
    }

    fn value(self) -> u16 {
        self.into()
    }

    fn table(cells: Vec<Self>) -> Numbers {
        Numbers::Bytes(cells)
    }
}

impl Cell for u16 {
    const NONE: Self = Self::MAX;
    const MOST: u16 = Self::MAX - 1;

    fn of(number: u16) -> Self {
        number
    }

    #[inline]
    fn after(self, is_next: bool) -> Self {
        self.wrapping_add(Self::from(is_next))
    }

    #[inline]
    fn before(self, is_next: bool) -> Self {
        self.wrapping_sub(Self::from(is_next))
    }

    fn value(self) -> u16 {
        self
    }

    fn table(cells: Vec<Self>) -> Numbers {
        Numbers::Words(cells)
    }
}

/// A table of numbers, of which some may be missing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Numbers {
    /// All below 255.
    Bytes(Vec<u8>),
    /// Some larger ones.
    Words(Vec<u16>),
}

impl Numbers {
    /// A table of so many numbers that are all missing, in bytes for now.
    pub fn missing(count: usize) -> Self {
        Self::Bytes(filled(u8::NONE, count))
    }

    /// Puts a number in its place. The first one that does not fit into a byte makes words of all.
    pub fn put(&mut self, place: usize, number: u16) {
        match self {
            Self::Bytes(bytes) if number <= u8::MOST => bytes[place] = number as u8,
            Self::Bytes(bytes) => {
                let mut words = hopsim_memory::table(bytes.len());
                let wide = |&byte: &u8| if byte == u8::NONE { u16::NONE } else { byte.into() };
                words.extend(bytes.iter().map(wide));
                words[place] = number;
                *self = Self::Words(words);
            }
            Self::Words(words) => words[place] = number,
        }
    }

    /// The number in a place, which is not missing.
    #[inline]
    pub fn at(&self, place: usize) -> u16 {
        match self {
            Self::Bytes(bytes) => bytes[place].into(),
            Self::Words(words) => words[place],
        }
    }

    /// The number in a place, `None` if it is missing.
    #[inline]
    pub fn get(&self, place: usize) -> Option<u16> {
        match self {
            Self::Bytes(bytes) => Some(bytes[place]).filter(|&byte| byte != u8::NONE).map(u16::from),
            Self::Words(words) => Some(words[place]).filter(|&word| word != u16::NONE),
        }
    }

    /// The greatest of some numbers one behind the other, 0 if all are missing.
    pub fn greatest(&self, places: std::ops::Range<usize>) -> u16 {
        fn of<C: Cell>(cells: &[C]) -> u16 {
            let value = |&cell: &C| if cell == C::NONE { 0 } else { cell.value() };
            cells.iter().map(value).max().unwrap_or(0)
        }
        match self {
            Self::Bytes(bytes) => of(&bytes[places]),
            Self::Words(words) => of(&words[places]),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Numbers;

    #[test]
    fn bytes_become_words_with_the_first_number_that_does_not_fit() {
        let mut numbers = Numbers::missing(4);
        numbers.put(0, 7);
        numbers.put(1, 254);
        assert!(matches!(numbers, Numbers::Bytes(_)));
        assert_eq!([0, 1, 2].map(|place| numbers.get(place)), [Some(7), Some(254), None]);
        numbers.put(2, 255);
        assert!(matches!(numbers, Numbers::Words(_)));
        numbers.put(0, 65_534);
        assert_eq!([0, 1, 2, 3].map(|place| numbers.get(place)), [Some(65_534), Some(254), Some(255), None]);
        assert_eq!((numbers.at(2), numbers.greatest(1..4), numbers.greatest(3..4)), (255, 255, 0));
    }
}
