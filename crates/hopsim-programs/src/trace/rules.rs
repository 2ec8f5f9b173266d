//! Checks of a trace that need only the records of one rank: peers, roots and communicators exist and have
//! the rank as a member, sizes fit the collective, and every request is opened before it is waited for, and
//! waited for in the end. What must agree between ranks is checked in `check.rs`.
//!
//! The readers of the formats (`formats/mpt.rs`, `formats/dimemas.rs`) call [`RecordRules`] with each record
//! that they read, so that an error names its line; `check.rs` calls it for traces that are in memory.
//! [`Members`] is used alone by the export to GOAL, too. Nothing here changes a trace, or keeps more of it
//! than its communicators and the requests that are open.

use crate::collectives::Kind;
use crate::error::ProgramError;
use crate::record::{Bytes, Collective, Communicator, Message, Rank, Record};
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// Rules for the records of one rank after the other: they refuse what cannot be executed whatever other
/// ranks do.
///
/// For each rank call [`Self::begin_rank`], then [`Self::check_record`] for its records in order, then
/// [`Self::end_rank`].
pub struct RecordRules {
    members: Members,
    /// The rank whose records are being checked.
    rank: Rank,
    /// The requests of the rank that are open, with the lines in which they were opened, if there is a file.
    open_requests: FxHashMap<u32, Option<u64>>,
}

impl RecordRules {
    /// The rules for a trace with these communicators. Refuses communicators with ranks that do not exist or
    /// are there twice, and a communicator 0 other than all ranks in order.
    pub fn new(ranks: u32, communicators: &[Arc<[Rank]>]) -> Result<Self, ProgramError> {
        Ok(Self {
            members: Members::new(ranks, communicators)?,
            rank: 0,
            open_requests: FxHashMap::default(),
        })
    }

    /// The members of the communicators of the trace.
    pub fn members(&self) -> &Members {
        &self.members
    }

    /// Begins with the records of a rank, which has no open requests yet.
    pub fn begin_rank(&mut self, rank: Rank) {
        self.rank = rank;
        self.open_requests.clear();
    }

    /// Checks the next record of the rank. The line is that of the record in its file, for errors; `None` if
    /// it stands in none.
    #[inline]
    pub fn check_record(&mut self, record: &Record, line: Option<u64>) -> Result<(), ProgramError> {
        self.check_by_kind(record, line).map_err(|error| self.locate(error, line))
    }

    #[inline]
    fn check_by_kind(&mut self, record: &Record, line: Option<u64>) -> Result<(), ProgramError> {
        match record {
            Record::Compute { .. } => Ok(()),
            Record::Send { message, request } | Record::Receive { message, request, .. } => {
                self.check_message(message)?;
                request.map_or(Ok(()), |request| self.open_request(request, line))
            }
            Record::Wait { requests } => requests.iter().try_for_each(|&request| self.close_request(request)),
            Record::Collective(collective) => self.check_collective(collective),
            Record::Begin { collective, request } => {
                self.check_collective(collective)?;
                self.open_request(*request, line)
            }
        }
    }

    /// Refuses requests that are open though the rank has no further records. The error names the one that
    /// was opened first, and so is the same in every run.
    pub fn end_rank(&self) -> Result<(), ProgramError> {
        match self.open_requests.iter().min_by_key(|(request, line)| (**line, **request)) {
            None => Ok(()),
            Some((request, line)) => {
                let error = ProgramError::new(format!(
                    "request {request} is never waited for; expected a wait for it behind this record"
                ));
                Err(self.locate(error, *line))
            }
        }
    }

    /// The error with the place where it happened.
    fn locate(&self, error: ProgramError, line: Option<u64>) -> ProgramError {
        ProgramError { line, ..error.rank(self.rank) }
    }

    #[inline]
    fn check_message(&self, message: &Message) -> Result<(), ProgramError> {
        let Message { peer, communicator, .. } = *message;
        if peer >= self.members.ranks {
            let last = self.members.ranks - 1;
            return Err(ProgramError::new(format!("expected a rank from 0 to {last} as peer, got {peer}")));
        }
        self.check_member(communicator, self.rank)?;
        self.check_member(communicator, peer)
    }

    #[inline]
    fn check_member(&self, communicator: Communicator, rank: Rank) -> Result<(), ProgramError> {
        // All ranks are in communicator 0.
        if communicator == 0 || self.members.place(communicator, rank).is_some() {
            return Ok(());
        }
        let reason = match self.members.size(communicator) {
            Some(_) => format!("rank {rank} is not in communicator {communicator}"),
            None => match self.members.sizes.len() {
                1 => format!("there is no communicator {communicator}; expected 0, the only one"),
                count => {
                    format!("there is no communicator {communicator}; expected one from 0 to {}", count - 1)
                }
            },
        };
        Err(ProgramError::new(reason))
    }

    #[inline]
    fn open_request(&mut self, request: u32, line: Option<u64>) -> Result<(), ProgramError> {
        let Some(before) = self.open_requests.insert(request, line) else { return Ok(()) };
        let place = before.map_or(String::new(), |line| format!(" since line {line}"));
        Err(ProgramError::new(format!(
            "request {request} is already open{place}; expected a number that no open request has"
        )))
    }

    #[inline]
    fn close_request(&mut self, request: u32) -> Result<(), ProgramError> {
        if self.open_requests.remove(&request).is_some() {
            return Ok(());
        }
        Err(ProgramError::new(format!(
            "waits for request {request}, which is not open; expected the number of an open request"
        )))
    }

    fn check_collective(&self, collective: &Collective) -> Result<(), ProgramError> {
        let Collective { kind, communicator, root, ref bytes } = *collective;
        self.check_member(communicator, self.rank)?;
        self.check_root(kind, communicator, root)?;
        let members = self.members.size(communicator).unwrap_or(0);
        match bytes {
            Bytes::Same(0) if kind == Kind::Barrier => Ok(()),
            Bytes::Same(_) if !matches!(kind, Kind::Barrier | Kind::Alltoallv) => Ok(()),
            Bytes::Each { sent, received } if kind == Kind::Alltoallv => {
                for (what, sizes) in [("sends", sent), ("receives", received)] {
                    if sizes.len() != members {
                        return Err(ProgramError::new(format!(
                            "alltoallv {what} {} sizes; expected {members}, one for each member of communicator \
                             {communicator}",
                            sizes.len()
                        )));
                    }
                }
                Ok(())
            }
            _ => Err(ProgramError::new(match kind {
                Kind::Barrier => "a barrier carries no bytes; expected 0".to_string(),
                Kind::Alltoallv => "alltoallv needs a size for each member".to_string(),
                _ => format!("{} has one size, not one for each member", kind.name()),
            })),
        }
    }

    fn check_root(
        &self,
        kind: Kind,
        communicator: Communicator,
        root: Option<Rank>,
    ) -> Result<(), ProgramError> {
        let name = kind.name();
        let reason = match root {
            Some(root) if !kind.is_rooted() => format!("{name} has no root; expected none, got rank {root}"),
            Some(root) if self.members.place(communicator, root).is_none() => {
                format!(
                    "the root of {name}, {root}, is not in communicator {communicator}; expected a member"
                )
            }
            None if kind.is_rooted() => {
                format!("{name} needs a root; expected a member of communicator {communicator}")
            }
            _ => return Ok(()),
        };
        Err(ProgramError::new(reason))
    }
}

/// A rank in a communicator.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Member {
    /// The rank in the program. It comes first: members are sorted by it.
    rank: Rank,
    /// The place of the rank in the communicator, from 0.
    place: u32,
}

/// The members of all communicators of a program.
pub struct Members {
    /// Number of ranks of the program.
    pub ranks: u32,
    /// Number of members of each communicator.
    sizes: Vec<usize>,
    /// The members of each communicator, sorted by rank. Communicator 0 is left out: it has all ranks in
    /// order, so that the place of a rank in it is the rank.
    sorted: Vec<Box<[Member]>>,
}

impl Members {
    fn new(ranks: u32, communicators: &[Arc<[Rank]>]) -> Result<Self, ProgramError> {
        if !communicators.first().is_some_and(|all| all.iter().copied().eq(0..ranks)) {
            return Err(ProgramError::new(format!(
                "communicator 0 is not all ranks in order; expected 0 to {}",
                i64::from(ranks) - 1
            )));
        }
        let sorted = communicators[1..].iter().zip(1..);
        let sorted =
            sorted.map(|(members, number)| Self::sort(ranks, number, members)).collect::<Result<_, _>>()?;
        Ok(Self { ranks, sizes: communicators.iter().map(|members| members.len()).collect(), sorted })
    }

    /// The members of communicator `number`, sorted, in a program with so many ranks.
    fn sort(ranks: u32, number: Communicator, members: &[Rank]) -> Result<Box<[Member]>, ProgramError> {
        let mut sorted: Box<[Member]> =
            members.iter().zip(0..).map(|(&rank, place)| Member { rank, place }).collect();
        sorted.sort_unstable();
        if let Some(pair) = sorted.windows(2).find(|pair| pair[0].rank == pair[1].rank) {
            let twice = pair[0].rank;
            return Err(ProgramError::new(format!("communicator {number} has rank {twice} twice")));
        }
        match sorted.last() {
            None => Err(ProgramError::new(format!("communicator {number} has no members"))),
            Some(&Member { rank: last, .. }) if last >= ranks => Err(ProgramError::new(format!(
                "communicator {number} has rank {last}; there are only ranks 0 to {}",
                i64::from(ranks) - 1
            ))),
            Some(_) => Ok(sorted),
        }
    }

    /// Number of members, if there is such a communicator.
    #[inline]
    pub fn size(&self, communicator: Communicator) -> Option<usize> {
        self.sizes.get(communicator as usize).copied()
    }

    /// The place of a rank in a communicator, from 0; `None` if it is no member.
    #[inline]
    pub fn place(&self, communicator: Communicator, rank: Rank) -> Option<u32> {
        if communicator == 0 {
            return (rank < self.ranks).then_some(rank);
        }
        let sorted = self.sorted.get(communicator as usize - 1)?;
        let found = sorted.binary_search_by_key(&rank, |member| member.rank).ok()?;
        Some(sorted[found].place)
    }
}
