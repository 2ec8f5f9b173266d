//! A collective operation while a member takes part in it.

use crate::collectives::{Algorithm, Call};
use crate::host::letter::Cycle;
use crate::host::machine::{Label, Machine, Sending, Work};
use crate::host::matching::Pattern;
use crate::host::rules::Rules;
use crate::record::{Bytes, Collective, Communicator, Rank};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Messages of collective operations have communicators of their own, so that they match among themselves; the number of the
/// operation in its communicator is their tag.
pub const COLLECTIVE: Communicator = 1 << 31;

/// What a member does at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exchange {
    /// What the member receives; posted first.
    pub receive: Option<Pattern>,
    /// What the member sends.
    pub send: Option<Sending>,
}

impl Exchange {
    /// The number of operations of the exchange.
    pub fn count(&self) -> u32 {
        u32::from(self.receive.is_some()) + u32::from(self.send.is_some())
    }

    /// Begins the exchange as operations that share a label, but for the index of the send: that is the next one, which nothing
    /// else has.
    pub fn begin(self, now: Cycle, machine: &mut Machine, label: Label) {
        if let Some(pattern) = self.receive {
            machine.begin(now, label, Work::Receive(pattern));
        }
        if let Some(sending) = self.send {
            let label = Label { index: label.index + 1, ..label };
            machine.begin(now, label, Work::Send(sending));
        }
    }
}

/// The place of a rank in a communicator; 0 if it is none of its members, which programs are checked for.
pub fn place(members: &[Rank], rank: Rank) -> u32 {
    members.iter().position(|&member| member == rank).unwrap_or(0) as u32
}

/// One member's way through a collective operation, in a snapshot.
#[derive(Clone, Serialize, Deserialize)]
pub struct UnrollingState {
    collective: Collective,
    place: u32,
    number: u32,
    round: u32,
}

/// One member's way through a collective operation.
pub struct Unrolling {
    collective: Collective,
    algorithm: Algorithm,
    members: Arc<[Rank]>,
    place: u32,
    root: u32,
    number: u32,
    round: u32,
}

impl Unrolling {
    /// The way of the member at a `place` through operation `number` of the communicator.
    pub fn new(
        rules: &Rules,
        collective: Collective,
        members: &Arc<[Rank]>,
        (place, number): (u32, u32),
    ) -> Self {
        let root = collective.root.map_or(0, |root| self::place(members, root));
        let bytes = if let Bytes::Same(bytes) = collective.bytes { bytes } else { 0 };
        let algorithm = rules.collectives.algorithm(collective.kind, members.len() as u32, bytes);
        Self { collective, algorithm, members: Arc::clone(members), place, root, number, round: 0 }
    }

    /// How far the member is.
    pub fn save(&self) -> UnrollingState {
        let Self { collective, algorithm: _, members: _, place, root: _, number, round } = self;
        UnrollingState { collective: collective.clone(), place: *place, number: *number, round: *round }
    }

    /// The way of a member that goes on from a snapshot; `communicators` are those of the program.
    pub fn load(rules: &Rules, communicators: &[Arc<[Rank]>], state: UnrollingState) -> Self {
        let UnrollingState { collective, place, number, round } = state;
        let members = &communicators[collective.communicator as usize];
        Self { round, ..Self::new(rules, collective, members, (place, number)) }
    }
}

impl Iterator for Unrolling {
    /// What the member does next.
    type Item = Exchange;

    fn next(&mut self) -> Option<Exchange> {
        let (bytes, each) = match &self.collective.bytes {
            Bytes::Same(bytes) => (*bytes, None),
            Bytes::Each { sent, received } => (0, Some((&**sent, &**received))),
        };
        let (kind, members) = (self.collective.kind, self.members.len() as u32);
        let call = Call { kind, members, place: self.place, root: self.root, bytes, each };
        let step = self.algorithm.step(&call, &mut self.round)?;
        let (tag, communicator) = (self.number, self.collective.communicator | COLLECTIVE);
        let rank = |member: u32| self.members[member as usize];
        Some(Exchange {
            receive: step.receive.map(|part| Pattern {
                source: Some(rank(part.member)),
                tag: Some(tag),
                communicator,
            }),
            send: step.send.map(|part| Sending {
                to: rank(part.member),
                tag,
                communicator,
                bytes: part.bytes,
            }),
        })
    }
}
