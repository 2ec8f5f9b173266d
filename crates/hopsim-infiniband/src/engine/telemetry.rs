//! In-band network telemetry: what switches note in packets, and how it comes back to their sources.
//!
//! Source: Li et al., *HPCC: High Precision Congestion Control*, SIGCOMM 2019, §3.1 and §4.1.

use super::Simulation;
use crate::fabric::Fabric;
use crate::observer::Observer;
use crate::reaction::{Needs, Note};
use crate::workload::Workload;
use hopsim_memory::filled;

/// What a port to a link counts.
#[derive(Clone, Copy, Debug, Default)]
struct Meter {
    /// Bytes of the packets that wait for the link, of all VLs.
    waiting: u64,
    /// Bytes of the packets that have gone onto the link.
    sent: u64,
}

/// The notes under way.
#[derive(Clone, Debug)]
pub struct Telemetry {
    /// By port; those of hosts are not used.
    meters: Vec<Meter>,
    /// The notes in each packet under way, by its number.
    notes: Vec<Vec<Note>>,
    /// Lists that nothing uses.
    spare: Vec<Vec<Note>>,
}

impl Telemetry {
    /// What the ports count for each of them \[bytes\].
    pub const BYTES: usize = size_of::<Meter>();

    /// Nothing has been noted yet; none if nobody reacts to it.
    pub fn new(fabric: &Fabric) -> Option<Self> {
        let needs = fabric.congestion.as_ref()?.reaction.needs();
        let meters = filled(Meter::default(), fabric.ports.len());
        (needs == Needs::Telemetry).then(|| Self { meters, notes: Vec::new(), spare: Vec::new() })
    }

    /// A packet begins to wait for the link of an output.
    pub fn joins(&mut self, output: u32, bytes: u64) {
        self.meters[output as usize].waiting += bytes;
    }

    /// A packet under way has notes.
    pub fn put(&mut self, id: u32, notes: Vec<Note>) {
        *self.of(id) = notes;
    }

    /// The notes in a packet under way.
    fn of(&mut self, id: u32) -> &mut Vec<Note> {
        let id = id as usize;
        if id >= self.notes.len() {
            self.notes.resize_with(id + 1, Vec::new);
        }
        &mut self.notes[id]
    }
}

impl<O: Observer, W: Workload> Simulation<'_, O, W> {
    /// The head of a packet goes onto the link of an output: if it is a data packet, the switch notes what is there.
    pub(super) fn note(&mut self, output: u32, id: u32) {
        let Some(telemetry) = &mut self.telemetry else { return };
        let packet = self.packets.get(id);
        let meter = &mut telemetry.meters[output as usize];
        meter.waiting -= packet.bytes();
        let (Meter { waiting, sent }, byte) = (*meter, self.fabric.ports[output as usize].byte);
        meter.sent += packet.bytes();
        if packet.name.is_notification {
            return;
        }
        if telemetry.of(id).capacity() == 0 {
            let list = telemetry.spare.pop().unwrap_or_default();
            telemetry.put(id, list);
        }
        telemetry.of(id).push(Note { port: output, at: self.now, waiting, sent, byte });
    }

    /// The notes in a packet that has come to its destination; none without telemetry.
    pub(super) fn take_notes(&mut self, id: u32) -> Vec<Note> {
        self.telemetry.as_mut().map_or_else(Vec::new, |telemetry| std::mem::take(telemetry.of(id)))
    }

    /// Notes have been read: their list can have others.
    pub(super) fn give_back(&mut self, mut notes: Vec<Note>) {
        if let Some(telemetry) = &mut self.telemetry {
            notes.clear();
            telemetry.spare.push(notes);
        }
    }
}
