//! What a head sees of its router when it decides: the engine's [`View`].

use super::context::Context;
use super::mode::Mode;
use super::routers::{Router, global};
use crate::rng::{Purpose, Stream};
use crate::routing::Request;
use crate::routing::view::{Draws, View};

/// The state of one router in one allocator iteration.
pub struct Outlook<'a, 'p, const W: usize, M> {
    /// Everything outside the routers.
    pub cx: &'a Context<'p, W, M>,
    /// The router.
    pub router: &'a Router<W>,
    /// Its number.
    pub number: usize,
    /// Length of the head's packet \[phits\].
    pub length: u32,
    /// First cycle in which each output queue has room for it, where packets of several lengths meet.
    pub room: &'a dyn Fn(usize) -> u32,
}

impl<const W: usize, M: Mode> Outlook<'_, '_, W, M> {
    #[inline]
    fn pair(&self, request: Request) -> usize {
        self.cx.tables.port(request.port).pair_base as usize + request.vc as usize
    }
}

impl<const W: usize, M: Mode> View for Outlook<'_, '_, W, M> {
    #[inline]
    fn open(&self, request: Request) -> bool {
        let pair = self.pair(request);
        self.router.credit.contains(pair)
            && self.router.ports[request.port].out_ready <= self.cx.now
            && (!self.cx.mixed()
                || (self.router.pairs[pair].credits >= self.length
                    && (self.room)(request.port) <= self.cx.now))
    }

    #[inline]
    fn credits(&self, request: Request) -> u32 {
        self.router.pairs[self.pair(request)].credits
    }

    #[inline]
    fn occupancy(&self, request: Request) -> u32 {
        self.cx.capacity(request.port).saturating_sub(self.credits(request))
    }

    fn minimal_occupancy(&self, request: Request) -> u32 {
        self.cx.minimal[global::<W>(self.number as u32, self.pair(request)) as usize]
    }

    #[inline]
    fn capacity(&self, port: usize) -> u32 {
        self.cx.capacity(port)
    }

    #[inline]
    fn contention(&self, port: usize) -> u32 {
        self.cx.contention.as_ref().map_or(0, |c| c.counter(self.number, port))
    }

    fn filtered_contention(&self, port: usize) -> f64 {
        self.cx.contention.as_ref().map_or(0.0, |c| c.filtered(self.number, port, self.cx.now))
    }

    fn combined_contention(&self, group: u32) -> u32 {
        let groups = self.cx.contention.as_ref().and_then(|c| c.groups.as_ref());
        groups.map_or(0, |g| g.combined(self.number, group))
    }

    #[inline]
    fn saturated(&self, position: u32, request: Request) -> bool {
        let output = (request.port, request.vc);
        self.cx.marks.as_ref().is_some_and(|m| m.saturated(self.number, position, output))
    }

    #[inline]
    fn length(&self) -> u32 {
        self.length
    }
}

/// The random numbers of one decision: functions of seed, packet, router and attempt.
pub struct Attempt {
    /// Seed of the run.
    pub seed: u64,
    /// Source node and serial number of the packet.
    pub packet: (u32, u32),
    /// The router.
    pub router: usize,
    /// Number of the allocator iteration in the run.
    pub moment: u64,
    /// The stream, once asked for.
    pub stream: Option<Stream>,
}

impl Draws for Attempt {
    fn head(&self) -> Stream {
        super::context::head_stream(self.seed, self.packet, self.router)
    }

    fn attempt(&mut self) -> &mut Stream {
        let (source, serial) = self.packet;
        self.stream.get_or_insert_with(|| {
            Stream::new(self.seed, Purpose::Attempt, u64::from(source)).at(u64::from(serial)).at(self.moment)
        })
    }
}
