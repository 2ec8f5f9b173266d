//! Random graphs of operations, which wait for earlier ones and have several streams.

use super::Draw;
use hopsim_programs::collectives::Kind;
use hopsim_programs::graph::{Dependency, Graph, Operation};
use hopsim_programs::record::{Bytes, Collective};
use std::fmt::Write;

/// The operations of a rank as text, and how many there are.
#[derive(Default)]
struct Block {
    text: String,
    count: u32,
}

impl Block {
    /// Adds an operation that waits for some of the last ones, done or started, as the bits of `choice` say.
    fn push(&mut self, operation: &str, choice: u32) {
        let own = self.count;
        let stream = choice % 3;
        let _ = writeln!(self.text, "o{own}: {operation} cpu {stream}");
        for before in 1..=own.min(4) {
            let bits = choice >> (4 * before) & 15;
            if bits < 5 {
                let word = if bits < 2 { "irequires" } else { "requires" };
                let _ = writeln!(self.text, "o{own} {word} o{}", own - before);
            }
        }
        self.count += 1;
    }
}

/// A program as text. Every message has a tag of its own, or is one of some that a rank takes in any order.
pub fn text(ranks: u32, draws: &[Draw]) -> String {
    let mut blocks: Vec<Block> = (0..ranks).map(|_| Block::default()).collect();
    for (draw, number) in draws.iter().zip(100u32..) {
        let [first, second, third] = draw.who;
        let (from, to) = (first % ranks, second % ranks);
        if draw.what < 60 {
            blocks[from as usize].push(&format!("calc {}", draw.size), third);
            continue;
        }
        let wild = draw.what > 240;
        let (tag, size) = if wild { (first % 2, 40) } else { (number, draw.size) };
        blocks[from as usize].push(&format!("send {size}b to {to} tag {tag}"), third);
        let receive = if wild {
            format!("recv 40b from -1 tag {tag}")
        } else {
            format!("recv {size}b from {from} tag {tag}")
        };
        blocks[to as usize].push(&receive, third.rotate_left(11));
    }
    let mut text = format!("num_ranks {ranks}\n");
    for (block, rank) in blocks.iter().zip(0..) {
        let _ = writeln!(text, "rank {rank} {{\n{}}}", block.text);
    }
    text
}

/// Adds collective operations to all ranks, and what waits for them. They wait for some of the operations before and for one
/// another, or go on beside each other; nothing that they wait for waits for them, so all come to an end.
pub fn add_calls(graph: &mut Graph) {
    const KINDS: [Kind; 6] =
        [Kind::Allreduce, Kind::Barrier, Kind::Alltoall, Kind::Bcast, Kind::ReduceScatter, Kind::Allgather];
    let ranks = graph.ranks.len() as u32;
    graph.communicators.push((0..ranks).rev().collect());
    let seed = graph.ranks.iter().map(|own| own.operations.len()).sum::<usize>() as u32;
    for (own, rank) in graph.ranks.iter_mut().zip(0u32..) {
        let count = own.operations.len() as u32;
        let mut last = None;
        for call in 0..=(seed % 4) {
            let kind = KINDS[((seed + call) % 6) as usize];
            let bytes = if kind == Kind::Barrier { 0 } else { u64::from(seed * 13 % 400) };
            own.collectives.push(Collective {
                kind,
                communicator: (seed + call) % 2,
                root: (kind == Kind::Bcast).then_some(seed % ranks),
                bytes: Bytes::Same(bytes),
            });
            let number = own.push(Operation::Collective(call), (call % 2) as u8, None);
            let end = own.push(Operation::Compute { time: 20 }, 0, None);
            let mut wait =
                |operation, on| own.dependencies.push(Dependency { operation, on, started: false });
            wait(end, number);
            let choice = rank * 7 + call * 5 + seed;
            if count > 0 && !choice.is_multiple_of(3) {
                wait(number, choice % count);
            }
            if let Some(last) = last.filter(|_| seed.is_multiple_of(3)) {
                wait(number, last);
            }
            last = Some(number);
        }
    }
}
