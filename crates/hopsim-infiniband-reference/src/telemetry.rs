//! What switches note in packets, counted anew for each of them.

use crate::Fact;
use crate::reaction::Reading;
use crate::simulator::Reference;
use hopsim_infiniband::reaction::Reaction;
use hopsim_infiniband::workload::Workload;

impl<W: Workload> Reference<W> {
    /// The head of a packet goes onto the link of an output, which no longer counts it among those that wait.
    pub fn note(&mut self, packet: usize, output: usize) {
        let reaction = self.fabric.congestion.as_ref().map(|control| &control.reaction);
        if !matches!(reaction, Some(Reaction::Hpcc(_))) || self.packets[packet].told.is_notification {
            return;
        }
        let gone = self.facts.iter().map(|fact| match *fact {
            Fact::OnLink { port, packet, .. } if port as usize == output => u64::from(packet.bytes),
            _ => 0,
        });
        let queue = self.without_a_grant(output) + self.granted(output);
        let reading = Reading { output, at: self.now, queue, gone: gone.sum() };
        self.notes.push((packet, reading));
    }

    /// Bytes of the packets that wait at the inputs for a grant of an output.
    fn without_a_grant(&self, output: usize) -> u64 {
        let mut bytes = 0;
        for input in self.siblings(output) {
            for lane in 0..usize::from(self.fabric.lanes.count) {
                let waiting = self.queue(input, output, lane).iter().skip(self.crossing(input, output, lane));
                bytes += waiting.map(|each| self.packets[each.packet].bytes()).sum::<u64>();
            }
        }
        bytes
    }

    /// Bytes of the packets that an output has granted and that are not on the link.
    fn granted(&self, output: usize) -> u64 {
        let leaving = self.outputs[output].leaving.iter();
        leaving.filter(|each| each.onto_link.is_none()).map(|each| self.packets[each.packet].bytes()).sum()
    }

    /// What has been noted in a packet, in the order of its way.
    pub fn noted_in(&self, packet: usize) -> Vec<Reading> {
        self.notes.iter().filter(|(other, _)| *other == packet).map(|(_, reading)| *reading).collect()
    }
}
