//! Writes what a run made of a trace: the calls at their times, with the files beside it that name things.

use super::calls::{self, CALLS, MpiCall, number};
use crate::collectives::Kind;
use crate::record::{Bytes, Collective, Message, Rank, Record};
use crate::trace::Trace;
use rustc_hash::FxHashMap;
use std::fmt::Write as _;
use std::io::{self, Write};

/// When a record of a rank began and ended \[ns\].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Span {
    /// The beginning of the record.
    pub begin: u64,
    /// The end of the record, not before its beginning.
    pub end: u64,
}

/// States by number, as Extrae names them.
const STATES: [(u64, &str); 9] = [
    (0, "Idle"),
    (calls::RUNNING, "Running"),
    (3, "Waiting a message"),
    (4, "Blocking Send"),
    (5, "Synchronization"),
    (8, "Wait/WaitAll"),
    (10, "Immediate Send"),
    (11, "Immediate Receive"),
    (13, "Group Communication"),
];

/// What lines say, in the order in which those of one time stand.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Written {
    State { rank: Rank, end: u64, state: u64 },
    Events { rank: Rank, which: usize },
    Message { which: usize },
}

/// A message on its way: its sides by rank and span, its bytes, its tag.
struct Pair {
    sent: (Rank, Span),
    posted: u64,
    done: u64,
    to: Rank,
    bytes: u64,
    tag: u32,
}

/// All that is written, before it is put into the order of times.
#[derive(Default)]
struct Timeline {
    all: Vec<(u64, Written)>,
    events: Vec<String>,
}

impl Timeline {
    fn events(&mut self, rank: Rank, at: u64, text: String) {
        self.all.push((at, Written::Events { rank, which: self.events.len() }));
        self.events.push(text);
    }

    fn state(&mut self, rank: Rank, span: Span, state: u64) {
        if span.end > span.begin {
            self.all.push((span.begin, Written::State { rank, end: span.end, state }));
        }
    }
}

/// Writes a trace whose records, by rank, took place in these spans. Communicators of messages are lost, as are requests.
pub fn write(trace: &Trace, spans: &[Vec<Span>], mut writer: impl Write) -> io::Result<()> {
    let count = trace.ranks.len();
    let end = spans.iter().flatten().map(|span| span.end).max().unwrap_or(0);
    write!(writer, "#Paraver (01/01/1970 at 00:00):{end}_ns:{count}(")?;
    (0..count).try_for_each(|rank| write!(writer, "{}1", if rank == 0 { "" } else { "," }))?;
    write!(writer, "):1:{count}(")?;
    (0..count).try_for_each(|rank| write!(writer, "{}1:{}", if rank == 0 { "" } else { "," }, rank + 1))?;
    writeln!(writer, "),{}", trace.communicators.len())?;
    for (members, number) in trace.communicators.iter().zip(1..) {
        write!(writer, "c:1:{number}:{}", members.len())?;
        members.iter().try_for_each(|member| write!(writer, ":{}", member + 1))?;
        writeln!(writer)?;
    }
    let mut lines = Timeline::default();
    for ((tape, spans), rank) in trace.ranks.iter().zip(spans).zip(0..) {
        for (record, &span) in tape.iter().zip(spans) {
            add(&mut lines, trace, (rank, span), &record);
        }
    }
    let pairs = pairs(trace, spans);
    let messages = pairs.iter().enumerate();
    lines.all.extend(messages.map(|(which, pair)| (pair.sent.1.begin, Written::Message { which })));
    // Events of a rank at one time keep their order, as they are numbered.
    lines.all.sort_unstable();
    lines.all.iter().try_for_each(|line| write_line(line, &lines.events, &pairs, &mut writer))
}

fn write_line(
    &(time, line): &(u64, Written),
    events: &[String],
    pairs: &[Pair],
    writer: &mut impl Write,
) -> io::Result<()> {
    let place = |rank: Rank| format!("{0}:1:{0}:1", u64::from(rank) + 1);
    match line {
        Written::State { rank, end, state } => writeln!(writer, "1:{}:{time}:{end}:{state}", place(rank)),
        Written::Events { rank, which } => writeln!(writer, "2:{}:{time}:{}", place(rank), events[which]),
        Written::Message { which } => {
            let Pair { sent: (from, span), posted, done, to, bytes, tag } = pairs[which];
            let (source, destination) = (place(from), place(to));
            let Span { begin, end } = span;
            writeln!(writer, "3:{source}:{begin}:{end}:{destination}:{posted}:{done}:{bytes}:{tag}")
        }
    }
}

/// Adds what is said of a record.
fn add(lines: &mut Timeline, trace: &Trace, (rank, span): (Rank, Span), record: &Record) {
    let (call, state) = match record {
        Record::Compute { .. } => return lines.state(rank, span, calls::RUNNING),
        Record::Send { request: None, .. } => (MpiCall::Send, 4),
        Record::Send { .. } => (MpiCall::Isend, 10),
        Record::Receive { request: None, .. } => (MpiCall::Receive, 3),
        Record::Receive { .. } => (MpiCall::Ireceive, 11),
        Record::Wait { requests } if requests.len() == 1 => (MpiCall::Wait, 8),
        Record::Wait { .. } => (MpiCall::WaitAll, 8),
        Record::Collective(Collective { kind: Kind::Barrier, .. }) => (MpiCall::Collective(Kind::Barrier), 5),
        Record::Collective(collective) => (MpiCall::Collective(collective.kind), 13),
        Record::Begin { collective, .. } => (MpiCall::Begin(collective.kind), 13),
    };
    let (kind, value) = number(call);
    let mut text = format!("{kind}:{value}");
    if let Some(collective) = record.collective() {
        sides(&mut text, collective, trace, rank);
    }
    lines.state(rank, span, state);
    lines.events(rank, span.begin, text);
    lines.events(rank, span.end, format!("{kind}:0"));
}

/// Adds the bytes, the root and the communicator of a collective operation, as Extrae states them.
fn sides(text: &mut String, collective: &Collective, trace: &Trace, rank: Rank) {
    let Collective { kind, communicator, root, bytes } = collective;
    let is_root = *root == Some(rank);
    let members = trace.communicators.get(*communicator as usize).map_or(1, |members| members.len() as u64);
    let (sent, received) = match bytes {
        Bytes::Each { sent, received } => (total(sent), total(received)),
        &Bytes::Same(n) => {
            let all = n.saturating_mul(members);
            match kind {
                Kind::Barrier => (0, 0),
                Kind::Bcast => {
                    if is_root {
                        (n, 0)
                    } else {
                        (0, n)
                    }
                }
                Kind::Reduce => {
                    if is_root {
                        (0, n)
                    } else {
                        (n, 0)
                    }
                }
                Kind::Allreduce | Kind::Scan => (n, n),
                Kind::Alltoall | Kind::Alltoallv | Kind::Allgather => (n, all),
                Kind::Gather => (n, if is_root { all } else { 0 }),
                Kind::Scatter => (if is_root { all } else { 0 }, n),
                Kind::ReduceScatter => (all, n),
            }
        }
    };
    let communicator = u64::from(*communicator) + 1;
    let _ = write!(text, ":{}:{sent}:{}:{received}", calls::SENT, calls::RECEIVED);
    if is_root {
        let _ = write!(text, ":{}:1", calls::ROOT);
    }
    let _ = write!(text, ":{}:{communicator}", calls::COMMUNICATOR);
}

fn total(sizes: &[u64]) -> u64 {
    sizes.iter().fold(0, |sum, &bytes| sum.saturating_add(bytes))
}

/// Messages that pair: source, destination, tag and communicator.
type PairKey = (Rank, Rank, u32, u32);

/// The messages of a trace: the sends and receives of a key pair in their order.
fn pairs(trace: &Trace, spans: &[Vec<Span>]) -> Vec<Pair> {
    let mut sends: FxHashMap<PairKey, Vec<(Span, u64)>> = FxHashMap::default();
    let mut posts: FxHashMap<PairKey, Vec<(u64, u64)>> = FxHashMap::default();
    for ((tape, spans), rank) in trace.ranks.iter().zip(spans).zip(0..) {
        let mut open: FxHashMap<u32, (PairKey, usize)> = FxHashMap::default();
        for (record, &span) in tape.iter().zip(spans) {
            match record {
                Record::Send { message: Message { peer, tag, bytes, communicator }, .. } => {
                    sends.entry((rank, peer, tag, communicator)).or_default().push((span, bytes));
                }
                Record::Receive { message: Message { peer, tag, communicator, .. }, request, .. } => {
                    let key = (peer, rank, tag, communicator);
                    let queue = posts.entry(key).or_default();
                    open.extend(request.map(|request| (request, (key, queue.len()))));
                    queue.push((span.begin, span.end));
                }
                Record::Wait { requests } => {
                    for (key, place) in requests.iter().filter_map(|request| open.remove(request)) {
                        posts.entry(key).or_default()[place].1 = span.end;
                    }
                }
                _ => {}
            }
        }
    }
    let mut keys: Vec<&PairKey> = sends.keys().collect();
    keys.sort_unstable();
    let of_key = |key: &PairKey| {
        let &(from, to, tag, _) = key;
        let received = posts.get(key).map_or(&[][..], Vec::as_slice);
        let both = sends[key].iter().zip(received);
        let pair = move |(&(span, bytes), &(posted, done)): (&(Span, u64), &(u64, u64))| Pair {
            sent: (from, span),
            posted,
            done,
            to,
            bytes,
            tag,
        };
        both.map(pair).collect::<Vec<Pair>>()
    };
    keys.into_iter().flat_map(of_key).collect()
}

/// The file of labels (`.pcf`): what states, types of events and their values are called.
pub fn labels() -> String {
    let mut text =
        "DEFAULT_OPTIONS\n\nLEVEL               THREAD\nUNITS               NANOSEC\n\nSTATES\n".to_owned();
    for (state, name) in STATES {
        let _ = writeln!(text, "{state}    {name}");
    }
    for (kind, name) in
        [(calls::POINT_TO_POINT, "MPI Point-to-point"), (calls::COLLECTIVE, "MPI Collective Comm")]
    {
        let _ = write!(text, "\nEVENT_TYPE\n9    {kind}    {name}\nVALUES\n0    Outside MPI\n");
        for (_, value, _, name) in CALLS.iter().filter(|call| call.0 == kind) {
            let _ = writeln!(text, "{value}    {name}");
        }
    }
    text.push_str("\nEVENT_TYPE\n");
    for (kind, name) in [
        (calls::SENT, "Send Size in MPI Global OP"),
        (calls::RECEIVED, "Recv Size in MPI Global OP"),
        (calls::ROOT, "Root in MPI Global OP"),
        (calls::COMMUNICATOR, "Communicator in MPI Global OP"),
    ] {
        let _ = writeln!(text, "1    {kind}    {name}");
    }
    text
}

/// The file of names (`.row`): ranks and the nodes that they ran on.
pub fn names(nodes: &[u32]) -> String {
    let count = nodes.len();
    let mut text = format!("LEVEL CPU SIZE {count}\n");
    let list = |text: &mut String, name: &str| {
        for (rank, node) in nodes.iter().enumerate() {
            let _ = match name {
                "THREAD" => writeln!(text, "rank {rank}"),
                _ => writeln!(text, "node {node}"),
            };
        }
    };
    list(&mut text, "CPU");
    for level in ["NODE", "THREAD"] {
        let _ = write!(text, "\nLEVEL {level} SIZE {count}\n");
        list(&mut text, level);
    }
    text
}
