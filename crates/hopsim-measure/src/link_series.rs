//! Counters of links and buffers by interval of the run: the record stream `link_series`.

use hopsim_cycles::kernel::ids::{Id as _, PairId, SlotId};
use hopsim_cycles::kernel::rows::row;
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// Sums of one interval.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct LinkSums {
    /// Phits that departed, by pair.
    pub phits: Vec<u64>,
    /// Phits times cycles in the buffer, by slot.
    pub occupancy: Vec<u64>,
    /// Cycles in which an output VC had no room for the shortest packet, by pair.
    pub stalls: Vec<u32>,
}

impl LinkSums {
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
    rows: Vec<LinkSums>,
    /// The cycle since when a pair without room has none, by pair.
    since: Vec<u32>,
    /// The interval in which a packet departed last: most of what is counted is in it too.
    #[serde(skip)]
    present: Present,
}

/// An interval that has a row; none by default.
#[derive(Clone, Copy, Debug, Default)]
struct Present {
    first: u32,
    length: u32,
    number: usize,
}

impl LinkSeries {
    /// An empty series for so many slots and pairs.
    pub fn new(interval: u32, places: usize) -> Self {
        Self { interval, places, rows: Vec::new(), since: vec![0; places], present: Present::default() }
    }

    /// The row that a cycle is in.
    #[inline]
    fn row(&mut self, at: u32) -> &mut LinkSums {
        if at.wrapping_sub(self.present.first) >= self.present.length {
            self.turn_to(at);
        }
        &mut self.rows[self.present.number]
    }

    #[inline(never)]
    fn turn_to(&mut self, at: u32) {
        let number = self.number(at);
        self.present = Present { first: number as u32 * self.interval, length: self.interval, number };
    }

    /// The number of the row that a cycle is in. Nobody knows how long programs take, so rows are added as they are needed.
    fn number(&mut self, at: u32) -> usize {
        let number = (at / self.interval) as usize;
        if number >= self.rows.len() {
            self.rows.resize_with(number + 1, || LinkSums::new(self.places));
        }
        number
    }

    /// Adds to the rows of some cycles, to each of them for as many cycles as are in it.
    #[inline]
    fn spread(&mut self, cycles: Range<u32>, add: impl Fn(&mut LinkSums, u32)) {
        let (Range { start: from, end: to }, Present { first, length, number }) = (cycles, self.present);
        if from.wrapping_sub(first) < length && to.wrapping_sub(first) <= length {
            add(&mut self.rows[number], to.saturating_sub(from));
        } else if from < to {
            self.spread_wide(from..to, add);
        }
    }

    #[inline(never)]
    fn spread_wide(&mut self, cycles: Range<u32>, add: impl Fn(&mut LinkSums, u32)) {
        let Range { start: from, end: to } = cycles;
        let last = self.number(to - 1);
        let mut at = from;
        for number in (from / self.interval) as usize..=last {
            let end = to.min((number as u32 + 1).saturating_mul(self.interval));
            add(&mut self.rows[number], end - at);
            at = end;
        }
    }

    /// A packet of `length` phits departs by a pair at cycle `at`.
    #[inline]
    pub fn depart(&mut self, pair: PairId, length: u32, at: u32) {
        self.row(at).phits[pair.index()] += u64::from(length);
    }

    /// A packet of `length` phits was in a slot for some cycles.
    #[inline]
    pub fn hold(&mut self, slot: SlotId, length: u32, cycles: Range<u32>) {
        self.spread(cycles, |row, count| {
            row.occupancy[slot.index()] += u64::from(length) * u64::from(count);
        });
    }

    /// Of the pairs from `first` on those that have changed have room from cycle `now` on or have none any more.
    pub fn change(&mut self, first: usize, mut changed: u64, open: u64, now: u32) {
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
        self.spread(self.since[pair]..now, |row, count| row.stalls[pair] += count);
    }

    /// The run ends with cycle `end`, and so does what pairs without room wait for: all intervals of it have a row.
    pub fn close(&mut self, end: u32, open: &[u64]) {
        for pair in 0..self.places {
            // What has no room from the first cycle on is no output VC that leads anywhere.
            if open[pair / 64] >> (pair % 64) & 1 == 0 && self.since[pair] > 0 {
                self.stall(pair, end);
                self.since[pair] = end;
            }
        }
        self.rows.resize_with(end.div_ceil(self.interval) as usize, || LinkSums::new(self.places));
    }

    /// Every interval with its first cycle.
    pub fn rows(&self) -> impl Iterator<Item = (u32, &LinkSums)> {
        (0..).step_by(self.interval as usize).zip(&self.rows)
    }

    /// Appends the counts of the places behind these.
    pub fn append(&mut self, other: Self) {
        let Self { interval: _, places, mut rows, since, present: _ } = other;
        let count = self.rows.len().max(rows.len());
        self.rows.resize_with(count, || LinkSums::new(self.places));
        rows.resize_with(count, || LinkSums::new(places));
        for (row, LinkSums { phits, occupancy, stalls }) in self.rows.iter_mut().zip(rows) {
            row.phits.extend(phits);
            row.occupancy.extend(occupancy);
            row.stalls.extend(stalls);
        }
        self.places += places;
        self.since.extend(since);
    }

    /// The sums of `count` places from `first` on.
    #[must_use]
    pub fn part(&self, first: usize, count: usize) -> Self {
        let Self { interval, places: _, rows, since, present: _ } = self;
        let part = |LinkSums { phits, occupancy, stalls }: &LinkSums| LinkSums {
            phits: row(phits, first, count),
            occupancy: row(occupancy, first, count),
            stalls: row(stalls, first, count),
        };
        Self {
            interval: *interval,
            places: count,
            rows: rows.iter().map(part).collect(),
            since: row(since, first, count),
            present: Present::default(),
        }
    }
}
