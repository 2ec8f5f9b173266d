//! What passed links and lay in buffers.

use super::{Run, Span};
use crate::Life;
use hopsim_measure::{Column, Table};
use hopsim_network::network::NONE;
use hopsim_network::topology::PortClass;
use std::collections::BTreeMap;

/// Router, port and VC.
type PortVc = (u32, usize, usize);

/// A row of the occupancy: name of the class, VC, mean occupancy, utilisation.
type Row = (String, usize, f64, f64);

/// What happened in some cycles, by place.
struct Use {
    /// Number of the cycles.
    cycles: f64,
    /// Phits whose packet left by an output VC.
    sent: BTreeMap<PortVc, u64>,
    /// Phits in an input VC, summed over the cycles.
    held: BTreeMap<PortVc, u64>,
}

impl Use {
    /// Phits in an input VC, or leaving by an output VC, per cycle.
    fn per_cycle(&self, sums: &BTreeMap<PortVc, u64>, place: PortVc) -> f64 {
        sums.get(&place).copied().unwrap_or(0) as f64 / self.cycles
    }
}

impl Run<'_> {
    /// What happened in some cycles.
    fn uses(&self, span: Span) -> Use {
        let mut uses = Use { cycles: span.cycles(), sent: BTreeMap::new(), held: BTreeMap::new() };
        for life in &self.record.lives {
            for hop in &life.trace.hops {
                if span.holds(hop.departed) {
                    let place = (hop.router, usize::from(hop.port), usize::from(hop.vc));
                    *uses.sent.entry(place).or_default() += u64::from(life.length);
                }
            }
            for (place, arrived, left) in self.stays(life) {
                // Cycles in the buffer, from the arrival of the head up to its grant, or to the end of the run.
                let cycles = (arrived..left).filter(|&cycle| span.holds(cycle)).count();
                *uses.held.entry(place).or_default() += u64::from(life.length) * cycles as u64;
            }
        }
        uses
    }

    /// The buffers that a packet has been in: which, from when, to when.
    fn stays(&self, life: &Life) -> Vec<(PortVc, u32, u32)> {
        let hops = &life.trace.hops;
        let Some((admitted, vc)) = life.admitted else { return Vec::new() };
        let granted = |number: usize| hops.get(number).map_or(self.window().end, |hop| hop.granted);
        let arrived = admitted + self.plan.system.network.classes.terminal.latency;
        let mut stays = vec![(self.injection_vc(life.trace.source, vc), arrived, granted(0))];
        for (number, hop) in hops.iter().enumerate() {
            let link = self.plan.system.network.link(hop.router, hop.port.into());
            if let Some((peer, port)) = link.peer {
                let arrived = hop.departed + self.link_latency(hop.router, hop.port.into(), life.length);
                stays.push(((peer, port, hop.vc.into()), arrived, granted(number + 1)));
            }
        }
        stays
    }

    /// The input VC behind an injection VC of a node: with two injection ports half of them are at either.
    fn injection_vc(&self, node: u32, vc: usize) -> PortVc {
        let per_router = self.plan.system.topology.nodes_per_router();
        let (router, terminal) = (node / per_router, (node % per_router) as usize);
        let vcs = self.injection_vcs();
        let first = terminal + if vc < vcs { 0 } else { self.plan.system.topology.ports().len() };
        (router, first, vc % vcs)
    }

    /// Injection VCs of an injection port.
    fn injection_vcs(&self) -> usize {
        usize::from(self.plan.system.network.classes.terminal.vcs)
            / self.plan.experiment.nic.injection_ports as usize
    }

    /// Whether a node or a router is at a port.
    fn is_plugged(&self, router: u32, port: usize) -> bool {
        match self.plan.system.topology.ports()[port] {
            PortClass::Terminal => {
                let node = router * self.plan.system.topology.nodes_per_router() + port as u32;
                node < self.plan.system.network.nodes
            }
            PortClass::Link(_) => self.plan.system.topology.neighbour(router, port).is_some(),
        }
    }

    fn output_vcs(&self, class: PortClass) -> usize {
        match class {
            PortClass::Terminal => self.plan.system.network.classes.ejection.into(),
            PortClass::Link(_) => self.plan.system.network.classes.of(class).vcs.into(),
        }
    }

    /// Share of the cycles in which a link was busy with packets of an output VC.
    fn utilisation(&self, uses: &Use, place: PortVc) -> f64 {
        let link = self.plan.system.network.link(place.0, place.1);
        uses.per_cycle(&uses.sent, place) * f64::from(link.cycles_per_phit)
    }

    /// Mean phits in the buffer that an output VC leads to; NaN at a node.
    fn behind(&self, uses: &Use, place: PortVc) -> f64 {
        let peer = self.plan.system.topology.neighbour(place.0, place.1);
        peer.map_or(f64::NAN, |(router, port)| uses.per_cycle(&uses.held, (router, port, place.2)))
    }

    /// Every output VC that leads to a node or a router.
    pub fn output_places(&self) -> Vec<PortVc> {
        let classes = self.plan.system.topology.ports();
        let mut places: Vec<PortVc> = Vec::new();
        for router in 0..self.plan.system.topology.routers() {
            for port in (0..classes.len()).filter(|&port| self.is_plugged(router, port)) {
                places.extend((0..self.output_vcs(classes[port])).map(|vc| (router, port, vc)));
            }
        }
        places
    }

    /// What every output VC did in every interval.
    pub fn link_series_table(&self) -> Table {
        let (mut cycle, mut router, mut port, mut rows, mut vcs) = (vec![], vec![], vec![], vec![], vec![]);
        let (mut phits, mut utilisation, mut occupancy, mut stalls) = (vec![], vec![], vec![], vec![]);
        for (number, span) in (0..).zip(self.intervals()) {
            let uses = self.uses(span);
            for place in self.output_places() {
                let (at, out, vc) = place;
                let stalled = self.record.stalls.get(&(number, at, out, vc)).copied().unwrap_or(0);
                cycle.push(span.first);
                router.push(at);
                port.push(out as u32);
                rows.push(match self.plan.system.topology.ports()[out] {
                    PortClass::Terminal => 0,
                    PortClass::Link(class) => class + 1,
                });
                vcs.push(vc as u32);
                phits.push(uses.sent.get(&place).copied().unwrap_or(0));
                utilisation.push(self.utilisation(&uses, place));
                occupancy.push(self.behind(&uses, place));
                let leads_on = self.plan.system.topology.neighbour(at, out).is_some();
                stalls.push(if leads_on { f64::from(stalled) / span.cycles() } else { f64::NAN });
            }
        }
        let classes = self.plan.system.topology.link_classes().iter().map(|&name| name.to_owned());
        let names = std::iter::once("terminal".to_owned()).chain(classes).collect();
        vec![
            ("cycle".into(), Column::U32(cycle)),
            ("router".into(), Column::U32(router)),
            ("port".into(), Column::U32(port)),
            ("port_class".into(), Column::Named { names, rows }),
            ("vc".into(), Column::U32(vcs)),
            ("phits".into(), Column::U64(phits)),
            ("utilisation".into(), Column::F64(utilisation)),
            ("occupancy_mean".into(), Column::F64(occupancy)),
            ("credit_stall_fraction".into(), Column::F64(stalls)),
        ]
    }

    /// Every output VC that leads to a node or a router.
    pub fn links_table(&self) -> Table {
        let uses = self.uses(self.window());
        let (classes, places) = (self.plan.system.topology.ports(), self.output_places());
        let name = |&(_, port, _): &PortVc| match classes[port] {
            PortClass::Terminal => "terminal".to_owned(),
            PortClass::Link(class) => self.plan.system.topology.link_classes()[usize::from(class)].to_owned(),
        };
        let peer = |&(router, port, _): &PortVc| self.plan.system.topology.neighbour(router, port);
        let sent = |place: &PortVc| uses.sent.get(place).copied().unwrap_or(0);
        let column = |value: &dyn Fn(&PortVc) -> u32| Column::U32(places.iter().map(value).collect());
        vec![
            ("router".into(), column(&|place| place.0)),
            ("port".into(), column(&|place| place.1 as u32)),
            ("port_class".into(), Column::Text(places.iter().map(name).collect())),
            ("vc".into(), column(&|place| place.2 as u32)),
            ("peer_router".into(), column(&|place| peer(place).map_or(NONE, |(router, _)| router))),
            ("phits".into(), Column::U64(places.iter().map(sent).collect())),
            (
                "utilisation".into(),
                Column::F64(places.iter().map(|&place| self.utilisation(&uses, place)).collect()),
            ),
            (
                "occupancy_mean".into(),
                Column::F64(places.iter().map(|&place| self.behind(&uses, place)).collect()),
            ),
        ]
    }

    /// How full the output queues were.
    pub fn output_queues_table(&self) -> Table {
        let window = self.window();
        // Phits by router, port and cycle: each packet from its grant up to its departure, with both.
        let mut taken: BTreeMap<(u32, usize), BTreeMap<u32, u64>> = BTreeMap::new();
        for life in &self.record.lives {
            for hop in &life.trace.hops {
                let cycles = taken.entry((hop.router, hop.port.into())).or_default();
                for cycle in (hop.granted..=hop.departed).filter(|&cycle| window.holds(cycle)) {
                    *cycles.entry(cycle).or_default() += u64::from(life.length);
                }
            }
        }
        let ports: Vec<(u32, usize)> = self
            .output_places()
            .into_iter()
            .filter(|place| place.2 == 0)
            .map(|place| (place.0, place.1))
            .collect();
        let of = |place: &(u32, usize)| taken.get(place).into_iter().flat_map(BTreeMap::values).copied();
        let classes = self.plan.system.topology.ports();
        let name = |&(_, port): &(u32, usize)| match classes[port] {
            PortClass::Terminal => "terminal".to_owned(),
            PortClass::Link(class) => self.plan.system.topology.link_classes()[usize::from(class)].to_owned(),
        };
        let peer = |&(router, port): &(u32, usize)| {
            self.plan.system.topology.neighbour(router, port).map_or(NONE, |(peer, _)| peer)
        };
        let mean = |place| of(place).sum::<u64>() as f64 / window.cycles();
        vec![
            ("router".into(), Column::U32(ports.iter().map(|port| port.0).collect())),
            ("port".into(), Column::U32(ports.iter().map(|port| port.1 as u32).collect())),
            ("port_class".into(), Column::Text(ports.iter().map(name).collect())),
            ("peer_router".into(), Column::U32(ports.iter().map(peer).collect())),
            ("occupancy_mean".into(), Column::F64(ports.iter().map(mean).collect())),
            (
                "occupancy_max".into(),
                Column::U32(ports.iter().map(|place| of(place).max().unwrap_or(0) as u32).collect()),
            ),
        ]
    }

    /// Means over all buffers and links of a class.
    pub fn occupancy_table(&self) -> Table {
        let uses = self.uses(self.window());
        let mean = |ports: &[(u32, usize)], value: &dyn Fn(u32, usize) -> f64| {
            ports.iter().map(|&(router, port)| value(router, port)).sum::<f64>() / ports.len() as f64
        };
        let held = |ports: &[(u32, usize)], vc: usize| {
            mean(ports, &|router, port| uses.per_cycle(&uses.held, (router, port, vc)))
        };
        let busy = |ports: &[(u32, usize)], vc: usize| {
            mean(ports, &|router, port| self.utilisation(&uses, (router, port, vc)))
        };
        let terminals = self.ports_of(PortClass::Terminal);
        let mut injection = terminals.clone();
        if self.plan.experiment.nic.injection_ports == 2 {
            let second = self.plan.system.topology.ports().len();
            injection.extend(terminals.iter().map(|&(router, port)| (router, second + port)));
        }
        let mut rows: Vec<Row> = Vec::new();
        for vc in 0..self.injection_vcs() {
            rows.push(("injection".into(), vc, held(&injection, vc), f64::NAN));
        }
        for vc in 0..self.output_vcs(PortClass::Terminal) {
            rows.push(("ejection".into(), vc, f64::NAN, busy(&terminals, vc)));
        }
        for (number, name) in self.plan.system.topology.link_classes().iter().enumerate() {
            let class = PortClass::Link(number as u8);
            if !self.plan.system.topology.ports().contains(&class) {
                continue;
            }
            let ports = self.ports_of(class);
            let vcs = 0..self.output_vcs(class);
            rows.extend(vcs.map(|vc| ((*name).to_owned(), vc, held(&ports, vc), busy(&ports, vc))));
        }
        vec![
            ("port_class".into(), Column::Text(rows.iter().map(|row| row.0.clone()).collect())),
            ("vc".into(), Column::U32(rows.iter().map(|row| row.1 as u32).collect())),
            ("occupancy_mean".into(), Column::F64(rows.iter().map(|row| row.2).collect())),
            ("utilisation".into(), Column::F64(rows.iter().map(|row| row.3).collect())),
        ]
    }

    /// The ports of a class that a node or a router is at.
    fn ports_of(&self, class: PortClass) -> Vec<(u32, usize)> {
        let classes = self.plan.system.topology.ports();
        let ports = (0..classes.len()).filter(|&port| classes[port] == class);
        let all =
            ports.flat_map(|port| (0..self.plan.system.topology.routers()).map(move |router| (router, port)));
        all.filter(|&(router, port)| self.is_plugged(router, port)).collect()
    }
}
