//! Fabrics whose links fail in the middle of a run: from when to when which nodes have no way to which, by the tables that are in force.

use crate::plan::FabricPlan;
use crate::plan::fabric::in_words;
use crate::proof::grouped;
use hopsim_infiniband::fabric::NONE;
use hopsim_infiniband::faults::What;
use hopsim_infiniband::time::Ticks;
use hopsim_network::interrupt;
use std::collections::BTreeMap;

/// Ways that a sentence names.
const NAMED: usize = 4;

/// A time in which some nodes have no way to others, without a break.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CutWays {
    /// When the time begins.
    pub from: Ticks,
    /// When the time ends; none: not before the run does.
    pub until: Option<Ticks>,
    /// How many ways there are not at once, at most.
    pub most: u64,
    /// Source and destination of some of these ways, the first that are cut first.
    pub among: Vec<[u32; 2]>,
}

/// From when to when nodes have no way to others: the tables lead over a link that is out of order, or round in a circle.
pub fn cuts(plan: &FabricPlan) -> Vec<CutWays> {
    let mut walk = WaysToNode::new(plan);
    let (mut steps, mut begins): (BTreeMap<Ticks, i64>, Vec<_>) = (BTreeMap::new(), Vec::new());
    for destination in 0..plan.fabric.hosts {
        let mut before = 0;
        for (at, (cut, first)) in walk.times(destination) {
            *steps.entry(at).or_default() += cut as i64 - before as i64;
            if cut > before {
                begins.push((at, [first, destination]));
            }
            before = cut;
        }
    }
    begins.sort_unstable();
    let (mut cuts, mut open): (Vec<CutWays>, i64) = (Vec::new(), 0);
    for (at, step) in steps {
        let before = open;
        open += step;
        if before == 0 && open > 0 {
            cuts.push(CutWays { from: at, until: None, most: 0, among: Vec::new() });
        }
        let Some(cut) = cuts.last_mut() else { continue };
        cut.most = cut.most.max(open.unsigned_abs());
        if before > 0 && open == 0 {
            cut.until = Some(at);
        }
    }
    for cut in &mut cuts {
        let is_in = |at: Ticks| at >= cut.from && cut.until.is_none_or(|until| at < until);
        let named = begins.iter().filter(|(at, _)| is_in(*at)).map(|&(_, way)| way);
        cut.among = named.take(NAMED).collect();
    }
    cuts
}

/// The times in which nodes have no way to others, in sentences.
pub fn sentences(plan: &FabricPlan) -> Vec<String> {
    let hosts = u64::from(plan.fabric.hosts);
    let told = |cut: CutWays| {
        let time = |ticks| in_words(ticks, plan.fabric.ticks_per_ns);
        let until = cut.until.map_or("on".to_owned(), |until| format!("to {}", time(until)));
        let named: Vec<String> =
            cut.among.iter().map(|[source, node]| format!("{source} to {node}")).collect();
        format!(
            "cut off from {} {until}: up to {} of {} ways between nodes at once, first {}",
            time(cut.from),
            grouped(cut.most),
            grouped(hosts * (hosts - 1)),
            named.join(", "),
        )
    };
    cuts(plan).into_iter().map(told).collect()
}

/// What is known of the way from a switch.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    Unknown,
    /// The way is being gone: who comes here again goes round in a circle.
    Open,
    There,
    Cut,
}

/// Goes the ways to one node after the other.
struct WaysToNode<'p> {
    plan: &'p FabricPlan,
    /// The lowest node of each switch and how many it has.
    hosts: Vec<(u32, u64)>,
    /// The port by which packets for the node leave each switch.
    outputs: Vec<u32>,
    /// By port, whether its link is out of order.
    is_out: Vec<bool>,
    ways: Vec<Way>,
    path: Vec<u32>,
}

impl<'p> WaysToNode<'p> {
    fn new(plan: &'p FabricPlan) -> Self {
        let cables = &plan.wiring.cables;
        let mut hosts = vec![(u32::MAX, 0); cables.switches() as usize];
        for host in 0..plan.fabric.hosts {
            let (first, count) = &mut hosts[cables.ends[host as usize] as usize];
            (*first, *count) = ((*first).min(host), *count + 1);
        }
        Self {
            plan,
            outputs: vec![0; hosts.len()],
            is_out: vec![false; cables.peers.len()],
            ways: vec![Way::Unknown; hosts.len()],
            path: Vec::new(),
            hosts,
        }
    }

    /// When it changes how many nodes have no way to this one: to how many, and the first of them.
    fn times(&mut self, node: u32) -> Vec<(Ticks, (u64, u32))> {
        let changes = &self.plan.fabric.faults.changes;
        let entry = |switch: u32| switch as usize * self.plan.fabric.hosts as usize + node as usize;
        let all: Vec<_> = self.plan.tables().collect();
        let port = |switch: u32, tables: u32| {
            self.plan.wiring.cables.first_port[switch as usize] + all[tables as usize].output(entry(switch))
        };
        self.outputs = (0..self.plan.wiring.cables.switches()).map(|switch| port(switch, 0)).collect();
        self.is_out.fill(false);
        let (mut times, mut last) = (Vec::new(), (0, u32::MAX));
        let within = changes.iter().take_while(|change| change.at < self.plan.span.end).count();
        for together in changes[..within].chunk_by(|one, other| one.at == other.at) {
            interrupt::steps(together.len() as u64);
            let mut matters = false;
            for change in together {
                matters |= match change.what {
                    What::Repaired { port } => self.set(port, false),
                    What::Fails { port, .. } => self.set(port, true),
                    What::Detected { .. } => false,
                    What::Table { switch, tables } => {
                        let port = port(switch, tables);
                        std::mem::replace(&mut self.outputs[switch as usize], port) != port
                    }
                };
            }
            if matters {
                let cut = self.cut(node);
                if cut != last {
                    times.push((together[0].at, cut));
                }
                last = cut;
            }
        }
        times
    }

    /// Whether a link is out of order from now on; returns whether packets for the node would cross it.
    fn set(&mut self, port: u32, is_out: bool) -> bool {
        let first_port = &self.plan.fabric.first_port;
        [port, self.plan.wiring.cables.peers[port as usize]].into_iter().fold(false, |crosses, end| {
            self.is_out[end as usize] = is_out;
            let switch = first_port.partition_point(|&first| first <= end) - 1;
            crosses || self.outputs[switch] == end
        })
    }

    /// How many nodes have no way to this one, and the first of them.
    fn cut(&mut self, node: u32) -> (u64, u32) {
        interrupt::steps(self.ways.len() as u64);
        self.ways.fill(Way::Unknown);
        let (mut count, mut first) = (0, u32::MAX);
        for switch in 0..self.ways.len() {
            let (lowest, hosts) = self.hosts[switch];
            if hosts > 0 && self.way(switch as u32, node) == Way::Cut {
                (count, first) = (count + hosts, first.min(lowest));
            }
        }
        (count, first)
    }

    /// Whether there is a way from a switch to a node.
    fn way(&mut self, from: u32, node: u32) -> Way {
        let mut switch = from;
        let found = loop {
            match self.ways[switch as usize] {
                Way::Unknown => {}
                Way::Open => break Way::Cut,
                known => break known,
            }
            self.ways[switch as usize] = Way::Open;
            self.path.push(switch);
            let port = self.outputs[switch as usize] as usize;
            if self.is_out[port] {
                break Way::Cut;
            }
            switch = self.plan.wiring.cables.ends[port];
            if switch == NONE {
                break if self.plan.wiring.cables.peers[port] == node { Way::There } else { Way::Cut };
            }
        };
        for switch in self.path.drain(..) {
            self.ways[switch as usize] = found;
        }
        found
    }
}
