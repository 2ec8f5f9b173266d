//! The table of the routers that packets pass.

use super::Run;
use crate::{Life, Passage};
use hopsim_measure::trace::Hop;
use hopsim_measure::{Column, Table};
use hopsim_network::network::NONE;
use hopsim_network::topology::PortClass;
use std::collections::BTreeMap;

/// A packet at a router that it passed.
struct HopRow<'a> {
    life: &'a Life,
    /// The number of the router on its way, from 0.
    number: usize,
    hop: &'a Hop,
    passage: &'a Passage,
}

impl Run<'_> {
    /// A row for every router that a chosen packet passed, by cycle of generation, source and number.
    pub fn packet_hops_table(&self) -> Table {
        let mut lives: Vec<&Life> = self.record.lives.iter().filter(|life| self.is_chosen(life)).collect();
        lives.sort_by_key(|life| (life.trace.generated, life.trace.source, life.trace.serial));
        let mut rows = Vec::new();
        for life in lives {
            for (number, (hop, passage)) in life.trace.hops.iter().zip(&life.passages).enumerate() {
                rows.push(HopRow { life, number, hop, passage });
            }
        }
        let mut table = self.columns_of_packets(&rows);
        table.extend(self.columns_of_routers(&rows));
        table
    }

    /// What the document says of the packets to record; all if it says nothing.
    pub(super) fn is_chosen(&self, life: &Life) -> bool {
        let Some(wanted) = &self.plan.experiment.measure.packets else { return true };
        let trace = &life.trace;
        let is_late = wanted.to.is_some_and(|to| trace.generated >= to);
        let from_elsewhere = wanted.source.is_some_and(|node| node != trace.source);
        let for_others = wanted.destination.is_some_and(|node| node != trace.destination);
        trace.serial.is_multiple_of(wanted.every)
            && trace.generated >= wanted.from
            && !is_late
            && !from_elsewhere
            && !for_others
    }

    fn columns_of_packets(&self, rows: &[HopRow<'_>]) -> Table {
        let column =
            |value: &dyn Fn(&Life) -> u32| Column::U32(rows.iter().map(|row| value(row.life)).collect());
        // A packet that has been lost may have been delivered when it was sent another time.
        let name = |life: &Life| (life.trace.source, life.trace.serial);
        let delivered: BTreeMap<(u32, u32), u32> =
            self.record.lives.iter().filter_map(|life| Some((name(life), life.trace.delivered?))).collect();
        let arrival = |life: &Life| {
            delivered.get(&name(life)).map_or(f64::NAN, |&at| f64::from(at + life.length + life.late))
        };
        let names = self.plan.system.jobs.iter().map(|job| job.name().to_owned()).collect();
        let jobs = rows.iter().map(|row| row.life.job(self.plan) as u8).collect();
        vec![
            ("generated".into(), column(&|life| life.trace.generated)),
            ("source".into(), column(&|life| life.trace.source)),
            ("serial".into(), column(&|life| life.trace.serial)),
            ("destination".into(), column(&|life| life.trace.destination)),
            ("length".into(), column(&|life| life.length)),
            ("job".into(), Column::Named { names, rows: jobs }),
            ("delivered".into(), Column::F64(rows.iter().map(|row| arrival(row.life)).collect())),
        ]
    }

    fn columns_of_routers(&self, rows: &[HopRow<'_>]) -> Table {
        let topology = &self.plan.system.topology;
        let ports = topology.ports();
        let column = |value: &dyn Fn(&HopRow<'_>) -> u32| Column::U32(rows.iter().map(value).collect());
        let cause = |number: usize| column(&|row| row.passage.waited[number] as u32);
        let mut names = vec!["terminal".to_owned()];
        names.extend(topology.link_classes().iter().map(|&name| name.to_owned()));
        let class = |row: &HopRow<'_>| match ports[usize::from(row.hop.port)] {
            PortClass::Terminal => 0,
            PortClass::Link(class) => class + 1,
        };
        let peer = |row: &HopRow<'_>| {
            topology.neighbour(row.hop.router, usize::from(row.hop.port)).map_or(NONE, |(peer, _)| peer)
        };
        vec![
            ("hop".into(), column(&|row| row.number as u32)),
            ("router".into(), column(&|row| row.hop.router)),
            ("input_port".into(), column(&|row| row.passage.input.0 as u32)),
            ("input_vc".into(), column(&|row| row.passage.input.1 as u32)),
            ("port".into(), column(&|row| row.hop.port.into())),
            ("port_class".into(), Column::Named { names, rows: rows.iter().map(class).collect() }),
            ("vc".into(), column(&|row| row.hop.vc.into())),
            ("peer_router".into(), column(&peer)),
            ("arrived".into(), column(&|row| row.hop.arrived)),
            ("granted".into(), column(&|row| row.hop.granted)),
            ("departed".into(), column(&|row| row.hop.departed)),
            ("queued".into(), cause(0)),
            ("room".into(), cause(1)),
            ("bubble".into(), cause(2)),
            ("output".into(), cause(3)),
            ("crossbar".into(), cause(4)),
            ("misrouted".into(), column(&|row| row.hop.misrouted.into())),
        ]
    }
}
