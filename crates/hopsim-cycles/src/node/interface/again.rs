//! Packets that have been lost in the network and that their nodes send again.

use crate::kernel::Kernel;
use crate::kernel::by::By;
use crate::kernel::ids::RegionNode;
use crate::kernel::packet::Waiting;
use crate::mode::Mode;
use crate::node::interface::Interfaces;
use crate::observer::Observer as _;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// What has been lost of the packets of a node, also in a snapshot.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct NodeLosses {
    /// The packets that come back, by the cycle in which they do and their number among those of the node.
    coming: BTreeMap<(u32, u32), Waiting>,
    /// How often packets have been lost, by their number.
    times: BTreeMap<u32, u32>,
}

impl NodeLosses {
    /// A packet is lost, which comes back in cycle `at` unless it has been sent again `most` times. Returns whether it does.
    pub fn lose(&mut self, packet: Waiting, at: u32, most: u32) -> bool {
        let times = self.times.entry(packet.serial).or_default();
        *times += 1;
        let comes = *times <= most;
        if comes {
            self.coming.insert((at, packet.serial), packet);
        }
        comes
    }
}

/// What has been lost of the packets of the nodes of a region.
#[derive(Default)]
pub struct Again {
    /// By node; empty if nodes send nothing again.
    nodes: By<RegionNode, NodeLosses>,
    /// The cycles in which packets come back, with their nodes.
    due: BTreeSet<(u32, RegionNode)>,
}

impl Again {
    /// Nothing has been lost so far of the packets of some nodes.
    pub fn new(nodes: usize) -> Self {
        Self { nodes: By::all(NodeLosses::default(), nodes), due: BTreeSet::new() }
    }

    /// The next cycle in which packets come back; `u32::MAX` if none do.
    pub fn next(&self) -> u32 {
        self.due.first().map_or(u32::MAX, |&(at, _)| at)
    }

    /// Packets that will come back.
    #[cfg(feature = "trace")]
    pub fn count(&self) -> usize {
        self.nodes.iter().map(|losses| losses.coming.len()).sum()
    }

    /// What has been lost of the packets of a node, if nodes send anything again.
    pub fn save(&self, node: RegionNode) -> Option<NodeLosses> {
        self.nodes.get(node).cloned()
    }

    /// Goes on with what has been lost of the packets of a node.
    pub fn load(&mut self, node: RegionNode, losses: &NodeLosses) {
        let Some(own) = self.nodes.get_mut(node) else { return };
        self.due.extend(losses.coming.keys().map(|&(at, _)| (at, node)));
        own.clone_from(losses);
    }
}

impl Interfaces {
    /// The packets for which it is time come back, each before all others of the source queue of its node, those of one cycle by their
    /// numbers. Returns their nodes.
    pub fn take_back<M: Mode>(&mut self, kernel: &mut Kernel<'_, M>) -> Vec<RegionNode> {
        let mut nodes = Vec::new();
        while let Some(&(at, node)) = self.again.due.first().filter(|&&(at, _)| at <= kernel.now) {
            self.again.due.pop_first();
            let later = self.again.nodes[node].coming.split_off(&(at + 1, 0));
            let coming = std::mem::replace(&mut self.again.nodes[node].coming, later);
            for packet in coming.into_values().rev() {
                let index = self.waiting.insert(packet);
                let nic = &mut self.nics[node];
                nic.queue.push_front(&mut self.waiting, index);
                nic.queued += 1;
                kernel.worker.observer.sent_again(&mut kernel.places, node, nic.job);
            }
            nodes.push(node);
        }
        nodes
    }
}
