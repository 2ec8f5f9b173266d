//! The cut of a network into regions that are simulated each by itself, some cycles ahead of each other.
//!
//! What leaves a router arrives elsewhere no sooner than the latency of the link. So a region whose links to all others
//! have at least that latency can be simulated for as many cycles before anything from outside can matter (the lookahead of
//! conservative parallel simulation: Chandy and Misra, 1979). That keeps its state in the cache; the results are the same.

use crate::kernel::ids::{Id as _, RegionNode, RegionRouter};
use crate::system::System;
use std::ops::Range;

/// Bytes of routers per region aimed at: with packets, nodes and events the state of a region is about twice as many, and fits
/// into the second-level cache of the day.
const BYTES: usize = 256 << 10;

/// Bytes of routers up to which a network is simulated whole.
pub const WHOLE: usize = 4 << 20;

/// Cycles ahead below which a cut is not worth its trouble.
const WORTHWHILE: u32 = 8;

/// Regions for each thread, where there are enough routers, so that the work can be shared out evenly: where regions run ahead of
/// each other by many cycles, and where they do not and every further region costs time in each of these cycles.
const PER_THREAD: [usize; 2] = [4, 2];

/// How finely to cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cut {
    /// A cut into regions that fit into the cache, and enough of them for all threads.
    Fitting,
    /// A cut as fine as possible: for tests.
    Finest,
}

/// A cut of a network into regions.
#[derive(Clone, Debug)]
pub struct Regions {
    /// Routers of each region.
    routers: Vec<Range<u32>>,
    /// Cycles that a region may be ahead of the others.
    lookahead: u32,
}

impl Regions {
    /// Cuts a network whose routers take `bytes` each for so many threads. Groups stay whole: the routers of a group may tell
    /// each other more than links do.
    pub fn new(system: &System, (cut, threads): (Cut, usize), bytes: usize) -> Self {
        let whole =
            Self { routers: std::iter::once(0..system.network.routers).collect(), lookahead: u32::MAX };
        // The signal goes from region to region in no time, and so do the news that a burst is over, and what is outstanding.
        let bursts = system.jobs.iter().any(|job| job.synchronised().is_some());
        let sensors = system.routing.sensors();
        if bursts || system.control.sat.is_some() || sensors.outstanding {
            return whole;
        }
        let routers = system.network.routers as usize;
        let is_grouped =
            system.topology.groups() > 1 || sensors.saturation.is_some() || sensors.exchange.is_some();
        let group = if is_grouped { routers / system.topology.groups() as usize } else { 1 };
        match cut {
            Cut::Finest => Self::of_size(system, group),
            Cut::Fitting => {
                let for_cache = if routers * bytes < WHOLE { routers } else { BYTES / bytes };
                let for_threads = |each| if threads > 1 { routers.div_ceil(threads * each) } else { routers };
                let of_most = |most: usize| Self::of_size(system, (most / group).max(1) * group);
                let [long, short] = PER_THREAD.map(for_threads);
                let fitting = of_most(for_cache.min(long));
                if fitting.lookahead < WORTHWHILE { of_most(short) } else { fitting }
            }
        }
    }

    /// A cut into regions of `size` routers.
    fn of_size(system: &System, size: usize) -> Self {
        let network = &system.network;
        let routers = (0..network.routers).step_by(size);
        let routers = routers.map(|first| first..(first + size as u32).min(network.routers)).collect();
        let leaves = |router: u32, port: usize| {
            let link = network.link(router, port);
            let (peer, _) = link.peer?;
            (peer as usize / size != router as usize / size).then_some(link.latency)
        };
        let latencies = (0..network.routers)
            .flat_map(|router| (0..network.layout.ports()).filter_map(move |port| leaves(router, port)));
        Self { routers, lookahead: latencies.min().unwrap_or(u32::MAX) }
    }

    /// Regions that run ahead of each other by `cycles` more than they may: results must show it.
    #[cfg(feature = "trace")]
    #[must_use]
    pub fn stretched(self, cycles: u32) -> Self {
        Self { lookahead: self.lookahead.saturating_add(cycles), ..self }
    }

    /// How many regions there are.
    pub fn count(&self) -> usize {
        self.routers.len()
    }

    /// Cycles that a region may be ahead of the others.
    pub fn lookahead(&self) -> u32 {
        self.lookahead
    }

    /// The routers of a region.
    pub fn routers(&self, region: usize) -> Range<u32> {
        self.routers[region].clone()
    }

    /// The region of a router.
    pub fn of(&self, router: u32) -> usize {
        self.routers.partition_point(|routers| routers.end <= router)
    }

    /// The routers and nodes of a region.
    pub fn span(&self, system: &System, region: usize) -> Span {
        let routers = self.routers(region);
        let node = |router: u32| (router * system.topology.nodes_per_router()).min(system.network.nodes);
        Span {
            region: region as u16,
            first_router: routers.start,
            routers: routers.len(),
            first_node: node(routers.start),
            // In a fat tree only the first routers have nodes.
            nodes: (node(routers.end) - node(routers.start)) as usize,
        }
    }
}

/// The routers and nodes of a region. Inside it routers and nodes are numbered from 0.
#[derive(Clone, Copy, Debug)]
pub struct Span {
    /// The number of the region.
    pub region: u16,
    /// The first router of the region.
    pub first_router: u32,
    /// How many routers the region has.
    pub routers: usize,
    /// The first node of the region.
    pub first_node: u32,
    /// How many nodes the region has.
    pub nodes: usize,
}

impl Span {
    /// The number in the network of a router of the region.
    #[inline]
    pub fn router(&self, number: RegionRouter) -> u32 {
        self.first_router + number.index() as u32
    }

    /// The number in the network of a node of the region.
    #[inline]
    pub fn node(&self, number: RegionNode) -> u32 {
        self.first_node + number.index() as u32
    }

    /// The number in the region of one of its routers.
    pub fn router_here(&self, router: u32) -> RegionRouter {
        RegionRouter::at((router - self.first_router) as usize)
    }

    /// The number in the region of one of its nodes.
    #[inline]
    pub fn node_here(&self, node: u32) -> RegionNode {
        RegionNode::at((node - self.first_node) as usize)
    }
}
