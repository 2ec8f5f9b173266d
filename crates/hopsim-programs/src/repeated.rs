//! A program again and again, as a loop around all of it would run it. Between two runs all ranks meet in a barrier: without one
//! a rank that only sends would never wait for the others.

use crate::collectives::Kind;
use crate::record::{Bytes, Collective, Rank, Record, Records, Script};
use std::sync::Arc;

/// A program that is run several times, one after the other.
pub struct Repeated {
    script: Arc<dyn Script>,
    /// How often the program is run; none: without end.
    times: Option<u32>,
    /// Records of a rank in one run.
    lengths: Vec<u64>,
}

impl Repeated {
    /// A program so many times; without end if `times` is none.
    pub fn new(script: &Arc<dyn Script>, times: Option<u32>) -> Self {
        let length = |rank| Arc::clone(script).records(rank).left();
        Self { script: Arc::clone(script), times, lengths: (0..script.ranks()).map(length).collect() }
    }
}

impl Script for Repeated {
    fn communicators(&self) -> &[Arc<[Rank]>] {
        self.script.communicators()
    }

    fn records(self: Arc<Self>, rank: Rank) -> Box<dyn Records> {
        let present = Arc::clone(&self.script).records(rank);
        let left = self.times.map(|times| times.saturating_sub(1));
        Box::new(Again { whole: self, rank, present, left })
    }

    fn line(&self, rank: Rank, record: u64) -> Option<u64> {
        // One more is the barrier, which is in no line.
        let length = self.lengths[rank as usize];
        let record = record % (length + 1);
        if record < length { self.script.line(rank, record) } else { None }
    }
}

/// The records of a rank.
struct Again {
    whole: Arc<Repeated>,
    rank: Rank,
    present: Box<dyn Records>,
    /// Runs after the present one; none: without end.
    left: Option<u32>,
}

impl Records for Again {
    fn next(&mut self) -> Option<Record> {
        if let Some(record) = self.present.next() {
            return Some(record);
        }
        if self.left == Some(0) {
            return None;
        }
        self.left = self.left.map(|left| left - 1);
        self.present = Arc::clone(&self.whole.script).records(self.rank);
        let all = Collective { kind: Kind::Barrier, communicator: 0, root: None, bytes: Bytes::Same(0) };
        Some(Record::Collective(all))
    }

    fn left(&self) -> u64 {
        let whole = self.whole.lengths[self.rank as usize];
        self.left.map_or(u64::MAX, |left| self.present.left() + u64::from(left) * (whole + 1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::mpt;

    fn script(text: &str) -> Arc<dyn Script> {
        Arc::new(mpt::read(text.as_bytes()).unwrap())
    }

    const PAIR: &str =
        "mpt 1\nname x\nranks 2\ncomm 0 2 0 1\nrank 0 2\nc 5\ns 1 7 8 0\nrank 1 1\nr 0 7 8 0\nend\n";

    #[test]
    fn every_record_comes_as_often_as_the_program_is_run_with_barriers_between() {
        let once = script(PAIR);
        let own = |script: Arc<dyn Script>, rank, most| {
            let mut records = script.records(rank);
            std::iter::from_fn(|| records.next()).take(most).collect::<Vec<_>>()
        };
        let single = own(Arc::clone(&once), 0, 9);
        let all = Collective { kind: Kind::Barrier, communicator: 0, root: None, bytes: Bytes::Same(0) };
        let barrier = [Record::Collective(all)];
        let thrice: Arc<dyn Script> = Arc::new(Repeated::new(&once, Some(3)));
        assert_eq!(
            own(Arc::clone(&thrice), 0, 99),
            [&single[..], &barrier, &single, &barrier, &single].concat()
        );
        assert_eq!(Arc::clone(&thrice).records(0).left(), 8);
        assert_eq!((thrice.line(0, 2), thrice.line(0, 4)), (None, once.line(0, 1)));
        let forever: Arc<dyn Script> = Arc::new(Repeated::new(&once, None));
        assert_eq!(own(forever, 1, 100).len(), 100);
    }
}
