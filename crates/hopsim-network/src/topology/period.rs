//! When links are out of order, and when that is known.

/// A part of a run in which links are out of order, with the moments from which on their routers know, and tables lead over others. Moments
/// are cycles, or the ticks of a fabric.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Period {
    /// First moment in which they are out of order.
    pub at: u64,
    /// First moment in which they are in order again; `None`: never.
    pub until: Option<u64>,
    /// Time from the failure until the routers at the ends of the links know; what is out of order from the beginning they know.
    pub detection: u64,
    /// Time from failure or repair until the tables say so; those of the beginning do.
    pub delay: u64,
}

impl Period {
    /// Whether the links are out of order.
    pub fn is_on(&self, moment: u64) -> bool {
        moment >= self.at && self.until.is_none_or(|until| moment < until)
    }

    /// Whether the routers at the ends of the links know that these are out of order.
    pub fn is_detected(&self, moment: u64) -> bool {
        self.is_on(moment) && (self.at == 0 || moment >= self.at + self.detection)
    }

    /// Whether the tables lead over other links.
    pub fn is_in_tables(&self, moment: u64) -> bool {
        let has_begun = self.at == 0 || moment >= self.at + self.delay;
        has_begun && self.until.is_none_or(|until| moment < until + self.delay)
    }

    /// The moments in which any of this changes.
    pub fn changes(&self) -> impl Iterator<Item = u64> {
        let begins = [0, self.detection, self.delay].map(|after| self.at + after);
        let ends = self.until.map(|until| [until, until + self.delay]);
        begins.into_iter().chain(ends.into_iter().flatten())
    }
}
