//! What routers and nodes of a region work with: the clock, packets, what is on its way, and the counters.

pub(crate) mod by;
pub(crate) mod constants;
pub(crate) mod doors;
pub mod ids;
pub(crate) mod message;
pub mod packet;
pub(crate) mod pool;
pub mod regions;
pub mod rows;
pub(crate) mod wheel;
pub(crate) mod wires;
pub(crate) mod worker;

use crate::kernel::constants::Constants;
use crate::kernel::ids::{Id as _, SlotId};
use crate::kernel::message::Message;
use crate::kernel::packet::Packet;
use crate::kernel::pool::Pool;
use crate::kernel::regions::{Regions, Span};
use crate::kernel::wheel::Wheel;
use crate::kernel::wires::{Arrival, Credit};
use crate::kernel::worker::{CreditByMail, FlitByMail, Mail, Worker};
use crate::mode::Mode;
use crate::observer::Observer;
use std::sync::Arc;

/// The common ground of a region.
pub struct Kernel<'p, M: Mode> {
    /// What never changes.
    pub constants: Constants<'p>,
    /// All regions -- constant.
    pub regions: Arc<Regions>,
    /// Which routers and nodes are in the region -- constant.
    pub span: Span,
    /// The next cycle to be simulated, or the present one.
    pub now: u32,
    /// Packets in the network.
    pub packets: Pool<Packet>,
    /// Heads on their way.
    pub arrivals: Wheel<Arrival, M::Calendar>,
    /// Packets on their way from other regions; the field `next` of a packet is the slot in which it arrives.
    pub immigrants: Wheel<Packet, M::Calendar>,
    /// Flits behind a head on their way, each with the slot that it arrives in, where flits travel by themselves. One slot gets
    /// one flit in a cycle, and gets the flits of a packet behind its head.
    pub flits: Wheel<SlotId, M::Calendar>,
    /// Credits on their way.
    pub credits: Wheel<Credit, M::Calendar>,
    /// Messages that other nodes have begun to send to nodes of the region.
    pub messages: Vec<Message>,
    /// What the observer keeps of the nodes and routers of the region.
    pub places: <M::Observer as Observer>::Places,
    /// What a thread lends the region while it simulates it.
    pub worker: Worker<M::Observer>,
}

/// What observers of a run of this mode are made from.
pub type Wishes<M> = <<M as Mode>::Observer as Observer>::Wishes;

impl<'p, M: Mode> Kernel<'p, M> {
    /// The kernel of an empty region at cycle 0.
    pub fn new(constants: Constants<'p>, wishes: &Wishes<M>, regions: &Arc<Regions>, number: usize) -> Self {
        let (ahead, span) = (constants.ahead, regions.span(constants.system, number));
        // The region is at most so many cycles behind the others, whose mail then comes so much earlier than
        // it is due.
        let spread = if regions.count() == 1 { 0 } else { regions.lookahead() };
        Self {
            now: 0,
            packets: Pool::new(),
            arrivals: Wheel::new(ahead + 1),
            immigrants: Wheel::new(if spread == 0 { 0 } else { ahead + 1 + spread }),
            flits: Wheel::new(if constants.moves_flits { ahead + 1 + spread } else { 0 }),
            credits: Wheel::new(constants.credits_ahead + spread),
            messages: Vec::new(),
            places: M::Observer::places(wishes, &span),
            worker: Worker::default(),
            constants,
            regions: Arc::clone(regions),
            span,
        }
    }

    /// How many packets are inside the region, and on their way there.
    pub fn inside(&self) -> usize {
        self.packets.len() + self.immigrants.iter().count()
    }

    /// Takes what other regions have sent.
    pub fn receive(&mut self, mail: &mut Mail) {
        let pipeline = self.constants.pipeline;
        self.messages.append(&mut mail.messages);
        mail.packets.drain(..).for_each(|p| self.immigrants.push(p.arrived + pipeline, p));
        mail.flits.drain(..).for_each(|FlitByMail { at, slot }| self.flits.push(at, slot));
        mail.credits.drain(..).for_each(|CreditByMail { at, credit }| self.credits.push(at, credit));
    }

    /// The heads whose cycle has come, for `arrivals.put_back`. Heads are in the order in which they were sent, which depends on
    /// the cut: only slots that get several at once could tell.
    #[inline]
    pub fn take_arrivals(&mut self) -> Vec<Arrival> {
        let mut due = self.immigrants.take(self.now);
        for packet in due.drain(..) {
            let slot = SlotId::at(packet.next as usize);
            let packet = self.packets.insert(packet);
            self.arrivals.push(self.now, Arrival { slot, packet });
        }
        self.immigrants.put_back(due);
        self.arrivals.take(self.now)
    }

    /// A packet that will have `arrived` at the other end of a link to `region` is on its way to `slot` there.
    #[expect(clippy::inline_always, reason = "per packet-hop; measured")]
    #[inline(always)]
    pub fn send(&mut self, region: u16, id: u32, (slot, arrived): (SlotId, u32)) {
        if region == self.span.region {
            let at = arrived + self.constants.pipeline;
            debug_assert!(at - self.now <= self.constants.ahead + 1, "the wheel reaches no further");
            self.arrivals.push(at, Arrival { slot, packet: id });
        } else {
            self.send_away(region, id, slot);
        }
    }

    // Out of line, so that what stays in the region does not pay for it.
    #[inline(never)]
    fn send_away(&mut self, region: u16, id: u32, slot: SlotId) {
        let packet = Packet { next: slot.index() as u32, ..self.packets.get(id).clone() };
        self.packets.remove(id);
        self.worker.mail_to(region).packets.push(packet);
    }

    /// A flit that is no head is on its way to a slot of `region`, for cycle `at`.
    pub fn send_flit(&mut self, region: u16, at: u32, slot: SlotId) {
        if region == self.span.region {
            self.flits.push(at, slot);
        } else {
            self.worker.mail_to(region).flits.push(FlitByMail { at, slot });
        }
    }

    /// Credit is on its way to a router of `region`, for cycle `at`.
    #[expect(clippy::inline_always, reason = "per packet-hop; measured")]
    #[inline(always)]
    pub fn send_credit(&mut self, region: u16, at: u32, credit: Credit) {
        if region == self.span.region {
            self.credits.push(at, credit);
        } else {
            self.send_credit_away(region, at, credit);
        }
    }

    #[inline(never)]
    fn send_credit_away(&mut self, region: u16, at: u32, credit: Credit) {
        self.worker.mail_to(region).credits.push(CreditByMail { at, credit });
    }
}
