//! The tables by node and router.

use super::{Run, mean};
use hopsim_cycles::observer::WaitReason;
use hopsim_measure::{Column, Table};

/// What is counted of a node.
#[derive(Clone, Default)]
struct Counts {
    generated: u32,
    injected: u32,
    /// Packets delivered to the node.
    delivered: u32,
    /// Latencies of the delivered packets that the node sent.
    latencies: Vec<u32>,
}

impl Run<'_> {
    /// The counts of every node in the window.
    fn counts_by_node(&self) -> Vec<Counts> {
        let window = self.window();
        let mut nodes = vec![Counts::default(); self.plan.system.network.nodes as usize];
        for life in &self.record.lives {
            let (source, destination) = (life.trace.source as usize, life.trace.destination as usize);
            nodes[source].generated += u32::from(life.generated().is_some_and(|at| window.holds(at)));
            let injected = self.injected(life).is_some_and(|at| window.holds(at));
            nodes[source].injected += u32::from(injected && life.requested.is_none());
            if life.trace.delivered.is_some_and(|at| window.holds(at)) {
                nodes[destination].delivered += 1;
                nodes[source].latencies.push(life.latency());
            }
        }
        nodes
    }

    fn job_name(&self, node: u32) -> String {
        let job = self.plan.system.jobs.iter().find(|job| job.nodes().contains(&node));
        job.map_or(String::new(), |job| job.name().to_owned())
    }

    pub fn nodes_table(&self) -> Table {
        let nodes = self.counts_by_node();
        let numbers = 0..self.plan.system.network.nodes;
        let router = |node: u32| node / self.plan.system.topology.nodes_per_router();
        let column = |value: &dyn Fn(&Counts) -> u32| Column::U32(nodes.iter().map(value).collect());
        let latency = |node: &Counts| mean(&node.latencies).unwrap_or(f64::NAN);
        let backlog = |node: u32| self.shortfalls(node)[0].tenths.iter().sum();
        let falls_behind = |node: u32| f64::from(u8::from(self.falls_behind(node)));
        vec![
            ("backlog_growth".into(), Column::F64(numbers.clone().map(backlog).collect())),
            ("falls_behind".into(), Column::F64(numbers.clone().map(falls_behind).collect())),
            ("node".into(), Column::U32(numbers.clone().collect())),
            ("router".into(), Column::U32(numbers.clone().map(router).collect())),
            ("job".into(), Column::Text(numbers.map(|node| self.job_name(node)).collect())),
            ("generated".into(), column(&|node| node.generated)),
            ("injected".into(), column(&|node| node.injected)),
            ("delivered".into(), column(&|node| node.delivered)),
            ("received".into(), column(&|node| node.latencies.len() as u32)),
            ("latency_mean".into(), Column::F64(nodes.iter().map(latency).collect())),
        ]
    }

    /// The table of the routers with nodes.
    pub fn routers_table(&self) -> Table {
        let nodes = self.counts_by_node();
        let jobs: Vec<usize> = (0..self.plan.system.jobs.len()).collect();
        let routers: Vec<&[Counts]> =
            nodes.chunks(self.plan.system.topology.nodes_per_router() as usize).collect();
        let numbers = 0..routers.len() as u32;
        let loads = self.router_loads(&jobs);
        let load = |router: u32| {
            loads.iter().find(|&&(other, _)| other == router).map_or(f64::NAN, |&(_, load)| load)
        };
        let column = |value: &dyn Fn(&Counts) -> u32| {
            Column::U32(routers.iter().map(|nodes| nodes.iter().map(value).sum()).collect())
        };
        let latency = |nodes: &&[Counts]| {
            let latencies: Vec<u32> = nodes.iter().flat_map(|node| node.latencies.clone()).collect();
            mean(&latencies).unwrap_or(f64::NAN)
        };
        vec![
            ("router".into(), Column::U32(numbers.clone().collect())),
            (
                "group".into(),
                Column::U32(numbers.clone().map(|r| self.plan.system.topology.group(r)).collect()),
            ),
            ("injected".into(), column(&|node| node.injected)),
            ("delivered".into(), column(&|node| node.delivered)),
            ("received".into(), column(&|node| node.latencies.len() as u32)),
            ("injection_load".into(), Column::F64(numbers.map(load).collect())),
            ("latency_mean".into(), Column::F64(routers.iter().map(latency).collect())),
        ]
    }

    /// The table of the cycles that heads at injection waited, by node and reason.
    pub fn waits_table(&self) -> Table {
        let nodes = 0..self.plan.system.network.nodes;
        let mut table: Table = vec![("node".into(), Column::U32(nodes.clone().collect()))];
        for (reason, name) in WaitReason::ALL {
            let cycles =
                |node: u32| self.record.waits.get(&(node, reason as usize)).copied().unwrap_or(0) as f64;
            table.push((name.to_owned(), Column::F64(nodes.clone().map(cycles).collect())));
        }
        table
    }
}
