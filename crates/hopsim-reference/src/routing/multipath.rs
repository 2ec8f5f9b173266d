//! One of several paths: `hopsim explain ecmp`, `k_shortest_paths`.

use super::head::{Goal, Head};
use super::rules::multipath::MultipathRule;
use crate::state::packet::{Choice, Memory};
use crate::state::place::Request;
use hopsim_random::{Purpose, Stream};

impl MultipathRule {
    pub fn choose(&self, head: &Head) -> Choice {
        if head.router() == head.destination() {
            return head.eject();
        }
        if self.paths.is_some() {
            let after = self.plan(head);
            let Some(nth) =
                after.way.iter().position(|link| link.0 == head.router()).filter(|_| self.vcs.is_some())
            else {
                return head.follow(after, &head.attempt());
            };
            let to = Request { port: after.way[nth].1, vc: after.vcs[nth] };
            return Choice { to, after, fixed: true, others: Vec::new() };
        }
        let ports = nearer(head);
        let nth = if ports.len() > 1 { self.draws(head).below(ports.len() as u32) } else { 0 };
        head.ask(ports[nth as usize])
    }

    /// The output VCs that a head may use: of those that it could draw the ones that it does.
    pub fn options(&self, head: &Head) -> Vec<Request> {
        let choice = self.choose(head);
        if self.vcs.is_some() && head.router() != head.destination() {
            return vec![choice.to];
        }
        if head.router() == head.destination() {
            return head.ejections();
        }
        head.all_of(choice.to.port, Goal::Destination)
    }

    /// The path of a packet, drawn in the router of its source.
    fn plan(&self, head: &Head) -> Memory {
        if !head.at_injection() {
            return head.packet().memory.clone();
        }
        let (from, to) = (head.router(), head.destination());
        let paths = &self.paths.as_ref().expect("it has paths")[from][to];
        let number = self.draws(head).below(paths.len() as u32) as usize;
        let way = paths[number].clone();
        let vcs = self.vcs.as_ref().map_or_else(Vec::new, |vcs| vcs[from][to][number].clone());
        let misrouted = way.len() > head.ways().distance(from, to);
        Memory { way, vcs, misrouted, ..Memory::default() }
    }

    fn draws(&self, head: &Head) -> Stream {
        let Some(seed) = self.flows else { return head.draws() };
        let (trace, nodes) = (&head.packet().trace, head.simulator.plan.system.topology.nodes());
        let flow = u64::from(trace.source) * u64::from(nodes) + u64::from(trace.destination);
        Stream::new(seed, Purpose::Flow, flow).at(head.router() as u64)
    }
}

/// The ports by which a packet has fewest links left.
fn nearer(head: &Head) -> Vec<usize> {
    let (ways, here, to) = (head.ways(), head.router(), head.destination());
    if ways.is_hyperx() {
        let mut ports = ways.nearer_in_hyperx((here, to));
        ports.sort_unstable();
        return ports;
    }
    let in_tree = || ways.down(here, to).map_or_else(|| ways.ups().collect(), |down| vec![down]);
    ways.nearer_in_graph((here, to)).unwrap_or_else(in_tree)
}
