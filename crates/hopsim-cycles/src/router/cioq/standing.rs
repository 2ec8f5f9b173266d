//! The packets that stand still, looked at from outside between two cycles: what the head of every input VC waits for. The look
//! changes nothing.

use crate::kernel::ids::{Id as _, RegionRouter, Slot};
use crate::node::Run;
use crate::observer::WaitReason;
use crate::region::Whole;
use crate::router::cioq::region::Cioq;
use crate::standing::{Standing, StandingPacket, Wait};

/// The queues of all input VCs whose head waits, by router and slot.
pub fn standing<'p, const W: usize, M: Run>(whole: &Whole<'_, 'p, Cioq<'p, W, M>>) -> Vec<Standing> {
    let slots = whole.system.network.layout.slots();
    let mut all = Vec::new();
    for region in whole.regions {
        for number in region.routers.ids() {
            let queued =
                (0..slots).map(Slot::at).filter(|&slot| !region.routers[number].slots[slot].queue.is_empty());
            all.extend(queued.map(|slot| region.stand((number, slot))));
        }
    }
    all
}

impl<const W: usize, M: Run> Cioq<'_, W, M> {
    /// The queue of an input VC: of several outputs that its head may use the output counts which lacks least, and of equal ones
    /// the minimal path, which the head prefers.
    fn stand(&self, (number, slot): (RegionRouter, Slot)) -> Standing {
        let (cx, inspection) = (&self.context, self.inspect());
        let (mut least, mut minimal) = ((WaitReason::Sat, false, 0, 0), None);
        if !cx.is_held(number, slot) {
            inspection.each_option((number, slot), |pair| {
                let reason = inspection.lack(number, slot, pair);
                let real = cx.shared.output_vc(pair);
                let port = cx.shared.tables.pair_port(real);
                let vc = real.above(cx.shared.tables.port(port).pair(0));
                let strays = *minimal.get_or_insert(port) != port;
                least = least.min((reason, strays, port, vc));
            });
        }
        let (reason, _, port, vc) = least;
        let queue = self.routers[number].slots[slot].queue;
        let packet = |id: u32| {
            let packet = cx.kernel.packets.get(id);
            StandingPacket {
                source: packet.source,
                generated: packet.generated,
                destination: packet.destination(cx.kernel.constants.nodes_per_router),
                length: packet.length.into(),
                job: packet.job,
            }
        };
        Standing {
            router: cx.kernel.span.router(number),
            slot: slot.index() as u32,
            wait: Wait::of(reason),
            port,
            vc,
            packets: queue.iter(&cx.kernel.packets).map(packet).collect(),
        }
    }
}
