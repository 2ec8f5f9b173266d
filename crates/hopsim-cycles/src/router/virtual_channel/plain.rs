//! The mode of the plainest routers, in which most runs are: what the others need vanishes from the code when it is compiled.

use crate::choices::StageFlow;
use crate::jobs::JobPlan;
use crate::mode::Mode;
use crate::node::Run;
use crate::node::synthetic::Synthetic;
use crate::observer::Observer;
use crate::router::virtual_channel::asked;
use crate::router::virtual_channel::shared;
use crate::system::System;
use std::marker::PhantomData;

/// A run in which both allocators serve in turn and take all output VCs alike, stages are pipelines, nothing waits at outputs, nodes take
/// what comes, packets have one length, nothing is answered, no link fails in the middle of the run, and nobody hears of single flits.
pub struct PlainFlits<O>(PhantomData<fn() -> O>);

impl<O> Clone for PlainFlits<O> {
    fn clone(&self) -> Self {
        Self(PhantomData)
    }
}

impl<O: Observer> Mode for PlainFlits<O> {
    const PLAIN: bool = true;
    const DEFAULT: bool = false;
    const ORDERED: bool = false;
    const FULL: bool = true;
    type Calendar = ();
    type Observer = O;
}

impl<O: Observer> Run for PlainFlits<O> {
    type Nodes = Synthetic;
}

/// Whether the runs of a system may be in this mode if nobody hears of single flits.
pub fn is_plain(system: &System) -> bool {
    let (plan, layout) = (shared::plan(system), &system.network.layout);
    let are_pipelines = plan.stages == StageFlow::Pipelined || plan.longest_stage() == 1;
    let takes_turns = asked::allocates_vcs(&plan, shared::vcs(layout))
        && asked::allocates_switch(&plan, shared::crossbar_sides(layout, &plan));
    takes_turns
        && are_pipelines
        && !plan.links_fail
        && !plan.empty_vcs_first
        && plan.output_queue.is_none()
        && plan.ejection.is_none()
        && plan.damq.is_none()
        && system.shortest_packet() == system.longest_packet()
        && !system.has_programs()
        && !system.jobs.iter().any(JobPlan::request_reply)
}
