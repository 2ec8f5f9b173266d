//! The workload of a fabric on which programs run: on each node of a program a host executes one
//! rank, and the messages of the rank are given to the channel adapter of the node. Nodes without a program
//! may send random messages beside them (`drawing.rs`).
//!
//! `run` in `mod.rs` beside this file makes one [`Hosts`] for a run and asks it, now and then, how far the
//! ranks are. All else is called by the engine of `hopsim-infiniband`, through the trait [`Workload`]. A
//! workload changes nothing but its own state: it reaches the fabric only by the messages that
//! [`Workload::act`] returns.
//!
//! What a host does in a cycle is said in `hopsim_programs::host`, and which instants are cycles in
//! docs/infiniband.md, Programs.

use super::drawing::Drawing;
use hopsim_experiment::plan::FabricPlan;
use hopsim_infiniband::fabric::BLOCK;
use hopsim_infiniband::time::{NEVER, Ticks};
use hopsim_infiniband::workload::{Message, Workload};
use hopsim_measure::programs::ProgramCounts;
use hopsim_network::network::NONE;
use hopsim_programs::host::{Cycle, Host, Letter, Outgoing};
use hopsim_programs::standstill::RankState;

/// A rank on its node. Seats are numbered job by job, and within a job by rank.
struct FabricSeat {
    job: u8,
    node: u32,
    /// The number of the seat of rank 0 of the job: the seat of rank r is r further.
    seat_of_rank_0: u32,
    service_level: u8,
    host: Host,
    start: Cycle,
    has_begun: bool,
    is_endless: bool,
    /// First cycle in which another message may begin.
    next_message: Cycle,
    /// Last cycle in which the rank did something.
    last_event: Cycle,
    /// Messages that have arrived since the host was last told, each with the cycle of its arrival: the host
    /// learns of all of them together when the rank acts next.
    letters: Vec<(Letter, Cycle)>,
}

impl FabricSeat {
    fn is_done(&self) -> bool {
        self.has_begun && self.host.is_done()
    }

    /// The first cycle in which the rank does something even if no message of it leaves or arrives.
    fn next_cycle(&self) -> Cycle {
        let own = if self.has_begun { self.host.next() } else { self.start };
        if self.host.sends() { own.min(self.next_message) } else { own }
    }
}

/// A message that has been given to a channel adapter and has not arrived.
#[derive(Clone, Copy)]
struct UnderWay {
    outgoing: Outgoing,
    /// The seat of the receiving rank.
    receiver: u32,
}

/// The nodes of a fabric, some of which run programs.
pub struct Hosts<'p> {
    plan: &'p FabricPlan,
    drawing: Drawing<'p>,
    /// The seat of each node, or `NONE`.
    seat_of: Vec<u32>,
    seats: Vec<FabricSeat>,
    /// Messages under way, by the tags with which the engine names them.
    under_way: Vec<Option<UnderWay>>,
    /// Tags of messages that have arrived: the next messages get them, so that `under_way` does not grow with
    /// the run.
    free_tags: Vec<u64>,
    /// How many ranks are not done, without those whose programs never end.
    ranks_left: usize,
    counts: ProgramCounts,
}

impl<'p> Hosts<'p> {
    /// The nodes of a plan before its programs begin.
    pub fn new(plan: &'p FabricPlan) -> Self {
        let (mut seat_of, mut seats) = (vec![NONE; plan.fabric.hosts as usize], Vec::new());
        for program in &plan.programs {
            let seat_of_rank_0 = seats.len() as u32;
            for (rank, &node) in (0..).zip(&program.plan.nodes) {
                seat_of[node as usize] = seats.len() as u32;
                seats.push(FabricSeat {
                    job: program.job as u8,
                    node,
                    seat_of_rank_0,
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
            ranks_left: seats.iter().filter(|seat| !seat.is_endless).count(),
            seats,
            under_way: Vec::new(),
            free_tags: Vec::new(),
            counts: ProgramCounts::new(&plan.programs(), &plan.experiment.measure.streams),
        }
    }

    /// What each rank is doing, in the order of the seats, for the search for programs that are stuck and for
    /// error messages.
    pub fn ranks(&self) -> Vec<RankState<'_>> {
        let mut ranks: Vec<RankState<'_>> = Vec::with_capacity(self.seats.len());
        for seat in &self.seats {
            let not_sent = seat.host.waiting().map(|outgoing| outgoing.letter);
            let not_told = seat.letters.iter().map(|(letter, _)| *letter);
            let under_way: Vec<Letter> = not_sent.chain(not_told).collect();
            ranks.push(RankState {
                job: seat.job,
                is_busy: seat.next_cycle() < Cycle::MAX || !under_way.is_empty(),
                last_event: seat.last_event,
                under_way,
                lost: Vec::new(),
                host: &seat.host,
            });
        }
        for UnderWay { outgoing, receiver } in self.under_way.iter().flatten() {
            let rank = &mut ranks[*receiver as usize];
            rank.is_busy = true;
            rank.under_way.push(outgoing.letter);
        }
        ranks
    }

    /// What the ranks have counted in the whole run. Called once, after the run: the counts are moved out and
    /// not kept.
    pub fn take_counts(&mut self) -> ProgramCounts {
        for seat in &mut self.seats {
            self.counts.rank(seat.job, &mut seat.host);
        }
        std::mem::take(&mut self.counts)
    }
}

impl Hosts<'_> {
    /// The first cycle that begins at `time` or after it: what happens between two cycles a host knows in the
    /// second.
    fn cycle(&self, time: Ticks) -> Cycle {
        time.div_ceil(self.plan.cycle) as Cycle
    }

    /// Tells the host of a seat which messages have arrived, and lets it do all that follows in cycle `now`.
    fn run(&mut self, number: u32, now: Cycle) {
        let seat = &mut self.seats[number as usize];
        // Hosts must be told in this order, and messages of several sources arrive in any.
        seat.letters.sort_unstable_by_key(|(letter, _)| (letter.source, letter.number));
        for (letter, arrived_at) in seat.letters.drain(..) {
            if letter.has_payload() {
                self.counts.message(seat.job, &letter, arrived_at);
            }
            seat.host.deliver(now, &letter, arrived_at);
        }
        let was_done = seat.is_done();
        if !seat.has_begun {
            seat.has_begun = true;
            seat.host.begin(now);
        }
        seat.host.run(now);
        seat.last_event = now;
        self.ranks_left -= usize::from(!was_done && seat.is_done() && !seat.is_endless);
    }

    /// Adds to `messages` what the rank of a seat gives its channel adapter in cycle `now`: all that it has
    /// queued, or, with a gap between messages, the first of the queue if the gap is over.
    fn post(&mut self, number: u32, now: Cycle, messages: &mut Vec<Message>) {
        loop {
            let seat = &mut self.seats[number as usize];
            if seat.next_message > now {
                return;
            }
            let Some(outgoing) = seat.host.queue().pop_front() else { return };
            seat.next_message = now.saturating_add(seat.host.rules().gap);
            let receiver = seat.seat_of_rank_0 + outgoing.letter.destination;
            let service_level = seat.service_level;
            let tag = self.free_tags.pop().unwrap_or_else(|| {
                self.under_way.push(None);
                self.under_way.len() as u64 - 1
            });
            self.under_way[tag as usize] = Some(UnderWay { outgoing, receiver });
            // A message has one block at least: request and leave of a rendezvous are sent though they have
            // no payload.
            let bytes = outgoing.letter.payload().max(u64::from(BLOCK));
            messages.push(Message {
                destination: self.seats[receiver as usize].node,
                service_level,
                bytes,
                tag,
            });
        }
    }
}

impl Workload for Hosts<'_> {
    // Ranks wait for messages that arrive, and for their own ones to leave.
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
        // The engine also asks at the instant of an event, and that may be between two cycles, where hosts do
        // nothing.
        if begins > now {
            return begins;
        }
        self.run(number, cycle);
        self.post(number, cycle, messages);
        match self.seats[number as usize].next_cycle() {
            Cycle::MAX => NEVER,
            next => Ticks::from(next.max(cycle + 1)) * self.plan.cycle,
        }
    }

    fn is_over(&self) -> bool {
        self.ranks_left == 0
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
            self.free_tags.push(tag);
            self.seats[number as usize].letters.push((outgoing.letter, cycle));
        }
    }
}
