//! What becomes of programs that do not end as they should: who waits for whom, and what nobody has received.

mod reports;

use crate::host::machine::{ReadyOperation, Work};
use crate::host::unrolling::COLLECTIVE;
use crate::host::{Host, Letter};
use crate::job::{ProgramPlan, Programs};
use petgraph::algo::tarjan_scc;
use petgraph::graphmap::DiGraphMap;
pub use reports::{JobProgress, LostMessages, StuckReport, UnmatchedMessage, UnmatchedReport, WaitingRank};

/// A rank of a program, to be looked at.
pub struct RankState<'a> {
    /// The job of the rank.
    pub job: u8,
    /// Whether something of the program of the rank is under way.
    pub is_busy: bool,
    /// Last cycle in which something happened to the rank.
    pub last_event: u32,
    /// Messages in the queue of the rank, and messages on their way to it some packets of which have left their node.
    pub under_way: Vec<Letter>,
    /// Messages for the rank that will never be there, with the number of their packets that are lost.
    pub lost: Vec<(Letter, u32)>,
    /// The host of the rank.
    pub host: &'a Host,
}

/// Most ranks, and most messages, that a report describes.
const DESCRIBED: usize = 10;

/// The first job whose program is stuck: some rank is not done, and nothing of the job is under way.
pub fn find_stuck(programs: &Programs<'_>, ranks: &[RankState<'_>]) -> Option<StuckReport> {
    programs.all.iter().find_map(|&(number, job)| {
        let mut own: Vec<&RankState<'_>> =
            ranks.iter().filter(|rank| usize::from(rank.job) == number).collect();
        own.sort_by_key(|rank| rank.host.rank());
        let is_stuck = own.iter().any(|rank| !rank.host.is_done()) && !own.iter().any(|rank| rank.is_busy);
        is_stuck.then(|| report(job, &own))
    })
}

fn report(job: &ProgramPlan, ranks: &[&RankState<'_>]) -> StuckReport {
    let open: Vec<&&RankState<'_>> = ranks.iter().filter(|rank| !rank.host.is_done()).collect();
    StuckReport {
        job: job.name.clone(),
        cycle: ranks.iter().map(|rank| rank.last_event).max().unwrap_or(0),
        ranks: ranks.len() as u32,
        stuck: open.len() as u32,
        waiting: open.iter().take(DESCRIBED).flat_map(|rank| waits(job, rank)).take(DESCRIBED).collect(),
        circle: circle(&open),
        gone: gone(ranks, &open),
        lost: lost(ranks),
    }
}

/// What has been lost of the messages for some ranks.
fn lost(ranks: &[&RankState<'_>]) -> LostMessages {
    let mut lost: Vec<&(Letter, u32)> = ranks.iter().flat_map(|rank| &rank.lost).collect();
    lost.sort_by_key(|(letter, _)| (letter.source, letter.number));
    LostMessages {
        packets: lost.iter().map(|(_, packets)| u64::from(*packets)).sum(),
        count: lost.len(),
        first: lost.iter().take(DESCRIBED).map(|(letter, _)| unmatched(letter)).collect(),
    }
}

/// What a rank that is stuck waits for.
fn waits(job: &ProgramPlan, rank: &RankState<'_>) -> Vec<WaitingRank> {
    let number = rank.host.rank();
    let describe = |operation: &ReadyOperation| WaitingRank {
        rank: number,
        node: job.nodes[number as usize],
        line: job.program.line(number, operation.label.record),
        what: wait(operation),
    };
    rank.host.operations().iter().map(describe).collect()
}

fn wait(operation: &ReadyOperation) -> String {
    let within = |communicator: u32, tag: Option<u32>| {
        let number = communicator & !COLLECTIVE;
        let tag = tag.map_or("any tag".to_owned(), |tag| tag.to_string());
        if communicator & COLLECTIVE == 0 {
            format!("tag {tag}, communicator {number}")
        } else {
            format!("collective operation {tag} of communicator {number}")
        }
    };
    match operation.work {
        Work::Receive(pattern) => {
            let source = pattern.source.map_or("any rank".to_owned(), |source| format!("rank {source}"));
            let within = within(pattern.communicator, pattern.tag);
            format!("waits for a message from {source}, {within}")
        }
        Work::Send(sending) => {
            let within = within(sending.communicator, Some(sending.tag));
            format!(
                "its rendezvous send of {} B to rank {} has no receive, {within}",
                sending.bytes, sending.to
            )
        }
        Work::Compute(_) | Work::Hold(_) => "computes".to_owned(),
    }
}

/// The rank of which an operation waits for something.
fn awaited(operation: &ReadyOperation) -> Option<u32> {
    match operation.work {
        Work::Receive(pattern) => pattern.source,
        Work::Send(sending) => Some(sending.to),
        Work::Compute(_) | Work::Hold(_) => None,
    }
}

/// Ranks that wait for each other in a circle, beginning with the lowest; empty if there is none.
fn circle(open: &[&&RankState<'_>]) -> Vec<u32> {
    let mut graph: DiGraphMap<u32, ()> = DiGraphMap::new();
    for rank in open {
        for other in rank.host.operations().iter().filter_map(awaited) {
            graph.add_edge(rank.host.rank(), other, ());
        }
    }
    let mut knots: Vec<Vec<u32>> = tarjan_scc(&graph).into_iter().filter(|knot| knot.len() > 1).collect();
    for knot in &mut knots {
        knot.sort_unstable();
    }
    let Some(knot) = knots.into_iter().min() else { return Vec::new() };
    // From the lowest rank always on to a rank of the knot, until one comes again.
    let mut way = vec![knot[0]];
    loop {
        let last = way[way.len() - 1];
        let Some(next) = graph.neighbors(last).filter(|next| knot.contains(next)).min() else { return way };
        if let Some(begin) = way.iter().position(|&rank| rank == next) {
            return way.split_off(begin);
        }
        way.push(next);
    }
}

/// A rank that is done, for which a rank that is not done waits.
fn gone(ranks: &[&RankState<'_>], open: &[&&RankState<'_>]) -> Option<u32> {
    let mut awaited =
        open.iter().flat_map(|rank| rank.host.operations()).filter_map(|operation| awaited(&operation));
    awaited.find(|&other| ranks.get(other as usize).is_some_and(|rank| rank.host.is_done()))
}

/// Messages that are at the node of a rank and that it has not received.
fn untaken(rank: &RankState<'_>) -> impl Iterator<Item = UnmatchedMessage> {
    let destination = rank.host.rank();
    rank.host.untaken().into_iter().map(move |(envelope, message)| UnmatchedMessage {
        source: envelope.source,
        destination,
        tag: envelope.tag,
        communicator: envelope.communicator & !COLLECTIVE,
        bytes: message.bytes,
        number: message.number,
    })
}

/// A message that is on its way, or will never be there.
fn unmatched(letter: &Letter) -> UnmatchedMessage {
    UnmatchedMessage {
        source: letter.source,
        destination: letter.destination,
        tag: letter.tag,
        communicator: letter.communicator & !COLLECTIVE,
        bytes: letter.bytes,
        number: letter.number,
    }
}

/// The first job that is done with messages that nobody has received.
pub fn find_unmatched(programs: &Programs<'_>, ranks: &[RankState<'_>]) -> Option<UnmatchedReport> {
    programs.with_end().find_map(|(number, job)| {
        let own = ranks.iter().filter(|rank| usize::from(rank.job) == number);
        let mut messages: Vec<UnmatchedMessage> =
            own.flat_map(|rank| untaken(rank).chain(rank.under_way.iter().map(unmatched))).collect();
        messages.sort_by_key(|message| (message.source, message.number));
        let count = messages.len();
        messages.truncate(DESCRIBED);
        (count > 0).then(|| UnmatchedReport { job: job.name.clone(), count, first: messages })
    })
}

/// How far the jobs are with their programs.
pub fn progress(programs: &Programs<'_>, ranks: &[RankState<'_>]) -> Vec<JobProgress> {
    let count = |(number, job): (usize, &ProgramPlan)| {
        let own = || ranks.iter().filter(|rank| usize::from(rank.job) == number);
        // A host that has not begun has everything before it.
        let whole = |rank: u32| job.program.host(rank, &job.rules).left();
        let records: u64 = (0..job.nodes.len() as u32).map(whole).sum();
        JobProgress {
            job: job.name.clone(),
            done: own().filter(|rank| rank.host.is_done()).count(),
            ranks: job.nodes.len(),
            begun: records - own().map(|rank| rank.host.left()).sum::<u64>().min(records),
            records,
        }
    };
    programs.with_end().map(count).collect()
}
