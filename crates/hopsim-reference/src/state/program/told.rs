//! What is told of programs when a run is over.

use super::message::Message;
use hopsim_measure::trace::PacketTrace;

/// What is told of a rank.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Told {
    /// Cycle in which the last operation of the rank was done.
    pub finish: u32,
    /// Cycles of stream 0 with computations.
    pub compute: u64,
    /// Cycles of stream 0 with overheads.
    pub overhead: u64,
    /// Payload \[bytes\] of every message that the rank sent to another rank.
    pub sent: Vec<u64>,
    /// Payload \[bytes\] and latency \[cycles\] of every message that the rank received from another rank.
    pub received: Vec<(u64, u32)>,
    /// What the streams of the rank did and what the rank waited for.
    pub passed: Vec<Passed>,
}

/// Cycles of a stream in which the stream did the same or its rank waited for the same.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Passed {
    pub stream: usize,
    /// The name in the table of what the stream did, or of what the rank waited for.
    pub activity: &'static str,
    /// Record of the program that the activity belongs to.
    pub record: usize,
    /// The operation that the stream does; `None` if the rank waits.
    pub operation: Option<usize>,
    /// First cycle, and the cycle after the last.
    pub cycles: (u32, u32),
}

/// What is told of the programs of a run.
#[derive(Clone, Debug, Default)]
pub struct Programs {
    /// What is told of each rank, by job and rank; nothing of jobs with traffic.
    pub ranks: Vec<Vec<Told>>,
    /// Messages between different ranks, by job, source and number.
    pub messages: Vec<Message>,
}

impl Told {
    /// Adds what a stream does in a cycle, or what its rank waits for.
    pub(crate) fn pass(&mut self, now: u32, passed: Passed) {
        let goes_on = |last: &&mut Passed| {
            let cycles = (last.cycles.0, now);
            last.stream == passed.stream && **last == Passed { cycles, ..passed.clone() }
        };
        let last = self.passed.iter_mut().rev().find(|last| last.stream == passed.stream);
        match last.filter(goes_on) {
            Some(last) => last.cycles.1 = now + 1,
            None => self.passed.push(passed),
        }
    }
}

/// What is told of a run of programs.
pub struct ProgramRun {
    /// The lives of all packets.
    pub traces: Vec<PacketTrace>,
    /// What the programs did.
    pub programs: Programs,
    /// Cycle after the last one.
    pub end: u32,
}
