//! Counters of links and buffers by interval of the run: the record stream `link_series`.

use crate::engine::kernel::ids::{Id as _, PairId, SlotId};
use crate::engine::kernel::rows::row;
use serde::{Deserialize, Serialize};

/// Sums of one interval.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Row {
    /// Phits that departed, by pair.
    pub phits: Vec<u64>,
    /// Phits times cycles in the buffer, by slot.
    pub occupancy: Vec<u64>,
    /// Cycles in which an output VC had no room for the shortest packet, by pair.
    pub stalls: Vec<u32>,
}

impl Row {
    fn new(places: usize) -> Self {
        Self { phits: vec![0; places], occupancy: vec![0; places], stalls: vec![0; places] }
    }
}

/// Sums of all intervals, from cycle 0 on.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct LinkSeries {
    /// Length of an interval \[cycles\].
    interval: u32,
    /// Slots, and pairs, of all routers.
    places: usize,
    rows: Vec<Row>,
    /// Of a pair without room: the cycle since when.
    since: Vec<u32>,
}

impl LinkSeries {
    /// Nothing yet, for so many slots and pairs.
    pub fn new(interval: u32, places: usize) -> Self {
        Self { interval, places, rows: Vec::new(), since: vec![0; places] }
    }

    /// The row that a cycle is in. Nobody knows how long programs take, so rows are added as they are needed.
    fn row(&mut self, at: u32) -> &mut Row {
        let number = (at / self.interval) as usize;
        if number >= self.rows.len() {
            self.rows.resize_with(number + 1, || Row::new(self.places));
        }
        &mut self.rows[number]
    }

    /// The parts of the cycles `from..to` by the interval they are in: a cycle of it, and how many.
    fn parts(&self, (from, to): (u32, u32)) -> impl Iterator<Item = (u32, u32)> + use<> {
        let (interval, mut at) = (self.interval, from);
        std::iter::from_fn(move || {
            (at < to).then(|| {
                let first = at;
                at = to.min((first / interval + 1).saturating_mul(interval));
                (first, at - first)
            })
        })
    }

    /// A packet of `length` phits departs by a pair at cycle `at`.
    pub fn depart(&mut self, pair: PairId, length: u32, at: u32) {
        self.row(at).phits[pair.index()] += u64::from(length);
    }

    /// A packet of `length` phits was in a slot from one cycle to another.
    pub fn hold(&mut self, slot: SlotId, length: u32, cycles: (u32, u32)) {
        for (first, count) in self.parts(cycles) {
            self.row(first).occupancy[slot.index()] += u64::from(length) * u64::from(count);
        }
    }

    /// Of the pairs from `first` on those that have changed have room from cycle `now` on or have none any more.
    pub fn change(&mut self, first: usize, (mut changed, open): (u64, u64), now: u32) {
        while changed != 0 {
            let bit = changed.trailing_zeros() as usize;
            changed &= changed - 1;
            if open >> bit & 1 == 0 {
                self.since[first + bit] = now;
            } else {
                self.stall(first + bit, now);
            }
        }
    }

    /// A pair had no room up to cycle `now`.
    fn stall(&mut self, pair: usize, now: u32) {
        for (first, count) in self.parts((self.since[pair], now)) {
            self.row(first).stalls[pair] += count;
        }
    }

    /// The run ends with cycle `end`, and so does what pairs without room wait for: all intervals of it have a row.
    pub fn close(&mut self, end: u32, open: &[u64]) {
        for pair in 0..self.places {
            if open[pair / 64] >> (pair % 64) & 1 == 0 {
                self.stall(pair, end);
                self.since[pair] = end;
            }
        }
        self.rows.resize_with(end.div_ceil(self.interval) as usize, || Row::new(self.places));
    }

    /// Every interval with its first cycle.
    pub fn rows(&self) -> impl Iterator<Item = (u32, &Row)> {
        (0..).step_by(self.interval as usize).zip(&self.rows)
    }

    /// Appends the counts of the places behind these.
    pub fn append(&mut self, other: Self) {
        let Self { interval: _, places, mut rows, since } = other;
        let count = self.rows.len().max(rows.len());
        self.rows.resize_with(count, || Row::new(self.places));
        rows.resize_with(count, || Row::new(places));
        for (row, Row { phits, occupancy, stalls }) in self.rows.iter_mut().zip(rows) {
            row.phits.extend(phits);
            row.occupancy.extend(occupancy);
            row.stalls.extend(stalls);
        }
        self.places += places;
        self.since.extend(since);
    }

    /// Those of some places.
    #[must_use]
    pub fn part(&self, first: usize, count: usize) -> Self {
        let Self { interval, places: _, rows, since } = self;
        let part = |Row { phits, occupancy, stalls }: &Row| Row {
            phits: row(phits, first, count),
            occupancy: row(occupancy, first, count),
            stalls: row(stalls, first, count),
        };
        Self {
            interval: *interval,
            places: count,
            rows: rows.iter().map(part).collect(),
            since: row(since, first, count),
        }
    }
}
