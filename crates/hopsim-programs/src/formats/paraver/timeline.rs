//! When the calls of a trace took place in a run, from what its hosts have written down.

use super::write::Span;
use crate::host::log::{Activity, Interval};
use crate::record::Record;
use crate::trace::{Tape, Trace};
use rustc_hash::FxHashMap;

/// The span of every record, by rank, of a run with these intervals, which are by rank, in order of stream and cycle. `at` says
/// the time of a cycle \[ns\].
///
/// A call begins when the one before ends. It ends with the last interval of what it completes, a wait with those of the operations
/// that it waits for, a send that does not block with what it takes from the processor, a receive or a collective operation that does not
/// block at once. What the processor still does for messages before a computation begins belongs to the call before that.
pub fn spans(trace: &Trace, intervals: &[Vec<Interval>], at: impl Fn(u32) -> u64) -> Vec<Vec<Span>> {
    let ranks = trace.ranks.iter().zip(intervals);
    let in_cycles = ranks.map(|(tape, intervals)| of_rank(tape, intervals));
    in_cycles
        .map(|spans| spans.into_iter().map(|[begin, end]| Span { begin: at(begin), end: at(end) }).collect())
        .collect()
}

/// Begin and end of every record of a rank \[cycles\].
fn of_rank(tape: &Tape, intervals: &[Interval]) -> Vec<[u32; 2]> {
    let mut by_record: FxHashMap<u32, Vec<&Interval>> = FxHashMap::default();
    for interval in intervals {
        by_record.entry(interval.record).or_default().push(interval);
    }
    let of = |record: u32| by_record.get(&record).map_or(&[][..], Vec::as_slice);
    let last = |record: u32| of(record).iter().map(|interval| interval.end).max().unwrap_or(0);
    let mut now = intervals.iter().map(|interval| interval.begin).min().unwrap_or(0);
    let mut spans: Vec<[u32; 2]> = Vec::new();
    let mut requests: FxHashMap<u32, u32> = FxHashMap::default();
    for (record, number) in tape.iter().zip(0..) {
        let end = match &record {
            Record::Compute { .. } => {
                let begin = of(number).iter().map(|interval| interval.begin).min().unwrap_or(now);
                if let Some(before) = spans.last_mut().filter(|_| begin > now) {
                    before[1] = begin;
                }
                now = now.max(begin);
                last(number)
            }
            Record::Send { request: Some(request), .. } => {
                requests.insert(*request, number);
                let sending = of(number).iter().filter(|it| it.activity == Activity::SendOverhead);
                sending.map(|interval| interval.end).max().unwrap_or(now)
            }
            Record::Receive { request: Some(request), .. } | Record::Begin { request, .. } => {
                requests.insert(*request, number);
                now
            }
            Record::Wait { requests: waited } => {
                let done = waited.iter().filter_map(|request| requests.remove(request)).map(last);
                done.max().unwrap_or(now)
            }
            Record::Send { .. } | Record::Receive { .. } | Record::Collective(_) => last(number),
        };
        spans.push([now, end.max(now)]);
        now = now.max(end);
    }
    spans
}
