//! The cut of a network into regions that are simulated one after the other, some cycles ahead of each other.
//!
//! What leaves a router arrives elsewhere no sooner than the latency of the link. So a region whose links to all others
//! have at least that latency can be simulated for as many cycles before anything from outside can matter (the lookahead of
//! conservative parallel simulation: Chandy and Misra, 1979). That keeps its state in the cache; the results are the same.

use super::wheel::Wheel;
use crate::plan::Plan;
use std::ops::{Deref, DerefMut, Range};

/// Bytes of routers per region aimed at: with packets, nodes and events the state of a region is about twice that, and
/// fits into the second-level cache of the day.
const BYTES: usize = 256 << 10;

/// Bytes of routers up to which a network is simulated whole.
const WHOLE: usize = 4 << 20;

/// Cycles ahead below which a cut is not worth its trouble.
const WORTHWHILE: u32 = 8;

/// How finely to cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cut {
    /// Into regions that fit into the cache.
    Fitting,
    /// As finely as possible.
    Finest,
}

/// A cut.
#[derive(Clone, Debug)]
pub struct Regions {
    /// Routers of each region.
    routers: Vec<Range<u32>>,
    /// Cycles that a region may be ahead of the others.
    lookahead: u32,
}

impl Regions {
    /// Cuts a network whose routers take `bytes` each. Groups stay whole: their routers tell each other more than links do.
    pub fn new(plan: &Plan, cut: Cut, bytes: usize) -> Self {
        let (topology, network) = (&plan.topology, &plan.network);
        let whole = Self { routers: std::iter::once(0..network.routers).collect(), lookahead: u32::MAX };
        let leaves = |router: u32, port: usize| {
            let link = network.link(router, port);
            let (peer, _) = link.peer?;
            (topology.group(peer) != topology.group(router)).then_some(link.latency)
        };
        let latencies = (0..network.routers)
            .flat_map(|router| (0..network.layout.ports()).filter_map(move |port| leaves(router, port)));
        let Some(lookahead) = latencies.min() else { return whole };
        // The signal goes from region to region in no time, and so do the news that a burst is over.
        let bursts = plan.jobs.iter().any(|job| job.process.synchronised().is_some());
        if bursts || plan.control.sat.is_some() {
            return whole;
        }
        let size = match cut {
            Cut::Fitting if lookahead < WORTHWHILE || network.routers as usize * bytes < WHOLE => {
                return whole;
            }
            Cut::Fitting => (BYTES / bytes) as u32,
            Cut::Finest => 1,
        };
        let group = network.routers / topology.groups();
        let step = (size / group).max(1) * group;
        let routers = (0..network.routers).step_by(step as usize);
        let routers = routers.map(|first| first..(first + step).min(network.routers)).collect();
        Self { routers, lookahead }
    }

    /// How many.
    pub fn count(&self) -> usize {
        self.routers.len()
    }

    /// Cycles that a region may be ahead of the others.
    pub fn lookahead(&self) -> u32 {
        if self.count() == 1 { u32::MAX } else { self.lookahead }
    }

    /// The routers of a region.
    pub fn routers(&self, region: usize) -> Range<u32> {
        self.routers[region].clone()
    }

    /// The region of a router.
    pub fn of(&self, router: u32) -> usize {
        self.routers.partition_point(|routers| routers.end <= router)
    }
}

/// One value per region; those of the region that is being simulated are at hand.
#[derive(Clone, Debug)]
pub struct PerRegion<T> {
    here: T,
    region: usize,
    /// All others; the place of the present one holds nothing of worth.
    others: Vec<T>,
}

impl<T: Clone> PerRegion<T> {
    /// Equal values; region 0 is at hand.
    pub fn new(regions: &Regions, value: T) -> Self {
        Self { others: vec![value.clone(); regions.count()], here: value, region: 0 }
    }
}

impl<T> PerRegion<T> {
    /// Has the value of `region` at hand.
    pub fn enter(&mut self, region: usize) {
        std::mem::swap(&mut self.here, &mut self.others[self.region]);
        std::mem::swap(&mut self.here, &mut self.others[region]);
        self.region = region;
    }

    /// The values of all regions.
    pub fn all(&self) -> impl Iterator<Item = &T> {
        (0..self.others.len())
            .map(|region| if region == self.region { &self.here } else { &self.others[region] })
    }
}

impl<T> Deref for PerRegion<T> {
    type Target = T;
    #[inline]
    fn deref(&self) -> &T {
        &self.here
    }
}

impl<T> DerefMut for PerRegion<T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        &mut self.here
    }
}

/// Events on links: a time wheel per region, and what regions have sent each other and not seen yet.
pub struct Events<T> {
    wheels: PerRegion<Wheel<T>>,
    /// By receiving region, with the cycles: written in sequence, unlike the wheels, which are elsewhere.
    inboxes: Vec<Vec<(u32, T)>>,
}

impl<T: Clone> Events<T> {
    /// No events; a region receives none further ahead than `horizon` cycles of what it has simulated.
    pub fn new(regions: &Regions, horizon: u32) -> Self {
        Self {
            wheels: PerRegion::new(regions, Wheel::new(horizon)),
            inboxes: vec![Vec::new(); regions.count()],
        }
    }
}

impl<T> Events<T> {
    /// Turns to a region, which sees what it was sent.
    pub fn enter(&mut self, region: usize) {
        self.wheels.enter(region);
        self.inboxes[region].drain(..).for_each(|(at, event)| self.wheels.push(at, event));
    }

    /// Puts an event at cycle `at` of the present region.
    #[inline]
    pub fn push(&mut self, at: u32, event: T) {
        self.wheels.push(at, event);
    }

    /// Puts an event at cycle `at` of any region.
    #[expect(clippy::inline_always, reason = "per packet-hop; measured")]
    #[inline(always)]
    pub fn send(&mut self, region: usize, at: u32, event: T) {
        if region == self.wheels.region {
            self.wheels.push(at, event);
        } else {
            self.inboxes[region].push((at, event));
        }
    }

    /// The events of cycle `now` of the present region; give the vector back with [`Self::put_back`].
    #[inline]
    pub fn take(&mut self, now: u32) -> Vec<T> {
        self.wheels.take(now)
    }

    /// See [`Self::take`].
    #[inline]
    pub fn put_back(&mut self, due: Vec<T>) {
        self.wheels.put_back(due);
    }

    /// All events still to come, in no particular order.
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        let sent = self.inboxes.iter().flatten().map(|(_, event)| event);
        self.wheels.all().flat_map(Wheel::iter).chain(sent)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::mode::Full;
    use crate::engine::simulation::Simulation;
    use crate::engine::{Control, Measured, Task, Traced};
    use crate::trace::{Tracer, Unobserved};
    use serde_json::{Value, json};

    fn plan(changes: &Value) -> Plan {
        let mut document = json!({
            "topology": { "dragonfly": { "p": 2, "a": 4, "h": 2 } },
            "links": { "local": { "latency": 4 }, "global": { "latency": 23 } },
            "load": 0.6,
            "measure": { "warmup": 300, "cycles": 901, "batches": 3, "interval": 50,
                "streams": ["generation", "links", "nodes", "occupancy", "routers"] }
        });
        let (document, changes) = (document.as_object_mut().unwrap(), changes.as_object().unwrap());
        document.extend(changes.clone());
        Plan::new(&serde_json::from_value(Value::Object(document.clone())).unwrap()).unwrap()
    }

    fn plans() -> Vec<Plan> {
        let traffic = |traffic: Value| json!([{ "traffic": traffic }]);
        [
            json!({}),
            json!({ "routing": { "valiant": {} }, "links": { "global": { "latency": 1 } } }),
            json!({ "routing": { "piggyback": {} } }),
            json!({ "routing": { "source_adaptive": {} }, "compat": "fogsim" }),
            json!({ "routing": { "olm": { "trigger": { "ectn": { "period": 40 } } } } }),
            json!({ "routing": { "par": {} }, "jobs": traffic(json!({ "request_reply": { "outstanding": 4 } })) }),
            json!({ "jobs": traffic(json!({ "changes": [{ "cycle": 333, "load": 0.2 }, { "cycle": 700, "load": 0.9 }] })) }),
        ]
        .iter()
        .map(plan)
        .collect()
    }

    #[test]
    fn results_do_not_depend_on_how_the_network_is_cut() {
        for plan in plans() {
            let simulation = |cut| Simulation::<1, _>::new(&plan, Full(Unobserved), cut);
            let (whole, cut) = (simulation(Cut::Fitting), simulation(Cut::Finest));
            assert_eq!((whole.context.regions.count(), cut.context.regions.count()), (1, 9));
            let control = Control::default();
            // As text, in which what is not a number equals itself.
            let measured = |simulation| format!("{:?}", Measured(&control).with(simulation).unwrap());
            assert!(measured(whole) == measured(cut), "{:?}", plan.experiment);
            let lives = |cut| {
                Traced(1_201).with(Simulation::<1, _>::new(&plan, Full(Tracer::default()), cut)).unwrap()
            };
            assert!(lives(Cut::Fitting) == lives(Cut::Finest), "{:?}", plan.experiment);
        }
    }

    #[test]
    fn regions_hold_every_router_once_and_groups_whole() {
        let plan = plan(&json!({}));
        let bytes = WHOLE.div_ceil(plan.network.routers as usize);
        let regions = Regions::new(&plan, Cut::Fitting, bytes);
        assert_eq!(regions.count(), 9, "a group needs more than a region should have");
        assert_eq!(regions.lookahead(), 23);
        for region in 0..regions.count() {
            let routers = regions.routers(region);
            assert_eq!(routers, 4 * region as u32..4 * region as u32 + 4);
            assert!(routers.clone().all(|router| regions.of(router) == region));
        }
        let regions = Regions::new(&plan, Cut::Fitting, bytes - 1);
        assert_eq!((regions.count(), regions.lookahead()), (1, u32::MAX));
    }
}
