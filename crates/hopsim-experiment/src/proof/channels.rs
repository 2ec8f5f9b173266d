//! Channels, and their numbers.

use hopsim_network::network::Network;

/// A channel: the buffer behind an output port, of one VC.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Channel {
    /// Router that the output port is of.
    pub router: u32,
    /// Output port. A terminal port stands for the requests that the nodes of the router have taken and not answered.
    pub port: usize,
    /// VC.
    pub vc: u8,
}

impl Channel {
    /// The channel in words: `router 5 local 3 VC 0`.
    pub fn name(&self, network: &Network) -> String {
        format!("router {} {} VC {}", self.router, network.port_name(self.port), self.vc)
    }
}

/// The numbers of the channels of a network: router · pairs + pair.
#[derive(Clone, Copy)]
pub struct Channels<'n> {
    /// The network.
    pub network: &'n Network,
    /// Numbers of a router, gaps included.
    pub pairs: usize,
}

impl<'n> Channels<'n> {
    /// The numbers of a network.
    pub fn new(network: &'n Network) -> Self {
        Self { network, pairs: network.layout.pairs() }
    }

    /// How many numbers there are, gaps included.
    pub fn count(self) -> usize {
        self.network.routers as usize * self.pairs
    }

    /// The number of a channel.
    pub fn number(self, Channel { router, port, vc }: Channel) -> u32 {
        let pair = self.network.layout.pair_base[port] as usize + usize::from(vc);
        (router as usize * self.pairs + pair) as u32
    }

    /// The channel of a number, that of an entry being the output VC itself.
    pub fn channel(self, number: u32) -> Channel {
        let (router, pair) = (number as usize / self.pairs, number as usize % self.pairs);
        let (port, vc) = self.network.layout.any_vc(pair).unwrap_or((0, 0));
        Channel { router: router as u32, port, vc }
    }

    /// The router in which packets are that hold a channel, and the port by which they have come there.
    pub fn behind(self, channel: Channel) -> (u32, usize) {
        self.network.link(channel.router, channel.port).peer.unwrap_or((channel.router, channel.port))
    }

    /// What the nodes of a router have taken and not answered; they take no more requests while it is full.
    pub fn unanswered(self, router: u32) -> u32 {
        self.number(Channel { router, port: 0, vc: 1 })
    }
}
