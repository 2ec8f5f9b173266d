//! The modes that runs can have, and which of them fits a plan.

use crate::config::router::{ArbiterConfig, Consumption, CrossbarInputs};
use crate::config::{Ejection, InjectionCount, InjectionLatency, InputPointer, OutputHold, WhenFull};
use crate::engine::kernel::wheel::Bitmap;
use crate::engine::mode::Mode;
use crate::engine::node::Run;
use crate::engine::node::program::Programs;
use crate::engine::node::synthetic::Synthetic;
use crate::engine::simulation::{Kind, Simulation};
use crate::engine::{Fit, Task};
use crate::plan::{JobPlan, Plan, TrafficPlan};
use crate::trace::Observer;

/// A run with nothing but the plainest router, the default choices and VCs in order: oblivious routing in dragonflies.
#[derive(Clone, Default)]
pub struct Ordered<O>(pub O);

/// As [`Ordered`], but with everything that only heads with a choice and unsteady traffic need.
#[derive(Clone, Default)]
pub struct OrderedFull<O>(pub O);

/// As [`Ordered`], but with other arbiters and packets of several lengths.
#[derive(Clone, Default)]
pub struct OrderedGeneral<O>(pub O);

/// As [`Ordered`], but with other named choices, as `compat` makes.
#[derive(Clone, Default)]
pub struct OrderedCompat<O>(pub O);

/// As [`Ordered`], but VCs are not taken in order: cubes, graphs, FlexVC.
#[derive(Clone, Default)]
pub struct Unordered<O>(pub O);

/// As [`Unordered`], but with everything that only heads with a choice and unsteady traffic need.
#[derive(Clone, Default)]
pub struct UnorderedFull<O>(pub O);

/// A run with any router and rules, where no head has a choice.
#[derive(Clone, Default)]
pub struct General<O>(pub O);

/// A run with everything.
#[derive(Clone, Default)]
pub struct Full<O>(pub O);

/// A run with everything, where some nodes run programs.
#[derive(Clone, Default)]
pub struct WithPrograms<O>(pub O);

/// One row per mode: its name, its nodes, its calendar, `PLAIN`, `DEFAULT`, `ORDERED`, `FULL`.
macro_rules! modes {
    ($($mode:ident $nodes:ident $calendar:ty, $plain:literal $default:literal $ordered:literal $full:literal;)*) => {$(
        impl<O: Observer> Mode for $mode<O> {
            const PLAIN: bool = $plain;
            const DEFAULT: bool = $default;
            const ORDERED: bool = $ordered;
            const FULL: bool = $full;
            type Calendar = $calendar;
            type Observer = O;
            #[inline]
            fn observer(&mut self) -> &mut O {
                &mut self.0
            }
        }

        impl<O: Observer> Run for $mode<O> {
            type Nodes = $nodes;
        }
    )*};
}

modes! {
    Ordered Synthetic (), true true true false;
    OrderedFull Synthetic (), true true true true;
    OrderedGeneral Synthetic (), false true true false;
    OrderedCompat Synthetic (), true false true false;
    Unordered Synthetic (), true true false false;
    UnorderedFull Synthetic (), true true false true;
    General Synthetic (), false false false false;
    Full Synthetic (), false false false true;
    WithPrograms Programs Bitmap, false false false true;
}

/// Picks the mode, once per run: everything below is compiled for it.
pub(in crate::engine) fn perform<K: Kind, T: Task>(plan: &Plan, fit: Fit, task: T) -> T::Output {
    let observer = T::Observer::default();
    if plan.has_programs() {
        return simulate::<K, _, T>(plan, WithPrograms(observer), task);
    }
    if fit == Fit::Loose || !K::MODES {
        return in_general::<K, T>(plan, task);
    }
    match (is_full(plan), is_plain(plan), has_defaults(plan), is_ordered(plan)) {
        (true, true, true, true) => simulate::<K, _, T>(plan, OrderedFull(observer), task),
        (true, true, true, false) => simulate::<K, _, T>(plan, UnorderedFull(observer), task),
        (false, true, true, true) => simulate::<K, _, T>(plan, Ordered(observer), task),
        (false, false, true, true) => simulate::<K, _, T>(plan, OrderedGeneral(observer), task),
        (false, true, false, true) => simulate::<K, _, T>(plan, OrderedCompat(observer), task),
        (false, true, true, false) => simulate::<K, _, T>(plan, Unordered(observer), task),
        _ => in_general::<K, T>(plan, task),
    }
}

/// Picks one of the modes that fit any plan.
fn in_general<K: Kind, T: Task>(plan: &Plan, task: T) -> T::Output {
    let observer = T::Observer::default();
    if is_full(plan) {
        simulate::<K, _, T>(plan, Full(observer), task)
    } else {
        simulate::<K, _, T>(plan, General(observer), task)
    }
}

fn simulate<K: Kind, M: Run<Observer = T::Observer>, T: Task>(plan: &Plan, mode: M, task: T) -> T::Output {
    let cut = task.cut();
    task.with(Simulation::<K::Region<'_, M>>::new(plan, mode, cut))
}

/// Whether a plan needs one of the modes with `FULL`.
pub fn is_full(plan: &Plan) -> bool {
    let traffic = |job: &TrafficPlan| {
        let steady = !job.process.waits() && job.process.synchronised().is_none() && job.processes.is_empty();
        !steady || !job.changes.is_empty() || job.request_reply() || job.pattern.may_skip()
    };
    plan.routing.redecides()
        || plan.nic.when_full == WhenFull::Wait
        || plan.control.sat.is_some()
        || plan.router.damq.is_some()
        || plan.jobs.iter().filter_map(JobPlan::traffic).any(traffic)
}

/// Whether a plan has the plainest router.
pub fn is_plain(plan: &Plan) -> bool {
    let allocator = &plan.router.allocator;
    let round_robin = |arbiter: &ArbiterConfig| matches!(arbiter, ArbiterConfig::RoundRobin(_));
    plan.shortest_packet() == plan.longest_packet()
        && plan.router.crossbar_latency < plan.shortest_packet()
        && round_robin(&allocator.input_arbiter)
        && round_robin(&allocator.output_arbiter)
        && !allocator.transit_priority
        && plan.control.ipr == 0.0
        && is_regular(plan)
}

/// Whether links carry a phit per cycle and nothing but packets, and nodes have a port each way and take one packet at a time.
fn is_regular(plan: &Plan) -> bool {
    plan.router.consumption == Consumption::Serial
        && plan.router.crossbar_inputs == CrossbarInputs::Port
        && plan.network.slowest_link() == 1
        && plan.experiment.nic.injection_ports == 1
        && plan.routing.sensors().exchange.is_none_or(|exchange| exchange.message_length == 0)
}

/// Whether a plan uses the default choices throughout.
pub fn has_defaults(plan: &Plan) -> bool {
    let (router, nic) = (&plan.router, &plan.nic);
    router.ejection == Ejection::Link
        && router.output_hold == OutputHold::Transfer
        && router.input_pointer == InputPointer::Grant
        && nic.injection_count == InjectionCount::Network
        && nic.injection_latency == InjectionLatency::Grant
        && is_regular(plan)
}

/// Whether every head has one VC, which follows from the one before it, and room for a packet is all it needs.
pub fn is_ordered(plan: &Plan) -> bool {
    !plan.routing.asks()
        && !plan.routing.vcs().is_flexible()
        && !plan.routing.vcs().depends_on_hop()
        && plan.network.classes.links.iter().all(|class| class.bubble == 0)
        && plan.control.lbr == 0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::Traced;
    use crate::engine::kernel::regions::Cut;
    use crate::engine::router::cioq::Cioq;
    use crate::trace::{PacketTrace, Tracer};
    use serde_json::{Value, json};

    fn lives<M: Run<Observer = Tracer>>(plan: &Plan, mode: M) -> Vec<PacketTrace> {
        Traced(1_500).with(Simulation::<Cioq<'_, 1, M>>::new(plan, mode, Cut::Finest)).unwrap()
    }

    fn documents(routings: &[&str]) -> Vec<Value> {
        let mut all = Vec::new();
        for load in [0.1, 0.5, 1.0] {
            for &routing in routings {
                for (groups, length, crossbar) in [(9, 8, 3), (4, 5, 4), (9, 4, 0)] {
                    for iterations in [1, 3] {
                        all.push(json!({
                            "topology": { "dragonfly": { "p": 2, "a": 4, "h": 2, "groups": groups } },
                            "links": { "local": { "latency": 3 }, "global": { "latency": 17 } },
                            "router": { "cioq": {
                                "buffers": { "local": 16, "global": 32, "injection": 24, "output": 17 },
                                "crossbar_latency": crossbar, "allocator": { "iterations": iterations }
                            } },
                            "routing": { routing: {} },
                            "jobs": [{ "traffic": { "packet_length": length } }],
                            "load": load
                        }));
                    }
                }
            }
        }
        all
    }

    #[test]
    fn every_mode_that_fits_gives_every_packet_the_same_life() {
        for mut document in documents(&["minimal", "valiant"]) {
            let plan =
                |document: &Value| Plan::new(&serde_json::from_value(document.clone()).unwrap()).unwrap();
            let textbook = plan(&document);
            assert!(is_plain(&textbook) && has_defaults(&textbook) && is_ordered(&textbook));
            let general = lives(&textbook, General(Tracer::default()));
            assert!(general.len() > 100);
            assert_eq!(lives(&textbook, Full(Tracer::default())), general, "{document}");
            assert_eq!(lives(&textbook, OrderedFull(Tracer::default())), general, "{document}");
            assert_eq!(lives(&textbook, Ordered(Tracer::default())), general, "{document}");
            assert_eq!(lives(&textbook, OrderedGeneral(Tracer::default())), general, "{document}");
            assert_eq!(lives(&textbook, OrderedCompat(Tracer::default())), general, "{document}");
            assert_eq!(lives(&textbook, Unordered(Tracer::default())), general, "{document}");
            document["compat"] = json!("fogsim");
            let fogsim = plan(&document);
            assert!(is_plain(&fogsim) && !has_defaults(&fogsim));
            let general = lives(&fogsim, General(Tracer::default()));
            assert_eq!(lives(&fogsim, Full(Tracer::default())), general, "{document}");
            assert_eq!(lives(&fogsim, OrderedCompat(Tracer::default())), general, "{document}");
        }
    }

    #[test]
    fn in_cubes_every_mode_that_fits_gives_every_packet_the_same_life() {
        for topology in [json!({ "torus": { "sides": [4, 4] } }), json!({ "mesh": { "sides": [4, 3] } })] {
            for (load, routing) in [0.1, 0.5, 1.0].into_iter().flat_map(|l| [(l, "minimal"), (l, "adaptive")])
            {
                let document = json!({
                    "topology": topology,
                    "router": { "input_queued": { "vcs": { "network": 3 }, "buffers": { "injection": 64 } } },
                    "routing": { routing: {} },
                    "jobs": [{ "traffic": { "packet_length": 8 } }],
                    "load": load
                });
                let plan = Plan::new(&serde_json::from_value(document.clone()).unwrap()).unwrap();
                assert!(is_plain(&plan) && has_defaults(&plan));
                let full = lives(&plan, Full(Tracer::default()));
                assert!(full.len() > 100);
                assert_eq!(lives(&plan, UnorderedFull(Tracer::default())), full, "{document}");
                assert_eq!(is_full(&plan), routing == "adaptive");
                if !is_full(&plan) {
                    assert_eq!(lives(&plan, General(Tracer::default())), full, "{document}");
                    assert_eq!(lives(&plan, Unordered(Tracer::default())), full, "{document}");
                }
            }
        }
    }

    #[test]
    fn with_everything_too_the_plain_mode_gives_every_packet_the_same_life() {
        for document in documents(&["olm", "piggyback"]) {
            let plan = Plan::new(&serde_json::from_value(document.clone()).unwrap()).unwrap();
            assert!(is_full(&plan) && is_plain(&plan) && has_defaults(&plan));
            let full = lives(&plan, Full(Tracer::default()));
            assert!(full.len() > 100);
            assert_eq!(lives(&plan, OrderedFull(Tracer::default())), full, "{document}");
            assert_eq!(lives(&plan, UnorderedFull(Tracer::default())), full, "{document}");
        }
    }
}
