//! Forwarding tables: the output of every switch for every destination, counted from the first port of the switch.

/// An entry: an output.
pub trait Entry: Copy + Send + Sync + Into<u32> + 'static {
    /// Outputs that it can name: those below.
    const OUTPUTS: u32;

    /// That of an output below [`Self::OUTPUTS`].
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

/// Those of all switches, by switch · hosts + destination.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Tables {
    /// Where no switch has more than 256 ports.
    Narrow(Vec<u8>),
    /// Elsewhere.
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

    /// What they take \[bytes\].
    pub fn bytes(&self) -> usize {
        match self {
            Self::Narrow(entries) => size_of_val(&entries[..]),
            Self::Wide(entries) => size_of_val(&entries[..]),
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
