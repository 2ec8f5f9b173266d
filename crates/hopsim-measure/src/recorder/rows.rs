//! In which rows packets count, by cycle.

use super::Recorder;
use crate::parts::PARTS;

/// Cycles whose packets count in the same rows. The rows are those of the first job; those of the other jobs follow. None by
/// default.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Rows {
    first: u32,
    length: u32,
    /// The row of the batch in `totals`, behind the last row outside the window.
    pub batch: usize,
    /// The row of the part in `by_part`, behind the last row where there is none.
    pub part: usize,
}

impl Rows {
    /// Whether packets of a cycle count in these rows.
    #[inline]
    pub fn hold(&self, at: u32) -> bool {
        at.wrapping_sub(self.first) < self.length
    }
}

impl Recorder {
    /// The rows in which packets of a cycle count, and the cycles around it with the same rows.
    // Out of line, as they mostly are those of the packet before.
    #[inline(never)]
    pub(super) fn rows_of(&self, at: u32) -> Rows {
        let (start, end) = self.window();
        let (batch, first, end) = match self.batch_of(at) {
            Some(batch) => {
                let (first, end) = self.batch_bounds(batch);
                (batch as usize * self.jobs, first, end)
            }
            None if at < start => (self.totals.len(), 0, start),
            None => (self.totals.len(), end, u32::MAX),
        };
        let length = self.parts.length() as u32;
        let (part, part_first, part_end) = match self.parts.part(at) {
            Some(part) => {
                let first = start + part as u32 * length;
                (part * self.jobs, first, first + length)
            }
            None if at < start => (self.by_part.len(), 0, start),
            None => (self.by_part.len(), start + PARTS * length, u32::MAX),
        };
        let first = first.max(part_first);
        Rows { first, length: end.min(part_end) - first, batch, part }
    }
}
