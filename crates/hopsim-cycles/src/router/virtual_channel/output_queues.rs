//! Queues at the outputs of routers that are faster than their links: flits cross in a step of the router, and leave one by one in the
//! cycles of the link. A router that takes several flits from an input port in a cycle sends their credits one cycle after the other.

use crate::kernel::ids::{Id as _, RegionRouter};
use crate::router::virtual_channel::shared::FlitShared;
use crate::speedup::Speedup;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// The queues of the routers of a region.
pub struct OutputQueues {
    /// By router · ports + port.
    ports: Vec<QueuedPort>,
    /// Ports of a router -- constant.
    count: usize,
    /// Flits that may wait at a port -- constant.
    size: usize,
    /// Cycles from the grant of the switch until a flit is at its output, in a router without speedup -- constant.
    traversal: u32,
    /// How many steps a cycle has -- constant.
    speedup: Speedup,
}

/// What a port remembers: of its output the queue, of its input the last credits.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct QueuedPort {
    /// First cycle in which the link takes another flit.
    link_free: u32,
    /// The flits that cross or wait, in order.
    flits: VecDeque<QueuedFlit>,
    /// The credits that went back last.
    credits: Option<CreditMessage>,
}

/// A flit that crosses, or waits at its output.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct QueuedFlit {
    /// The step at whose end the flit is in the queue.
    enters: u64,
    /// The cycle in which the flit leaves.
    departs: u32,
}

/// The credits of the flits that left an input port in a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct CreditMessage {
    step: u64,
    /// The cycle in which they go back.
    departs: u32,
}

/// When a flit leaves that has been granted the switch.
#[derive(Clone, Copy)]
pub struct QueuedDeparture {
    /// The cycle in which the flit leaves.
    pub departs: u32,
    /// The first cycle in which the queue has room for another one, if no other follows.
    pub room_from: u32,
}

impl OutputQueues {
    /// The queues of so many routers, empty; `None` if their routers have none.
    pub fn new(shared: &FlitShared<'_>, routers: usize) -> Option<Self> {
        let size = shared.plan.output_queue?;
        Some(Self {
            ports: vec![QueuedPort::default(); routers * shared.ports],
            count: shared.ports,
            size: size as usize,
            traversal: shared.plan.switch_traversal_delay,
            speedup: shared.plan.speedup,
        })
    }

    fn port(&self, router: RegionRouter, port: usize) -> &QueuedPort {
        &self.ports[router.index() * self.count + port]
    }

    fn port_mut(&mut self, router: RegionRouter, port: usize) -> &mut QueuedPort {
        &mut self.ports[router.index() * self.count + port]
    }

    /// Whether a flit may be granted an output port in a step: of those that have crossed before it fewer wait than the queue holds.
    pub fn has_room(&self, (router, port): (RegionRouter, usize), (step, now): (u64, u32)) -> bool {
        let flits = self.port(router, port).flits.iter();
        let waiting = flits.filter(|flit| flit.enters < step && flit.departs >= now);
        waiting.count() < self.size
    }

    /// A flit is granted an output port in cycle `now`, whose link takes `pace` cycles for it. At the end of step `enters` it is in the queue.
    pub fn push(
        &mut self,
        (router, port): (RegionRouter, usize),
        (enters, now): (u64, u32),
        pace: u32,
    ) -> QueuedDeparture {
        let size = self.size;
        let at_output = self.speedup.cycle_of(enters);
        let port = self.port_mut(router, port);
        while port.flits.front().is_some_and(|flit| flit.departs < now) {
            port.flits.pop_front();
        }
        let departs = at_output.max(port.link_free);
        port.link_free = departs + pace;
        port.flits.push_back(QueuedFlit { enters, departs });
        let filling = port.flits.len().checked_sub(size);
        let room_from = filling.map_or(now, |first| port.flits[first].departs + 1);
        QueuedDeparture { departs, room_from }
    }

    /// The step at whose end a flit is in the queue that is granted the switch in a step.
    pub fn enters(&self, step: u64) -> u64 {
        match self.traversal {
            0 => step,
            1 => step + 1,
            cycles => self.speedup.steps(self.speedup.cycle_of(step + 1) + cycles - 1).start,
        }
    }

    /// The cycle in which the credit of a flit goes back that leaves an input port in a step.
    pub fn return_credit(&mut self, (router, port): (RegionRouter, usize), (step, now): (u64, u32)) -> u32 {
        let last = &mut self.port_mut(router, port).credits;
        let departs = match *last {
            Some(message) if message.step == step => message.departs,
            Some(message) => now.max(message.departs + 1),
            None => now,
        };
        *last = Some(CreditMessage { step, departs });
        departs
    }

    /// The ports of a router, to be saved.
    pub fn row(&self, router: RegionRouter) -> &[QueuedPort] {
        &self.ports[router.index() * self.count..][..self.count]
    }

    /// The ports of a router, to go on with.
    pub fn put_row(&mut self, router: RegionRouter, ports: &[QueuedPort]) {
        self.ports[router.index() * self.count..][..self.count].clone_from_slice(ports);
    }
}
