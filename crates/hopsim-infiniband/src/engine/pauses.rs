//! Priority flow control while it is carried out: what is in the buffers, and the frames that tell of it.
//!
//! A port that is paused in a VL has no credits for it, and otherwise more than any packet takes, so that nothing else asks what
//! controls the flow.

use super::Simulation;
use super::events::{Event, Step};
use crate::fabric::{Fabric, FlowControl};
use crate::observer::Observer;
use crate::pfc::{FRAME, Pfc, QUANTUM};
use crate::time::{NEVER, Ticks};
use crate::workload::Workload;
use hopsim_memory::filled;
use std::collections::VecDeque;

/// Credits of a port that is not paused.
pub const FREE: u32 = u32::MAX;

/// Why a port looks whether it sends a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Look {
    /// The link is free.
    Free,
    /// Half the time of its pauses has passed.
    Again,
}

/// What a port knows of pauses.
#[derive(Clone, Debug)]
struct PausingPort {
    /// VLs that the other end of the link should not send in, a bit each.
    wanted: u16,
    /// What the last frame said of that.
    told: u16,
    /// Whether the port looks at its frames when its link is free.
    looks: bool,
    /// When the pauses are to be told again.
    again: Ticks,
    /// When the link is free of what has gone onto it. Hosts know that themselves.
    link_free: Ticks,
    /// Packets that have been granted the link of an output and have not gone onto it.
    granted: VecDeque<u32>,
}

/// Priority flow control of all ports.
#[derive(Clone, Debug)]
pub struct Pauses<'f> {
    rules: &'f Pfc,
    /// Bytes in the buffers, by port · VLs + VL.
    occupied: Vec<u32>,
    ports: Vec<PausingPort>,
}

impl<'f> Pauses<'f> {
    /// What a port and a VL of it take \[bytes\].
    pub const BYTES: (usize, usize) = (size_of::<PausingPort>(), size_of::<u32>());

    /// Empty buffers, if the fabric has priority flow control.
    pub fn new(fabric: &'f Fabric) -> Option<Self> {
        let FlowControl::Pfc(rules) = &fabric.flow_control else { return None };
        let idle = PausingPort {
            wanted: 0,
            told: 0,
            looks: false,
            again: NEVER,
            link_free: 0,
            granted: VecDeque::new(),
        };
        let slots = fabric.ports.len() * usize::from(fabric.lanes.count);
        Some(Self { rules, occupied: filled(0, slots), ports: filled(idle, fabric.ports.len()) })
    }

    /// VLs that a port wants to be paused, a bit each.
    pub fn wanted(&self, port: u32) -> u16 {
        self.ports[port as usize].wanted
    }

    /// A packet has been granted the link of an output.
    pub fn grant(&mut self, output: u32, id: u32) {
        self.ports[output as usize].granted.push_back(id);
    }
}

impl<O: Observer, W: Workload> Simulation<'_, O, W> {
    /// The head of a packet has come to the buffer of a port.
    #[inline]
    pub(super) fn enter_buffer(&mut self, port: u32, id: u32) {
        if self.pauses.is_some() {
            let packet = self.packets.get(id);
            let (lane, bytes) = (packet.lane, packet.name.bytes);
            self.change_buffer(port, lane, |occupied| occupied + bytes);
        }
    }

    /// What is in a buffer has changed.
    pub(super) fn change_buffer(&mut self, port: u32, lane: u8, change: impl FnOnce(u32) -> u32) {
        let slot = self.slot(port, lane);
        let Some(pauses) = &mut self.pauses else { return };
        let occupied = change(pauses.occupied[slot]);
        pauses.occupied[slot] = occupied;
        let thresholds = pauses.rules.thresholds[port as usize];
        let state = &mut pauses.ports[port as usize];
        let (bit, before) = (1 << lane, state.wanted);
        if occupied >= thresholds.pause {
            state.wanted |= bit;
        } else if occupied <= thresholds.resume {
            state.wanted &= !bit;
        }
        if state.wanted != before {
            self.look_at_frames(port);
        }
    }

    /// A port looks whether it sends a frame, as soon as its link is free.
    fn look_at_frames(&mut self, port: u32) {
        let Some(pauses) = &mut self.pauses else { return };
        let state = &mut pauses.ports[port as usize];
        if state.looks {
            return;
        }
        state.looks = true;
        let free = self.hosts.get(port as usize).map_or(state.link_free, |host| host.link_free);
        let (at, what) = (free.max(self.now), Look::Free as u32);
        self.events.push(Event { at, step: Step::Frame, port, what });
    }

    /// A port looks whether it sends a frame: its link is free, or half the time of its pauses has passed.
    pub(super) fn send_frame(&mut self, port: u32, look: u32) {
        let now = self.now;
        let Some(pauses) = &mut self.pauses else { return };
        let quanta = u64::from(pauses.rules.quanta);
        let state = &mut pauses.ports[port as usize];
        let is_time = state.wanted != 0 && now >= state.again;
        if look == Look::Again as u32 {
            if is_time {
                self.look_at_frames(port);
            }
            return;
        }
        state.looks = false;
        if state.wanted == state.told && !is_time {
            return;
        }
        let (link, lanes) = (self.fabric.ports[port as usize], state.wanted);
        let ends = now + u64::from(FRAME) * link.byte;
        state.told = lanes;
        state.link_free = ends;
        state.again = now + quanta * QUANTUM * link.byte / 2;
        let again = Event { at: state.again, step: Step::Frame, port, what: Look::Again as u32 };
        self.observer.frame(now, port, lanes);
        let there =
            Event { at: ends + link.delay, step: Step::Pause, port: link.peer, what: u32::from(lanes) };
        self.events.push(there);
        if lanes != 0 {
            self.events.push(again);
        }
        if self.fabric.is_host(port) {
            self.hosts[port as usize].link_free = ends;
            self.look_for_stalls_of_host(port);
            self.wake_host(port, ends);
        }
    }

    /// A frame has come to a port: its VLs are paused as it says.
    pub(super) fn take_frame(&mut self, port: u32, lanes: u16) {
        for lane in 0..self.fabric.lanes.count {
            let (slot, is_paused) = (self.slot(port, lane), lanes & 1 << lane != 0);
            let credits = if is_paused { 0 } else { FREE };
            if self.credits[slot] == credits {
                continue;
            }
            self.credits[slot] = credits;
            self.observer.paused(self.now, port, lane, is_paused);
            if self.fabric.is_host(port) {
                self.wake_host(port, self.now);
            } else {
                self.detect(port, lane);
                self.is_due(port);
            }
        }
    }

    /// The packet that goes onto the link of an output now, where one is to at the latest. None if a frame is on the link: it goes
    /// behind the frame.
    pub(super) fn take_granted(&mut self, output: u32, id: u32) -> Option<u32> {
        let Some(pauses) = &mut self.pauses else { return Some(id) };
        let state = &mut pauses.ports[output as usize];
        if state.link_free > self.now {
            let at = state.link_free;
            self.events.push(Event { at, step: Step::Wire, port: output, what: id });
            return None;
        }
        let id = state.granted.pop_front()?;
        let packet = self.packets.get(id);
        state.link_free = self.now + packet.bytes() * self.fabric.ports[output as usize].byte;
        let (at, what) = (state.link_free, packet.blocks());
        self.events.push(Event { at, step: Step::Room, port: output, what });
        Some(id)
    }

    /// What is in the buffer of a port for a VL, the packets whose heads have come \[bytes\]; 0 without priority flow control.
    pub fn buffered(&self, port: u32, lane: u8) -> u32 {
        self.pauses.as_ref().map_or(0, |pauses| pauses.occupied[self.slot(port, lane)])
    }
}
