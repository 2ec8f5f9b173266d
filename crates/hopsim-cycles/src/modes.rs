//! The modes that runs can have, and which of them fits a system.

use crate::begin::{AnySimulation, Beginning, Fit};
use crate::choices::{
    ArbiterConfig, Consumption, Ejection, InjectionCount, InjectionLatency, InputPointer, OutputHold,
    WhenFull,
};
use crate::jobs::{JobPlan, TrafficPlan};
use crate::kernel::wheel::Bitmap;
use crate::mode::Mode;
use crate::node::Run;
use crate::node::program::Programs;
use crate::node::synthetic::Synthetic;
use crate::observer::Observer;
use crate::region::Kind;
use crate::simulation::Simulation;
use crate::system::System;

use std::marker::PhantomData;

/// One row per mode: its name, its nodes, its calendar, `PLAIN`, `DEFAULT`, `ORDERED`, `FULL`.
macro_rules! modes {
    ($($(#[$doc:meta])* $mode:ident $nodes:ident $calendar:ty, $plain:literal $default:literal $ordered:literal $full:literal;)*) => {
        $($(#[$doc])*
        pub struct $mode<O>(PhantomData<fn() -> O>);

        impl<O> Clone for $mode<O> {
            fn clone(&self) -> Self {
                Self(PhantomData)
            }
        }

        impl<O: Observer> Mode for $mode<O> {
            const PLAIN: bool = $plain;
            const DEFAULT: bool = $default;
            const ORDERED: bool = $ordered;
            const FULL: bool = $full;
            type Calendar = $calendar;
            type Observer = O;
        }

        impl<O: Observer> Run for $mode<O> {
            type Nodes = $nodes;
        })*

        /// The names of all modes that fit a system.
        #[cfg(feature = "trace")]
        pub fn fitting(system: &System) -> Vec<&'static str> {
            let fits = |plain: bool, default: bool, ordered: bool, full: bool| {
                (!plain || is_plain(system))
                    && (!default || has_defaults(system))
                    && (!ordered || is_ordered(system))
                    && (full || !is_full(system))
            };
            let all = [$((stringify!($mode), fits($plain, $default, $ordered, $full)),)*];
            all.into_iter().filter_map(|(mode, fits)| fits.then_some(mode)).collect()
        }

        /// Picks the mode of a name.
        #[cfg(feature = "trace")]
        fn in_mode<'p, K: Kind, O: Observer>(name: &str, run: &Beginning<'p, '_, O>) -> AnySimulation<'p, O> {
            match name {
                $(stringify!($mode) => simulate::<K, $mode<O>>(run),)*
                _ => unreachable!("a name of `fitting`"),
            }
        }
    };
}

modes! {
    /// A run with nothing but the plainest router, the default choices and VCs in order: oblivious routing in dragonflies and graphs.
    Ordered Synthetic (), true true true false;
    /// A run as [`Ordered`], but with everything that only heads with a choice and unsteady traffic need.
    OrderedFull Synthetic (), true true true true;
    /// A run as [`Ordered`], but with other arbiters and packets of several lengths.
    OrderedGeneral Synthetic (), false true true false;
    /// A run as [`Ordered`], but with other named choices, as `compat` makes.
    OrderedCompat Synthetic (), true false true false;
    /// A run as [`Ordered`], but VCs are not taken in order: cubes, FlexVC, routes that are drawn.
    Unordered Synthetic (), true true false false;
    /// A run as [`Unordered`], but with everything that only heads with a choice and unsteady traffic need.
    UnorderedFull Synthetic (), true true false true;
    /// A run with any router and rules, where no head has a choice.
    General Synthetic (), false false false false;
    /// A run with everything: some nodes may run programs.
    Full Programs Bitmap, false false false true;
}

/// Picks the mode, once per run: everything below is compiled for it. Each takes its time to compile, so kinds of routers that are
/// rare do with fewer.
pub fn begin<'p, K: Kind, O: Observer>(run: &Beginning<'p, '_, O>) -> AnySimulation<'p, O> {
    let &Beginning { system, fit, .. } = run;
    if system.has_programs() {
        return simulate::<K, Full<O>>(run);
    }
    if fit == Fit::Loose {
        return in_general::<K, O>(run);
    }
    #[cfg(feature = "trace")]
    if K::ALL_MODES
        && let Fit::Mode(name) = fit
    {
        return in_mode::<K, O>(name, run);
    }
    let needs = (is_full(system), is_plain(system), has_defaults(system), is_ordered(system));
    if K::ALL_MODES {
        return match needs {
            (true, true, true, true) => simulate::<K, OrderedFull<O>>(run),
            (true, true, true, false) => simulate::<K, UnorderedFull<O>>(run),
            (false, true, true, true) => simulate::<K, Ordered<O>>(run),
            (false, false, true, true) => simulate::<K, OrderedGeneral<O>>(run),
            (false, true, false, true) => simulate::<K, OrderedCompat<O>>(run),
            (false, true, true, false) => simulate::<K, Unordered<O>>(run),
            _ => in_general::<K, O>(run),
        };
    }
    if K::USUAL_MODES {
        return match needs {
            (true, true, true, true) => simulate::<K, OrderedFull<O>>(run),
            (false, true, true, true) => simulate::<K, Ordered<O>>(run),
            (false, true, false, true) => simulate::<K, OrderedCompat<O>>(run),
            (false, true, true, false) => simulate::<K, Unordered<O>>(run),
            _ => simulate::<K, Full<O>>(run),
        };
    }
    if K::PLAIN_MODES {
        return match needs {
            (true, true, true, true) => simulate::<K, OrderedFull<O>>(run),
            (false, true, true, true) => simulate::<K, Ordered<O>>(run),
            (false, true, true, false) => simulate::<K, Unordered<O>>(run),
            _ => simulate::<K, Full<O>>(run),
        };
    }
    simulate::<K, Full<O>>(run)
}

/// Picks one of the modes that fit any system.
fn in_general<'p, K: Kind, O: Observer>(run: &Beginning<'p, '_, O>) -> AnySimulation<'p, O> {
    if K::ALL_MODES && !is_full(run.system) {
        return simulate::<K, General<O>>(run);
    }
    simulate::<K, Full<O>>(run)
}

fn simulate<'p, K: Kind, M: Run>(run: &Beginning<'p, '_, M::Observer>) -> AnySimulation<'p, M::Observer> {
    let &Beginning { system, wishes, schedule, fit: _ } = run;
    Box::new(Simulation::<K::Region<'p, M>>::new(system, wishes, schedule))
}

/// Whether a system needs one of the modes with `FULL`.
pub fn is_full(system: &System) -> bool {
    let traffic = |job: &TrafficPlan| {
        let steady = job.process.is_bernoulli() && job.processes.is_empty();
        !steady
            || !job.changes.is_empty()
            || job.request_reply()
            || job.pattern.may_name_source()
            || job.list.is_some()
    };
    system.routing.redecides()
        || system.nic.when_full == WhenFull::Wait
        || system.nic.retransmit.is_some()
        || system.control.sat.is_some()
        || system.cioq().damq.is_some()
        || system.cioq().on_off.is_some()
        || system.cioq().crossbar_outputs > 1
        || system.jobs.iter().filter_map(JobPlan::traffic).any(traffic)
}

/// Whether a system has the plainest router.
pub fn is_plain(system: &System) -> bool {
    let allocator = &system.cioq().allocator;
    let round_robin = |arbiter: &ArbiterConfig| matches!(arbiter, ArbiterConfig::RoundRobin(_));
    system.shortest_packet() == system.longest_packet()
        && system.cioq().crossbar_latency < system.shortest_packet()
        && round_robin(&allocator.input_arbiter)
        && round_robin(&allocator.output_arbiter)
        && !allocator.transit_priority
        && system.control.ipr == 0.0
        && system.cioq().on_off.is_none()
        && is_regular(system)
}

/// Whether links carry a phit per cycle and nothing but packets, and nodes have a port each way and take one packet at a time.
fn is_regular(system: &System) -> bool {
    system.cioq().consumption == Consumption::Serial
        && system.network.layout.inputs() == system.network.layout.ports()
        && system.cioq().crossbar_outputs == 1
        && system.network.slowest_link() == 1
        && system.nic.injection_ports == 1
        && system.routing.sensors().exchange.is_none_or(|exchange| exchange.message_length == 0)
}

/// Whether a system uses the default choices throughout.
pub fn has_defaults(system: &System) -> bool {
    let (router, nic) = (system.cioq(), &system.nic);
    router.ejection == Ejection::Link
        && router.output_hold == OutputHold::Transfer
        && router.input_pointer == InputPointer::Grant
        && nic.injection_count == InjectionCount::Network
        && nic.injection_latency == InjectionLatency::Grant
        && is_regular(system)
}

/// Whether every head has one VC, which follows from the VC before it, or at injection from its path, and room for a packet is all it
/// needs.
pub fn is_ordered(system: &System) -> bool {
    !system.routing.asks()
        && !system.routing.vcs().is_flexible()
        && (!system.routing.vcs().depends_on_hop() || system.routing.vcs().keep_paths())
        && system.network.classes.links.iter().all(|class| class.bubble == 0)
        && system.control.lbr == 0
}
