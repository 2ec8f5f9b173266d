//! Random programs in which every rank calls one record after the other.

use super::{ANYONE, Draw};
use hopsim_programs::collectives::Kind;
use hopsim_programs::formats::mpt;
use hopsim_programs::record::{Bytes, Collective, Message, Record};
use hopsim_programs::trace::{Tape, Trace};
use std::collections::VecDeque;
use std::sync::Arc;

/// A program as text.
pub fn text(ranks: u32, draws: &[Draw]) -> String {
    let trace = Maker::new(ranks, draws).trace();
    let mut text = Vec::new();
    mpt::write(&trace, &mut text).unwrap();
    String::from_utf8(text).unwrap()
}

/// What ranks do together.
enum Event {
    Message { from: u32, message: Message, any: bool },
    Collective { communicator: u32, kind: Kind, root: u32, size: u64 },
    Compute { rank: u32, nanoseconds: u64 },
    Wait { rank: u32, count: usize },
}

/// A rank as far as its program has been made.
#[derive(Default)]
struct Part {
    records: Vec<Record>,
    /// Requests that may be waited for.
    open: Vec<u32>,
    requests: u32,
    /// Messages for it that it has not posted a receive for, in order: their numbers.
    coming: VecDeque<usize>,
    /// Receives posted before their turn: message and request.
    early: Vec<(usize, u32)>,
}

/// A program in the making.
struct Maker<'a> {
    communicators: Vec<Arc<[u32]>>,
    draws: &'a [Draw],
    events: Vec<Event>,
    parts: Vec<Part>,
}

impl<'a> Maker<'a> {
    fn new(ranks: u32, draws: &'a [Draw]) -> Self {
        // All, those with even numbers in falling order, and all but the first.
        let all: Arc<[u32]> = (0..ranks).collect();
        let even = (0..ranks).rev().filter(|rank| rank % 2 == 0).collect();
        let communicators = vec![all, even, (1..ranks).collect()];
        let mut maker = Self {
            communicators,
            draws,
            events: Vec::new(),
            parts: (0..ranks).map(|_| Part::default()).collect(),
        };
        maker.events = draws.iter().map(|draw| maker.event(draw)).collect();
        for (number, event) in maker.events.iter().enumerate() {
            if let Event::Message { message, .. } = event {
                maker.parts[message.peer as usize].coming.push_back(number);
            }
        }
        maker
    }

    fn event(&self, draw: &Draw) -> Event {
        let ranks = self.parts.len() as u32;
        let [first, second, third] = draw.who;
        let number = third as usize % self.communicators.len();
        let members = &self.communicators[number];
        if members.is_empty() {
            return Event::Compute { rank: first % ranks, nanoseconds: draw.size };
        }
        let member = |draw: u32| members[draw as usize % members.len()];
        let communicator = number as u32;
        match draw.what {
            0..=150 => {
                let any = draw.what < 25;
                let tag = if any { ANYONE } else { third / 7 % 2 };
                // Whoever takes it finds what it expects.
                let bytes = if any { 100 } else { draw.size };
                let (from, to) = (member(first), member(second));
                let message = Message { peer: to, tag, bytes, communicator };
                Event::Message { from, message, any }
            }
            151..=180 => {
                let kind = Kind::ALL[first as usize % Kind::ALL.len()];
                Event::Collective { communicator, kind, root: member(second), size: draw.size / 2 }
            }
            181..=230 => Event::Compute { rank: first % ranks, nanoseconds: 1 + draw.size },
            _ => Event::Wait { rank: first % ranks, count: second as usize % 4 },
        }
    }

    fn trace(mut self) -> Trace {
        for number in 0..self.events.len() {
            if self.draws[number].ahead {
                let rank = self.draws[number].who[2] as usize / 64 % self.parts.len();
                self.post_early(rank);
            }
            self.happen(number);
        }
        for part in &mut self.parts {
            part.wait(usize::MAX);
        }
        let tape = |part: Part| {
            let mut tape = Tape::new(0);
            part.records.iter().for_each(|record| tape.push(record));
            tape
        };
        let ranks = self.parts.into_iter().map(tape).collect();
        Trace { name: "random".into(), info: Vec::new(), communicators: self.communicators, ranks }
    }

    /// The receive of message `number`, which its receiver sees from the other side.
    fn receive(&self, number: usize, request: Option<u32>) -> Record {
        let Event::Message { from, message, any } = &self.events[number] else { unreachable!() };
        Record::Receive { message: Message { peer: *from, ..*message }, any_source: *any, request }
    }

    /// A rank posts its next receive before its turn.
    fn post_early(&mut self, rank: usize) {
        let Some(number) = self.parts[rank].coming.pop_front() else { return };
        let request = self.parts[rank].request();
        let record = self.receive(number, Some(request));
        self.parts[rank].records.push(record);
        self.parts[rank].early.push((number, request));
    }

    fn happen(&mut self, number: usize) {
        match self.events[number] {
            Event::Message { from, message, .. } => self.exchange(number, (from, message)),
            Event::Compute { rank, nanoseconds } => {
                self.parts[rank as usize].records.push(Record::Compute { nanoseconds });
            }
            Event::Wait { rank, count } => self.parts[rank as usize].wait(count),
            Event::Collective { communicator, kind, root, size } => {
                let members = self.communicators[communicator as usize].clone();
                for place in 0..members.len() {
                    let bytes = bytes(kind, (place, members.len()), size);
                    let root = kind.is_rooted().then_some(root);
                    let record = Record::Collective(Collective { kind, communicator, root, bytes });
                    self.parts[members[place] as usize].records.push(record);
                }
            }
        }
    }

    /// Both sides of a message.
    fn exchange(&mut self, number: usize, (from, message): (u32, Message)) {
        let [sender_waits, receiver_waits] = self.draws[number].blocks;
        let part = &mut self.parts[from as usize];
        let request = part.optional(sender_waits);
        part.records.push(Record::Send { message, request });
        let to = message.peer as usize;
        if let Some(place) = self.parts[to].early.iter().position(|early| early.0 == number) {
            let (_, request) = self.parts[to].early.remove(place);
            self.parts[to].open.push(request);
            return;
        }
        assert_eq!(self.parts[to].coming.pop_front(), Some(number), "receives are posted in order");
        let request = self.parts[to].optional(receiver_waits);
        let record = self.receive(number, request);
        self.parts[to].records.push(record);
    }
}

impl Part {
    fn request(&mut self) -> u32 {
        self.requests += 1;
        self.requests
    }

    /// A request that may be waited for, unless the call blocks.
    fn optional(&mut self, blocks: bool) -> Option<u32> {
        if blocks {
            return None;
        }
        let request = self.request();
        self.open.push(request);
        Some(request)
    }

    /// Waits for so many requests, the newest first.
    fn wait(&mut self, count: usize) {
        let first = self.open.len().saturating_sub(count);
        let requests = self.open.split_off(first);
        if !requests.is_empty() {
            self.records.push(Record::Wait { requests: requests.into_iter().rev().collect() });
        }
    }
}

/// What a member brings into a collective operation.
fn bytes(kind: Kind, (place, members): (usize, usize), size: u64) -> Bytes {
    if kind != Kind::Alltoallv {
        return Bytes::Same(if kind == Kind::Barrier { 0 } else { size });
    }
    let pair = |from: usize, to: usize| (size * (7 * from + 13 * to) as u64 / 8) % 150;
    Bytes::Each {
        sent: (0..members).map(|to| pair(place, to)).collect(),
        received: (0..members).map(|from| pair(from, place)).collect(),
    }
}
