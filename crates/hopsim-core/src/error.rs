//! The two kinds of error a user can meet: a bad document and a run that cannot go on.

use hopsim_cycles::control::Cancelled;
use hopsim_cycles::deadlock::DeadlockReport;
use hopsim_experiment::config::measure::RecordStream;
use hopsim_infiniband::error::Deadlock;
use hopsim_memory::Shortage;
pub use hopsim_network::error::{ConfigError, Origin};
use hopsim_programs::standstill::{JobProgress, StuckReport, UnmatchedReport};
use std::fmt;

/// Why a simulation stopped before its last cycle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RunError {
    /// Packets wait for each other in a cycle and none of them can ever move.
    Deadlock(DeadlockReport),
    /// Packets of a fabric wait for each other in a circle: time when that was found \[ns\], and the circle.
    FabricDeadlock(u64, Deadlock),
    /// No packet has moved from one cycle to another because of what a routing function in Python asks for: how many heads wait, and the router and
    /// the source of one of them.
    StandsStill {
        /// First cycle without a move, at the latest.
        from: u32,
        /// Cycle in which that was found.
        now: u32,
        /// Heads that wait.
        heads: usize,
        /// Router of one of them.
        router: u32,
        /// Source node of its packet.
        source: u32,
    },
    /// The ranks of a program wait for each other, or for something that never comes.
    Stuck(Box<StuckReport>),
    /// A program is done, and nobody has received some of its messages.
    Unmatched(Box<UnmatchedReport>),
    /// Programs were not done by `measure.max_cycles`: that, and how far each job is.
    Unfinished(u32, Vec<JobProgress>),
    /// Programs were not done when the time series had as many rows as it may: `measure.interval`, and that number.
    LongSeries(u32, u32),
    /// A stream of packets has more rows than it may: `measure.packets.every`, the stream, and that number.
    LongTrace(u32, RecordStream, u32),
    /// Memory is not there: how much was asked for.
    Memory(Shortage),
    /// A snapshot does not hold the state that it should.
    Snapshot,
    /// The caller asked the run to stop.
    Cancelled,
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
            Self::StandsStill { from, now, heads, router, source } => write!(
                f,
                "deadlock at cycle {now}: none of {heads} packets that wait at the front of a queue has moved since cycle {from}, such as one \
                 from node {source} in router {router}; what routing.function asks for is never open"
            ),
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
            Self::LongTrace(every, stream, rows) => write!(
                f,
                "measure.packets.every = {every}: the stream {} has more than {rows} rows; valid: a greater number, or \
                 fewer packets by measure.packets.source, destination, from and to",
                stream.name()
            ),
        }
    }
}

impl From<Cancelled> for RunError {
    fn from(_: Cancelled) -> Self {
        Self::Cancelled
    }
}

impl From<StuckReport> for RunError {
    fn from(report: StuckReport) -> Self {
        Self::Stuck(Box::new(report))
    }
}

impl From<UnmatchedReport> for RunError {
    fn from(report: UnmatchedReport) -> Self {
        Self::Unmatched(Box::new(report))
    }
}

impl From<Shortage> for RunError {
    fn from(shortage: Shortage) -> Self {
        Self::Memory(shortage)
    }
}

impl std::error::Error for RunError {}
