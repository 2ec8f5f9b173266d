//! Collectives that do not block.

use crate::run::{finish, network};
use hopsim_programs::collectives::Kind;
use hopsim_programs::host::rules::Rules;
use hopsim_programs::record::{Bytes, Collective, Record};
use hopsim_programs::trace::{Tape, Trace};

fn allreduce(bytes: u64) -> Collective {
    Collective { kind: Kind::Allreduce, communicator: 0, root: None, bytes: Bytes::Same(bytes) }
}

fn begin(request: u32, bytes: u64) -> Record {
    Record::Begin { collective: Box::new(allreduce(bytes)), request }
}

fn wait(requests: &[u32]) -> Record {
    Record::Wait { requests: requests.iter().copied().collect() }
}

/// So many ranks that all call this.
fn all(ranks: u32, records: &[Record]) -> Trace {
    let mut tape = Tape::default();
    for record in records {
        tape.push(record);
    }
    Trace { ranks: vec![tape; ranks as usize], communicators: vec![(0..ranks).collect()], ..Trace::default() }
}

fn time(ranks: u32, records: &[Record], rules: Rules) -> u32 {
    let times = finish(all(ranks, records), rules, network(500, 1));
    assert!(times.iter().all(|&time| time == times[0]), "{times:?}");
    times[0]
}

#[test]
fn records_come_out_of_a_tape_as_they_went_in() {
    let records = [begin(7, 300), Record::Collective(allreduce(8)), begin(0, 0), wait(&[7, 0])];
    assert_eq!(all(1, &records).ranks[0].iter().collect::<Vec<_>>(), records);
}

#[test]
fn the_processor_computes_beside_them() {
    // 8 B among four ranks: two exchanges of 502 cycles.
    let compute = |nanoseconds| Record::Compute { nanoseconds };
    for (computation, expected) in [(100, 1004), (1004, 1004), (3000, 3000)] {
        let records = [begin(0, 8), compute(computation), wait(&[0])];
        assert_eq!(time(4, &records, Rules::default()), expected);
    }
    // What blocks comes after it, if it is waited for first.
    let records = [begin(0, 8), wait(&[0]), compute(100)];
    assert_eq!(time(4, &records, Rules::default()), 1104);
}

#[test]
fn several_go_on_beside_each_other_and_beside_one_that_blocks() {
    // All send their 2 phits one after the other, in the order of the calls, in each of two exchanges; the last ones are
    // 4 cycles later.
    let records = [begin(0, 8), begin(1, 8), Record::Collective(allreduce(8)), wait(&[1, 0])];
    assert_eq!(time(4, &records, Rules::default()), 2 * 502 + 4);
}

#[test]
fn overheads_of_their_messages_are_on_a_stream_of_their_own() {
    // Two ranks exchange 2 phits: 200 to send and 300 to receive, while 900 cycles of computation go on; then 10 more.
    let rules = Rules { send_overhead: 200, receive_overhead: 300, ..Rules::default() };
    let compute = |nanoseconds| Record::Compute { nanoseconds };
    let records = [begin(0, 8), compute(900), wait(&[0]), compute(10)];
    assert_eq!(time(2, &records, rules.clone()), 200 + 502 + 300 + 10);
    let records = [begin(0, 8), compute(1900), wait(&[0]), compute(10)];
    assert_eq!(time(2, &records, rules), 1910);
}

#[test]
fn a_rank_alone_does_not_wait() {
    assert_eq!(time(1, &[begin(0, 8), wait(&[0])], Rules::default()), 0);
}
