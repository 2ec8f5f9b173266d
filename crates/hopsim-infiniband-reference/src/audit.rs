//! What must hold after every tick.

use crate::fate::Fate;
use crate::simulator::Reference;
use hopsim_infiniband::fabric::{BLOCK, FlowControl};
use hopsim_infiniband::workload::Workload;

impl<W: Workload> Reference<W> {
    /// Counts all blocks anew.
    ///
    /// # Panics
    ///
    /// If a buffer holds more than its size, blocks of a buffer are lost or invented, or too many transfers leave an input.
    pub fn audit(&self) {
        for port in 0..self.links.len() {
            for lane in 0..usize::from(self.fabric.lanes.count) {
                self.audit_link(port, lane);
            }
        }
        for port in self.switch_ports() {
            assert!(
                self.blocks_in_output_buffer(port) <= self.fabric.switch.output_buffer,
                "output {port} is too full"
            );
            assert!(
                self.transfers_out_of(port) <= self.fabric.switch.transfers_per_input,
                "input {port} sends too much"
            );
        }
    }

    /// Every block of the buffer behind a link is a credit, on its way there or back, or taken.
    fn audit_link(&self, sender: usize, lane: usize) {
        let Some(receiver) = self.peer(sender) else { return };
        let size = self.fabric.ports[receiver].buffer;
        if let FlowControl::Pfc(_) = self.fabric.flow_control {
            let (taken, size) = (self.bytes_in_buffer(receiver, lane), u64::from(size * BLOCK));
            assert!(
                taken <= size,
                "port {receiver} holds {taken} bytes of VL {lane} and has room for {size}"
            );
            return;
        }
        let link = &self.links[sender];
        let taken = self.blocks_in_buffer(receiver, lane);
        assert!(taken <= size, "port {receiver} holds {taken} blocks of VL {lane} and has room for {size}");
        let back: u32 = link.returning.iter().filter(|each| each.lane == lane).map(|each| each.blocks).sum();
        if self.failing.out[sender] {
            assert_eq!(link.credits[lane] + back, 0, "credits of port {sender}, whose link is out of order");
            return;
        }
        let all = link.credits[lane] + self.blocks_promised(sender, receiver, lane) + back;
        assert_eq!(all, size, "blocks of the buffer of port {receiver} in VL {lane}");
    }

    /// What is taken of the buffer behind a link, and what has been granted the link and has not come \[blocks\].
    pub(crate) fn blocks_promised(&self, sender: usize, receiver: usize, lane: usize) -> u32 {
        let granted = self.outputs[sender].leaving.iter().filter(|each| each.onto_link.is_none());
        let granted = granted.map(|each| each.packet).filter(|&it| self.packets[it].fate != Fate::Lost);
        let under_way = self.links[sender].flights.iter().map(|each| each.packet);
        self.sum(granted.chain(under_way), lane) + self.blocks_in_buffer(receiver, lane)
    }

    /// What is taken of the buffer of a port for a VL \[blocks\].
    fn blocks_in_buffer(&self, port: usize, lane: usize) -> u32 {
        self.sum(self.in_buffer(port, lane).into_iter(), lane)
    }

    /// What is in the buffer of a port for a VL, the packets whose heads have come \[bytes\].
    pub fn bytes_in_buffer(&self, port: usize, lane: usize) -> u64 {
        let packets = self.in_buffer(port, lane).into_iter().map(|packet| self.packets[packet]);
        packets.filter(|packet| packet.lane == lane).map(|packet| packet.bytes()).sum()
    }

    /// The packets in the buffers of a port. At a switch they are those of a VL, and what is discarded of all VLs.
    fn in_buffer(&self, port: usize, lane: usize) -> Vec<usize> {
        if self.fabric.is_host(port as u32) {
            return self.hosts[port].received.iter().map(|each| each.packet).collect();
        }
        let queues = self.siblings(port).flat_map(|output| self.queue(port, output, lane));
        let discarded = self.failing.discarded.iter().filter(|(_, input, _)| *input == port);
        queues.map(|each| each.packet).chain(discarded.map(|&(.., packet)| packet)).collect()
    }

    /// The blocks of some packets, of which only those in a VL count.
    fn sum(&self, packets: impl Iterator<Item = usize>, lane: usize) -> u32 {
        packets
            .map(|packet| self.packets[packet])
            .filter(|packet| packet.lane == lane)
            .map(|it| it.blocks())
            .sum()
    }
}
