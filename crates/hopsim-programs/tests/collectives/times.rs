//! Times on the ideal network, and what is sent, against an independent model.

use crate::case::Case;
use hopsim_programs::collectives::{Algorithm, Kind, Step};
use std::collections::{BTreeMap, VecDeque};

/// Rows: kind, algorithm, members, root or -1, bytes; then time of the last and the first member that is done, sum of their
/// times \[cycles\], messages and their bytes.
const ROWS: &str = include_str!("../data/collectives.csv");

/// Cycles from the beginning of a message to its first phit at the other node.
const LATENCY: u64 = 500;
/// Bytes.
const PHIT: u64 = 4;

/// A member: the time of its step, and when its wire is free.
#[derive(Clone, Default)]
struct Member {
    steps: VecDeque<Step>,
    /// The step has sent its message.
    sent: bool,
    now: u64,
    wire: u64,
}

/// When all members are done: a message takes the wire for a cycle per phit, and the send is done at once.
fn finish(case: &Case) -> Vec<u64> {
    let steps = case.steps().into_iter();
    let mut members: Vec<Member> =
        steps.map(|steps| Member { steps: steps.into(), ..Member::default() }).collect();
    let mut under_way: BTreeMap<(u32, u32), VecDeque<u64>> = BTreeMap::new();
    let mut moved = true;
    while std::mem::take(&mut moved) {
        for (place, member) in (0..).zip(&mut members) {
            while let Some(&step) = member.steps.front() {
                if let (Some(part), false) = (step.send, member.sent) {
                    let begin = member.now.max(member.wire);
                    member.wire = begin + part.bytes.div_ceil(PHIT).max(1);
                    under_way.entry((place, part.member)).or_default().push_back(member.wire + LATENCY);
                }
                member.sent = true;
                if let Some(part) = step.receive {
                    let queue = under_way.entry((part.member, place)).or_default();
                    let Some(there) = queue.pop_front() else { break };
                    member.now = member.now.max(there);
                }
                member.steps.pop_front();
                (member.sent, moved) = (false, true);
            }
        }
    }
    assert!(members.iter().all(|member| member.steps.is_empty()), "{case:?}: members that wait for ever");
    members.into_iter().map(|member| member.now).collect()
}

/// A row of the table: the case, and what the model gives.
fn row(line: &str) -> (Case, Vec<u64>) {
    let fields: Vec<&str> = line.split(',').collect();
    let case = Case {
        kind: Kind::from_name(fields[0]).unwrap(),
        algorithm: Algorithm::from_name(fields[1]).unwrap(),
        members: fields[2].parse().unwrap(),
        root: fields[3].parse().unwrap_or(0),
        bytes: fields[4].parse().unwrap(),
    };
    (case, fields[5..].iter().map(|field| field.parse().unwrap()).collect())
}

#[test]
fn times_messages_and_bytes_are_those_of_the_model() {
    let rows: Vec<(Case, Vec<u64>)> = ROWS.lines().skip(1).map(row).collect();
    assert_eq!(rows.len(), 687);
    for (case, expected) in rows {
        let finish = finish(&case);
        let sent: Vec<u64> =
            case.steps().concat().iter().filter_map(|step| step.send).map(|part| part.bytes).collect();
        let found = vec![
            finish.iter().copied().max().unwrap(),
            finish.iter().copied().min().unwrap(),
            finish.iter().sum(),
            sent.len() as u64,
            sent.iter().sum(),
        ];
        assert_eq!(found, expected, "{case:?}");
    }
}

#[test]
fn the_model_has_every_algorithm_but_that_of_alltoallv() {
    for kind in Kind::ALL.into_iter().filter(|&kind| kind != Kind::Alltoallv) {
        for algorithm in Algorithm::serving(kind) {
            let name = format!("\n{},{},", kind.name(), algorithm.name());
            assert!(ROWS.contains(&name), "{name}");
        }
    }
}
