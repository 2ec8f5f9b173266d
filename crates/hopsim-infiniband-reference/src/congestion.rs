//! Congestion at the outputs of switches, and marks.

use crate::Fact;
use crate::simulator::Reference;
use hopsim_infiniband::congestion::{
    CongestionControl, Ecn, MarkPoint, Marking, PortRules, ThresholdMode, VictimMask,
};
use hopsim_infiniband::fabric::{BLOCK, blocks};
use hopsim_infiniband::workload::Workload;

/// What an output port has: what an exception says, if there is one for it.
fn rules_of(control: &CongestionControl, output: usize) -> PortRules {
    let own = control.exceptions.iter().find(|(port, _)| **port as usize == output);
    own.map_or(control.rules, |(_, rules)| *rules)
}

impl<W: Workload> Reference<W> {
    /// What waits for an output in a VL, or its credits, have changed: whether it is congested is looked at anew.
    pub fn look_for_congestion(&mut self, output: usize, lane: usize) {
        let Some(control) = &self.fabric.congestion else { return };
        if self.fabric.is_host(output as u32) {
            return;
        }
        let rules = rules_of(control, output);
        let waiting: Vec<u64> =
            self.siblings(output).map(|input| self.occupancy(output, input, lane)).collect();
        let (is_high, is_low) = match control.mode {
            ThresholdMode::PerVoq => {
                (waiting.iter().any(|&x| x >= rules.high), waiting.iter().all(|&x| x < rules.low))
            }
            ThresholdMode::Common => {
                let sum = waiting.iter().sum::<u64>();
                (sum >= rules.high, sum < rules.low)
            }
        };
        let is_root = self.may_leave(output, lane, blocks(self.fabric.mtu));
        let is_in_victim_mask = match rules.victim_mask {
            VictimMask::Hosts => self.fabric.is_host(self.fabric.ports[output].peer),
            VictimMask::All => true,
            VictimMask::None => false,
        };
        let congested = &mut self.outputs[output].congested[lane];
        *congested = if *congested { !is_low } else { is_high && (is_root || is_in_victim_mask) };
    }

    /// A packet is at one of the points where it could be marked.
    pub fn mark(&mut self, point: MarkPoint, packet: usize, output: usize) {
        let Some(control) = &self.fabric.congestion else { return };
        let rules = rules_of(control, output);
        let lane = self.packets[packet].lane;
        let waiting: u64 = self.siblings(output).map(|input| self.occupancy(output, input, lane)).sum();
        let state = &mut self.outputs[output];
        let packet = &mut self.packets[packet];
        let long_enough = packet.told.bytes >= u32::from(rules.packet_size) * BLOCK;
        let depends_on_length = matches!(control.marking, Marking::Ecn(_));
        let is_eligible = !packet.told.is_notification
            && long_enough
            && (depends_on_length || state.congested[packet.lane]);
        if point != control.mark_point || !is_eligible {
            return;
        }
        let between = u64::from(rules.marking_rate) + 1;
        let is_chosen = match control.marking {
            Marking::Random => state.draws.below(between as u32) == 0,
            Marking::Periodic => {
                state.eligible[packet.lane] += 1;
                state.eligible[packet.lane].is_multiple_of(between)
            }
            Marking::Ecn(Ecn { min, max, .. }) if min >= waiting || waiting > max => waiting > max,
            Marking::Ecn(Ecn { min, max, probability }) => {
                // Both sides of: drawn / 2^32 is less than the probability, times 2^32 and the width.
                let drawn = u128::from(state.draws.bits() >> 32);
                drawn * u128::from(max - min) < u128::from(waiting - min) * u128::from(probability)
            }
        };
        if is_chosen && !packet.marked {
            packet.marked = true;
            self.facts.push(Fact::Marked { at: self.now, packet: packet.told, output: output as u32 });
        }
    }
}
