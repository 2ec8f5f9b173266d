//! The tables of congestion trees.

use super::Run;
use crate::state::place::OutputPort;
use crate::state::standing::Tree;
use hopsim_measure::{Column, Table};
use hopsim_network::network::NONE;
use hopsim_network::topology::PortClass;

impl Run<'_> {
    /// Tables of the trees, of the flows that stand in them, and of all that stands still.
    pub fn congestion_tables(&self) -> [(&'static str, Table); 3] {
        [
            ("congestion_trees", self.trees_table()),
            ("congestion_flows", self.tree_flows_table()),
            ("standing_packets", self.standing_table()),
        ]
    }

    fn roots(&self, links: &[OutputPort]) -> Table {
        let class = |&(_, port): &OutputPort| match self.plan.system.topology.ports()[port] {
            PortClass::Terminal => "terminal".to_owned(),
            PortClass::Link(class) => self.plan.system.topology.link_classes()[usize::from(class)].to_owned(),
        };
        let peer = |&(router, port): &OutputPort| {
            self.plan.system.topology.neighbour(router as u32, port).map_or(NONE, |(peer, _)| peer)
        };
        vec![
            ("router".into(), Column::U32(links.iter().map(|link| link.0 as u32).collect())),
            ("port".into(), Column::U32(links.iter().map(|link| link.1 as u32).collect())),
            ("port_class".into(), Column::Text(links.iter().map(class).collect())),
            ("peer_router".into(), Column::U32(links.iter().map(peer).collect())),
        ]
    }

    fn trees_table(&self) -> Table {
        let trees = &self.record.congestion.trees;
        let links: Vec<OutputPort> = trees.keys().map(|&(_, root)| root).collect();
        let column = |value: &dyn Fn(&Tree) -> u32| Column::U32(trees.values().map(value).collect());
        let mut table = vec![("cycle".into(), Column::U32(trees.keys().map(|&(cycle, _)| cycle).collect()))];
        table.extend(self.roots(&links));
        table.push(("links".into(), column(&|tree| tree.links.len() as u32)));
        table.push(("depth".into(), column(&|tree| tree.depth)));
        table.push(("packets".into(), column(&|tree| tree.packets.iter().sum())));
        table.push(("phits".into(), Column::U64(trees.values().map(|tree| tree.phits).collect())));
        table.push(("contributors".into(), column(&|tree| tree.packets[0])));
        table.push(("other_contributors".into(), column(&|tree| tree.packets[1])));
        table.push(("victims".into(), column(&|tree| tree.packets[2])));
        table
    }

    fn tree_flows_table(&self) -> Table {
        let flows = &self.record.congestion.flows;
        let interval = u64::from(self.plan.experiment.measure.interval);
        let links: Vec<OutputPort> = flows.keys().map(|&(root, ..)| root).collect();
        let job = |job: usize| self.plan.system.jobs[job].name().to_owned();
        let cycles = |role: usize| Column::U64(flows.values().map(|seen| seen[role] * interval).collect());
        let mut table = self.roots(&links);
        table.push(("job".into(), Column::Text(flows.keys().map(|flow| job(flow.1)).collect())));
        table.push(("source_group".into(), Column::U32(flows.keys().map(|flow| flow.2).collect())));
        table.push(("destination_group".into(), Column::U32(flows.keys().map(|flow| flow.3).collect())));
        table.push(("contributor_cycles".into(), cycles(0)));
        table.push(("other_contributor_cycles".into(), cycles(1)));
        table.push(("victim_cycles".into(), cycles(2)));
        table
    }

    fn standing_table(&self) -> Table {
        let censuses = &self.record.congestion.censuses;
        let names = ["standing", "in_trees", "contending", "crossing", "circling"];
        let mut table = vec![("cycle".into(), Column::U32(censuses.keys().copied().collect()))];
        table.extend(names.into_iter().enumerate().map(|(number, name)| {
            (name.into(), Column::U32(censuses.values().map(|census| census[number]).collect()))
        }));
        table
    }
}
