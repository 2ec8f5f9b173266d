//! Collective operations of a trace: what members state of one operation, put together.

use super::calls;
use super::inference::TaskRecords;
use crate::collectives::Kind;
use crate::error::ProgramError;
use crate::record::{Bytes, Collective, Rank};
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::Arc;

/// What events say of a rank's part in a collective operation.
#[derive(Clone, Copy, Debug, Default)]
pub struct Sides {
    sent: u64,
    received: u64,
    is_root: bool,
    /// The communicator by its number in the file.
    pub communicator: Option<u64>,
}

impl Sides {
    /// Hears of an event; whether it is about a collective operation.
    pub fn hear(&mut self, kind: u64, value: u64) -> bool {
        match kind {
            calls::SENT => self.sent = value,
            calls::RECEIVED => self.received = value,
            calls::ROOT => self.is_root = value == 1,
            calls::COMMUNICATOR => self.communicator = Some(value),
            _ => return false,
        }
        true
    }

    /// Adds what another record says at the same time.
    pub fn add(&mut self, other: Self) {
        self.sent = self.sent.max(other.sent);
        self.received = self.received.max(other.received);
        self.is_root |= other.is_root;
        self.communicator = other.communicator.or(self.communicator);
    }
}

/// A rank's part in a collective operation.
#[derive(Debug)]
pub struct OwnPart {
    kind: Kind,
    /// The communicator by its number in the program.
    pub communicator: u32,
    /// How many operations of the communicator the rank has begun before.
    pub number: usize,
    /// What events say of the part.
    pub sides: Sides,
    /// The line in which the operation begins.
    pub line: u64,
}

impl OwnPart {
    /// A part of which nothing but the kind is known.
    pub fn new(kind: Kind, line: u64) -> Self {
        Self { kind, communicator: 0, number: 0, sides: Sides::default(), line }
    }
}

/// A collective operation of all members.
struct JointOperation {
    kind: Kind,
    root: Option<Rank>,
    /// n of the operation, see [`Bytes`].
    bytes: u64,
    /// Of alltoallv: what each member sends and receives in all, in the order of the communicator.
    totals: Vec<(u64, u64)>,
}

/// The collective operations of all communicators.
pub struct JointOperations<'c> {
    communicators: &'c [Arc<[Rank]>],
    /// The operations by communicator, in their order.
    joint: Vec<Vec<JointOperation>>,
}

impl<'c> JointOperations<'c> {
    /// The operations that tasks begin.
    pub fn of(tasks: &[TaskRecords], communicators: &'c [Arc<[Rank]>]) -> Result<Self, ProgramError> {
        let mut parts: Vec<FxHashMap<Rank, Vec<&OwnPart>>> =
            communicators.iter().map(|_| FxHashMap::default()).collect();
        for (task, rank) in tasks.iter().zip(0..) {
            for operation in &task.operations {
                parts[operation.communicator as usize].entry(rank).or_default().push(operation);
            }
        }
        let joint = communicators.iter().zip(&parts).map(|(members, parts)| of_communicator(members, parts));
        Ok(Self { communicators, joint: joint.collect::<Result<_, _>>()? })
    }

    /// What a rank brings into an operation of which it has told its part.
    pub fn collective(&self, operation: &OwnPart, rank: Rank) -> Collective {
        let communicator = operation.communicator;
        let joint = &self.joint[communicator as usize][operation.number];
        let bytes = if joint.kind == Kind::Alltoallv {
            let members = &self.communicators[communicator as usize];
            let place = members.iter().position(|&member| member == rank).unwrap_or_default();
            pairs(&joint.totals, place)
        } else {
            Bytes::Same(joint.bytes)
        };
        Collective { kind: joint.kind, communicator, root: joint.root, bytes }
    }
}

/// The operations of a communicator, of which each member tells its parts.
fn of_communicator(
    members: &[Rank],
    parts: &FxHashMap<Rank, Vec<&OwnPart>>,
) -> Result<Vec<JointOperation>, ProgramError> {
    let none = Vec::new();
    let by_member: Vec<&Vec<&OwnPart>> =
        members.iter().map(|member| parts.get(member).unwrap_or(&none)).collect();
    let known: FxHashSet<Rank> = members.iter().copied().collect();
    let stranger = parts.iter().filter(|(rank, _)| !known.contains(rank)).min_by_key(|row| row.0);
    if let Some((rank, parts)) = stranger {
        let reason =
            "the rank is not in the communicator of this collective operation; expected one of its own";
        return Err(ProgramError::new(reason).rank(*rank).line(parts[0].line));
    }
    let count = by_member.first().map_or(0, |parts| parts.len());
    if let Some(other) = by_member.iter().position(|parts| parts.len() != count) {
        let (rank, first, found) = (members[other], members[0], by_member[other].len());
        return Err(ProgramError::new(format!(
            "begins {found} collective operations of a communicator of which rank {first} begins {count}; expected as many"
        ))
        .rank(rank));
    }
    let joint = (0..count).map(|number| {
        let parts: Vec<&OwnPart> = by_member.iter().map(|parts| parts[number]).collect();
        join(members, &parts)
    });
    joint.collect()
}

/// The operation of which these are the parts of the members, in their order.
fn join(members: &[Rank], parts: &[&OwnPart]) -> Result<JointOperation, ProgramError> {
    let kind = parts[0].kind;
    if let Some(other) = parts.iter().position(|part| part.kind != kind) {
        let (line, name) = (parts[0].line, kind.name());
        return Err(ProgramError::new(format!(
            "begins {} where rank {} begins {name}, in line {line}; expected the same operation",
            parts[other].kind.name(),
            members[0]
        ))
        .rank(members[other])
        .line(parts[other].line));
    }
    let sent = || parts.iter().map(|part| part.sides.sent);
    let received = || parts.iter().map(|part| part.sides.received);
    let bytes = match kind {
        Kind::Barrier | Kind::Alltoallv => 0,
        Kind::Bcast | Kind::Reduce => sent().chain(received()).max().unwrap_or(0),
        Kind::Allreduce | Kind::Scan | Kind::Alltoall => sent().max().unwrap_or(0),
        Kind::Gather | Kind::Allgather => mean(sent()),
        Kind::Scatter | Kind::ReduceScatter => mean(received()),
    };
    let totals = if kind == Kind::Alltoallv { sent().zip(received()).collect() } else { Vec::new() };
    let root = kind.is_rooted().then(|| root(kind, parts)).transpose()?;
    Ok(JointOperation { kind, root: root.map(|place| members[place]), bytes, totals })
}

/// Which member is the root: the only one whose bytes are those of a root, or else the only one that says so.
fn root(kind: Kind, parts: &[&OwnPart]) -> Result<usize, ProgramError> {
    let only = |is_root: &dyn Fn(&Sides) -> bool| {
        let mut found = (0..parts.len()).filter(|&place| is_root(&parts[place].sides));
        found.next().filter(|_| found.next().is_none())
    };
    let by_bytes = match kind {
        Kind::Bcast => only(&|sides| sides.sent > 0 && sides.received == 0),
        Kind::Reduce => only(&|sides| sides.received > 0 && sides.sent == 0),
        Kind::Scatter => only(&|sides| sides.sent > 0),
        _ => only(&|sides| sides.received > 0),
    };
    by_bytes.or_else(|| only(&|sides| sides.is_root)).ok_or_else(|| {
        ProgramError::new(format!(
            "nobody, or several, are the root of this {}; expected an event with type {} and value 1 at one member",
            kind.name(),
            calls::ROOT
        ))
        .line(parts[0].line)
    })
}

/// The mean, rounded up.
fn mean(values: impl ExactSizeIterator<Item = u64>) -> u64 {
    let count = values.len().max(1) as u128;
    let sum: u128 = values.map(u128::from).sum();
    sum.div_ceil(count) as u64
}

/// What the member at a place exchanges with each other, of what all send and receive.
fn pairs(totals: &[(u64, u64)], place: usize) -> Bytes {
    let all: u128 = totals.iter().map(|total| u128::from(total.1)).sum();
    let pair = |sent: u64, received: u64| {
        let share = (u128::from(sent) * u128::from(received)).checked_div(all).unwrap_or(0);
        u64::try_from(share).unwrap_or(u64::MAX)
    };
    let (sent, received) = totals[place];
    Bytes::Each {
        sent: totals.iter().map(|total| pair(sent, total.1)).collect(),
        received: totals.iter().map(|total| pair(total.0, received)).collect(),
    }
}
