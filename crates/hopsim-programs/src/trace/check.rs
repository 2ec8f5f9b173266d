//! What must hold between the ranks of a trace.
//!
//! One pass keeps counts and digests only: memory is that of the different keys and communicators, not of the records. Only
//! when they disagree, further passes over the ranks concerned find out where.

mod calls;
mod messages;

use crate::error::ProgramError;
use crate::record::Record;
use crate::trace::{Place, RecordRules, Trace};
use calls::Calls;
use messages::MessageTallies;

/// Checks a trace, see [`Trace::check`].
pub fn check(trace: &Trace) -> Result<(), ProgramError> {
    let ranks = u32::try_from(trace.ranks.len()).ok().filter(|&ranks| ranks > 0);
    let ranks = ranks.ok_or_else(|| ProgramError::new("expected from 1 to 4294967295 ranks"))?;
    let mut rules = RecordRules::new(ranks, &trace.communicators)?;
    let mut messages = MessageTallies::default();
    let mut calls = Calls::new(trace.communicators.len());
    for (tape, rank) in trace.ranks.iter().zip(0..) {
        rules.begin_rank(rank);
        let mut place = Place::default();
        while let Some(record) = tape.next(&mut place) {
            rules.check_record(&record, tape.line(place.records - 1))?;
            match &record {
                Record::Send { message, .. } => messages.send(rank, message),
                Record::Receive { message, .. } => messages.receive(rank, message),
                _ => {}
            }
            if let Some(collective) = record.collective() {
                let place = rules.members().place(collective.communicator, rank);
                calls.call(collective, place.unwrap_or(0));
            }
        }
        rules.end_rank()?;
        calls.end(rank);
    }
    messages.verdict(trace)?;
    calls.verdict(trace)
}

/// A number of 64 bits that says little of the number it is made from: the end of a step of `SplitMix64`.
#[inline]
fn mix(number: u64) -> u64 {
    let number = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let number = (number ^ (number >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    number ^ (number >> 31)
}

/// A factor that keeps numbers apart whose sum is mixed.
const APART: u64 = 0x9e37_79b9_7f4a_7c15;
/// Another factor that keeps numbers apart whose sum is mixed.
const FURTHER: u64 = 0xd1b5_4a32_d192_ed03;

#[cfg(test)]
mod tests {
    use crate::formats::mpt;
    use crate::record::{Message, Record};
    use crate::trace::{Tape, Trace};
    use proptest::prelude::*;

    /// What is said of a trace of two ranks with these records.
    fn verdict(first: &[&str], second: &[&str]) -> String {
        let block =
            |rank, records: &[&str]| format!("rank {rank} {}\n{}\n", records.len(), records.join("\n"));
        let head = "mpt 1\nname x\nranks 2\ncomm 0 2 0 1\ncomm 1 2 1 0\n";
        let text = format!("{head}{}{}end\n", block(0, first), block(1, second));
        let trace = mpt::read(text.as_bytes()).unwrap();
        trace.check().map_or_else(|error| error.to_string(), |()| "fine".to_string())
    }

    #[test]
    fn messages_must_pair() {
        let key = "from rank 0 to rank 1 with tag 7 in communicator 0";
        assert_eq!(verdict(&["s 1 7 8 0", "s 1 7 9 0"], &["r 0 7 8 0", "r 0 7 9 0 *"]), "fine");
        assert_eq!(verdict(&["s 1 7 8 0", "s 1 8 9 0"], &["r 0 8 9 0", "r 0 7 8 0"]), "fine");
        let surplus = format!(
            "line 8: rank 0: of the messages {key}, 2 are sent and 1 received; the first that nobody receives is sent here"
        );
        assert_eq!(verdict(&["s 1 7 8 0", "s 1 7 9 0"], &["r 0 7 8 0"]), surplus);
        let surplus = format!(
            "line 8: rank 1: of the messages {key}, 0 are sent and 1 received; the first that nobody sends is received here"
        );
        assert_eq!(verdict(&["s 1 7 8 1"], &["r 0 7 8 0", "r 0 7 8 1"]), surplus.replace("line 8", "line 9"));
        let sizes = format!(
            "line 10: rank 1: message 1 {key} has 8 bytes where it is sent in line 7, and 9 where it is received; \
             expected the same"
        );
        assert_eq!(verdict(&["s 1 7 8 0", "s 1 7 9 0"], &["r 0 7 9 0", "r 0 7 8 0"]), sizes);
    }

    #[test]
    fn members_must_call_the_same() {
        let all = "g allreduce 1 -1 8 8";
        let barrier = "g barrier 1 -1 0 0";
        assert_eq!(
            verdict(&[all, "g barrier 0 -1 0 0", barrier], &[all, barrier, "g barrier 0 -1 0 0"]),
            "fine"
        );
        for (first, second, message) in [
            (
                [all, barrier],
                [all, all],
                "line 11: rank 1: calls allreduce of 8 bytes as call 2 in communicator 1, where rank 0 calls barrier \
                 in line 8; expected the same",
            ),
            (
                [all, barrier],
                [barrier, all],
                "line 10: rank 1: calls barrier as call 1 in communicator 1, where rank 0 calls allreduce of 8 bytes \
                 in line 7; expected the same",
            ),
            (
                [all, "g bcast 1 0 8 0"],
                [all, "g bcast 1 1 8 0"],
                "line 11: rank 1: calls bcast of 8 bytes with root 1 as call 2 in communicator 1, where rank 0 calls \
                 bcast of 8 bytes with root 0 in line 8; expected the same",
            ),
            (
                [all, barrier],
                ["c 5", all],
                "line 8: rank 0: calls barrier as call 2 in communicator 1, where rank 1 calls nothing more; expected \
                 the same",
            ),
            (
                ["c 5", "c 6"],
                ["c 5", all],
                "line 11: rank 1: calls allreduce of 8 bytes as call 1 in communicator 1, where rank 0 calls nothing \
                 more; expected the same",
            ),
        ] {
            assert_eq!(verdict(&first, &second), message);
        }
    }

    #[test]
    fn alltoallv_is_transposed() {
        // Communicator 1 has rank 1 first.
        assert_eq!(verdict(&["g alltoallv 1 -1 1,2 3,2"], &["g alltoallv 1 -1 4,3 4,1"]), "fine");
        assert_eq!(
            verdict(&["g alltoallv 1 -1 1,2 3,2"], &["g alltoallv 1 -1 4,3 4,9"]),
            "line 9: rank 1: receives 9 bytes from rank 0 in alltoallv, call 1 in communicator 1, where rank 0 sends 1 in \
             line 7; expected the same"
        );
    }

    /// A message: source, destination, tag and size.
    type Sent = (u32, u32, u32, u64);

    /// A trace of 3 ranks that send these messages and then receive those.
    fn exchange(sent: &[Sent], received: &[Sent]) -> Trace {
        let tape = |rank: u32| {
            let mut tape = Tape::new(0);
            let message = |peer, tag, bytes| Message { peer, tag, bytes, communicator: 0 };
            for &(_, to, tag, bytes) in sent.iter().filter(|sent| sent.0 == rank) {
                tape.push(&Record::Send { message: message(to, tag, bytes), request: None });
            }
            for &(from, _, tag, bytes) in received.iter().filter(|sent| sent.1 == rank) {
                tape.push(&Record::Receive {
                    message: message(from, tag, bytes),
                    any_source: false,
                    request: None,
                });
            }
            tape
        };
        let ranks = (0..3).map(tape).collect();
        Trace { communicators: vec![[0, 1, 2].into()], ranks, ..Trace::default() }
    }

    proptest! {
        #[test]
        fn a_message_lost_or_changed_is_found(
            sent in proptest::collection::vec((0u32..3, 0u32..3, 0u32..2, 0u64..4), 1..30),
            place in any::<prop::sample::Index>(),
        ) {
            prop_assert_eq!(exchange(&sent, &sent).check(), Ok(()));
            let place = place.index(sent.len());
            let (mut lost, mut changed) = (sent.clone(), sent.clone());
            lost.remove(place);
            changed[place].3 += 1;
            for wrong in [lost, changed] {
                for trace in [exchange(&sent, &wrong), exchange(&wrong, &sent)] {
                    let (from, to, tag, _) = sent[place];
                    let reason = trace.check().unwrap_err().reason;
                    let key = format!("from rank {from} to rank {to} with tag {tag} in communicator 0");
                    prop_assert!(reason.contains(&key), "{}", reason);
                }
            }
        }
    }
}
