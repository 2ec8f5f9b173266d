//! Forwarding tables: the output of every switch for every destination, counted from the first port of the switch.

use std::ops::Range;

/// An entry of a forwarding table: an output.
pub trait Entry: Copy + Send + Sync + Into<u32> + 'static {
    /// The outputs that an entry can name: those below this number.
    const OUTPUTS: u32;

    /// The entry of an output below [`Self::OUTPUTS`].
    fn new(output: u32) -> Self;
}

impl Entry for u8 {
    const OUTPUTS: u32 = 1 << 8;

    fn new(output: u32) -> Self {
        output as Self
    }
}

impl Entry for u16 {
    const OUTPUTS: u32 = 1 << 16;

    fn new(output: u32) -> Self {
        output as Self
    }
}

/// The forwarding tables of all switches, by switch · hosts + destination.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Tables {
    /// Entries of 8 bits, where no switch has more than 256 ports.
    Narrow(Vec<u8>),
    /// Entries of 16 bits, where some switch has more than 256 ports.
    Wide(Vec<u16>),
}

impl Tables {
    /// The output of an entry.
    #[inline]
    pub fn output(&self, entry: usize) -> u32 {
        match self {
            Self::Narrow(entries) => entries[entry].into(),
            Self::Wide(entries) => entries[entry].into(),
        }
    }

    /// What the tables take \[bytes\].
    pub fn bytes(&self) -> usize {
        match self {
            Self::Narrow(entries) => size_of_val(&entries[..]),
            Self::Wide(entries) => size_of_val(&entries[..]),
        }
    }

    /// Gives outputs another number, those of some entries.
    pub fn renumber(&mut self, entries: Range<usize>, number: impl Fn(u32) -> u32) {
        match self {
            Self::Narrow(all) => {
                all[entries].iter_mut().for_each(|entry| *entry = Entry::new(number((*entry).into())));
            }
            Self::Wide(all) => {
                all[entries].iter_mut().for_each(|entry| *entry = Entry::new(number((*entry).into())));
            }
        }
    }

    /// All outputs, in their order.
    pub fn outputs(&self) -> impl Iterator<Item = u32> {
        let entries = match self {
            Self::Narrow(entries) => entries.len(),
            Self::Wide(entries) => entries.len(),
        };
        (0..entries).map(|entry| self.output(entry))
    }
}
