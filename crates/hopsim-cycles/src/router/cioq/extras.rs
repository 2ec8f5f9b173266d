//! State of the routers of a region that only some configurations need, outside the blocks of the routers.

use crate::choices::ArbiterConfig;
use crate::kernel::by::By;
use crate::kernel::ids::{Id as _, RegionRouter, Slot, SlotId};
use crate::kernel::rows::{put_row, row};
use crate::mode::Mode;
use crate::router::cioq::choices::Choices;
use crate::router::cioq::routers::{Router, parallel};
use crate::router::cioq::rules::Crossing;
use crate::router::cioq::shared::Shared;
use crate::system::{MOST_QUEUED, System};
use serde::{Deserialize, Serialize};

/// State of the routers of a region that only some configurations need, outside the blocks of the routers.
pub struct Extras<const W: usize> {
    /// Last departures + 1 of every output: rings of `ring` entries by 64·W · router + port.
    pub departures: Vec<u32>,
    /// Lengths of the packets of the last departures, only where packets of several lengths meet.
    pub lengths: Vec<u16>,
    /// Entries per ring: packets an output queue holds, 0 without output queues.
    pub ring: usize,
    /// First cycles in which outputs of the crossbar are free: `outputs` in ascending order by 64·W · router + port.
    holds: Vec<u32>,
    /// Outputs of the crossbar per port, 0 if there is one: then the port tells when it is free.
    outputs: usize,
    /// Stamps of least-recently-served input arbiters, by slot; empty if unused.
    pub input_stamps: By<SlotId, u64>,
    /// Stamps of least-recently-served output arbiters, by (router · inputs + output) · inputs + input.
    pub output_stamps: Vec<u64>,
    /// First cycle in which the packet before its head has left a slot, by slot; empty if nodes take one packet at a time: then
    /// the input port tells.
    pub free: By<SlotId, u32>,
    /// Heads with a choice.
    pub choices: Choices<W>,
}

/// What a snapshot holds, of a router, of the state that only some configurations need.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct ExtrasState {
    /// Whether departures were not kept, but those to nodes where these must be idle.
    pub is_plain: bool,
    departures: Vec<u32>,
    lengths: Vec<u16>,
    holds: Vec<u32>,
    input_stamps: Vec<u64>,
    output_stamps: Vec<u64>,
    /// By slot; empty if unused.
    pub free: Vec<u32>,
}

impl<const W: usize> Extras<W> {
    /// Extras of `routers` routers from which nothing has departed and that have served nobody. No port is busy for longer than
    /// `ahead` cycles.
    pub fn new(system: &System, (routers, ahead): (usize, u32)) -> Self {
        let inputs = system.network.layout.inputs();
        let packets = |size: u32| (size / system.shortest_packet()).min(MOST_QUEUED) as usize;
        let ring = system.cioq().output_buffer.map_or(0, packets);
        let outputs = Some(system.cioq().crossbar_outputs.into()).filter(|&outputs| outputs > 1).unwrap_or(0);
        let mixed = system.shortest_packet() != system.longest_packet();
        let lrs = |a: &ArbiterConfig| matches!(a, ArbiterConfig::LeastRecentlyServed(_));
        let allocator = &system.cioq().allocator;
        let stamps = |used: bool, count: usize| if used { vec![0; count] } else { Vec::new() };
        Self {
            departures: vec![0; routers * 64 * W * ring],
            lengths: if mixed { vec![0; routers * 64 * W * ring] } else { Vec::new() },
            ring,
            holds: vec![0; routers * 64 * W * outputs],
            outputs,
            input_stamps: stamps(lrs(&allocator.input_arbiter), routers * 64 * W).into(),
            output_stamps: stamps(lrs(&allocator.output_arbiter), routers * inputs * inputs),
            free: By::all(0, if parallel(system) { routers * 64 * W } else { 0 }),
            choices: Choices::new(system, (routers, ahead)),
        }
    }

    /// The state of a router with so many ports, inputs and slots, heads with a choice apart.
    pub fn save<M: Mode>(
        &self,
        number: RegionRouter,
        (ports, inputs, slots): (usize, usize, usize),
    ) -> ExtrasState {
        let Self { departures, lengths, ring, holds, outputs, input_stamps, output_stamps, free, choices: _ } =
            self;
        let (first, rings) = (number.slot::<W>(Slot::at(0)).index(), self.first_departure(number, 0));
        ExtrasState {
            is_plain: M::PLAIN,
            departures: row(departures, rings, ports * ring),
            lengths: row(lengths, rings, ports * ring),
            holds: row(holds, self.first_output(number, 0), ports * outputs),
            input_stamps: row(input_stamps.as_slice(), first, slots),
            output_stamps: row(output_stamps, number.index() * inputs * inputs, inputs * inputs),
            free: row(free.as_slice(), first, slots),
        }
    }

    /// Goes on with the state of a router with so many inputs.
    pub fn load(&mut self, number: RegionRouter, inputs: usize, state: &ExtrasState) {
        let ExtrasState { is_plain: _, departures, lengths, holds, input_stamps, output_stamps, free } =
            state;
        let (first, rings) = (number.slot::<W>(Slot::at(0)).index(), self.first_departure(number, 0));
        put_row(&mut self.departures, rings, departures);
        put_row(&mut self.lengths, rings, lengths);
        let first_output = self.first_output(number, 0);
        put_row(&mut self.holds, first_output, holds);
        put_row(self.input_stamps.as_mut_slice(), first, input_stamps);
        put_row(&mut self.output_stamps, number.index() * inputs * inputs, output_stamps);
        put_row(self.free.as_mut_slice(), first, free);
    }

    /// Notes the departures of a port that a plain mode has not kept. The queue is full only while all it holds, packets of `length`
    /// phits, departs back to back, up to the end of the last one.
    pub fn fill_departures(&mut self, number: RegionRouter, port: usize, (tail, length): (u32, u32)) {
        let first = self.first_departure(number, port);
        let newest_last = self.departures.iter_mut().skip(first).take(self.ring).rev();
        for (departure, before_tail) in newest_last.zip((1..).map(|packets| packets * length)) {
            *departure = (tail + 1).saturating_sub(before_tail);
        }
    }

    /// Whether the packet before the head of a slot is still leaving the slot, as far as input ports do not tell.
    #[inline]
    pub fn is_leaving(&self, (number, slot): (RegionRouter, Slot), now: u32) -> bool {
        self.free.get(number.slot::<W>(slot)).is_some_and(|&free| free > now)
    }

    /// Where the ring of `port` starts in `departures` and `lengths`.
    #[inline]
    fn first_departure(&self, number: RegionRouter, port: usize) -> usize {
        (number.index() * 64 * W + port) * self.ring
    }

    /// Where the outputs of the crossbar of `port` start in `holds`.
    fn first_output(&self, number: RegionRouter, port: usize) -> usize {
        (number.index() * 64 * W + port) * self.outputs
    }

    /// An output of the crossbar of `port`, which has several, is held until cycle `until`: the one that has been free for longest.
    /// Returns the first cycle in which any of these outputs is free.
    pub fn hold(&mut self, (number, port): (RegionRouter, usize), until: u32) -> u32 {
        let first = self.first_output(number, port);
        let holds = &mut self.holds[first..][..self.outputs];
        holds[0] = until;
        holds.sort_unstable();
        holds[0]
    }

    /// First cycle in which the output queue of `port`, if there is one, has room for `length` phits, with packets of several
    /// lengths: walks back from the newest departure until the rest of the packets no longer leaves room.
    pub fn room(
        &self,
        (number, router): (RegionRouter, &Router<W>),
        port: usize,
        (crossing, length): (&Crossing, u32),
    ) -> u32 {
        let (ring, first) = (self.ring, self.first_departure(number, port));
        let mut place = router.ports[port].ring as usize;
        let mut used = length;
        for _ in 0..ring {
            place = if place == 0 { ring - 1 } else { place - 1 };
            used += u32::from(self.lengths[first + place]);
            if used > crossing.output_buffer {
                return self.departures[first + place];
            }
        }
        // The queue, if there is one, holds no more packets, however short they are.
        self.departures.get(first + place).copied().unwrap_or(0)
    }

    /// `Ejection::IdleNode`: whether no packet is on its way into the node behind `output` in cycle `now`.
    #[inline]
    pub fn node_is_idle<M: Mode>(
        &self,
        (number, router): (RegionRouter, &Router<W>),
        output: usize,
        (shared, now): (&Shared<'_, M>, u32),
    ) -> bool {
        let (tail, shortest) = (router.ports[output].tail, shared.room.shortest);
        // The last departure tells, unless it is yet to come.
        if now >= tail {
            return true;
        }
        if !shared.mixed() && now + shortest > tail {
            return false;
        }
        // Entries hold departure + 1, or 0; a departure d blocks the cycles strictly between d and d + length.
        let blocks = |after: u32, length: u32| after != 0 && now.wrapping_sub(after) < length - 1;
        let start = self.first_departure(number, output);
        let departures = &self.departures[start..][..self.ring];
        if !shared.mixed() {
            return !departures.iter().any(|&after| blocks(after, shortest));
        }
        let lengths = &self.lengths[start..][..self.ring];
        !departures.iter().zip(lengths).any(|(&after, &length)| blocks(after, u32::from(length)))
    }
}
