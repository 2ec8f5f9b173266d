//! The SAT signal on its way: who may inject. See [`crate::injection::sat`].

use crate::injection::sat::Sat;
use crate::kernel::by::By;
use crate::kernel::ids::RegionNode;
use serde::{Deserialize, Serialize};

/// The signal and what nodes have injected since it passed.
pub struct SatSignal {
    pub(super) rule: Sat,
    /// Place of the signal on the walk.
    pub(super) place: usize,
    /// Cycle from which the signal is there.
    pub(super) arrives: u32,
    /// Packets since the signal was last passed on, by node.
    pub(super) counts: By<RegionNode, u32>,
    /// Injection VCs whose heads wait for the signal, a bit each, by node.
    pub(super) held: By<RegionNode, u16>,
}

/// The signal in a snapshot.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct SatState {
    place: usize,
    arrives: u32,
    /// Packets and held VCs of every node.
    nodes: Vec<(u32, u16)>,
}

impl SatSignal {
    /// The signal at the first node of the walk.
    pub fn new(rule: &Sat) -> Self {
        let nodes = rule.walk.len();
        Self { rule: rule.clone(), place: 0, arrives: 0, counts: By::all(0, nodes), held: By::all(0, nodes) }
    }

    /// The state of the signal.
    pub fn save(&self) -> SatState {
        let Self { rule: _, place, arrives, counts, held } = self;
        SatState {
            place: *place,
            arrives: *arrives,
            nodes: counts.iter().copied().zip(held.iter().copied()).collect(),
        }
    }

    /// Goes on with a state of the signal.
    pub fn load(&mut self, state: &SatState) {
        let SatState { place, arrives, nodes } = state;
        (self.place, self.arrives) = (*place, *arrives);
        self.counts = nodes.iter().map(|&(count, _)| count).collect();
        self.held = nodes.iter().map(|&(_, held)| held).collect();
    }

    /// Whether a node has injected enough to pass the signal on.
    pub fn has_enough(&self, node: RegionNode) -> bool {
        self.counts[node] >= self.rule.l
    }

    /// Whether a node has to wait for the signal.
    pub fn is_exhausted(&self, node: RegionNode) -> bool {
        self.counts[node] >= self.rule.k
    }

    /// Whether a node has to wait for the signal; then the head of its injection VC `vc` is held.
    pub fn holds(&mut self, node: RegionNode, vc: usize) -> bool {
        let holds = self.counts[node] >= self.rule.k;
        self.held[node] |= u16::from(holds) << vc;
        holds
    }

    /// A node has injected a packet. Returns whether the node has to wait for the signal from now on.
    pub fn inject(&mut self, node: RegionNode) -> bool {
        self.counts[node] += 1;
        self.counts[node] >= self.rule.k
    }
}
