//! One rank alone, to which messages come as the test says.

use crate::numbers::seeded;
use hopsim_programs::graph500::{Parameters, Search};
use hopsim_programs::host::rules::Rules;
use hopsim_programs::host::{Host, Letter, Purpose};
use hopsim_programs::units::Fraction;
use std::sync::Arc;

/// A search by two ranks: in level 0 the root sends 10 messages of one query, which take 10 cycles each.
fn search(max_levels: u32) -> Arc<Search> {
    let parameters = Parameters {
        coalescing: 1,
        root_degree: Some(20),
        max_levels,
        ..Parameters::new(2, 10, Fraction::new(10, 1))
    };
    Arc::new(Search::new(parameters, seeded(1)).unwrap())
}

/// A message to this rank. Level 0 has kinds 0, a query, 1, a signal, and 3, the release; kinds of level 1 are 4 more.
fn letter(to: u32, kind: u32, tag: u32) -> Letter {
    let bytes = if kind.is_multiple_of(4) { 16 } else { 0 };
    let purpose = Purpose::Eager;
    Letter { source: 1 - to, destination: to, number: 0, purpose, tag, communicator: kind, bytes, joined: 0 }
}

/// Runs a rank up to cycle 100 and delivers these messages: when, kind, tag. A message leaves the node a cycle after it has joined the queue.
/// Returns kinds of the messages that it sends, and when they join the queue.
fn sends(search: &Arc<Search>, rank: u32, deliveries: &[(u32, u32, u32)]) -> Vec<(u32, u32)> {
    let mut host = Host::of_search(rank, search, &Arc::new(Rules::default()));
    host.begin(0);
    let mut sent = Vec::new();
    for now in 0..100 {
        for &(_, kind, tag) in deliveries.iter().filter(|delivery| delivery.0 == now) {
            host.deliver(now, &letter(rank, kind, tag), now);
        }
        host.run(now);
        while let Some(outgoing) = host.queue().pop_front() {
            sent.push((outgoing.letter.communicator, outgoing.queued));
            host.will_leave(&outgoing, now + 1);
        }
    }
    sent
}

#[test]
fn a_query_that_comes_while_the_stream_is_busy_goes_before_the_next_message() {
    let search = search(1);
    let root = search.volume().root;
    let sends = |deliveries: &[_]| sends(&search, root, deliveries);
    // Left alone it makes a message in 10 cycles, and begins the next one when it has left.
    assert_eq!(sends(&[])[..3], [(0, 10), (0, 21), (0, 32)]);
    // One query comes while the first message leaves, and is computed until 20. Another one comes meanwhile, at 15: it is
    // computed until 30, though the node has been free for the next message since 11.
    assert_eq!(sends(&[(10, 0, 0), (15, 0, 0)])[..3], [(0, 10), (0, 40), (0, 51)]);
    // What comes while a message is made waits until it is.
    assert_eq!(sends(&[(5, 0, 0)])[..3], [(0, 10), (0, 30), (0, 41)]);
}

#[test]
fn a_rank_reports_when_all_that_it_was_told_of_is_computed_in_whatever_order_it_comes() {
    let search = search(1);
    let other = 1 - search.volume().root;
    let sends = |deliveries: &[_]| sends(&search, other, deliveries);
    // Two messages and the signal that says so, at cycles 20 and 40 and before, between and behind: report at 50.
    for signal in [10, 30, 45] {
        assert_eq!(sends(&[(20, 0, 0), (40, 0, 0), (signal, 1, 2)]), [(2, 50)]);
    }
    // A signal behind the last computation is what it waits for.
    assert_eq!(sends(&[(20, 0, 0), (40, 0, 0), (60, 1, 2)]), [(2, 60)]);
    // Level 0 brings nothing to most ranks.
    assert_eq!(sends(&[(30, 1, 0)]), [(2, 30)]);
}

#[test]
fn a_rank_of_another_speed_takes_its_own_time_for_what_it_sends_and_receives() {
    let parameters = *search(1).parameters();
    let search = Search::new(parameters, seeded(1)).unwrap();
    let root = search.volume().root;
    let search = search.with_query_time([1 - root], Fraction::new(25, 1)).unwrap();
    assert_eq!(
        [search.query_time(root), search.query_time(1 - root)],
        [10, 25].map(|time| Fraction::new(time, 1))
    );
    let search = Arc::new(search);
    assert_eq!(sends(&search, root, &[])[..3], [(0, 10), (0, 21), (0, 32)]);
    assert_eq!(sends(&search, 1 - root, &[(20, 0, 0), (21, 1, 1)]), [(2, 45)]);
    let search = Search::new(parameters, seeded(1)).unwrap().with_query_time([root], None).unwrap();
    assert_eq!(sends(&Arc::new(search), root, &[])[..3], [(0, 0), (0, 1), (0, 2)]);
}

#[test]
fn what_has_come_for_the_next_level_is_computed_when_that_begins() {
    let search = search(2);
    let other = 1 - search.volume().root;
    // A query of level 1 comes at 20, the release at 30: it is computed until 40, and one that comes at 35 until 50. Then the
    // first message is made.
    let sent = sends(&search, other, &[(10, 1, 0), (20, 4, 0), (30, 3, 0), (35, 4, 0)]);
    assert_eq!(sent[..3], [(2, 10), (4, 60), (4, 71)]);
}
