//! Links and routers that are out of order: which ones and when, by what `hopsim explain faults` says, and that they are missing and no others.

use hopsim_experiment::plan::Plan;
use hopsim_network::topology::faults::{
    DrawnRouters, FailedLinks, FailedRouters, Fault, Missing, OnLinks, Reconfiguration, without_these,
};
use hopsim_network::topology::{PortClass, Topology};
use hopsim_random::{Purpose, Stream};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Router and port of both ends of a link, the lower one first.
pub type Ends = [(u32, usize); 2];

/// Links and routers that are out of order.
#[derive(Clone, Default, PartialEq)]
pub struct Broken {
    /// The links, among them those of the routers; some perhaps several times.
    pub links: Vec<Ends>,
    pub routers: BTreeSet<u32>,
}

impl Broken {
    /// All that is out of order by some of these.
    pub fn of_all<'a>(parts: impl Iterator<Item = &'a Self>) -> Self {
        let mut all = Self::default();
        for part in parts {
            all.links.extend(&part.links);
            all.routers.extend(&part.routers);
        }
        all.links.sort_unstable();
        all.links.dedup();
        all
    }
}

/// Links and routers that are out of order for a part of the run.
#[derive(Clone)]
pub struct Outage {
    pub broken: Broken,
    /// First cycle in which they are out of order.
    pub fails: u32,
    /// The cycle in which the routers at their ends know, unless they are repaired before.
    pub noticed: u32,
    /// The cycle in which tables cease to lead over them.
    pub left: u32,
    /// First cycle in which they are in order again, if there is one.
    pub repaired: Option<u32>,
    /// The cycle in which tables lead over them again.
    pub taken_again: Option<u32>,
    /// Whether packets that have been granted them are lost.
    pub loses: bool,
    /// Whether tables wait until the network is drained.
    pub drains: bool,
}

impl Outage {
    fn new(fault: &Fault, broken: Broken) -> Self {
        let reaction = fault.reaction.unwrap_or_default();
        let (fails, delay) = (fault.at, reaction.detection + reaction.reroute);
        // Of what is out of order from the beginning everybody knows.
        let after = |cycles: u32| if fails == 0 { 0 } else { fails + cycles };
        Self {
            broken,
            fails,
            noticed: after(reaction.detection),
            left: after(delay),
            repaired: fault.until,
            taken_again: fault.until.map(|until| until + delay),
            loses: reaction.packets == OnLinks::Drop,
            drains: reaction.reconfiguration == Some(Reconfiguration::Static),
        }
    }

    /// Whether the links are out of order in a cycle.
    pub fn is_out(&self, cycle: u32) -> bool {
        self.fails <= cycle && self.repaired.is_none_or(|repaired| cycle < repaired)
    }

    /// Whether tables in a cycle lead over other links.
    pub fn is_avoided(&self, cycle: u32) -> bool {
        self.left <= cycle && self.taken_again.is_none_or(|again| cycle < again)
    }

    /// Whether there are other tables in a cycle than in the one before.
    pub fn changes_tables(&self, cycle: u32) -> bool {
        cycle > 0 && self.is_avoided(cycle) != self.is_avoided(cycle - 1)
    }

    /// Router and port of both ends of all links.
    pub fn ports(&self) -> Vec<(usize, usize)> {
        self.broken.links.iter().flatten().map(|&(router, port)| (router as usize, port)).collect()
    }
}

/// The links that are out of order for a part of the run.
pub fn outages(plan: &Plan) -> Vec<Outage> {
    let faults = &plan.experiment.faults;
    if faults.is_empty() {
        return Vec::new();
    }
    let whole = plan.experiment.topology.build().expect("the plan has been made of it");
    let is_out = |fault: &Fault| !is_for_good(fault) && fault.slowdown.is_none();
    let outages = faults.iter().zip(failed(plan, &whole)).filter(|(fault, _)| is_out(fault));
    outages.map(|(fault, broken)| Outage::new(fault, broken)).collect()
}

/// How many times as many cycles links take for a phit in a cycle in which they are slower, by router and port of either end.
pub fn slower(plan: &Plan, cycle: u32) -> BTreeMap<(usize, usize), u32> {
    let mut slower = BTreeMap::new();
    if plan.experiment.faults.iter().all(|fault| fault.slowdown.is_none()) {
        return slower;
    }
    let whole = plan.experiment.topology.build().expect("the plan has been made of it");
    for (fault, links) in plan.experiment.faults.iter().zip(failed(plan, &whole)) {
        let is_on = fault.at <= cycle && fault.until.is_none_or(|until| cycle < until);
        let Some(times) = fault.slowdown.filter(|_| is_on) else { continue };
        for (router, port) in links.links.into_iter().flatten() {
            slower.insert((router as usize, port), times);
        }
    }
    slower
}

/// The cycles in which links become slower or faster.
pub fn paced(plan: &Plan) -> BTreeSet<u32> {
    let slow = plan.experiment.faults.iter().filter(|fault| fault.slowdown.is_some());
    slow.flat_map(|fault| [Some(fault.at), fault.until]).flatten().collect()
}

/// The routers that are out of order from the beginning to the end.
pub fn gone(plan: &Plan) -> BTreeSet<u32> {
    if plan.experiment.faults.is_empty() {
        return BTreeSet::new();
    }
    let whole = plan.experiment.topology.build().expect("the plan has been made of it");
    let by_fault: Vec<_> = plan.experiment.faults.iter().zip(failed(plan, &whole)).collect();
    let for_good = by_fault.iter().filter(|(fault, _)| is_for_good(fault));
    Broken::of_all(for_good.map(|(_, broken)| broken)).routers
}

/// Whether links are out of order from the beginning to the end.
fn is_for_good(fault: &Fault) -> bool {
    fault.at == 0 && fault.until.is_none() && fault.slowdown.is_none()
}

/// A plan whose network lacks some links and routers besides those that are out of order for good.
pub fn without(plan: &Plan, broken: &Broken) -> Plan {
    let mut plan = plan.clone();
    let links = broken.links.iter().map(|&[here, _]| here).collect();
    let missing = Missing { links, routers: broken.routers.clone() };
    plan.system.topology = Arc::new(without_these(&plan.system.topology, &missing));
    plan
}

/// Panics if a plan lacks other links of its whole topology than those that are out of order for good, and some others.
pub fn check(plan: &Plan, whole: &Topology, others: &Broken) {
    let by_fault: Vec<_> = plan.experiment.faults.iter().zip(failed(plan, whole)).collect();
    let for_good = by_fault.iter().filter(|(fault, _)| is_for_good(fault)).map(|(_, broken)| broken);
    let failed = Broken::of_all(for_good.chain([others])).links;
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

/// What every fault says is out of order: links, none of which is one of a fault before, and all links of routers, none of which is one of a
/// fault before.
fn failed(plan: &Plan, whole: &Topology) -> Vec<Broken> {
    let mut by_fault: Vec<Broken> = Vec::new();
    for fault in &plan.experiment.faults {
        let earlier = Broken::of_all(by_fault.iter());
        let mut broken = Broken::default();
        if let Some(of_fault) = &fault.links {
            broken.links = links_of_fault(of_fault, whole, &earlier.links);
        }
        if let Some(of_fault) = &fault.routers {
            broken.routers = routers_of_fault(of_fault, whole, &earlier.routers);
        }
        for (ends, _) in links(whole) {
            if ends.iter().any(|(router, _)| broken.routers.contains(router)) && !broken.links.contains(&ends)
            {
                broken.links.push(ends);
            }
        }
        by_fault.push(broken);
    }
    by_fault
}

/// The routers of a fault, none of which is among those of earlier ones.
fn routers_of_fault(fault: &FailedRouters, whole: &Topology, earlier: &BTreeSet<u32>) -> BTreeSet<u32> {
    match fault {
        FailedRouters::Named(routers) => routers.iter().copied().collect(),
        FailedRouters::Drawn(DrawnRouters { fraction, seed }) => {
            let count = (fraction * f64::from(whole.routers())).round() as usize;
            let mut left: Vec<u32> = (0..whole.routers()).collect();
            left.retain(|router| !earlier.contains(router));
            Stream::new(seed.unwrap_or(1), Purpose::Faults, 1).shuffle(&mut left);
            left.into_iter().take(count).collect()
        }
    }
}

/// The links of a fault, none of which is among those of earlier ones.
fn links_of_fault(fault: &FailedLinks, whole: &Topology, earlier: &[Ends]) -> Vec<Ends> {
    let mut own: Vec<Ends> = Vec::new();
    for &[one, other] in &fault.between {
        let mut of_pair: Vec<Ends> = links(whole)
            .into_iter()
            .map(|(ends, _)| ends)
            .filter(|&[a, b]| [a.0, b.0] == [one, other] || [b.0, a.0] == [one, other])
            .filter(|ends| !earlier.contains(ends) && !own.contains(ends))
            .collect();
        let port_at_one = |&[a, b]: &Ends| if a.0 == one { a.1 } else { b.1 };
        of_pair.sort_by_key(port_at_one);
        own.push(of_pair[0]);
    }
    let Some(fraction) = fault.fraction else { return own };
    let names = whole.link_classes();
    let class_of = |class: u8| names[usize::from(class)];
    let is_meant = |class: u8| fault.class.as_deref().is_none_or(|name| name == class_of(class));
    let meant: Vec<Ends> =
        links(whole).into_iter().filter(|&(_, class)| is_meant(class)).map(|(ends, _)| ends).collect();
    let count = (fraction * meant.len() as f64).round() as usize;
    let is_left = |ends: &Ends| !earlier.contains(ends) && !own.contains(ends);
    let mut left: Vec<Ends> = meant.into_iter().filter(is_left).collect();
    Stream::new(fault.seed.unwrap_or(1), Purpose::Faults, 0).shuffle(&mut left);
    own.extend(left.iter().take(count));
    own
}
