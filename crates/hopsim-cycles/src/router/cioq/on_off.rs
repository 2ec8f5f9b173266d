//! On/off flow control: a buffer says off when it has little room left, and on when it has enough again; a router sends packets to it
//! as long as the last word is on.
//!
//! No signal travels. A signal would take as long as a credit, and what it tells follows from what comes into the buffer and what leaves
//! it: of the one credits tell, and the other is what the router has sent itself. So the router knows at any time how much room the
//! buffer had a link latency ago, and hence what it has said.

use crate::kernel::by::By;
use crate::kernel::ids::{Pair, PairId, RegionRouter};
use crate::kernel::wheel::{Calendar, Wheel};
use crate::router::cioq::routers::Router;
use crate::system::{System, Thresholds};
use hopsim_network::by_class::ByClass;
use hopsim_network::network::PortClassCode;

/// The head of a packet has arrived in the buffer behind an output VC, a link latency ago.
#[derive(Clone, Copy, Debug)]
pub struct Notice {
    /// The pair.
    pub pair: PairId,
    /// Phits of the packet.
    pub phits: u16,
}

/// What buffers say, and what will be known of them.
pub struct OnOff<C> {
    /// When buffers say off and on, by link class -- constant.
    thresholds: ByClass<Thresholds>,
    /// Notices of packets whose heads have not arrived yet, or not a link latency ago.
    pub notices: Wheel<Notice, C>,
}

impl<C: Calendar> OnOff<C> {
    /// Buffers that are empty and say on, `None` with credits. Heads arrive within `ahead` + 1 cycles of their grant, and links take
    /// `latency` cycles at most.
    pub fn new(system: &System, (ahead, latency): (u32, u32)) -> Option<Box<Self>> {
        let thresholds = system.cioq().on_off?;
        Some(Box::new(Self { thresholds, notices: Wheel::new(ahead + 1 + latency) }))
    }

    /// When the buffers behind ports of a class say off and on.
    pub fn thresholds(&self, class: PortClassCode) -> Thresholds {
        self.thresholds[class as usize - 1]
    }

    /// Hears what the buffer behind an output VC of a port of a class says, which had as much room a link latency ago as `router` has
    /// credits.
    pub fn hear<const W: usize>(&self, router: &mut Router<W>, (pair, class): (Pair, PortClassCode)) {
        let Thresholds { off, on } = self.thresholds(class);
        if router.credits[pair] < off {
            router.credit.remove(pair);
        } else if router.credits[pair] >= on {
            router.credit.insert(pair);
        }
    }

    /// Takes the room of packets whose heads are known in this cycle to have arrived. What buffers say is heard when credits have been
    /// added, too.
    pub fn take<const W: usize>(
        &mut self,
        routers: &mut By<RegionRouter, Router<W>>,
        now: u32,
    ) -> Vec<Notice> {
        let due = self.notices.take(now);
        for notice in &due {
            let (number, pair) = notice.pair.split::<W>();
            routers[number].credits[pair] -= u32::from(notice.phits);
        }
        due
    }
}
