//! Traces for tests: every kind of record, and what holds within a rank holds; sends and receives need not pair.

use crate::collectives::Kind;
use crate::record::{Bytes, Collective, Message, Rank, Record};
use crate::trace::{Tape, Trace};
use proptest::prelude::*;
use smallvec::SmallVec;
use std::sync::Arc;

/// Traces of up to 5 ranks.
pub fn traces() -> impl Strategy<Value = Trace> {
    let info = proptest::collection::vec(("[a-z_]{1,6}", "[a-z0-9][ -~]{0,12}"), 0..3);
    let subset = proptest::collection::vec(any::<bool>(), 5);
    let draws = proptest::collection::vec(proptest::collection::vec(draw(), 0..30), 1..6);
    ("[A-Za-z0-9.]{1,8}", info, proptest::collection::vec(subset, 0..3), draws).prop_map(
        |(name, info, subsets, draws)| {
            let ranks = draws.len() as u32;
            let all: Arc<[Rank]> = (0..ranks).collect();
            let subset = |chosen: Vec<bool>| -> Arc<[Rank]> {
                // Not in ascending order.
                let chosen: Vec<Rank> = (0..ranks).rev().filter(|&rank| chosen[rank as usize]).collect();
                if chosen.is_empty() { all.clone() } else { chosen.into() }
            };
            let communicators: Vec<_> =
                std::iter::once(all.clone()).chain(subsets.into_iter().map(subset)).collect();
            let ranks =
                draws.into_iter().zip(0..).map(|(draws, rank)| tape(rank, &communicators, draws)).collect();
            Trace { name, info, communicators, ranks }
        },
    )
}

/// What a record is made of.
type Draw = (u8, u32, u32, u64, bool);

fn draw() -> impl Strategy<Value = Draw> {
    let tag = prop_oneof![Just(0), 1u32..5, any::<u32>()];
    let size = prop_oneof![0u64..300, any::<u64>()];
    (any::<u8>(), any::<u32>(), tag, size, any::<bool>())
}

fn tape(rank: Rank, communicators: &[Arc<[Rank]>], draws: Vec<Draw>) -> Tape {
    let mut tape = Tape::new(0);
    let mut open: Vec<u32> = Vec::new();
    for draw in draws {
        let record = record(rank, communicators, &mut open, draw);
        tape.push(&record);
    }
    if !open.is_empty() {
        tape.push(&Record::Wait { requests: open.into() });
    }
    tape
}

fn record(rank: Rank, communicators: &[Arc<[Rank]>], open: &mut Vec<u32>, draw: Draw) -> Record {
    let (what, choice, tag, size, flag) = draw;
    let communicator = choice % communicators.len() as u32;
    let communicator = if communicators[communicator as usize].contains(&rank) { communicator } else { 0 };
    let members = &communicators[communicator as usize];
    let peer = members[choice as usize / 4 % members.len()];
    let message = Message { peer, tag, bytes: size, communicator };
    let request = (flag && !open.contains(&choice)).then_some(choice);
    match what % 8 {
        0 | 1 => Record::Compute { nanoseconds: size.max(1) },
        2 | 3 => {
            open.extend(request);
            Record::Send { message, request }
        }
        4 | 5 => {
            open.extend(request);
            Record::Receive { message, any_source: choice & 1 == 1, request }
        }
        6 if !open.is_empty() => {
            let kept = choice as usize % open.len();
            Record::Wait { requests: open.drain(kept..).collect::<SmallVec<_>>() }
        }
        _ => {
            let kind = Kind::ALL[tag as usize % Kind::ALL.len()];
            let root = kind.is_rooted().then_some(peer);
            let sizes =
                |start: u64| (0..members.len() as u64).map(|index| start.wrapping_mul(index)).collect();
            let bytes = match kind {
                Kind::Alltoallv => Bytes::Each { sent: sizes(size), received: sizes(tag.into()) },
                Kind::Barrier => Bytes::Same(0),
                _ => Bytes::Same(size),
            };
            Record::Collective(Collective { kind, communicator, root, bytes })
        }
    }
}
