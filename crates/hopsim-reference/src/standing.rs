//! Packets that stand still, and congestion trees, for the record stream `congestion_trees`: see *Measurement* in `docs/model.md`.

use crate::simulator::Simulator;
use crate::state::place::{OutputPort, Place, Request};
use crate::state::standing::Congestion;
use hopsim_cycles::observer::WaitReason;
use hopsim_experiment::config::measure::RecordStream;
use std::collections::{BTreeMap, BTreeSet};

/// A queue whose head waits.
struct Queue {
    reason: WaitReason,
    port: usize,
    vc: usize,
    packets: Vec<usize>,
}

impl Queue {
    fn lacks_room(&self) -> bool {
        matches!(self.reason, WaitReason::Credits | WaitReason::Bubble | WaitReason::Lbr)
    }
}

/// What a head waits for in the end.
enum End {
    /// A link, with the number of links up to it.
    Link(OutputPort, u32),
    /// The crossbar.
    Crossbar,
    /// The head itself: heads wait for each other in a circle.
    Circle,
}

impl Simulator<'_> {
    /// Counts what stands still, at the end of an interval.
    pub(crate) fn look_at_congestion(&mut self) {
        let measure = &self.plan.experiment.measure;
        let asked = measure.streams.contains(&RecordStream::CongestionTrees);
        if !asked || !self.now.is_multiple_of(measure.interval) {
            return;
        }
        let queues = self.queues();
        let ends: BTreeMap<Place, End> =
            queues.keys().map(|&place| (place, self.follow(&queues, place))).collect();
        // Links without room hang on these.
        let mut spread = BTreeSet::new();
        for (place, queue) in &queues {
            if let (true, End::Link(root, _)) = (queue.lacks_room(), &ends[place]) {
                spread.insert(*root);
            }
        }
        let mut congestion = std::mem::take(&mut self.congestion);
        let mut census = [0; 5];
        for (place, queue) in &queues {
            let count = queue.packets.len() as u32;
            census[0] += count;
            match ends[place] {
                End::Link(root, depth) if spread.contains(&root) => {
                    census[1] += count;
                    self.stand(&mut congestion, (root, depth, &spread), (place.0, queue));
                }
                End::Link(..) => census[2] += count,
                End::Crossbar => census[3] += count,
                End::Circle => census[4] += count,
            }
        }
        congestion.censuses.insert(self.now, census);
        self.congestion = congestion;
    }

    /// The queues whose head has arrived and may take part.
    fn queues(&self) -> BTreeMap<Place, Queue> {
        let mut queues = BTreeMap::new();
        for (router, parts) in self.routers.iter().enumerate() {
            for (port, input) in parts.inputs.iter().enumerate() {
                for (vc, residents) in input.vcs.iter().enumerate() {
                    let position = usize::from(input.leaving().any(|passage| passage.vc == vc));
                    let there = |arrived: u32| arrived + self.plan.system.cioq().pipeline_latency < self.now;
                    let waiting = residents.iter().skip(position).filter(|resident| there(resident.arrived));
                    let most = if input.is_terminal() { 1 } else { usize::MAX };
                    let packets: Vec<usize> = waiting.take(most).map(|resident| resident.packet).collect();
                    if !packets.is_empty() {
                        let place = (router, port, vc);
                        let (reason, port, vc) = self.waits_for((place, position), packets[0]);
                        queues.insert(place, Queue { reason, port, vc, packets });
                    }
                }
            }
        }
        queues
    }

    /// What a head waits for, and which output VC: of several the one that lacks least, then on its minimal path, then the first.
    fn waits_for(&self, (place, position): (Place, usize), packet: usize) -> (WaitReason, usize, usize) {
        if self.awaits_signal(place.0, place.1) {
            return (WaitReason::Sat, 0, 0);
        }
        let options = self.options(place, position);
        let minimal = options.first().map(|to| to.port);
        let key = |to: Request| (self.lack(place, packet, to), Some(to.port) != minimal, to.port, to.vc);
        let least = options.into_iter().map(key).min();
        least.map_or((WaitReason::Sat, 0, 0), |(reason, _, port, vc)| (reason, port, vc.into()))
    }

    /// What the head of a queue waits for in the end.
    fn follow(&self, queues: &BTreeMap<Place, Queue>, first: Place) -> End {
        let mut seen = BTreeSet::new();
        let mut place = first;
        while seen.insert(place) {
            let queue = &queues[&place];
            if matches!(queue.reason, WaitReason::Sat | WaitReason::Arbitration) {
                return End::Crossbar;
            }
            let root = End::Link((place.0, queue.port), seen.len() as u32);
            let output = &self.routers[place.0].outputs[queue.port];
            let Some((peer, back)) = output.peer.filter(|_| queue.lacks_room()) else { return root };
            let others = if output.shares.is_some() { output.outstanding.len() } else { 0 };
            let mut behind = std::iter::once(queue.vc).chain(0..others).map(|vc| (peer, back, vc));
            match behind.find(|place| queues.contains_key(place)) {
                Some(next) => place = next,
                None => return root,
            }
        }
        End::Circle
    }

    /// Counts the packets of a queue as standing in a tree.
    fn stand(
        &self,
        congestion: &mut Congestion,
        (root, depth, roots): (OutputPort, u32, &BTreeSet<OutputPort>),
        (router, queue): (usize, &Queue),
    ) {
        let tree = congestion.trees.entry((self.now, root)).or_default();
        tree.depth = tree.depth.max(depth);
        tree.links.extend([root, (router, queue.port)]);
        for (number, &packet) in queue.packets.iter().enumerate() {
            let (length, trace) = (self.packets[packet].length, &self.packets[packet].trace);
            let begins = if number == 0 { Some(queue.port) } else { None };
            let way = self.way_ahead((router, begins), trace.destination);
            let role = if way.contains(&root) {
                0
            } else if way.iter().any(|link| roots.contains(link)) {
                1
            } else {
                2
            };
            tree.packets[role] += 1;
            tree.phits += u64::from(length);
            if self.now > self.plan.experiment.measure.warmup.cycles() {
                let job = usize::from(self.plan.system.job_of[trace.source as usize]);
                let [from, to] = [trace.source, trace.destination].map(|node| self.class_of(node));
                congestion.flows.entry((root, job, from, to)).or_default()[role] += 1;
            }
        }
    }

    /// The links before a packet: those of the first shortest path, from the port on that its head asks for.
    fn way_ahead(&self, (router, begins): (usize, Option<usize>), node: u32) -> Vec<OutputPort> {
        let (to, exit) = (node as usize / self.nodes_per_router, node as usize % self.nodes_per_router);
        let mut way: Vec<OutputPort> = begins.map(|port| (router, port)).into_iter().collect();
        let next = begins.map_or(Some(router), |port| self.neighbour(router, port));
        // A head that asks for its node is there.
        let Some(next) = next else { return way };
        way.extend(self.rules.ways().first_way(next, to));
        way.push((to, exit));
        way
    }

    /// The router behind a port, if it leads to one.
    fn neighbour(&self, router: usize, port: usize) -> Option<usize> {
        self.plan.system.topology.neighbour(router as u32, port).map(|(peer, _)| peer as usize)
    }

    /// The group of a node, or its router where there are no groups.
    pub(crate) fn class_of(&self, node: u32) -> u32 {
        let (topology, router) = (&self.plan.system.topology, node / self.nodes_per_router as u32);
        if topology.groups() == 1 { router } else { topology.group(router) }
    }
}
