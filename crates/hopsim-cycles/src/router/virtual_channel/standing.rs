//! The packets that stand still, looked at from outside between two cycles: what the present packet of every input VC waits for. The
//! look changes nothing.

use crate::kernel::ids::{Id as _, Pair, RegionRouter, Slot};
use crate::node::Run;
use crate::region::Whole;
use crate::router::virtual_channel::region::VirtualChannel;
use crate::router::virtual_channel::routers::{Trail, occupied};
use crate::standing::{Standing, StandingPacket, Wait};
use hopsim_routing::{Request, Way};

/// The packets of all input VCs, by router and slot.
pub fn standing<'p, M: Run>(whole: &Whole<'_, 'p, VirtualChannel<'p, M>>) -> Vec<Standing> {
    let mut all = Vec::new();
    for region in whole.regions {
        for number in (0..region.kernel.span.routers).map(RegionRouter::at) {
            let slots = occupied(&region.shared, region.routers.ports(number));
            all.extend(slots.map(|slot| region.stand(number, slot)));
        }
    }
    all
}

impl<M: Run> VirtualChannel<'_, M> {
    fn stand(&self, number: RegionRouter, slot: Slot) -> Standing {
        let (reason, pair) = self.lack(number, slot);
        let (port, vc) = pair.map_or((0, 0), |pair| self.shared.output(pair));
        let input = &self.routers.inputs[self.shared.slot_id(number, slot)];
        let trails = input.behind.iter(&self.kernel.packets).map(|id| self.trail(id));
        let packet = |Trail { source, destination, generated, length, job }: Trail| StandingPacket {
            source,
            generated,
            destination,
            length: length.into(),
            job,
        };
        Standing {
            router: self.kernel.span.router(number),
            slot: slot.index() as u32,
            wait: Wait::of(reason),
            port,
            vc,
            packets: std::iter::once(input.trail).chain(trails).map(packet).collect(),
        }
    }

    fn trail(&self, id: u32) -> Trail {
        Trail::of(self.kernel.packets.get(id), self.kernel.constants.nodes_per_router)
    }

    /// The output VCs that the head of a slot may ask for, in order of preference; the packet owns none yet.
    pub(super) fn options(&self, number: RegionRouter, slot: Slot) -> Vec<Pair> {
        let input = &self.routers.inputs[self.shared.slot_id(number, slot)];
        if let Some(asked) = input.request {
            return self.shared.pairs(asked).collect();
        }
        let packet = self.kernel.packets.get(input.packet);
        let head = self.shared.head(packet, (self.kernel.span.router(number), input.place), M::FULL);
        let mut options = Vec::new();
        self.shared.routing.each_grant(&head, packet.route, &mut |way, _| match way {
            Some(way) => options.extend(self.pairs_of(way)),
            None => options.extend(self.shared.pairs(self.shared.asked_at(head.ejection()))),
        });
        options
    }

    /// The output VCs that a way stands for, the highest first.
    fn pairs_of(&self, way: Way) -> Vec<Pair> {
        let vcs = (self.shared.routing.vcs().first(way)..=way.vc).rev();
        vcs.map(|vc| self.shared.pair(Request { vc, ..way.highest() })).collect()
    }
}
