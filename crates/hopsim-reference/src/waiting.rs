//! What packets wait for in routers, for the record streams `waits` and `packet_hops`: see *Measurement* in `docs/model.md`.

use crate::simulator::Simulator;
use crate::state::packet::Passage;
use crate::state::place::{Place, Request};
use hopsim_cycles::choices::Ejection;
use hopsim_experiment::config::measure::RecordStream;

impl Simulator<'_> {
    fn asks_for_waits(&self) -> bool {
        let streams = &self.plan.experiment.measure.streams;
        streams.contains(&RecordStream::Waits) || streams.contains(&RecordStream::PacketHops)
    }

    /// Looks at all outputs before the allocation.
    pub(crate) fn look_at_outputs(&mut self) {
        if !self.asks_for_waits() {
            return;
        }
        let (shortest, now) = (self.plan.system.shortest_packet(), self.now);
        let room = self.space(shortest);
        let mut waiting = std::mem::take(&mut self.waiting);
        for (router, parts) in self.routers.iter().enumerate() {
            for (port, output) in parts.outputs.iter().enumerate() {
                if self.cannot_take(router, port, shortest) {
                    waiting.was_busy.insert((router, port), now);
                }
                for vc in (0..output.outstanding.len()).filter(|_| !output.is_terminal()) {
                    let bubble =
                        self.plan.system.network.classes.links.first().map_or(0, |class| class.bubble);
                    if !output.has_room(vc, room) {
                        waiting.lacked_room.insert((router, port, vc), now);
                    }
                    if !output.has_room(vc, room + bubble) {
                        waiting.lacked_bubble.insert((router, port, vc), now);
                    }
                }
            }
        }
        self.waiting = waiting;
    }

    /// Whether an output cannot take a packet of `length` phits, whatever its node is doing.
    fn cannot_take(&self, router: usize, port: usize, length: u32) -> bool {
        let output = &self.routers[router].outputs[port];
        if output.is_terminal() && self.takes_all() {
            return false;
        }
        if output.closed.is_some() {
            return true;
        }
        let full = match self.plan.system.cioq().output_buffer {
            Some(size) => !output.takes(length, size),
            None => output.link_free(self.now) > self.now + self.plan.system.cioq().crossbar_latency,
        };
        let node_decides = output.is_terminal() && self.plan.system.cioq().ejection == Ejection::IdleNode;
        full || (!node_decides && self.is_held(router, port))
    }

    /// Notes that the first packet of a VC is lost as the present cycle begins: the one behind it has waited for it until then.
    pub(crate) fn end_wait_for_lost(&mut self, place: Place) {
        if let Some(before) = self.now.checked_sub(1).filter(|_| self.asks_for_waits()) {
            self.waiting.granted.insert(place, before);
        }
    }

    /// Notes that the head of a VC is granted an output, and what it waited for.
    pub(crate) fn end_wait(&mut self, place: Place, packet: usize, to: Request) {
        if !self.asks_for_waits() {
            return;
        }
        let (router, vc) = (place.0, usize::from(to.vc));
        let enters = self.enters_ring(place, to);
        let arrived = self.routers[router].inputs[place.1].vcs[place.2][0].arrived;
        let first = arrived + self.plan.system.cioq().pipeline_latency;
        let terminal = self.routers[router].outputs[to.port].is_terminal();
        let waiting = &mut self.waiting;
        let after = |last: Option<&u32>| last.map_or(0, |&cycle| cycle + 1);
        let head = first.max(after(waiting.granted.insert(place, self.now).as_ref()));
        let mut ends = vec![first, head];
        let room = after(waiting.lacked_room.get(&(router, to.port, vc)).filter(|_| !terminal));
        ends.push(room.max(head));
        let bubble = after(waiting.lacked_bubble.get(&(router, to.port, vc)).filter(|_| enters));
        ends.push(bubble.max(ends[2]));
        ends.push(after(waiting.was_busy.get(&(router, to.port))).max(ends[3]));
        ends.push(self.now);
        let parts: Vec<u64> = ends.windows(2).map(|pair| u64::from(pair[1] - pair[0])).collect();
        let waited = <[u64; 5]>::try_from(&parts[..]).expect("six instants have five cycles between them");
        self.packets[packet].passages.push(Passage { input: (place.1, place.2), waited });
        let window = {
            let measure = &self.plan.experiment.measure;
            measure.warmup.cycles()..measure.warmup.cycles() + measure.cycles
        };
        if !window.contains(&self.now) {
            return;
        }
        let trace = &self.packets[packet].trace;
        let job = usize::from(self.plan.system.job_of[trace.source as usize]);
        let [from, to_group] = [trace.source, trace.destination].map(|node| self.class_of(node));
        let waiting = &mut self.waiting;
        let of_vc = waiting.by_vc.entry((router, to.port, vc)).or_default();
        let of_flow = waiting.by_flow.entry((job, from, to_group)).or_default();
        for sums in [of_vc, of_flow] {
            sums[0] += 1;
            sums[1..].iter_mut().zip(&parts).for_each(|(sum, part)| *sum += part);
        }
    }
}
