//! The shortest ways of a fabric, looked for anew for every packet.

use crate::simulator::Reference;
use hopsim_infiniband::workload::Workload;
use hopsim_random::{Purpose, Stream};

impl<W: Workload> Reference<W> {
    /// The switch of a host.
    pub fn home_of(&self, host: usize) -> usize {
        self.switch_of(self.fabric.ports[host].peer as usize)
    }

    /// The port by which packets of a flow leave a switch for a host of another one, if flows choose among shortest ways.
    pub fn path(&self, seed: u64, (switch, destination): (usize, usize), flow: u32) -> usize {
        let far = self.links_to(self.home_of(destination));
        let leads = |port: &usize| self.next_switch(*port).is_some_and(|next| far[next] + 1 == far[switch]);
        let first = self.fabric.first_port[switch] as usize..self.fabric.first_port[switch + 1] as usize;
        let ports: Vec<usize> = first.filter(leads).collect();
        let mut draws = Stream::new(seed, Purpose::Flow, flow.into()).at(switch as u64);
        ports[draws.below(ports.len() as u32) as usize]
    }

    /// The switch at the other end of the link of a port, if there is one.
    fn next_switch(&self, port: usize) -> Option<usize> {
        let peer = self.peer(port)?;
        (!self.fabric.is_host(peer as u32)).then(|| self.switch_of(peer))
    }

    /// How many links every switch is away from one of them.
    fn links_to(&self, to: usize) -> Vec<usize> {
        let switches = self.fabric.first_port.len() - 1;
        let mut far = vec![switches; switches];
        far[to] = 0;
        for _ in 0..switches {
            for port in self.switch_ports() {
                if let Some(next) = self.next_switch(port) {
                    let here = self.switch_of(port);
                    far[here] = far[here].min(far[next] + 1);
                }
            }
        }
        far
    }
}
