//! The tables of what packets waited for.

use super::Run;
use crate::state::waiting::Waited;
use hopsim_measure::{Column, Table};
use hopsim_network::topology::PortClass;

impl Run<'_> {
    /// The table of what packets waited for, by output VC.
    pub fn link_waits_table(&self) -> Table {
        let places = self.output_places();
        let class = |port: usize| match self.plan.system.topology.ports()[port] {
            PortClass::Terminal => "terminal".to_owned(),
            PortClass::Link(class) => self.plan.system.topology.link_classes()[usize::from(class)].to_owned(),
        };
        let waited = |&(router, port, vc): &(u32, usize, usize)| {
            self.record.waiting.by_vc.get(&(router as usize, port, vc)).copied().unwrap_or_default()
        };
        let mut table = vec![
            ("router".into(), Column::U32(places.iter().map(|place| place.0).collect())),
            ("port".into(), Column::U32(places.iter().map(|place| place.1 as u32).collect())),
            ("port_class".into(), Column::Text(places.iter().map(|place| class(place.1)).collect())),
            ("vc".into(), Column::U32(places.iter().map(|place| place.2 as u32).collect())),
        ];
        table.extend(columns(&places.iter().map(waited).collect::<Vec<_>>()));
        table
    }

    /// The table of what packets waited for, by job and groups.
    pub fn flow_waits_table(&self) -> Table {
        let flows = &self.record.waiting.by_flow;
        let job = |job: usize| self.plan.system.jobs[job].name().to_owned();
        let mut table = vec![
            ("job".into(), Column::Text(flows.keys().map(|flow| job(flow.0)).collect())),
            ("source_group".into(), Column::U32(flows.keys().map(|flow| flow.1).collect())),
            ("destination_group".into(), Column::U32(flows.keys().map(|flow| flow.2).collect())),
        ];
        table.extend(columns(&flows.values().copied().collect::<Vec<_>>()));
        table
    }
}

fn columns(rows: &[Waited]) -> Table {
    let names = ["packets", "queued", "room", "bubble", "output", "crossbar"].into_iter().enumerate();
    let column = |number: usize| Column::U64(rows.iter().map(|row| row[number]).collect());
    names.map(|(number, name)| (name.to_owned(), column(number))).collect()
}
