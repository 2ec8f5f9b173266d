//! Nodes of a fabric that draw messages.

use hopsim_experiment::config::infiniband::messages::Gaps;
use hopsim_experiment::plan::FabricPlan;
use hopsim_experiment::plan::fabric::MessagesPlan;
use hopsim_infiniband::time::{NEVER, Ticks};
use hopsim_infiniband::workload::{Message, Workload};
use hopsim_random::{Purpose, Stream};

/// A node that draws messages.
struct Node<'p> {
    plan: &'p MessagesPlan,
    /// What draws when the node sends its next message.
    process: Stream,
    /// What draws to whom the message goes.
    pattern: Stream,
    /// What draws how long the message is.
    size: Stream,
    /// When the node draws next.
    next: Ticks,
}

/// All nodes that draw messages.
pub struct Drawing<'p> {
    /// The nodes, by host; `None` for a host that draws nothing.
    nodes: Vec<Option<Node<'p>>>,
    drawn: u64,
}

impl<'p> Drawing<'p> {
    /// The nodes of a plan, before anybody has drawn anything.
    pub fn new(plan: &'p FabricPlan) -> Self {
        let seed = plan.experiment.measure.seed;
        let mut nodes: Vec<Option<Node<'p>>> = (0..plan.fabric.hosts).map(|_| None).collect();
        for messages in &plan.messages {
            for &node in messages.nodes.iter().filter(|&&node| !messages.pattern.is_silent(node)) {
                let stream = |purpose| Stream::new(seed, purpose, node.into());
                nodes[node as usize] = Some(Node {
                    plan: messages,
                    process: stream(Purpose::Process),
                    pattern: stream(Purpose::Pattern),
                    size: stream(Purpose::MessageSize),
                    next: NEVER,
                });
            }
        }
        Self { nodes, drawn: 0 }
    }
}

impl Node<'_> {
    /// The time to the next message, at least one tick.
    fn gap(&mut self) -> Ticks {
        match self.plan.gaps {
            Gaps::Exponential => (-libm::log(self.process.unit()) * self.plan.gap as f64) as Ticks,
            Gaps::Even => self.plan.gap,
        }
        .max(1)
    }

    /// Draws the next message at a time, if that is before the end. Returns when the node acts next.
    fn wait_until(&mut self, time: Ticks) -> Ticks {
        self.next = if time < self.plan.end { time } else { NEVER };
        self.next
    }
}

impl Workload for Drawing<'_> {
    const HEARS: bool = false;

    fn first(&mut self, host: u32) -> Ticks {
        let Some(node) = &mut self.nodes[host as usize] else { return NEVER };
        let gap = match node.plan.gaps {
            Gaps::Exponential => node.gap(),
            Gaps::Even => (node.process.unit() * node.plan.gap as f64) as Ticks,
        };
        node.wait_until(node.plan.start.saturating_add(gap))
    }

    fn act(&mut self, host: u32, now: Ticks, messages: &mut Vec<Message>) -> Ticks {
        let Some(node) = &mut self.nodes[host as usize] else { return NEVER };
        // Beside programs hosts hear of messages, and act then, too.
        if now < node.next {
            return node.next;
        }
        let destination = node.plan.pattern.destination(host, &mut node.pattern);
        // A mix of patterns may name the node itself, which sends nothing then.
        if destination != host {
            let (bytes, service_level) = (node.plan.sizes.draw(&mut node.size), node.plan.service_level);
            messages.push(Message { destination, service_level, bytes, tag: self.drawn });
            self.drawn += 1;
        }
        let gap = node.gap();
        node.wait_until(now.saturating_add(gap))
    }
}
