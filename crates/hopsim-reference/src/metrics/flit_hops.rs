//! The table of the routers that flits pass.

use super::Run;
use crate::Life;
use crate::state::packet::FlitPassage;
use hopsim_measure::{Column, Table};

impl Run<'_> {
    /// A row for every router that a flit of a chosen packet passed, by cycle of generation, source, number, router and flit.
    pub fn flit_hops_table(&self) -> Table {
        let chosen = self.record.lives.iter().filter(|life| self.is_chosen(life));
        let mut rows: Vec<(&Life, &FlitPassage)> =
            chosen.flat_map(|life| life.flits.iter().map(move |flit| (life, flit))).collect();
        rows.sort_by_key(|(life, flit)| {
            (life.trace.generated, life.trace.source, life.trace.serial, flit.hop, flit.flit)
        });
        let of_packet =
            |value: &dyn Fn(&Life) -> u32| Column::U32(rows.iter().map(|row| value(row.0)).collect());
        let of_flit =
            |value: &dyn Fn(&FlitPassage) -> u32| Column::U32(rows.iter().map(|row| value(row.1)).collect());
        let of_head = |value: &dyn Fn((u32, u32)) -> u32| {
            let stage =
                |row: &(&Life, &FlitPassage)| row.1.stages.map_or(f64::NAN, |stages| value(stages).into());
            Column::F64(rows.iter().map(stage).collect())
        };
        vec![
            ("source".into(), of_packet(&|life| life.trace.source)),
            ("serial".into(), of_packet(&|life| life.trace.serial)),
            ("destination".into(), of_packet(&|life| life.trace.destination)),
            ("generated".into(), of_packet(&|life| life.trace.generated)),
            ("flit".into(), of_flit(&|flit| flit.flit)),
            ("hop".into(), of_flit(&|flit| flit.hop as u32)),
            ("router".into(), of_flit(&|flit| flit.router)),
            ("input_port".into(), of_flit(&|flit| flit.input.0 as u32)),
            ("input_vc".into(), of_flit(&|flit| flit.input.1 as u32)),
            ("port".into(), of_flit(&|flit| flit.to.port as u32)),
            ("vc".into(), of_flit(&|flit| flit.to.vc.into())),
            ("arrived".into(), of_flit(&|flit| flit.arrived)),
            ("routed".into(), of_head(&|stages| stages.0)),
            ("vc_allocated".into(), of_head(&|stages| stages.1)),
            ("granted".into(), of_flit(&|flit| flit.granted)),
            ("departed".into(), of_flit(&|flit| flit.departed)),
        ]
    }
}
