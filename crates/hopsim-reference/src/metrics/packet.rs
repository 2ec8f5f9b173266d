//! What is measured of a single packet.

use super::Run;
use crate::Life;
use hopsim_cycles::choices::{HopCount, InjectionCount, InjectionLatency};
use hopsim_measure::trace::Hop;
use hopsim_network::topology::PortClass;
use hopsim_random::{Purpose, Stream};
use hopsim_routing::RoutingConfig;

/// Where a packet left its minimal path for the first time: an index of the four shares.
const AT_INJECTION: usize = 0;
const IN_SOURCE_GROUP: usize = 1;
const IN_INTERMEDIATE_GROUP: usize = 2;
const IN_DESTINATION_GROUP: usize = 3;

impl Run<'_> {
    /// Packets delivered up to the end of the run, with the cycle in which their head left for the node.
    pub fn delivered(&self) -> impl Iterator<Item = (&Life, u32)> {
        let end = self.window().end;
        let at = move |life: &Life| life.trace.delivered.filter(|&at| at < end);
        self.record.lives.iter().filter_map(move |life| Some((life, at(life)?)))
    }

    /// The cycle in which a packet counts as injected, if it does.
    pub fn injected(&self, life: &Life) -> Option<u32> {
        match self.plan.system.nic.injection_count {
            InjectionCount::Network => life.trace.hops.first().map(|hop| hop.granted),
            InjectionCount::Buffer => life.admitted.map(|(cycle, _)| cycle),
        }
    }

    /// The part of a packet's latency at injection \[cycles\].
    pub fn injection_latency(&self, life: &Life) -> u32 {
        let first = life.trace.hops[0];
        let never_leaves = life.trace.hops.len() == 1;
        let end = match self.plan.system.nic.injection_latency {
            InjectionLatency::Admission => life.admitted.expect("it has entered the network").0,
            _ if never_leaves => left(life, 0),
            InjectionLatency::Departure => first.departed,
            InjectionLatency::Grant => first.granted,
        };
        end - life.trace.generated
    }

    /// The part of a packet's latency in queues, by link class.
    pub fn queue_latency(&self, life: &Life) -> [u32; 2] {
        let hops = &life.trace.hops;
        let mut sums = [0; 2];
        for (number, pair) in hops.windows(2).enumerate() {
            sums[self.class(&pair[0])] += left(life, number + 1) - pair[1].arrived;
        }
        let injected = life.trace.generated + self.injection_latency(life);
        // A packet that takes no link waits for the first class of them.
        let class = if hops.len() > 1 { self.class(&hops[0]) } else { 0 };
        sums[class] += left(life, 0) - injected;
        sums
    }

    /// Hops of a packet: the routers that it passed, or the links between them.
    pub fn hops(&self, life: &Life) -> u32 {
        let routers = life.trace.hops.len() as u32;
        match self.plan.experiment.semantics.hop_count {
            Some(HopCount::Routers) => routers,
            Some(HopCount::Links) | None => routers - 1,
        }
    }

    /// Links that a packet passed, by class.
    pub fn links(&self, life: &Life) -> [u32; 2] {
        let mut counts = [0; 2];
        self.passed(life).for_each(|hop| counts[self.class(hop)] += 1);
        counts
    }

    /// Latency of the links of the path that a packet took, and the packet's length \[cycles\].
    pub fn path_latency(&self, life: &Life) -> u32 {
        self.passed(life).map(|hop| self.link_latency(hop.router, hop.port.into(), life.length)).sum::<u32>()
            + life.length
            + life.late
    }

    /// Latency of the links of a packet's minimal path, which is the path taken unless the packet left it, and the packet's
    /// length \[cycles\].
    pub fn base_latency(&self, life: &Life) -> u32 {
        if self.misrouted(life).is_none() {
            return self.path_latency(life);
        }
        let router = |node: u32| (node / self.plan.system.topology.nodes_per_router()) as usize;
        let ends = (router(life.trace.source), router(life.trace.destination));
        // Of several shortest paths any one: they have as many links of each class.
        let way = self.ways.way(ends.0, ends.1, &mut Stream::new(0, Purpose::Routing, 0));
        let links = way.into_iter().map(|(at, port)| self.link_latency(at as u32, port, life.length));
        links.sum::<u32>() + life.length + life.late
    }

    /// Where a packet left its minimal path for the first time, if it did.
    pub fn misrouted(&self, life: &Life) -> Option<usize> {
        let hops = &life.trace.hops;
        let first = hops.iter().position(|hop| hop.misrouted)?;
        let group = |router: u32| self.plan.system.topology.group(router);
        let here = group(hops[first].router);
        let destination = life.trace.destination / self.plan.system.topology.nodes_per_router();
        Some(match first {
            0 => AT_INJECTION,
            _ if here == group(hops[0].router) => IN_SOURCE_GROUP,
            _ if here == group(destination) => IN_DESTINATION_GROUP,
            _ => IN_INTERMEDIATE_GROUP,
        })
    }

    /// Classes of the links that a packet took with nonminimal hops, ascending and each once.
    pub fn nonminimal(&self, life: &Life) -> Vec<usize> {
        let hops = self.passed(life).enumerate();
        let nonminimal = hops.filter(|&(number, hop)| self.is_nonminimal(life, (number, hop)));
        let mut classes: Vec<usize> = nonminimal.map(|(_, hop)| self.class(hop)).collect();
        classes.sort_unstable();
        classes.dedup();
        classes
    }

    /// Whether a hop of a packet, with its number, is nonminimal.
    fn is_nonminimal(&self, life: &Life, (number, hop): (usize, &Hop)) -> bool {
        let routing = &self.plan.experiment.routing;
        if matches!(routing, RoutingConfig::Fpar(_)) {
            return hop.misrouted && (number == 0 || !life.trace.hops[number - 1].misrouted);
        }
        if !matches!(routing, RoutingConfig::Olm(_) | RoutingConfig::Par(_)) {
            return number == 0 && hop.misrouted;
        }
        let (source, serial) = (u64::from(life.trace.source), u64::from(life.trace.serial));
        let to = life.trace.destination / self.plan.system.topology.nodes_per_router();
        let draws = Stream::new(self.plan.experiment.measure.seed, Purpose::Routing, source);
        let mut draws = draws.at(serial).at(u64::from(hop.router));
        let way = self.ways.way(hop.router as usize, to as usize, &mut draws);
        // With a detour a packet may pass the router of its destination.
        way.first() != Some(&(hop.router as usize, usize::from(hop.port)))
    }

    /// The hops of a packet over links.
    fn passed<'a>(&self, life: &'a Life) -> impl Iterator<Item = &'a Hop> {
        let ports = self.plan.system.topology.ports();
        life.trace.hops.iter().filter(move |hop| ports[usize::from(hop.port)] != PortClass::Terminal)
    }

    /// The class of the link that a packet takes.
    fn class(&self, hop: &Hop) -> usize {
        match self.plan.system.topology.ports()[usize::from(hop.port)] {
            PortClass::Link(class) => class.into(),
            PortClass::Terminal => unreachable!("the last hop leads to the node"),
        }
    }

    /// Cycles from the departure of a head to its arrival at the other end of a link: the latency, and on a slow link what the
    /// last phit is late for it; a flit that moves by itself is late for its own.
    pub fn link_latency(&self, router: u32, port: usize, length: u32) -> u32 {
        let link = self.plan.system.network.link(router, port);
        let phits = if self.plan.system.router.cioq().is_some() { length } else { 1 };
        link.latency + phits * (link.cycles_per_phit - 1)
    }
}

/// The cycle in which a packet has left a router that it has passed, by number: the last one when it counts as delivered.
fn left(life: &Life, number: usize) -> u32 {
    let delivered = life.trace.delivered.filter(|_| number + 1 == life.trace.hops.len());
    delivered.unwrap_or(life.trace.hops[number].departed)
}
