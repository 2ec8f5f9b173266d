//! How equally nodes and routers inject.

use super::Run;

impl Run<'_> {
    /// Phits that every node injected in the window, replies left out.
    pub fn injected_phits(&self) -> Vec<u32> {
        let mut phits = vec![0; self.plan.system.network.nodes as usize];
        for life in self.record.lives.iter().filter(|life| life.requested.is_none()) {
            if self.injected(life).is_some_and(|at| self.window().holds(at)) {
                phits[life.trace.source as usize] += life.length;
            }
        }
        phits
    }

    /// Load injected by each of the nodes of some jobs that send.
    fn node_loads(&self, jobs: &[usize]) -> Vec<(u32, f64)> {
        let phits = self.injected_phits();
        let nodes = jobs
            .iter()
            .flat_map(|&job| self.plan.system.jobs[job].nodes().iter().map(move |&node| (job, node)));
        let senders =
            nodes.filter(|&(job, node)| self.plan.system.jobs[job].sends(node)).map(|(_, node)| node);
        senders.map(|node| (node, f64::from(phits[node as usize]) / self.window().cycles())).collect()
    }

    /// Load injected per sending node of each router that has such nodes of some jobs.
    pub fn router_loads(&self, jobs: &[usize]) -> Vec<(u32, f64)> {
        let nodes = self.node_loads(jobs);
        let mut loads = Vec::new();
        for router in 0..self.plan.system.topology.routers() {
            let here = |node: u32| node / self.plan.system.topology.nodes_per_router() == router;
            let own: Vec<f64> =
                nodes.iter().filter(|&&(node, _)| here(node)).map(|&(_, load)| load).collect();
            if !own.is_empty() {
                loads.push((router, own.iter().sum::<f64>() / own.len() as f64));
            }
        }
        loads
    }

    /// The keys of the summary record about fairness, with their values.
    pub fn fairness(&self, jobs: &[usize]) -> Vec<(&'static str, Option<f64>)> {
        let loads = |of: Vec<(u32, f64)>| of.into_iter().map(|(_, load)| load).collect::<Vec<f64>>();
        let (nodes, routers) = (loads(self.node_loads(jobs)), loads(self.router_loads(jobs)));
        let (least, most) = (least(&routers), most(&routers));
        let ratio = match (least, most) {
            (Some(least), Some(most)) if least > 0.0 => Some(most / least),
            _ => None,
        };
        vec![
            ("router_injection_min", least),
            ("router_injection_max", most),
            ("router_injection_max_min_ratio", ratio),
            ("router_injection_cov", variation(&routers)),
            ("node_injection_min", self::least(&nodes)),
            ("node_injection_mean", mean(&nodes)),
            ("node_injection_max", self::most(&nodes)),
            ("node_injection_cov", variation(&nodes)),
            ("jain_index", jain(&nodes)),
        ]
    }
}

fn least(values: &[f64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted.first().copied()
}

fn most(values: &[f64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted.last().copied()
}

fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

/// Standard deviation of the values themselves, not of a sample, over their mean.
fn variation(values: &[f64]) -> Option<f64> {
    let mean = mean(values).filter(|&mean| mean > 0.0)?;
    let squares: f64 = values.iter().map(|value| (value - mean) * (value - mean)).sum();
    Some((squares / values.len() as f64).sqrt() / mean)
}

fn jain(values: &[f64]) -> Option<f64> {
    let sum: f64 = values.iter().sum();
    let squares: f64 = values.iter().map(|value| value * value).sum();
    (squares > 0.0).then(|| sum * sum / (values.len() as f64 * squares))
}
