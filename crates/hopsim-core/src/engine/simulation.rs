//! One simulation: the cycle, and what becomes due in it.
//!
//! A cycle is: credits arrive, heads arrive, routers with a head allocate, nodes generate and inject. A grant
//! computes everything that follows from it at once (see `transfer`), so nothing else happens in between.
//! Whatever crosses from one router to another takes at least one cycle, so the order of routers within a
//! cycle does not matter.

use super::mask::Mask;
use super::nic::Nics;
use super::packet::Packet;
use super::pool::Pool;
use super::routers::{Routers, slot_codes};
use super::wheel::Wheel;
use crate::config::{Ejection, InjectionCount, InjectionLatency, InputPointer, OutputHold};
use crate::measure::recorder::Recorder;
use crate::network::{Layout, Link, NONE};
use crate::plan::Plan;
use crate::rng::{Purpose, Stream};
use crate::routing::{Head, RouteState};
use crate::trace::Observer;

/// A head that arrives in a slot; without a packet, the next one of an injection VC.
#[derive(Clone, Copy, Debug)]
pub struct Arrival {
    /// Global slot id.
    pub slot: u32,
    /// Packet or `NONE`.
    pub packet: u32,
}

/// Space that becomes free behind an output VC.
#[derive(Clone, Copy, Debug)]
pub struct Credit {
    /// Global pair id.
    pub pair: u32,
    /// Phits.
    pub phits: u32,
}

/// Constants of the run that hot code reads.
pub struct Rules {
    /// Allocator iterations per cycle.
    pub iterations: u32,
    /// From grant to the head of the output queue.
    pub crossbar: u32,
    /// From arrival to first request.
    pub pipeline: u32,
    /// Shortest packet of any job.
    pub shortest: u32,
    /// Whether packets of several lengths meet.
    pub mixed: bool,
    /// `Ejection::IdleNode`.
    pub idle_node: bool,
    /// `OutputHold::Speedup`.
    pub hold_speedup: bool,
    /// `InputPointer::Request`.
    pub on_request: bool,
    /// `InjectionCount::Buffer`.
    pub count_at_buffer: bool,
    /// `InjectionLatency::Departure`.
    pub until_departure: bool,
}

/// Per-visit working space.
pub struct Scratch<const W: usize> {
    /// Slot nominated by each input port.
    pub nominee: Vec<u16>,
    /// Input ports that request each output port.
    pub requesters: Vec<Mask<W>>,
}

/// A simulation of a plan.
pub struct Simulation<'p, const W: usize, O> {
    pub(super) plan: &'p Plan,
    pub(super) layout: &'p Layout,
    pub(super) links: &'p [Link],
    pub(super) rules: Rules,
    /// Code of every slot -- constant.
    pub(super) codes: Vec<u8>,
    pub(super) now: u32,
    pub(super) routers: Routers<W>,
    pub(super) packets: Pool<Packet>,
    pub(super) arrivals: Wheel<Arrival>,
    pub(super) credits: Wheel<Credit>,
    pub(super) nics: Nics,
    pub(super) scratch: Scratch<W>,
    /// Measurements.
    pub recorder: Recorder,
    /// Who watches.
    pub observer: O,
}

fn rules(plan: &Plan) -> Rules {
    let (router, nic) = (&plan.router, &plan.nic);
    Rules {
        iterations: router.allocator.iterations,
        crossbar: router.crossbar_latency,
        pipeline: router.pipeline_latency,
        shortest: plan.shortest_packet(),
        mixed: plan.shortest_packet() != plan.longest_packet(),
        idle_node: router.ejection == Ejection::IdleNode,
        hold_speedup: router.output_hold == OutputHold::Speedup,
        on_request: router.input_pointer == InputPointer::Request,
        count_at_buffer: nic.injection_count == InjectionCount::Buffer,
        until_departure: nic.injection_latency == InjectionLatency::Departure,
    }
}

impl<'p, const W: usize, O: Observer> Simulation<'p, W, O> {
    /// An empty network at cycle 0.
    pub fn new(plan: &'p Plan, observer: O) -> Self {
        let (network, rules) = (&*plan.network, rules(plan));
        let classes = &network.classes;
        let latency = classes.links.iter().map(|c| c.latency).max().unwrap_or(1);
        let queue = plan.router.output_buffer.unwrap_or(0) + 2 * plan.longest_packet();
        let ahead = rules.crossbar + queue + latency.max(classes.terminal.latency) + rules.pipeline;
        let ports = network.layout.ports();
        Self {
            plan,
            layout: &network.layout,
            links: &network.links,
            codes: slot_codes(plan, &network.layout),
            now: 0,
            routers: Routers::new(plan),
            packets: Pool::new(),
            arrivals: Wheel::new(ahead + 1),
            credits: Wheel::new(latency),
            nics: Nics::new(plan),
            scratch: Scratch { nominee: vec![0; ports], requesters: vec![Mask::EMPTY; ports] },
            recorder: Recorder::new(plan),
            rules,
            observer,
        }
    }

    /// The present cycle: the next one to be simulated.
    pub fn now(&self) -> u32 {
        self.now
    }

    /// Simulates one cycle.
    pub fn cycle(&mut self) {
        self.recorder.start_cycle(self.now);
        self.absorb_credits();
        self.absorb_heads();
        self.allocate();
        self.run_nodes();
        self.now += 1;
    }

    fn absorb_credits(&mut self) {
        let due = self.credits.take(self.now);
        for &Credit { pair, phits } in &due {
            let state = &mut self.routers.pairs[pair as usize];
            state.credits += phits;
            if state.credits >= self.rules.shortest {
                let shift = self.layout.pair_shift;
                let index = pair & ((1 << shift) - 1);
                self.routers.hot[(pair >> shift) as usize].credit.insert(index as usize);
            }
        }
        self.credits.put_back(self.now, due);
    }

    fn absorb_heads(&mut self) {
        let due = self.arrivals.take(self.now);
        for &Arrival { slot, packet } in &due {
            if packet == NONE {
                self.promote(slot);
                continue;
            }
            let queue = &mut self.routers.slots[slot as usize].queue;
            let head = queue.is_empty();
            queue.push(&mut self.packets, packet);
            if head {
                self.register_head(slot, packet);
            }
        }
        self.arrivals.put_back(self.now, due);
    }

    /// The packet has become the head of its queue and may ask for an output.
    #[inline]
    pub(super) fn register_head(&mut self, slot: u32, packet: u32) {
        let shift = self.layout.slot_shift;
        let (router, index) = ((slot >> shift) as usize, (slot & ((1 << shift) - 1)) as usize);
        self.routers.activate(router);
        let code = self.codes[index];
        if self.plan.routing.redecides(code) {
            self.routers.hot[router].redeciding.insert(index);
            return;
        }
        let packet = self.packets.get_mut(packet);
        let head = Head {
            router: router as u32,
            code,
            destination: packet.destination_router,
            terminal: u16::from(packet.terminal),
        };
        let (source, serial, seed) = (packet.source, packet.serial, self.plan.experiment.measure.seed);
        let draw = || {
            let stream = Stream::new(seed, Purpose::Routing, u64::from(source));
            stream.at(u64::from(serial)).at(router as u64)
        };
        let request = self.plan.routing.request(&head, &mut packet.route, draw);
        let pair = self.layout.pair_base[request.port] as usize + request.vc as usize;
        self.routers.slots[slot as usize].request = pair as u16;
        self.routers.pairs[router << self.layout.pair_shift | pair].wants.insert(index);
        self.routers.hot[router].wanted.insert(pair);
    }

    /// Asks the re-deciding heads of free inputs anew and adds those that could be granted to `slots`.
    #[cold]
    pub(super) fn redecide(&mut self, router: usize, iteration: u32, slots: &mut Mask<W>) {
        let seed = self.plan.experiment.measure.seed;
        let when = self.moment(iteration);
        for index in self.routers.hot[router].redeciding.iter() {
            let port = self.layout.slot_port[index] as usize;
            if self.routers.ports[router * self.layout.ports() + port].in_free > self.now {
                continue;
            }
            let slot = router << self.layout.slot_shift | index;
            let packet = self.packets.get_mut(self.routers.slots[slot].queue.front);
            let head = Head {
                router: router as u32,
                code: self.codes[index],
                destination: packet.destination_router,
                terminal: u16::from(packet.terminal),
            };
            let (source, serial) = (packet.source, packet.serial);
            let draw = || {
                let stream = Stream::new(seed, Purpose::Attempt, u64::from(source));
                stream.at(u64::from(serial)).at(when)
            };
            packet.route = RouteState::NEW;
            let request = self.plan.routing.request(&head, &mut packet.route, draw);
            let pair = self.layout.pair_base[request.port] as usize + request.vc as usize;
            self.routers.slots[slot].request = pair as u16;
            let open = self.routers.hot[router].credit.contains(pair)
                && self.routers.ports[router * self.layout.ports() + request.port].out_ready <= self.now;
            if open && (!self.rules.mixed || self.fits(router, index)) {
                slots.insert(index);
            }
        }
    }

    /// The number of this allocator iteration among all of the run.
    #[inline]
    pub(super) fn moment(&self, iteration: u32) -> u64 {
        u64::from(self.now) * u64::from(self.rules.iterations) + u64::from(iteration)
    }
}
