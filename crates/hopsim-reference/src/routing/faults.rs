//! Links that are out of order: which ones, by what `hopsim explain faults` says, and that they are missing and no others.

use hopsim_experiment::plan::Plan;
use hopsim_network::topology::{PortClass, Topology};
use hopsim_random::{Purpose, Stream};

/// Router and port of both ends of a link, the lower one first.
type Ends = [(u32, usize); 2];

/// Panics if a plan lacks other links of its whole topology than the faults say.
pub fn check(plan: &Plan, whole: &Topology) {
    let failed = failed(plan, whole);
    for (ends, _) in links(whole) {
        let [here, there] = ends;
        let found = plan.system.topology.neighbour(here.0, here.1);
        let back = plan.system.topology.neighbour(there.0, there.1);
        let expected = if failed.contains(&ends) { (None, None) } else { (Some(there), Some(here)) };
        assert_eq!((found, back), expected, "link {ends:?}");
    }
    assert_eq!(links(&plan.system.topology).len() + failed.len(), links(whole).len());
}

/// All links in the order of their lower ends, with their classes.
fn links(topology: &Topology) -> Vec<(Ends, u8)> {
    let ports = topology.ports();
    let mut links = Vec::new();
    for router in 0..topology.routers() {
        for (port, class) in ports.iter().enumerate() {
            let Some(there) = topology.neighbour(router, port) else { continue };
            let &PortClass::Link(class) = class else { unreachable!("nodes are no neighbours") };
            let mut ends = [(router, port), there];
            ends.sort_unstable();
            links.push((ends, class));
        }
    }
    links.sort_unstable();
    links.dedup();
    links
}

/// The links that are out of order.
fn failed(plan: &Plan, whole: &Topology) -> Vec<Ends> {
    let mut failed: Vec<Ends> = Vec::new();
    for fault in &plan.experiment.faults {
        for &[one, other] in &fault.links.between {
            let mut of_pair: Vec<Ends> = links(whole)
                .into_iter()
                .map(|(ends, _)| ends)
                .filter(|&[a, b]| [a.0, b.0] == [one, other] || [b.0, a.0] == [one, other])
                .filter(|ends| !failed.contains(ends))
                .collect();
            let port_at_one = |&[a, b]: &Ends| if a.0 == one { a.1 } else { b.1 };
            of_pair.sort_by_key(port_at_one);
            failed.push(of_pair[0]);
        }
        let Some(fraction) = fault.links.fraction else { continue };
        let names = whole.link_classes();
        let class_of = |class: u8| names[usize::from(class)];
        let is_meant = |class: u8| fault.links.class.as_deref().is_none_or(|name| name == class_of(class));
        let meant: Vec<Ends> =
            links(whole).into_iter().filter(|&(_, class)| is_meant(class)).map(|(ends, _)| ends).collect();
        let count = (fraction * meant.len() as f64).round() as usize;
        let mut left: Vec<Ends> = meant.into_iter().filter(|ends| !failed.contains(ends)).collect();
        Stream::new(fault.links.seed.unwrap_or(1), Purpose::Faults, 0).shuffle(&mut left);
        failed.extend(left.iter().take(count));
    }
    failed
}
