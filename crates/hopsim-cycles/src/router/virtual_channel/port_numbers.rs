//! The ports of a router as its allocators number them: see [`PortOrder`].

use crate::choices::PortOrder;
use crate::system::System;
use hopsim_network::network::TERMINAL;
use hopsim_network::topology::Topology;

/// What comes before the ports of a router in its allocators.
pub struct PortNumbers {
    /// How many output ports come before each port.
    pub output_ports: Vec<u16>,
    /// How many ports come before each.
    pub ports: Vec<u16>,
    /// How many input VCs come before those of each port.
    pub inputs: Vec<u16>,
    /// How many output VCs come before those of each port.
    pub outputs: Vec<u16>,
}

impl PortNumbers {
    /// The numbers in a system whose routers count their ports in some order.
    pub fn new(system: &System, port_order: PortOrder) -> Self {
        let layout = &system.network.layout;
        let place = |port: usize| match (port_order, &*system.topology) {
            (PortOrder::Booksim, Topology::Cube(cube)) => {
                let nodes_are_last = layout.terminals == 1;
                if layout.class[port] == TERMINAL {
                    return (nodes_are_last, 0, false);
                }
                let (dimension, plus) = cube.direction(port);
                (!nodes_are_last, dimension, !plus)
            }
            _ => (false, 0, false),
        };
        let mut order: Vec<usize> = (0..layout.ports()).collect();
        order.sort_by_key(|&port| place(port));
        // Further injection ports of a node have their VCs beside those of the first one.
        let mut by_slot = order.clone();
        by_slot.sort_by_key(|&port| (place(port), layout.slot_base[port]));
        Self {
            output_ports: before(&order, |port| u16::from(layout.output_vcs[port] > 0)),
            ports: before(&order, |_| 1),
            inputs: before(&by_slot, |port| layout.input_vcs[port].into()),
            outputs: before(&order, |port| layout.output_vcs[port].into()),
        }
    }

    /// Puts the inputs of the crossbar in order, each with its port and its VCs, a bit each.
    pub fn sort_crossbar(&self, inputs: &mut [(usize, u64)], port_order: PortOrder) {
        if port_order == PortOrder::Booksim {
            inputs.sort_by_key(|&(port, vcs)| (self.ports[port], vcs.trailing_zeros()));
        }
    }
}

/// How much the ports before each have together, if they come in this order.
fn before(order: &[usize], has: impl Fn(usize) -> u16) -> Vec<u16> {
    let (mut before, mut sum) = (vec![0; order.len()], 0);
    for &port in order {
        before[port] = sum;
        sum += has(port);
    }
    before
}
