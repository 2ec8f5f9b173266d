//! Traces for Paraver that are read, refused, and written and read again.

use super::*;
use crate::formats::mpt;
use crate::host::log::{Activity, Interval};
use crate::record::{Message, Record};
use crate::trace::Tape;
use crate::trace::arbitrary::traces;
use proptest::prelude::*;
use std::fmt::Write as _;

const HEAD: &str = "#Paraver (24/11/2026 at 10:15):1000_ns:2(1,1):1:2(1:1,1:2),1\nc:1:1:2:1:2\n";

fn refusal(text: &str) -> String {
    read(text.as_bytes()).map_or_else(|error| error.to_string(), |_| "fine".to_string())
}

/// The records of a trace as text of the format mpt.
fn as_mpt(trace: &Trace) -> Vec<String> {
    let mut text = Vec::new();
    mpt::write(trace, &mut text).unwrap();
    let text = String::from_utf8(text).unwrap();
    text.lines().filter(|line| line.len() > 1 && line.as_bytes()[1] == b' ').map(str::to_owned).collect()
}

#[test]
fn messages_collectives_and_bursts_are_read() {
    // Rank 0 computes 50 ns, sends 8 bytes, posts a receive, waits for it, reduces; rank 1 the other sides.
    let text = format!(
        "{HEAD}# a comment\n1:1:1:1:1:0:50:1\n1:2:1:2:1:0:20:1\n2:2:1:2:1:20:50000001:2\n\
         2:1:1:1:1:50:50000001:1:42:7\n3:1:1:1:1:50:60:2:1:2:1:20:90:8:3\n2:1:1:1:1:60:50000001:0\n\
         2:1:1:1:1:60:50000001:4\n2:1:1:1:1:65:50000001:0\n2:1:1:1:1:70:50000001:5\n\
         2:2:1:2:1:90:50000001:0\n2:2:1:2:1:95:50000001:3\n3:2:1:2:1:95:96:1:1:1:1:60:150:9:4\n\
         2:2:1:2:1:96:50000001:0\n2:1:1:1:1:150:50000001:0\n\
         2:1:1:1:1:150:50000002:9:50100001:0:50100002:64:50100003:1:50100004:1\n\
         2:2:1:2:1:200:50000002:9\n2:2:1:2:1:200:50100001:64\n2:2:1:2:1:200:50100004:1\n\
         2:1:1:1:1:300:50000002:0\n2:2:1:2:1:300:50000002:0\n1:2:1:2:1:300:340:1\n1:1:1:1:1:300:400:0\n"
    );
    let trace = read(text.as_bytes()).unwrap();
    trace.check().unwrap();
    let expected = [
        "c 50",
        "s 1 3 8 0",
        "j 0 1 4 9 0",
        "c 5",
        "w 0",
        "g reduce 0 0 64 64",
        "c 20",
        "r 0 3 8 0",
        "c 5",
        "i 0 0 4 9 0",
        "c 104",
        "g reduce 0 0 64 0",
        "c 40",
        "w 0",
    ];
    assert_eq!(as_mpt(&trace), expected);
    // The call of a record says its line.
    assert_eq!((0..3).map(|record| trace.ranks[0].line(record)).collect::<Vec<_>>(), [7, 7, 10].map(Some));
}

#[test]
fn times_without_a_unit_are_microseconds() {
    let text = "#Paraver (24/11/26 at 10:15):10:0:1:1(1:1)\n2:1:1:1:1:3:50000003:31\n2:1:1:1:1:4:50000003:0\n\
        2:1:1:1:1:7:50000002:8\n2:1:1:1:1:9:50000002:0\n1:1:1:1:1:1:3:1\n";
    assert_eq!(as_mpt(&read(text.as_bytes()).unwrap()), ["c 2000", "c 3000", "g barrier 0 -1 0 0"]);
}

#[test]
fn a_wait_is_for_what_is_done_while_it_lasts() {
    // Rank 0 posts receives of tags 1, 2 and 3 and begins a send; waits follow.
    let waits = |waits: &str| {
        let text = format!(
            "{HEAD}2:1:1:1:1:0:50000001:4\n2:1:1:1:1:1:50000001:0\n2:1:1:1:1:1:50000001:4\n2:1:1:1:1:2:50000001:0\n\
             2:1:1:1:1:2:50000001:4\n2:1:1:1:1:3:50000001:0\n2:1:1:1:1:3:50000001:3\n2:1:1:1:1:4:50000001:0\n\
             3:2:1:2:1:0:1:1:1:1:1:0:30:8:1\n3:2:1:2:1:1:2:1:1:1:1:1:20:8:2\n3:2:1:2:1:2:3:1:1:1:1:2:30:8:3\n\
             3:1:1:1:1:3:4:2:1:2:1:3:4:8:4\n2:2:1:2:1:0:50000001:1\n2:2:1:2:1:1:50000001:0\n2:2:1:2:1:1:50000001:1\n\
             2:2:1:2:1:2:50000001:0\n2:2:1:2:1:2:50000001:1\n2:2:1:2:1:3:50000001:0\n2:2:1:2:1:3:50000001:2\n\
             2:2:1:2:1:4:50000001:0\n{waits}"
        );
        let trace = read(text.as_bytes()).unwrap();
        let requests =
            |record| if let Record::Wait { requests } = record { Some(requests.to_vec()) } else { None };
        trace.ranks[0].iter().filter_map(requests).collect::<Vec<_>>()
    };
    let call = |kind: u64, value: u64, from: u64, to: u64| {
        format!("2:1:1:1:1:{from}:{kind}:{value}\n2:1:1:1:1:{to}:{kind}:0\n")
    };
    let wait = |value, from, to| call(calls::POINT_TO_POINT, value, from, to);
    // Requests 0, 1 and 2 are the receives, 3 is the send.
    assert_eq!(waits(""), [[0, 1, 2, 3]]);
    assert_eq!(waits(&(wait(5, 15, 20) + &wait(6, 20, 30))), [vec![1], vec![0, 2, 3]]);
    assert_eq!(
        waits(&(wait(5, 15, 20) + &wait(5, 25, 30) + &wait(5, 30, 30))),
        [vec![1], vec![0], vec![2], vec![3]]
    );
    assert_eq!(waits(&wait(5, 5, 6)), [vec![3], vec![0, 1, 2]]);
    assert_eq!(waits(&(wait(5, 5, 6) + &wait(5, 50, 60))), [vec![3], vec![0], vec![1, 2]]);
    assert_eq!(waits(&(wait(60, 25, 30) + &wait(60, 40, 50))), [vec![0, 2], vec![3], vec![1]]);
    assert_eq!(waits(&call(calls::OTHER, 39, 15, 20)), [vec![1], vec![0, 2, 3]]);
    assert_eq!(waits(&call(calls::OTHER, 39, 5, 6)), [[0, 1, 2, 3]]);
}

#[test]
fn what_members_state_of_a_collective_is_put_together() {
    let all = |value: u64, sides: [(u64, u64, bool); 2]| {
        let mut text = HEAD.to_owned();
        for ((sent, received, is_root), task) in sides.into_iter().zip(1..) {
            let root = if is_root { ":50100003:1" } else { "" };
            let _ = write!(
                text,
                "2:{task}:1:{task}:1:5:50000002:{value}:50100001:{sent}:50100002:{received}{root}\n2:{task}:1:{task}:1:9:50000002:0\n"
            );
        }
        read(text.as_bytes()).map_or_else(|error| vec![error.to_string()], |trace| as_mpt(&trace))
    };
    assert_eq!(all(7, [(0, 8, false), (8, 0, true)]), ["g bcast 0 1 0 8", "g bcast 0 1 8 0"]);
    assert_eq!(all(7, [(0, 0, false), (0, 0, true)]), ["g bcast 0 1 0 0", "g bcast 0 1 0 0"]);
    assert_eq!(all(11, [(8, 16, false), (8, 16, false)]), ["g alltoall 0 -1 8 8"; 2]);
    assert_eq!(all(18, [(8, 19, false), (11, 19, false)]), ["g allgather 0 -1 10 10"; 2]);
    assert_eq!(all(14, [(8, 0, false), (8, 16, false)]), ["g gather 0 1 8 0", "g gather 0 1 8 8"]);
    assert_eq!(all(80, [(24, 8, false), (24, 16, false)]), ["g reduce_scatter 0 -1 12 12"; 2]);
    let expected = ["g alltoallv 0 -1 10,20 10,5", "g alltoallv 0 -1 5,10 20,10"];
    assert_eq!(all(12, [(30, 15, false), (15, 30, false)]), expected);
    let nobody = "line 3: nobody, or several, are the root of this bcast; expected an event with type 50100003 and value 1 at one member";
    assert_eq!(all(7, [(0, 0, true), (0, 0, true)]), [nobody]);
}

#[test]
fn wrong_headers_are_refused() {
    let first = format!("line 1: expected {HEADER} as first line, got ");
    for (text, message) in [
        ("", format!("{first}``")),
        ("#Paraver (x):5_ns\n", format!("{first}`#Paraver (x):5_ns`")),
        ("#Paraver (x):5_h:0:1:1(1:1)\n", "line 1: expected ns or us, or nothing, as unit of times, got `h`".into()),
        (
            "#Paraver (x):5_ns:0:2:1(1:1):1(1:1)\n",
            "line 1: expected the number of applications, of which one can be run, a whole number from 1 to 1, got `2`".into(),
        ),
        (
            "#Paraver (x):5_ns:0:1:0()\n",
            "line 1: expected the number of tasks, a whole number from 1 to 4294967295, got `0`".into(),
        ),
        (
            "#Paraver (x):5_ns:0:1:4294967295(1:1)\n",
            "line 1: expected threads and node of each of 4294967295 tasks, `(4294967295 times threads:node)`, got 1".into(),
        ),
    ] {
        assert_eq!(refusal(text), message, "{text}");
    }
}

#[test]
fn wrong_records_are_refused() {
    for (records, message) in [
        ("4:1", "line 3: expected a record 1 state, 2 event, 3 communication or c communicator, got `4`"),
        ("2:1:2:1:1:5:1:1", "line 3: expected the only application, a whole number from 1 to 1, got `2`"),
        ("2:1:1:3:1:5:1:1", "line 3: expected a task, a whole number from 1 to 2, got `3`"),
        ("2:1:1:1:1:5", "line 3: expected a type, got the end of the line"),
        ("2:1:1:1:1:5:1", "line 3: expected a value, got the end of the line"),
        ("1:1:1:1:1:9:8:1", "line 3: the state ends at 8 ns, before it begins; expected a time from 9 ns on"),
        ("1:1:1:1:1:9:10:1:3", "line 3: expected the end of the line, got `3`"),
        ("c:1:2:3:1:2", "line 3: expected the number of members, a whole number from 1 to 2, got `3`"),
        ("2:1:1:1:2:5:50000001:1", "line 3: thread 2 calls MPI; expected calls of thread 1 of a task only"),
        (
            "2:1:1:1:1:5:50000004:65",
            "line 3: call 65 of type 50000004 is one-sided communication, whose messages the file does not hold; expected messages \
             that are sent and received, and collective operations",
        ),
    ] {
        assert_eq!(refusal(&format!("{HEAD}{records}\n")), message, "{records}");
    }
    let unknown = refusal(&format!("{HEAD}2:1:1:1:1:5:50000002:99\n"));
    assert!(
        unknown.starts_with("line 3: expected a collective operation, one of 7 MPI_Bcast, 8 MPI_Barrier, ")
    );
    assert!(unknown.ends_with("; got 99"), "{unknown}");
}

#[test]
fn calls_and_messages_that_do_not_fit_are_refused() {
    let enter = "2:1:1:1:1:5:50000001:1\n";
    for (records, message) in [
        (
            "2:1:1:1:1:6:50000001:2",
            "line 4: a call of MPI begins while that of line 3 goes on; expected its end, an event with its type and value 0",
        ),
        (
            "2:1:1:1:1:6:50000002:0",
            "line 4: a call of type 50000002 ends while that of line 3 goes on; expected the end of type 50000001",
        ),
        (
            "2:1:1:1:1:4:50000001:0",
            "line 4: the event is at 4 ns, before the one that stands above; expected 5 ns or later",
        ),
        ("", "line 3: rank 0: the call never ends; expected an event with type 50000001 and value 0"),
        (
            "2:1:1:1:1:6:50000001:0\n3:1:1:1:1:6:6:2:1:2:1:0:9:8:1",
            "line 5: rank 0: the message is sent at 6 ns, and no call of the task sends then; expected an event with type \
             50000001 that begins such a call at this time, as value 1 for a send",
        ),
        (
            "2:1:1:1:1:6:50000001:0\n3:1:1:1:1:5:6:2:1:2:1:0:9:8:1",
            "line 5: rank 1: the message is to be received at 0 ns, and no call of the task receives then; expected an event \
             with type 50000001 that begins such a call at this time, as value 2 for a receive",
        ),
        (
            "2:1:1:1:1:6:50000001:0:50000002:8:50100004:3\n2:1:1:1:1:6:50000002:0",
            "line 4: rank 0: there is no communicator 3; expected one of a line `c:…`",
        ),
        (
            "2:1:1:1:1:6:50000001:0:50000002:8\n2:1:1:1:1:6:50000002:0",
            "rank 1: begins 0 collective operations of a communicator of which rank 0 begins 1; expected as many",
        ),
        (
            "2:1:1:1:1:6:50000001:0:50000002:8\n2:1:1:1:1:6:50000002:0\n2:2:1:2:1:6:50000002:9\n2:2:1:2:1:6:50000002:0",
            "line 6: rank 1: begins reduce where rank 0 begins barrier, in line 4; expected the same operation",
        ),
    ] {
        assert_eq!(refusal(&format!("{HEAD}{enter}{records}\n")), message, "{records}");
    }
}

/// A span for each record: computations take what they say, other records 10 ns.
fn made_up(trace: &Trace) -> Vec<Vec<Span>> {
    let of_rank = |tape: &Tape| {
        let mut at = 0;
        let span = |record| {
            let time = if let Record::Compute { nanoseconds } = record { nanoseconds } else { 10 };
            let span = Span { begin: at, end: at + time };
            at = span.end;
            span
        };
        tape.iter().map(span).collect()
    };
    trace.ranks.iter().map(of_rank).collect()
}

fn written(trace: &Trace) -> String {
    let mut text = Vec::new();
    write(trace, &made_up(trace), &mut text).unwrap();
    String::from_utf8(text).unwrap()
}

const PROGRAM: &str = "mpt 1\nname paraver\nranks 3\ncomm 0 3 0 1 2\ncomm 1 2 2 0\n\
    rank 0 10\nc 100\ni 0 1 7 8 0\nj 1 1 7 9 0\nc 40\nw 1\nw 0\ng bcast 0 2 0 8\ng allgather 1 -1 5 5\ns 2 1 4 0\nc 7\n\
    rank 1 6\nr 0 7 8 0\nc 30\ns 0 7 9 0\ng bcast 0 2 0 8\nj 0 2 3 6 0\nw 0\n\
    rank 2 6\ng bcast 0 2 8 0\nc 9\ng allgather 1 -1 5 5\nr 0 1 4 0\ni 0 1 3 6 0\nw 0\nend\n";

#[test]
fn a_program_that_is_written_and_read_has_the_same_records() {
    let trace = mpt::read(PROGRAM.as_bytes()).unwrap();
    trace.check().unwrap();
    let again = read(written(&trace).as_bytes()).unwrap();
    assert_eq!(as_mpt(&again), as_mpt(&trace));
    assert_eq!(again.communicators, trace.communicators);
}

#[test]
fn a_line_per_state_event_and_message_is_written_in_the_order_of_times() {
    let text = "mpt 1\nname x\nranks 2\ncomm 0 2 0 1\nrank 0 2\nc 5\ns 1 3 8 0\nrank 1 1\nr 0 3 8 0\nend\n";
    let expected = "#Paraver (01/01/1970 at 00:00):15_ns:2(1,1):1:2(1:1,1:2),1\nc:1:1:2:1:2\n\
        1:2:1:2:1:0:10:3\n1:1:1:1:1:0:5:1\n2:2:1:2:1:0:50000001:2\n1:1:1:1:1:5:15:4\n2:1:1:1:1:5:50000001:1\n\
        3:1:1:1:1:5:15:2:1:2:1:0:10:8:3\n2:2:1:2:1:10:50000001:0\n2:1:1:1:1:15:50000001:0\n";
    let mut lines: Vec<String> =
        written(&mpt::read(text.as_bytes()).unwrap()).lines().map(str::to_owned).collect();
    let mut wanted: Vec<&str> = expected.lines().collect();
    lines[2..4].sort();
    wanted[2..4].sort_unstable();
    assert_eq!(lines, wanted);
    assert!(labels().contains("\n1    Running\n") && labels().contains("\n5    MPI_Wait\n"));
    assert!(
        names(&[4, 9])
            .ends_with("\nLEVEL NODE SIZE 2\nnode 4\nnode 9\n\nLEVEL THREAD SIZE 2\nrank 0\nrank 1\n")
    );
}

#[test]
fn calls_last_until_what_they_wait_for_is_done() {
    let text = "mpt 1\nname x\nranks 1\ncomm 0 1 0\nrank 0 7\nc 5\ni 3 0 1 8 0\nj 4 0 1 8 0\nc 9\nw 4\nw 3\nc 2\nend\n";
    let trace = mpt::read(text.as_bytes()).unwrap();
    let interval = |activity, record, begin, end| Interval { stream: 0, activity, record, begin, end };
    // The send takes 4 cycles of the processor; the receive is waited for until 30 and takes 3; the last computation begins at 35.
    let intervals = vec![vec![
        interval(Activity::Compute, 0, 10, 15),
        interval(Activity::SendOverhead, 1, 15, 19),
        interval(Activity::Compute, 3, 19, 28),
        interval(Activity::WaitReceive, 2, 28, 30),
        interval(Activity::ReceiveOverhead, 2, 30, 33),
        interval(Activity::WaitSend, 1, 33, 34),
        interval(Activity::Compute, 6, 35, 37),
    ]];
    let found = spans(&trace, &intervals, |cycle| 2 * u64::from(cycle));
    let expected = [[20, 30], [30, 38], [38, 38], [38, 56], [56, 66], [66, 70], [70, 74]];
    assert_eq!(found, [expected.map(|[begin, end]| Span { begin, end }).to_vec()]);
}

/// What a trace does besides waiting: without requests, and with computations behind each other as one.
fn without_waits(trace: &Trace) -> Vec<Vec<String>> {
    let of_rank = |tape: &Tape| {
        let mut all: Vec<String> = Vec::new();
        let mut computed = 0;
        for record in tape.iter() {
            match record {
                Record::Compute { nanoseconds } => computed += nanoseconds,
                Record::Wait { .. } => {}
                Record::Send { message, .. } => all.push(format!("{computed} {message:?}")),
                // Messages of two communicators may change places: they are of one afterwards.
                Record::Receive { message: Message { peer, tag, .. }, .. } => {
                    all.push(format!("{computed} receives from {peer} with {tag}"));
                }
                other => all.push(format!("{computed} {:?}", other.collective())),
            }
        }
        all
    };
    trace.ranks.iter().map(of_rank).collect()
}

/// The trace with computations short enough for their sum to be a time.
fn hastened(trace: &Trace) -> Trace {
    let of_rank = |tape: &Tape| {
        let mut made = Tape::new(0);
        tape.iter().for_each(|record| {
            made.push(&match record {
                Record::Compute { nanoseconds } => Record::Compute { nanoseconds: nanoseconds % 1_000_000 },
                record => record,
            });
        });
        made
    };
    Trace { ranks: trace.ranks.iter().map(of_rank).collect(), ..trace.clone() }
}

proptest! {
    #[test]
    fn what_is_written_is_read_or_refused(trace in traces()) {
        // Sends and receives of these traces need not pair, so that calls lose their message.
        let text = written(&hastened(&trace));
        if let Ok(again) = read(text.as_bytes()) {
            let twice = written(&again);
            let third = read(twice.as_bytes()).map_err(|error| TestCaseError::fail(error.to_string()))?;
            prop_assert_eq!(without_waits(&again), without_waits(&third));
        }
    }

    #[test]
    fn a_damaged_file_is_refused_or_read(
        edits in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>(), 0..4u8), 1..6)
    ) {
        let mut text = written(&mpt::read(PROGRAM.as_bytes()).unwrap()).into_bytes();
        for (place, byte, what) in edits {
            let at = place.index(text.len());
            match what {
                0 => text[at] = byte,
                1 => text[at] = b"0123456789:\n(),_c"[usize::from(byte) % 17],
                2 => { text.remove(at); }
                _ => text.truncate(at.max(1)),
            }
            if text.is_empty() { break; }
        }
        if let Ok(trace) = read(text.as_slice()) {
            let _ = trace.check();
        }
    }
}
