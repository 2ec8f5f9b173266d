//! What heads draw.

use crate::kernel::packet::head_stream;
use crate::node::Run;
use crate::router::cioq::context::Context;
use hopsim_random::Stream;
use hopsim_routing::view::Draws;

/// The random numbers of one decision: functions of seed, packet, router and attempt.
pub struct Attempt<'a, 'p, const W: usize, M: Run> {
    /// What the region has besides its routers.
    pub cx: &'a Context<'p, W, M>,
    /// The router, by its number in the network.
    pub router: u32,
    /// The packet.
    pub packet: u32,
    /// The allocator iteration.
    pub iteration: u32,
    /// The stream of the decision, once it has been asked for.
    pub stream: Option<Stream>,
}

impl<const W: usize, M: Run> Draws for Attempt<'_, '_, W, M> {
    fn head(&self) -> Stream {
        let packet = self.cx.kernel.packets.get(self.packet);
        head_stream(self.cx.kernel.constants.seed, (packet.source, packet.serial), self.router)
    }

    fn attempt(&mut self) -> &mut Stream {
        let packet = self.cx.kernel.packets.get(self.packet);
        self.stream.get_or_insert_with(|| {
            let source = self.cx.shared.requests.attempts.stream(u64::from(packet.source));
            source.at(u64::from(packet.serial)).at(self.cx.shared.moment(self.cx.kernel.now, self.iteration))
        })
    }
}
