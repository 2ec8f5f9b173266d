//! When a packet looks for another output than the minimal one, and which will do: `hopsim explain congestion`, `contention`,
//! `filtered`, `hybrid`, `ectn`, `statistical`.

use super::head::Head;
use super::rules::trigger::Trigger;
use crate::state::place::Request;
use hopsim_network::topology::{GLOBAL, LOCAL};
use hopsim_routing::trigger::TriggerConfig;
use hopsim_routing::trigger::congestion::{Config as Congestion, Thresholds};
use hopsim_routing::view::{Packets, Sensing};

/// An output VC of a link.
#[derive(Clone, Copy)]
pub struct LinkOutput {
    pub request: Request,
    pub class: u8,
}

impl LinkOutput {
    pub fn new(head: &Head, request: Request) -> Self {
        Self { request, class: head.class(request.port) }
    }
}

/// The contention counter of an output port.
fn counter(head: &Head, output: LinkOutput) -> u32 {
    head.simulator.routers[head.router()].knowledge.contention[output.request.port]
}

/// The contention counter of an output port, averaged over time.
fn averaged(head: &Head, output: LinkOutput) -> f64 {
    head.simulator.routers[head.router()].knowledge.filtered[output.request.port]
}

impl Trigger {
    /// Whether a packet looks for another output than its minimal one.
    pub fn fires(&self, head: &Head, minimal: LinkOutput) -> bool {
        match self.0 {
            TriggerConfig::Congestion(config) => is_congested(&config, head, minimal),
            TriggerConfig::Contention(config) => {
                let local = config.local_threshold.filter(|_| minimal.class == LOCAL);
                counter(head, minimal) >= local.unwrap_or(config.threshold)
            }
            TriggerConfig::Filtered(config) => averaged(head, minimal) >= f64::from(config.threshold),
            TriggerConfig::Hybrid(config) => {
                counter(head, minimal) >= config.threshold || is_congested(&config.congestion, head, minimal)
            }
            TriggerConfig::Ectn(config) => {
                counter(head, minimal) >= config.threshold
                    || is_notified(head).is_some_and(|heads| heads >= config.combined_threshold)
            }
            TriggerConfig::Statistical(config) => {
                // Of as many equally likely numbers as there are counters from `threshold` to `full`, those below the counter's.
                let counter = counter(head, minimal);
                let numbers = config.full - config.threshold + 1;
                let below = (counter + 1).saturating_sub(config.threshold);
                head.draws().at(u64::MAX).below(numbers) < below
            }
        }
    }

    /// Whether another output that can take the packet will do.
    pub fn admits(&self, head: &Head, minimal: LinkOutput, other: LinkOutput) -> bool {
        match self.0 {
            TriggerConfig::Congestion(config) => is_emptier(&config, head, minimal, other),
            TriggerConfig::Contention(config) => {
                let local = config.local_threshold.filter(|_| other.class == LOCAL);
                counter(head, other) < local.unwrap_or(config.threshold)
            }
            TriggerConfig::Filtered(config) => averaged(head, other) < f64::from(config.threshold),
            TriggerConfig::Hybrid(config) => {
                counter(head, minimal) >= config.threshold
                    || is_emptier(&config.congestion, head, minimal, other)
            }
            TriggerConfig::Ectn(config) => counter(head, other) < config.threshold,
            TriggerConfig::Statistical(config) => counter(head, other) < config.threshold,
        }
    }
}

/// The heads of the group for the packet's destination group, if the packet is at injection and has to leave its group.
fn is_notified(head: &Head) -> Option<u32> {
    let ways = head.ways();
    let (here, there) = (ways.group(head.router()), ways.group(head.destination()));
    let routers = &head.simulator.routers;
    let known = |router: usize| {
        let knowledge = &routers[router].knowledge;
        if router == head.router() { knowledge.groups[there] } else { knowledge.told[there] }
    };
    let heads = head.simulator.group_of(head.router()).map(known).sum();
    Some(heads).filter(|_| head.at_injection() && here != there)
}

/// Phits taken of the buffer behind an output, and its size: of the VC, or of all VCs that the mechanism uses.
fn filling(config: &Congestion, head: &Head, output: LinkOutput) -> (f64, f64) {
    let taken = |to: Request| match config.packets {
        Packets::All => head.occupancy(to),
        Packets::Minimal => head.minimal_occupancy(to),
    };
    let size = head.simulator.plan.system.network.classes.links[output.class as usize].buffer;
    match config.sensing {
        Sensing::Vc => (f64::from(taken(output.request)), f64::from(size)),
        Sensing::Port => {
            let vcs = head.simulator.rules.vcs.used[output.class as usize];
            let all = (0..vcs).map(|vc| taken(Request { vc, ..output.request })).sum::<u32>();
            (f64::from(all), f64::from(size) * f64::from(vcs))
        }
    }
}

/// Whether the minimal output cannot take the packet and is full enough for that to count.
fn is_congested(config: &Congestion, head: &Head, minimal: LinkOutput) -> bool {
    let (taken, size) = filling(config, head, minimal);
    let free_to_leave = minimal.class != GLOBAL || head.knows_marked(head.router(), minimal.request);
    !head.open(minimal.request) && 100.0 * taken >= config.min_occupancy * size && free_to_leave
}

/// Whether another output is so much emptier than the minimal one that it will do.
fn is_emptier(config: &Congestion, head: &Head, minimal: LinkOutput, other: LinkOutput) -> bool {
    let percent = if other.class == LOCAL { config.local_threshold } else { config.global_threshold };
    let ((minimal_taken, minimal_size), (taken, size)) =
        (filling(config, head, minimal), filling(config, head, other));
    // Shares of the sizes, compared without a quotient.
    match config.thresholds {
        Thresholds::Absolute => 100.0 * taken <= percent * size,
        Thresholds::Relative => 100.0 * minimal_size * taken <= percent * minimal_taken * size,
    }
}
