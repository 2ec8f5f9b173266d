//! What must hold within one rank of a sequence.

use crate::collectives::Kind;
use crate::error::ProgramError;
use crate::record::{Bytes, Collective, Communicator, Message, Rank, Record};
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// Goes through the records of one rank after the other and refuses what cannot be executed whatever other ranks do.
pub struct RecordRules {
    members: Members,
    rank: Rank,
    /// Requests that are open: number, and line where it was opened.
    open: FxHashMap<u32, Option<u64>>,
}

impl RecordRules {
    /// Refuses communicators with ranks that do not exist or that are there twice, and a number 0 without all ranks.
    pub fn new(ranks: u32, communicators: &[Arc<[Rank]>]) -> Result<Self, ProgramError> {
        Ok(Self { members: Members::new(ranks, communicators)?, rank: 0, open: FxHashMap::default() })
    }

    /// Who is in which communicator.
    pub fn members(&self) -> &Members {
        &self.members
    }

    /// The records of a rank follow.
    pub fn begin(&mut self, rank: Rank) {
        self.rank = rank;
        self.open.clear();
    }

    /// The next record of the rank; the line is where it stands, if it is from a file.
    #[inline]
    pub fn record(&mut self, record: &Record, line: Option<u64>) -> Result<(), ProgramError> {
        self.call(record, line).map_err(|error| self.locate(error, line))
    }

    #[inline]
    fn call(&mut self, record: &Record, line: Option<u64>) -> Result<(), ProgramError> {
        match record {
            Record::Compute { .. } => Ok(()),
            Record::Send { message, request } | Record::Receive { message, request, .. } => {
                self.message(message)?;
                request.map_or(Ok(()), |request| self.open(request, line))
            }
            Record::Wait { requests } => requests.iter().try_for_each(|&request| self.close(request)),
            Record::Collective(collective) => self.collective(collective),
            Record::Begin { collective, request } => {
                self.collective(collective)?;
                self.open(*request, line)
            }
        }
    }

    /// The rank has no further records.
    pub fn end(&mut self) -> Result<(), ProgramError> {
        match self.open.iter().min_by_key(|(request, line)| (**line, **request)) {
            None => Ok(()),
            Some((request, line)) => {
                let error = ProgramError::new(format!(
                    "request {request} is never waited for; expected a wait for it behind this record"
                ));
                Err(self.locate(error, *line))
            }
        }
    }

    fn locate(&self, error: ProgramError, line: Option<u64>) -> ProgramError {
        ProgramError { line, ..error.rank(self.rank) }
    }

    #[inline]
    fn message(&self, message: &Message) -> Result<(), ProgramError> {
        let Message { peer, communicator, .. } = *message;
        if peer >= self.members.ranks {
            let last = self.members.ranks - 1;
            return Err(ProgramError::new(format!("expected a rank from 0 to {last} as peer, got {peer}")));
        }
        self.member(communicator, self.rank)?;
        self.member(communicator, peer)
    }

    #[inline]
    fn member(&self, communicator: Communicator, rank: Rank) -> Result<(), ProgramError> {
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
    fn open(&mut self, request: u32, line: Option<u64>) -> Result<(), ProgramError> {
        let Some(before) = self.open.insert(request, line) else { return Ok(()) };
        let place = before.map_or(String::new(), |line| format!(" since line {line}"));
        Err(ProgramError::new(format!(
            "request {request} is already open{place}; expected a number that no open request has"
        )))
    }

    #[inline]
    fn close(&mut self, request: u32) -> Result<(), ProgramError> {
        if self.open.remove(&request).is_some() {
            return Ok(());
        }
        Err(ProgramError::new(format!(
            "waits for request {request}, which is not open; expected the number of an open request"
        )))
    }

    fn collective(&self, collective: &Collective) -> Result<(), ProgramError> {
        let Collective { kind, communicator, root, ref bytes } = *collective;
        self.member(communicator, self.rank)?;
        self.root(kind, communicator, root)?;
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

    fn root(&self, kind: Kind, communicator: Communicator, root: Option<Rank>) -> Result<(), ProgramError> {
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

/// Who is in which communicator.
pub struct Members {
    /// Number of ranks of the program.
    pub ranks: u32,
    sizes: Vec<usize>,
    /// The ranks of each communicator other than 0 in ascending order, and where each stands in the communicator.
    sorted: Vec<Box<[(Rank, u32)]>>,
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

    fn sort(ranks: u32, number: Communicator, members: &[Rank]) -> Result<Box<[(Rank, u32)]>, ProgramError> {
        let mut sorted: Box<[(Rank, u32)]> = members.iter().copied().zip(0..).collect();
        sorted.sort_unstable();
        if let Some(pair) = sorted.windows(2).find(|pair| pair[0].0 == pair[1].0) {
            let twice = pair[0].0;
            return Err(ProgramError::new(format!("communicator {number} has rank {twice} twice")));
        }
        match sorted.last() {
            None => Err(ProgramError::new(format!("communicator {number} has no members"))),
            Some(&(last, _)) if last >= ranks => Err(ProgramError::new(format!(
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

    /// Where the rank stands in the communicator, if it is in it.
    #[inline]
    pub fn place(&self, communicator: Communicator, rank: Rank) -> Option<u32> {
        if communicator == 0 {
            return (rank < self.ranks).then_some(rank);
        }
        let sorted = self.sorted.get(communicator as usize - 1)?;
        let found = sorted.binary_search_by_key(&rank, |&(member, _)| member).ok()?;
        Some(sorted[found].1)
    }
}
