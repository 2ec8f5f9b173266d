//! Congestion control at the outputs of switches: when they are congested, and which packets they mark.

use super::Simulation;
use crate::congestion::{Ecn, MarkPoint, Marking, PortRules, ThresholdMode, VictimMask};
use crate::fabric::{BLOCK, Fabric, blocks};
use crate::observer::Observer;
use crate::workload::Workload;
use hopsim_memory::{filled, table};
use hopsim_random::{Purpose, Stream};

/// The congestion of an output port in a VL.
#[derive(Clone, Copy, Debug, Default)]
pub struct Detector {
    /// Whether the output is congested in the VL.
    pub congested: bool,
    /// The number of queues with at least as many bytes as each threshold.
    high: u32,
    low: u32,
    /// Bytes of all queues.
    sum: u64,
    /// Eligible packets since the last mark.
    unmarked: u32,
}

impl Detector {
    /// A queue has grown or shrunk.
    fn change(&mut self, rules: &PortRules, before: u64, after: u64) {
        let over = |bytes: u64, threshold: u64| u32::from(bytes >= threshold);
        self.high = self.high + over(after, rules.high) - over(before, rules.high);
        self.low = self.low + over(after, rules.low) - over(before, rules.low);
        self.sum = self.sum + after - before;
    }

    fn is_high(&self, mode: ThresholdMode, rules: &PortRules) -> bool {
        match mode {
            ThresholdMode::PerVoq => self.high > 0,
            ThresholdMode::Common => self.sum >= rules.high,
        }
    }

    fn is_low(&self, mode: ThresholdMode, rules: &PortRules) -> bool {
        match mode {
            ThresholdMode::PerVoq => self.low == 0,
            ThresholdMode::Common => self.sum < rules.low,
        }
    }
}

/// Congestion control of all outputs.
#[derive(Clone, Debug)]
pub struct Detection {
    /// The detectors, by port · VLs + VL.
    pub detectors: Vec<Detector>,
    /// What is set for the ports; nothing without congestion control.
    rules: Vec<PortRules>,
    /// The random streams of the ports.
    streams: Vec<Stream>,
}

impl Detection {
    /// The congestion control of empty switches.
    pub fn new(fabric: &Fabric, seed: u64) -> Self {
        let (ports, lanes) = (fabric.ports.len(), usize::from(fabric.lanes.count));
        let streams = (0..ports as u64).map(|port| Stream::new(seed, Purpose::Marking, port)).collect();
        let mut rules = table(if fabric.congestion.is_some() { ports } else { 0 });
        rules.extend(fabric.congestion.iter().flat_map(|control| control.by_port(ports)));
        Self { detectors: filled(Detector::default(), ports * lanes), rules, streams }
    }
}

impl Ecn {
    /// Whether a packet is marked where so many bytes wait for its output.
    fn hits(self, bytes: u64, stream: &mut Stream) -> bool {
        if bytes <= self.min || bytes > self.max {
            return bytes > self.max;
        }
        let drawn = u128::from(stream.bits() >> 32) * u128::from(self.max - self.min);
        drawn < u128::from(self.probability) * u128::from(bytes - self.min)
    }
}

impl<O: Observer, W: Workload> Simulation<'_, O, W> {
    /// The queue of an input for an output has grown or shrunk.
    #[inline]
    pub(super) fn queue_changed(&mut self, output: u32, lane: u8, before: u64, after: u64) {
        let Some(rules) = self.detection.rules.get(output as usize) else { return };
        let slot = self.slot(output, lane);
        self.detection.detectors[slot].change(rules, before, after);
        self.detect(output, lane);
    }

    /// An output becomes congested, or ceases to be, if it is time.
    #[inline]
    pub(super) fn detect(&mut self, output: u32, lane: u8) {
        let Some(control) = &self.fabric.congestion else { return };
        let slot = self.slot(output, lane);
        let rules = &self.detection.rules[output as usize];
        let detector = &mut self.detection.detectors[slot];
        if detector.congested {
            detector.congested = !detector.is_low(control.mode, rules);
        } else if detector.is_high(control.mode, rules) {
            let is_root = self.credits[slot] >= blocks(self.fabric.mtu);
            let counts_as_root = match rules.victim_mask {
                VictimMask::Hosts => self.fabric.is_host(self.fabric.ports[output as usize].peer),
                VictimMask::All => true,
                VictimMask::None => false,
            };
            detector.congested = is_root || counts_as_root;
        }
    }

    /// Whether packets may be marked at a point.
    #[inline]
    pub(super) fn marks_at(&self, point: MarkPoint) -> bool {
        self.fabric.congestion.as_ref().is_some_and(|control| control.mark_point == point)
    }

    /// A packet is at its mark point at an output.
    pub(super) fn mark(&mut self, output: u32, id: u32) {
        let Some(control) = &self.fabric.congestion else { return };
        let packet = self.packets.get(id);
        let slot = self.slot(output, packet.lane);
        let rules = &self.detection.rules[output as usize];
        let is_short = packet.name.bytes < u32::from(rules.packet_size) * BLOCK;
        let detector = &mut self.detection.detectors[slot];
        let needs_congestion = !matches!(control.marking, Marking::Ecn(_));
        if packet.name.is_notification || is_short || needs_congestion && !detector.congested {
            return;
        }
        let every = u32::from(rules.marking_rate) + 1;
        let hit = match control.marking {
            Marking::Random => self.detection.streams[output as usize].below(every) == 0,
            Marking::Periodic => {
                detector.unmarked = (detector.unmarked + 1) % every;
                detector.unmarked == 0
            }
            Marking::Ecn(rules) => rules.hits(detector.sum, &mut self.detection.streams[output as usize]),
        };
        let packet = self.packets.get_mut(id);
        if hit && !packet.marked {
            packet.marked = true;
            self.observer.marked(self.now, packet.name, output);
        }
    }
}
