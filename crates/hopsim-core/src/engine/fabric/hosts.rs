//! Nodes of a fabric that run programs: each rank has a host, whose messages go to the channel adapter. Beside these nodes are
//! others that draw messages. See `hopsim_programs::host` for what a host does, and docs/infiniband.md, Programs, for when.

use super::drawing::Drawing;
use hopsim_experiment::plan::FabricPlan;
use hopsim_infiniband::fabric::BLOCK;
use hopsim_infiniband::time::{NEVER, Ticks};
use hopsim_infiniband::workload::{Message, Workload};
use hopsim_measure::programs::ProgramCounts;
use hopsim_network::network::NONE;
use hopsim_programs::host::{Cycle, Host, Letter, Outgoing};
use hopsim_programs::standstill::RankState;

/// A rank on its node.
struct FabricSeat {
    job: u8,
    node: u32,
    /// The seat of rank 0 of the job.
    first: u32,
    service_level: u8,
    host: Host,
    start: Cycle,
    has_begun: bool,
    is_endless: bool,
    /// First cycle in which another message may begin.
    next_message: Cycle,
    /// Last cycle in which the rank did something.
    last_event: Cycle,
    /// Messages that are there and that the host does not know of, each with its cycle.
    letters: Vec<(Letter, Cycle)>,
}

impl FabricSeat {
    fn is_done(&self) -> bool {
        self.has_begun && self.host.is_done()
    }

    /// The cycle in which the rank does something though nothing happens to it.
    fn next(&self) -> Cycle {
        let own = if self.has_begun { self.host.next() } else { self.start };
        if self.host.sends() { own.min(self.next_message) } else { own }
    }
}

/// A message that has been given to a channel adapter.
#[derive(Clone, Copy)]
struct UnderWay {
    outgoing: Outgoing,
    /// The seat that the message is for.
    to: u32,
}

/// The nodes of a fabric, some of which run programs.
pub struct Hosts<'p> {
    plan: &'p FabricPlan,
    drawing: Drawing<'p>,
    /// The seat of each node, or `NONE`.
    seat_of: Vec<u32>,
    seats: Vec<FabricSeat>,
    /// Messages under way by their tags, and the tags that are free.
    under_way: Vec<Option<UnderWay>>,
    free: Vec<u64>,
    /// Ranks that are not done, apart from those that never are.
    left: usize,
    counts: ProgramCounts,
}

impl<'p> Hosts<'p> {
    /// The nodes of a plan before its programs begin.
    pub fn new(plan: &'p FabricPlan) -> Self {
        let (mut seat_of, mut seats) = (vec![NONE; plan.fabric.hosts as usize], Vec::new());
        for program in &plan.programs {
            let first = seats.len() as u32;
            for (rank, &node) in (0..).zip(&program.plan.nodes) {
                seat_of[node as usize] = seats.len() as u32;
                seats.push(FabricSeat {
                    job: program.job as u8,
                    node,
                    first,
                    service_level: program.service_level,
                    host: program.plan.host(rank),
                    start: program.plan.start,
                    has_begun: false,
                    is_endless: program.plan.is_endless,
                    next_message: 0,
                    last_event: program.plan.start,
                    letters: Vec::new(),
                });
            }
        }
        Self {
            plan,
            drawing: Drawing::new(plan),
            seat_of,
            left: seats.iter().filter(|seat| !seat.is_endless).count(),
            seats,
            under_way: Vec::new(),
            free: Vec::new(),
            counts: ProgramCounts::new(&plan.programs(), &plan.experiment.measure.streams),
        }
    }

    /// The ranks.
    pub fn ranks(&self) -> Vec<RankState<'_>> {
        let mut ranks: Vec<RankState<'_>> = Vec::with_capacity(self.seats.len());
        for seat in &self.seats {
            let waiting = seat.host.waiting().map(|outgoing| outgoing.letter);
            let here = seat.letters.iter().map(|(letter, _)| *letter);
            let under_way: Vec<Letter> = waiting.chain(here).collect();
            ranks.push(RankState {
                job: seat.job,
                is_busy: seat.next() < Cycle::MAX || !under_way.is_empty(),
                last_event: seat.last_event,
                under_way,
                host: &seat.host,
            });
        }
        for UnderWay { outgoing, to } in self.under_way.iter().flatten() {
            let rank = &mut ranks[*to as usize];
            rank.is_busy = true;
            rank.under_way.push(outgoing.letter);
        }
        ranks
    }

    /// What the ranks have counted in the whole run.
    pub fn take_counts(&mut self) -> ProgramCounts {
        for seat in &mut self.seats {
            self.counts.rank(seat.job, &mut seat.host);
        }
        std::mem::take(&mut self.counts)
    }
}

impl Hosts<'_> {
    /// The cycle that begins at or after a time.
    fn cycle(&self, time: Ticks) -> Cycle {
        time.div_ceil(self.plan.cycle) as Cycle
    }

    /// The rank of a seat learns of the messages that are there, and does what follows.
    fn run(&mut self, number: u32, now: Cycle) {
        let seat = &mut self.seats[number as usize];
        seat.letters.sort_unstable_by_key(|(letter, _)| (letter.source, letter.number));
        for (letter, there) in seat.letters.drain(..) {
            if letter.has_payload() {
                self.counts.message(seat.job, &letter, there);
            }
            seat.host.deliver(now, &letter, there);
        }
        let was_done = seat.is_done();
        if !seat.has_begun {
            seat.has_begun = true;
            seat.host.begin(now);
        }
        seat.host.run(now);
        seat.last_event = now;
        self.left -= usize::from(!was_done && seat.is_done() && !seat.is_endless);
    }

    /// The channel adapter of a seat gets the messages of its rank, as the gap between them allows.
    fn post(&mut self, number: u32, now: Cycle, messages: &mut Vec<Message>) {
        loop {
            let seat = &mut self.seats[number as usize];
            if seat.next_message > now {
                return;
            }
            let Some(outgoing) = seat.host.queue().pop_front() else { return };
            seat.next_message = now.saturating_add(seat.host.rules().gap);
            let (to, service_level) = (seat.first + outgoing.letter.destination, seat.service_level);
            let tag = self.free.pop().unwrap_or_else(|| {
                self.under_way.push(None);
                self.under_way.len() as u64 - 1
            });
            self.under_way[tag as usize] = Some(UnderWay { outgoing, to });
            let bytes = outgoing.letter.payload().max(u64::from(BLOCK));
            messages.push(Message { destination: self.seats[to as usize].node, service_level, bytes, tag });
        }
    }
}

impl Workload for Hosts<'_> {
    const HEARS: bool = true;

    fn first(&mut self, host: u32) -> Ticks {
        match self.seat_of[host as usize] {
            NONE => self.drawing.first(host),
            seat => Ticks::from(self.seats[seat as usize].start) * self.plan.cycle,
        }
    }

    fn act(&mut self, host: u32, now: Ticks, messages: &mut Vec<Message>) -> Ticks {
        let number = self.seat_of[host as usize];
        if number == NONE {
            return self.drawing.act(host, now, messages);
        }
        let cycle = self.cycle(now);
        let begins = Ticks::from(cycle) * self.plan.cycle;
        if begins > now {
            return begins;
        }
        self.run(number, cycle);
        self.post(number, cycle, messages);
        match self.seats[number as usize].next() {
            Cycle::MAX => NEVER,
            next => Ticks::from(next.max(cycle + 1)) * self.plan.cycle,
        }
    }

    fn is_over(&self) -> bool {
        self.left == 0
    }

    fn left(&mut self, host: u32, tag: u64, now: Ticks) {
        let (number, cycle) = (self.seat_of[host as usize], self.cycle(now));
        if number != NONE
            && let Some(UnderWay { outgoing, .. }) = &self.under_way[tag as usize]
        {
            self.seats[number as usize].host.will_leave(outgoing, cycle);
        }
    }

    fn arrived(&mut self, host: u32, tag: u64, now: Ticks) {
        let (number, cycle) = (self.seat_of[host as usize], self.cycle(now));
        if number != NONE
            && let Some(UnderWay { outgoing, .. }) = self.under_way[tag as usize].take()
        {
            self.free.push(tag);
            self.seats[number as usize].letters.push((outgoing.letter, cycle));
        }
    }
}
