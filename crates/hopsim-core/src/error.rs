//! The two kinds of error a user can meet: a bad document and a run that cannot go on.

use hopsim_infiniband::error::Deadlock;
use hopsim_memory::Shortage;
pub use hopsim_network::error::{ConfigError, Origin};
use std::fmt;

/// Why a simulation stopped before its last cycle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RunError {
    /// Packets wait for each other in a cycle and none of them can ever move.
    Deadlock(DeadlockReport),
    /// Packets of an InfiniBand fabric wait for each other in a circle: time when that was found \[ns\], and the circle.
    FabricDeadlock(u64, Deadlock),
    /// The ranks of a program wait for each other, or for something that never comes.
    Stuck(Box<StuckReport>),
    /// A program is done, and nobody has received some of its messages.
    Unmatched(Box<UnmatchedReport>),
    /// Programs were not done by `measure.max_cycles`: that, and how far each job is.
    Unfinished(u32, Vec<JobProgress>),
    /// Programs were not done when the time series had as many rows as it may: `measure.interval`, and that number.
    LongSeries(u32, u32),
    /// The stream `packet_hops` has more rows than it may: `measure.packets.every`, and that number.
    LongTrace(u32, u32),
    /// Memory is not there: how much was asked for.
    Memory(Shortage),
    /// A snapshot does not hold the state that it should.
    Snapshot,
    /// The caller asked the run to stop.
    Cancelled,
}

/// How far a program is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JobProgress {
    /// Name of the job.
    pub job: String,
    /// Ranks that are done.
    pub done: usize,
    /// All ranks of the program.
    pub ranks: usize,
    /// Records or operations of the program that have been begun.
    pub begun: u64,
    /// All records or operations of the program.
    pub records: u64,
}

/// A program that cannot go on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StuckReport {
    /// Name of the job.
    pub job: String,
    /// Cycle in which the last thing happened.
    pub cycle: u32,
    /// Ranks of the program.
    pub ranks: u32,
    /// Ranks that are not done.
    pub stuck: u32,
    /// The first ranks that are not done, and what each of them waits for.
    pub waiting: Vec<WaitingRank>,
    /// Ranks that wait each for the next, the last for the first; empty if there are none.
    pub circle: Vec<u32>,
    /// A rank that is done, which another one waits for.
    pub gone: Option<u32>,
}

/// A rank that waits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WaitingRank {
    /// The rank.
    pub rank: u32,
    /// The node that the rank is on.
    pub node: u32,
    /// Line of the operation that the rank is at, in the file of the program.
    pub line: Option<u64>,
    /// What the rank waits for.
    pub what: String,
}

/// Messages that nobody has received.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnmatchedReport {
    /// Name of the job.
    pub job: String,
    /// How many messages nobody has received.
    pub count: usize,
    /// The first messages that nobody has received.
    pub first: Vec<UnmatchedMessage>,
}

/// A message that nobody has received.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnmatchedMessage {
    /// Rank that sent the message.
    pub source: u32,
    /// Rank that should have received the message.
    pub destination: u32,
    /// Tag of the message.
    pub tag: u32,
    /// Communicator of the message.
    pub communicator: u32,
    /// Payload of the message in bytes.
    pub bytes: u64,
    /// Number of the message among those of its source.
    pub number: u32,
}

/// A cycle of packets that wait for each other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeadlockReport {
    /// Cycle in which the deadlock was found.
    pub cycle: u32,
    /// Packets inside routers at that cycle.
    pub packets: usize,
    /// The waiting heads, each waiting for buffer space held by the next, the last for the first.
    pub waiting: Vec<WaitingHead>,
}

/// One member of a deadlock.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WaitingHead {
    /// Router the packet waits in.
    pub router: u32,
    /// Input port, with its class, e.g. `local 3`.
    pub input: String,
    /// Input VC.
    pub input_vc: u8,
    /// Output port that the packet wants.
    pub output: String,
    /// Output VC that the packet wants.
    pub output_vc: u8,
    /// Source node of the packet.
    pub source: u32,
    /// Destination node of the packet.
    pub destination: u32,
    /// Cycle in which the packet was generated.
    pub generated: u32,
}

impl fmt::Display for RunError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Cancelled => write!(f, "cancelled"),
            Self::Snapshot => write!(
                f,
                "does not hold a state of this network; valid: a file that --save-state has written"
            ),
            Self::Memory(shortage) => write!(f, "{shortage}"),
            Self::Deadlock(report) => write!(f, "{report}"),
            Self::FabricDeadlock(ns, deadlock) => write!(f, "deadlock at {ns} ns: {deadlock}"),
            Self::Stuck(report) => write!(f, "{report}"),
            Self::Unmatched(report) => write!(f, "{report}"),
            Self::Unfinished(cycles, jobs) => {
                write!(f, "measure.max_cycles = {cycles}: programs are not done:")?;
                for JobProgress { job, done, ranks, begun, records } in jobs {
                    let percent = 100.0 * *begun as f64 / (*records).max(1) as f64;
                    write!(
                        f,
                        " job {job} has begun {percent:.1} % of its records, and {done} of {ranks} ranks are done;"
                    )?;
                }
                write!(f, " valid: more cycles")
            }
            Self::LongSeries(interval, rows) => {
                let reason = format!("the time series has {rows} rows, and programs are not done");
                write!(f, "measure.interval = {interval}: {reason}; valid: 0 or a longer interval")
            }
            Self::LongTrace(every, rows) => write!(
                f,
                "measure.packets.every = {every}: the stream packet_hops has more than {rows} rows; valid: a greater number, or \
                 fewer packets by measure.packets.source, destination, from and to"
            ),
        }
    }
}

impl From<Shortage> for RunError {
    fn from(shortage: Shortage) -> Self {
        Self::Memory(shortage)
    }
}

impl fmt::Display for StuckReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { job, cycle, ranks, stuck, .. } = self;
        writeln!(f, "job {job} is stuck at cycle {cycle}: {stuck} of {ranks} ranks wait")?;
        for WaitingRank { rank, node, line, what } in &self.waiting {
            let line = line.map_or(String::new(), |line| format!(", line {line}"));
            writeln!(f, "  rank {rank} (node {node}){line}: {what}")?;
        }
        if let Some(first) = self.circle.first() {
            let circle: Vec<String> =
                self.circle.iter().chain([first]).map(|rank| format!("rank {rank}")).collect();
            write!(f, "{}: each waits for the next", circle.join(" → "))
        } else if let Some(gone) = self.gone {
            write!(f, "rank {gone} is done: what others wait for never comes from it")
        } else {
            write!(f, "nothing that they wait for is under way")
        }
    }
}

impl fmt::Display for UnmatchedReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { job, count, first } = self;
        let what = if *count == 1 { "a message".to_owned() } else { format!("{count} messages") };
        write!(f, "job {job} is done, and nobody has received {what}:")?;
        for message in first {
            let UnmatchedMessage { source, destination, tag, communicator, bytes, .. } = message;
            write!(
                f,
                "\n  {bytes} B from rank {source} to rank {destination}, tag {tag}, communicator {communicator}"
            )?;
        }
        Ok(())
    }
}

impl fmt::Display for DeadlockReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "deadlock at cycle {}: {} packets inside the network, {} of them wait for each other:",
            self.cycle,
            self.packets,
            self.waiting.len()
        )?;
        for head in &self.waiting {
            writeln!(
                f,
                "  router {} input {} VC {} -> output {} VC {}: packet from node {} to node {}, generated at {}",
                head.router,
                head.input,
                head.input_vc,
                head.output,
                head.output_vc,
                head.source,
                head.destination,
                head.generated
            )?;
        }
        write!(f, "each waits for buffer space held by the next, the last for the first")
    }
}

impl std::error::Error for RunError {}
