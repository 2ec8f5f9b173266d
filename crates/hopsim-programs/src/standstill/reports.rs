//! Reports of programs that do not end as they should.

use std::fmt;

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
    /// What has been lost in the network of the messages for the ranks.
    pub lost: LostMessages,
}

/// Messages that will never be there, as packets of them are lost.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LostMessages {
    /// How many packets are lost.
    pub packets: u64,
    /// How many messages these are of.
    pub count: usize,
    /// The first messages.
    pub first: Vec<UnmatchedMessage>,
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

impl fmt::Display for StuckReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { job, cycle, ranks, stuck, .. } = self;
        writeln!(f, "job {job} is stuck at cycle {cycle}: {stuck} of {ranks} ranks wait")?;
        for WaitingRank { rank, node, line, what } in &self.waiting {
            let line = line.map_or(String::new(), |line| format!(", line {line}"));
            writeln!(f, "  rank {rank} (node {node}){line}: {what}")?;
        }
        if self.lost.count > 0 {
            write!(f, "{}", self.lost)
        } else if let Some(first) = self.circle.first() {
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

impl fmt::Display for LostMessages {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { packets, count, first } = self;
        for message in first {
            writeln!(f, "  lost: {message}")?;
        }
        let number = |count: u64, what: &str| format!("{count} {what}{}", if count == 1 { "" } else { "s" });
        write!(
            f,
            "{} will never be there, as {} of them {} lost when links or routers failed; \
             faults.reaction.retransmit lets sources send again what is lost",
            number(*count as u64, "message"),
            number(*packets, "packet"),
            if *packets == 1 { "was" } else { "were" },
        )
    }
}

impl fmt::Display for UnmatchedMessage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { source, destination, tag, communicator, bytes, number: _ } = self;
        write!(
            f,
            "{bytes} B from rank {source} to rank {destination}, tag {tag}, communicator {communicator}"
        )
    }
}

impl fmt::Display for UnmatchedReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { job, count, first } = self;
        let what = if *count == 1 { "a message".to_owned() } else { format!("{count} messages") };
        write!(f, "job {job} is done, and nobody has received {what}:")?;
        for message in first {
            write!(f, "\n  {message}")?;
        }
        Ok(())
    }
}
