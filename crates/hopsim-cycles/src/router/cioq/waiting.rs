//! Which heads with a choice need not be asked: which of these heads sleep, and what wakes them.
//!
//! A head that asks for nothing that could be granted goes to sleep until something it reads has changed: an output that it could
//! choose has become free, has got credit back or, if it is its own, has been granted; or a mark or a counter has changed. So
//! heads that wait cost nothing while nothing happens to them. What a head waits for is written down when it first goes to sleep:
//! a head that is granted at once costs nothing here.

use crate::kernel::by::By;
use crate::kernel::ids::{Pair, RegionRouter, Slot};
use crate::kernel::wheel::Wheel;
use crate::router::cioq::active::wake;
use crate::router::cioq::mask::Mask;
use crate::router::cioq::outages::NEVER;
use crate::router::cioq::routers::{Array, Router};
use crate::router::cioq::tables::Tables;
use crate::system::System;
use hopsim_network::by_class::ByClass;
use hopsim_network::network::{PortClassCode, TERMINAL};
use hopsim_routing::prospect::Prospect;
use std::ops::Range;

/// Heads that wait in one router, and what they wait for.
#[derive(Clone)]
struct RouterWaits<const W: usize> {
    /// Slots whose minimal path goes over a global link from here: their heads may read the mark of that link.
    outbound: Mask<Slot, W>,
    /// Slots whose heads have slept: only these are in `own`, `misroutes` and `asleep`.
    known: Mask<Slot, W>,
    /// Slots whose minimal path or detour goes over a port, by port.
    own: Array<usize, Mask<Slot, W>, W>,
    /// Slots that could choose any port of a link class, by class.
    misroutes: ByClass<Mask<Slot, W>>,
    /// Slots whose heads would answer what they answered last, and could not be granted it.
    asleep: Mask<Slot, W>,
    /// Slots of busy inputs.
    busy_inputs: Mask<Slot, W>,
    /// Pairs of busy outputs.
    busy_outputs: Mask<Pair, W>,
}

/// An input and an output port that become free.
#[derive(Clone, Copy, Debug)]
struct Release {
    router: RegionRouter,
    input: Option<u16>,
    output: Option<u16>,
}

/// Heads that wait in all routers.
pub struct WaitingHeads<const W: usize> {
    routers: By<RegionRouter, RouterWaits<W>>,
    /// Ports that become free.
    releases: Wheel<Release>,
    /// Class of the links that are marked, which lead out of a group; of none in a network without groups -- constant.
    marked: u8,
    /// Whether heads may sleep: their answers depend on nothing but what wakes them -- constant.
    sleeps: bool,
}

impl<const W: usize> WaitingHeads<W> {
    /// Waits of `routers` routers in which nobody waits. No port is busy for longer than `ahead` cycles.
    pub fn new(system: &System, (routers, ahead): (usize, u32)) -> Self {
        let (routing, sensors) = (&system.routing, system.routing.sensors());
        let waits = RouterWaits {
            outbound: Mask::EMPTY,
            known: Mask::EMPTY,
            own: Array::new(Mask::EMPTY),
            misroutes: ByClass::splat(Mask::EMPTY),
            asleep: Mask::EMPTY,
            busy_inputs: Mask::EMPTY,
            busy_outputs: Mask::EMPTY,
        };
        // A filtered counter changes, and an output queue gets room for a longer packet, by the passing of time; the counters of a
        // group change all the time, and so does what is outstanding elsewhere.
        let timeless = sensors.alpha.is_none()
            && sensors.exchange.is_none()
            && !sensors.outstanding
            && (system.cioq().output_buffer.is_none() || system.shortest_packet() == system.longest_packet());
        let sleeps = timeless && !routing.draws();
        let routers = if routing.redecides() { routers } else { 0 };
        let marked = system.topology.group_classes().map_or(u8::MAX, |classes| classes.between);
        Self { routers: By::all(waits, routers), releases: Wheel::new(ahead), marked, sleeps }
    }

    /// Whether the head of a slot sleeps: what else is known of the head follows from what it may choose.
    pub fn sleeps(&self, (number, slot): (RegionRouter, Slot)) -> bool {
        let Self { routers, releases: _, marked: _, sleeps: _ } = self;
        let waits = &routers[number];
        let RouterWaits {
            outbound: _,
            known: _,
            own: _,
            misroutes: _,
            asleep,
            busy_inputs: _,
            busy_outputs: _,
        } = waits;
        asleep.contains(slot)
    }

    /// Goes on, in cycle `now`, with a port that is busy as input until cycle `free` and as output until cycle `ready`.
    pub fn load(
        &mut self,
        tables: &Tables,
        number: RegionRouter,
        (port, free, ready): (usize, u32, u32),
        now: u32,
    ) {
        if self.routers.is_empty() {
            return;
        }
        // What becomes free in this very cycle wakes heads in it.
        if port < tables.input_count && free == NEVER {
            let port = tables.port(port);
            self.routers[number].busy_inputs.insert_field(port.slot(0), port.field);
        } else if port < tables.input_count && free >= now {
            self.occupy(tables, number, (port, free), None);
        }
        if port < tables.port_count && ready == NEVER {
            self.set_output_busy(tables, number, port);
        } else if port < tables.port_count && ready >= now {
            self.occupy_output(tables, number, (port, ready));
        }
    }

    /// The head of a slot has a choice from now on.
    #[inline]
    pub fn add(&mut self, (number, slot): (RegionRouter, Slot), prospect: &Prospect) {
        if prospect.may_read_own_mark(self.marked) {
            self.routers[number].outbound.insert(slot);
        }
    }

    /// The head of a slot, which had a choice, has left or is held.
    #[inline]
    pub fn remove(&mut self, (number, slot): (RegionRouter, Slot), prospect: &Prospect) {
        let waits = &mut self.routers[number];
        waits.outbound.remove(slot);
        if waits.known.contains(slot) {
            self.forget((number, slot), prospect);
        }
    }

    fn forget(&mut self, (number, slot): (RegionRouter, Slot), prospect: &Prospect) {
        let waits = &mut self.routers[number];
        waits.known.remove(slot);
        waits.asleep.remove(slot);
        each_own_port(prospect, |port| waits.own[port].remove(slot));
        prospect.each_misroute(|class, _| waits.misroutes.wrapped_mut(class as usize).remove(slot));
    }

    /// The slots with a choice, out of `choosing`, whose heads are to be asked.
    #[inline]
    pub fn awake(&self, number: RegionRouter, choosing: Mask<Slot, W>) -> Mask<Slot, W> {
        self.free_inputs(number, choosing).without(self.routers[number].asleep)
    }

    /// Slots whose heads sleep.
    #[cfg(feature = "trace")]
    pub fn asleep(&self, number: RegionRouter) -> Mask<Slot, W> {
        self.routers[number].asleep
    }

    /// The slots among `slots` whose input is free.
    #[inline]
    pub fn free_inputs(&self, number: RegionRouter, slots: Mask<Slot, W>) -> Mask<Slot, W> {
        slots.without(self.routers[number].busy_inputs)
    }

    /// The pairs among `pairs` whose output is free.
    #[inline]
    pub fn free_outputs(&self, number: RegionRouter, pairs: Mask<Pair, W>) -> Mask<Pair, W> {
        pairs.without(self.routers[number].busy_outputs)
    }

    /// Whether the minimal path of any head with a choice goes over a global link of this router.
    #[inline]
    pub fn has_outbound(&self, number: RegionRouter) -> bool {
        !self.routers[number].outbound.is_empty()
    }

    /// The head of a slot has asked for nothing that could be granted.
    #[inline]
    pub fn sleep(&mut self, (number, slot): (RegionRouter, Slot), prospect: &Prospect) {
        if !self.sleeps {
            return;
        }
        let waits = &mut self.routers[number];
        waits.asleep.insert(slot);
        if !waits.known.contains(slot) {
            waits.known.insert(slot);
            each_own_port(prospect, |port| waits.own[port].insert(slot));
            prospect.each_misroute(|class, _| waits.misroutes.wrapped_mut(class as usize).insert(slot));
        }
    }

    /// An output port of a router is wanted by other heads than before.
    #[inline]
    pub fn wake(&mut self, number: RegionRouter, (port, class): (usize, PortClassCode)) {
        self.routers[number].wake(port, class);
    }

    /// A port of a router has got credit back. Returns whether that has woken a head.
    #[inline]
    pub fn wake_by_credit(&mut self, number: RegionRouter, (port, class): (usize, PortClassCode)) -> bool {
        let waits = &mut self.routers[number];
        let before = waits.asleep;
        if class == TERMINAL || before.is_empty() {
            return false;
        }
        waits.wake(port, class);
        waits.asleep != before
    }

    /// The marks of some ports of a router have changed: heads read the marks of their own outputs. Returns whether any slept.
    pub fn wake_own(&mut self, number: RegionRouter, ports: Range<usize>) -> bool {
        let waits = &mut self.routers[number];
        let before = waits.asleep;
        ports.for_each(|port| waits.asleep = waits.asleep.without(waits.own[port]));
        waits.asleep != before
    }

    /// What heads of a router have heard from other routers has changed. Returns whether any slept.
    pub fn wake_all(&mut self, number: RegionRouter) -> bool {
        let asleep = &mut self.routers[number].asleep;
        !std::mem::replace(asleep, Mask::EMPTY).is_empty()
    }

    /// The input of a grant is busy until cycle `free`, and its output, if one is given, until the cycle given with it.
    #[expect(clippy::inline_always, reason = "per packet-hop; 2 % of all instructions are saved by it")]
    #[inline(always)]
    pub fn occupy(
        &mut self,
        tables: &Tables,
        number: RegionRouter,
        (input, free): (usize, u32),
        output: Option<(usize, u32)>,
    ) {
        let port = tables.port(input);
        self.routers[number].busy_inputs.insert_field(port.slot(0), port.field);
        let mut release = Release { router: number, input: Some(input as u16), output: None };
        if let Some((output, ready)) = output {
            if ready == free {
                self.set_output_busy(tables, number, output);
                release.output = Some(output as u16);
            } else {
                self.occupy_output(tables, number, (output, ready));
            }
        }
        self.releases.push(free, release);
    }

    /// An output of a router is busy until cycle `ready`.
    pub fn occupy_output(&mut self, tables: &Tables, number: RegionRouter, (output, ready): (usize, u32)) {
        self.set_output_busy(tables, number, output);
        let release = Release { router: number, input: None, output: Some(output as u16) };
        self.releases.push(ready, release);
    }

    #[inline]
    fn set_output_busy(&mut self, tables: &Tables, number: RegionRouter, output: usize) {
        let port = tables.port(output);
        let waits = &mut self.routers[number];
        waits.busy_outputs.insert_field(port.pair(0), port.pair_field);
        waits.asleep = waits.asleep.without(waits.own[output]);
    }

    /// Whether heads may sleep.
    #[inline]
    pub fn may_sleep(&self) -> bool {
        self.sleeps
    }

    /// The first cycle of `now..end` in which a port becomes free that somebody may wait for, else `end`.
    pub fn next_release(&self, now: u32, end: u32) -> u32 {
        if self.routers.is_empty() { end } else { self.releases.next_before(now, end) }
    }

    /// Frees the ports that are no longer busy at cycle `now`, and makes their routers active.
    pub fn release(
        &mut self,
        tables: &Tables,
        routers: &By<RegionRouter, Router<W>>,
        now: u32,
        active: &mut [u64],
    ) {
        let due = self.releases.take(now);
        for &Release { router, input, output } in &due {
            wake(active, router);
            let waits = &mut self.routers[router];
            if let Some(input) = input {
                let port = tables.port(input as usize);
                waits.busy_inputs.take_field(port.slot(0), port.field);
            }
            // It may have been kept busy for longer.
            let free = |port: &usize| routers[router].ports[*port].out_ready <= now;
            if let Some(output) = output.map(usize::from).filter(free) {
                let port = tables.port(output);
                waits.busy_outputs.take_field(port.pair(0), port.pair_field);
                waits.wake(output, port.class);
            }
        }
        self.releases.put_back(due);
    }
}

impl<const W: usize> RouterWaits<W> {
    /// Wakes all heads that could choose a port.
    #[inline]
    fn wake(&mut self, port: usize, class: PortClassCode) {
        self.asleep = self.asleep.without(self.own[port]);
        if class != TERMINAL {
            self.asleep = self.asleep.without(*self.misroutes.wrapped(class as usize - 1));
        }
    }
}

/// Visits the ports of minimal path and detour, and the productive ones.
#[inline]
fn each_own_port(prospect: &Prospect, mut visit: impl FnMut(usize)) {
    prospect.each_productive(|port, _| visit(port));
    prospect.each_way(|way| visit(way.port as usize));
}
