//! How full the output queues of routers are: the record stream `output_queues`.

use super::{Column, Counts, Table};
use crate::table_kind::ColumnText;
use hopsim_cycles::kernel::rows::row;
use hopsim_cycles::observer::Grant;
use hopsim_experiment::config::measure::RecordStream;
use hopsim_experiment::plan::Plan;
use hopsim_experiment::plan::output_vcs::is_plugged;
use hopsim_network::network::NONE;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use std::ops::Range;

/// Columns of the table.
pub const OUTPUT_QUEUES: [ColumnText; 6] = [
    ("router", "", "Router that the output is of."),
    ("port", "", "Output port there."),
    ("port_class", "", "Class of the link there: terminal (to a node), local, global or network."),
    ("peer_router", "", "Router at the other end of the link; empty for a node."),
    ("occupancy_mean", "phits", "Mean phits that the output queue is taken by, over the window."),
    ("occupancy_max", "phits", "The most phits that it is taken by in a cycle of the window."),
];

/// A packet in an output queue.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Queued {
    departure: u32,
    length: u32,
}

/// The output queue of a port.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct OutputQueue {
    /// Packets in the queue when the last one was granted, in the order in which they depart.
    packets: VecDeque<Queued>,
    /// Phits of these packets.
    phits: u32,
    /// Phits times cycles of the window.
    held: u64,
    /// The most phits in a cycle of the window.
    most: u32,
}

impl OutputQueue {
    /// A packet is granted the port at `now`, and takes its room in the queue up to the cycle in which it departs.
    fn push(&mut self, now: u32, packet: Queued, window: &Range<u32>) {
        while self.packets.front().is_some_and(|first| first.departure < now) {
            self.phits -= self.packets.pop_front().map_or(0, |first| first.length);
        }
        self.packets.push_back(packet);
        self.phits += packet.length;
        let cycles = now.max(window.start)..(packet.departure + 1).min(window.end);
        self.held += u64::from(packet.length) * cycles.len() as u64;
        // Between two grants a queue only empties, so that it is fullest at one of them or when the window begins.
        if now < window.start {
            let stays = |queued: &&Queued| queued.departure >= window.start;
            self.most = self.packets.iter().filter(stays).map(|queued| queued.length).sum();
        } else if now < window.end {
            self.most = self.most.max(self.phits);
        }
    }
}

/// The output queues of some routers.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct OutputQueues {
    /// By router and port.
    queues: Vec<OutputQueue>,
    ports: usize,
}

impl OutputQueues {
    /// The empty queues of so many routers, if the plan asks for them.
    pub fn wanted(plan: &Plan, routers: usize) -> Option<Self> {
        let has_queues = plan.system.router.output_buffer().is_some();
        let wanted = has_queues && plan.experiment.measure.streams.contains(&RecordStream::OutputQueues);
        let ports = plan.system.network.layout.ports();
        wanted.then(|| Self { queues: vec![OutputQueue::default(); routers * ports], ports })
    }

    /// A packet of `length` phits was granted an output of a router.
    pub fn grant(&mut self, router: usize, (grant, length): (&Grant, u32), window: &Range<u32>) {
        let queue = &mut self.queues[router * self.ports + grant.port];
        queue.push(grant.now, Queued { departure: grant.departure, length }, window);
    }

    /// The queues of some routers.
    pub fn part(&self, first: usize, count: usize) -> Self {
        Self { queues: row(&self.queues, first * self.ports, count * self.ports), ports: self.ports }
    }

    /// Appends the queues of the routers behind these.
    pub fn append(&mut self, other: Self) {
        self.queues.extend(other.queues);
    }
}

/// A row per output port that leads somewhere.
pub fn table(plan: &Plan, Counts { recorder, places, .. }: &Counts) -> Option<Table> {
    let OutputQueues { queues, ports } = places.links.as_ref()?.queues.as_deref()?;
    let (network, cycles) = (&plan.system.network, f64::from(recorder.cycles()));
    let all = (0..network.routers).flat_map(|router| (0..*ports).map(move |port| (router, port)));
    let outputs: Vec<(u32, usize)> = all
        .filter(|&(router, port)| network.layout.output_vcs[port] > 0 && is_plugged(plan, router, port))
        .collect();
    let queue = |&(router, port): &(u32, usize)| &queues[router as usize * ports + port];
    let peer =
        |&(router, port): &(u32, usize)| network.link(router, port).peer.map_or(NONE, |(peer, _)| peer);
    let column = |value: &dyn Fn(&(u32, usize)) -> u32| Column::U32(outputs.iter().map(value).collect());
    let class = |&(_, port): &(u32, usize)| network.class_name(port).to_owned();
    Some(vec![
        ("router".into(), column(&|output| output.0)),
        ("port".into(), column(&|output| output.1 as u32)),
        ("port_class".into(), Column::Text(outputs.iter().map(class).collect())),
        ("peer_router".into(), column(&peer)),
        (
            "occupancy_mean".into(),
            Column::F64(outputs.iter().map(|output| queue(output).held as f64 / cycles).collect()),
        ),
        ("occupancy_max".into(), column(&|output| queue(output).most)),
    ])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_queue_is_taken_from_the_grant_up_to_the_departure() {
        let window = 10..20;
        let mut queue = OutputQueue::default();
        let mut push = |now, departure, length| {
            queue.push(now, Queued { departure, length }, &window);
            (queue.held, queue.most)
        };
        // One is gone when the window begins.
        assert_eq!(push(7, 9, 4), (0, 0));
        assert_eq!(push(8, 13, 4), (4 * 4, 4));
        assert_eq!(push(9, 17, 8), (4 * 4 + 8 * 8, 12));
        // In its last cycle a packet is still there.
        assert_eq!(push(13, 21, 8), (80 + 8 * 7, 20));
        assert_eq!(push(14, 29, 2), (136 + 2 * 6, 20));
        assert_eq!(push(25, 30, 90), (148, 20));
    }
}
