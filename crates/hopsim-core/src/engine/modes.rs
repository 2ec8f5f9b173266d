//! The modes that runs can have, and which of them fits a plan.

use crate::engine::kernel::wheel::Bitmap;
use crate::engine::mode::Mode;
use crate::engine::node::Run;
use crate::engine::node::program::Programs;
use crate::engine::node::synthetic::Synthetic;
use crate::engine::region::Kind;
use crate::engine::simulation::Simulation;
use crate::engine::{Fit, Task};
use hopsim_experiment::config::router::{ArbiterConfig, Consumption};
use hopsim_experiment::config::{
    Ejection, InjectionCount, InjectionLatency, InputPointer, OutputHold, WhenFull,
};
use hopsim_experiment::plan::{JobPlan, Plan, TrafficPlan};
use hopsim_network::network::CrossbarInputs;

/// A run with nothing but the plainest router, the default choices and VCs in order: oblivious routing in dragonflies.
#[derive(Clone)]
pub struct Ordered;

/// A run as [`Ordered`], but with everything that only heads with a choice and unsteady traffic need.
#[derive(Clone)]
pub struct OrderedFull;

/// A run as [`Ordered`], but with other arbiters and packets of several lengths.
#[derive(Clone)]
pub struct OrderedGeneral;

/// A run as [`Ordered`], but with other named choices, as `compat` makes.
#[derive(Clone)]
pub struct OrderedCompat;

/// A run as [`Ordered`], but VCs are not taken in order: cubes, graphs, FlexVC.
#[derive(Clone)]
pub struct Unordered;

/// A run as [`Unordered`], but with everything that only heads with a choice and unsteady traffic need.
#[derive(Clone)]
pub struct UnorderedFull;

/// A run with any router and rules, where no head has a choice.
#[derive(Clone)]
pub struct General;

/// A run with everything.
#[derive(Clone)]
pub struct Full;

/// A run with everything, where some nodes run programs.
#[derive(Clone)]
pub struct WithPrograms;

/// One row per mode: its name, its nodes, its calendar, `PLAIN`, `DEFAULT`, `ORDERED`, `FULL`.
macro_rules! modes {
    ($($mode:ident $nodes:ident $calendar:ty, $plain:literal $default:literal $ordered:literal $full:literal;)*) => {
        $(impl Mode for $mode {
            const PLAIN: bool = $plain;
            const DEFAULT: bool = $default;
            const ORDERED: bool = $ordered;
            const FULL: bool = $full;
            type Calendar = $calendar;
        }

        impl Run for $mode {
            type Nodes = $nodes;
        })*

        /// The names of all modes that fit a plan.
        #[cfg(feature = "trace")]
        pub fn fitting(plan: &Plan) -> Vec<&'static str> {
            let fits = |plain: bool, default: bool, ordered: bool, full: bool| {
                (!plain || is_plain(plan))
                    && (!default || has_defaults(plan))
                    && (!ordered || is_ordered(plan))
                    && (full || !is_full(plan))
            };
            let all = [$((stringify!($mode), fits($plain, $default, $ordered, $full)),)*];
            all.into_iter().filter_map(|(mode, fits)| fits.then_some(mode)).collect()
        }

        /// Picks the mode of a name.
        #[cfg(feature = "trace")]
        fn in_mode<'p, K: Kind, T: Task>(name: &str, plan: &'p Plan, task: T) -> T::Output<'p> {
            match name {
                $(stringify!($mode) => simulate::<K, $mode, T>(plan, task),)*
                _ => unreachable!("a name of `fitting`"),
            }
        }
    };
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
pub(in crate::engine) fn perform<K: Kind, T: Task>(plan: &Plan, fit: Fit, task: T) -> T::Output<'_> {
    if plan.has_programs() {
        return simulate::<K, WithPrograms, T>(plan, task);
    }
    if fit == Fit::Loose || !K::PLAINEST {
        return in_general::<K, T>(plan, task);
    }
    let needs = (is_full(plan), is_plain(plan), has_defaults(plan), is_ordered(plan));
    if !K::SPECIAL {
        return match needs {
            (true, true, true, true) => simulate::<K, OrderedFull, T>(plan, task),
            (false, true, true, true) => simulate::<K, Ordered, T>(plan, task),
            (false, true, true, false) => simulate::<K, Unordered, T>(plan, task),
            _ => in_general::<K, T>(plan, task),
        };
    }
    #[cfg(feature = "trace")]
    if let Fit::Mode(name) = fit {
        return in_mode::<K, T>(name, plan, task);
    }
    match needs {
        (true, true, true, true) => simulate::<K, OrderedFull, T>(plan, task),
        (true, true, true, false) => simulate::<K, UnorderedFull, T>(plan, task),
        (false, true, true, true) => simulate::<K, Ordered, T>(plan, task),
        (false, false, true, true) => simulate::<K, OrderedGeneral, T>(plan, task),
        (false, true, false, true) => simulate::<K, OrderedCompat, T>(plan, task),
        (false, true, true, false) => simulate::<K, Unordered, T>(plan, task),
        _ => in_general::<K, T>(plan, task),
    }
}

/// Picks one of the modes that fit any plan.
fn in_general<K: Kind, T: Task>(plan: &Plan, task: T) -> T::Output<'_> {
    if is_full(plan) { simulate::<K, Full, T>(plan, task) } else { simulate::<K, General, T>(plan, task) }
}

fn simulate<K: Kind, M: Run, T: Task>(plan: &Plan, task: T) -> T::Output<'_> {
    let schedule = task.schedule();
    task.with(Simulation::<K::Region<'_, M>>::new(plan, schedule))
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

/// Whether every head has one VC, which follows from the VC before it, and room for a packet is all it needs.
pub fn is_ordered(plan: &Plan) -> bool {
    !plan.routing.asks()
        && !plan.routing.vcs().is_flexible()
        && !plan.routing.vcs().depends_on_hop()
        && plan.network.classes.links.iter().all(|class| class.bubble == 0)
        && plan.control.lbr == 0
}
