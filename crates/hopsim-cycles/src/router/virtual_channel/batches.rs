//! Stages that take several cycles and are no pipelines: a router begins with all that waits for a stage at once, and with nothing else
//! until it is through with that, whatever port it came by. BookSim 2 has such stages.

use crate::choices::StageFlow;
use crate::kernel::by::By;
use crate::kernel::ids::RegionRouter;
use crate::system::VirtualChannelPlan;
use serde::{Deserialize, Serialize};

/// What the routers of a region are busy with, stage by stage.
pub struct Batches {
    routers: By<RegionRouter, RouterBatches>,
    /// What routers are made of -- constant.
    plan: VirtualChannelPlan,
}

/// What a router is busy with.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RouterBatches {
    /// The last routes whose computation has begun, or will begin.
    routing: Option<StageBatch>,
    /// The last flits whose traversal has begun, or will begin.
    traversal: Option<StageBatch>,
    /// First cycle in which output VCs can be allocated again.
    vcs_from: u32,
    /// The allocation of the switch that has begun.
    switch: Option<SwitchBatch>,
}

/// What goes through a stage at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct StageBatch {
    /// First cycle in the stage.
    start: u32,
    /// Last cycle in the stage.
    end: u32,
}

/// An allocation of the switch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct SwitchBatch {
    /// The cycle in which flits leave that are granted the switch.
    due: u32,
    /// The slots of these flits.
    slots: Vec<u16>,
}

/// What a router does about its switch in a cycle.
pub enum SwitchTurn {
    /// The router allocates.
    Begins,
    /// The router is busy with an allocation.
    Waits,
    /// The flits of these slots leave.
    Ends(Vec<u16>),
}

impl StageBatch {
    /// What is ready for a stage of so many cycles from cycle `from` on joins the batches of the stage: the last cycle in which it is there.
    fn join(last: &mut Option<Self>, from: u32, cycles: u32) -> u32 {
        let start = match *last {
            Some(batch) if from <= batch.start => return batch.end,
            Some(batch) => from.max(batch.end + 1),
            None => from,
        };
        let end = start + cycles - 1;
        *last = Some(Self { start, end });
        end
    }
}

impl Batches {
    /// The routers of a region, which are busy with nothing; `None` if their stages are pipelines.
    pub fn new(plan: &VirtualChannelPlan, routers: usize) -> Option<Self> {
        let are_batched = plan.stages == StageFlow::Batched && plan.longest_stage() > 1;
        are_batched.then(|| Self { routers: By::all(RouterBatches::default(), routers), plan: *plan })
    }

    /// The first cycle in which a head may ask for an output VC whose route can be computed from cycle `from` on.
    pub fn route(&mut self, router: RegionRouter, from: u32) -> u32 {
        match self.plan.routing_delay {
            0 => from,
            cycles => StageBatch::join(&mut self.routers[router].routing, from, cycles) + 1,
        }
    }

    /// Whether a router can begin to allocate output VCs.
    pub fn may_allocate_vcs(&self, router: RegionRouter, now: u32) -> bool {
        now >= self.routers[router].vcs_from
    }

    /// A router begins to allocate output VCs.
    pub fn allocate_vcs(&mut self, router: RegionRouter, now: u32) {
        self.routers[router].vcs_from = now + self.plan.vc_allocation_delay;
    }

    /// What a router does about its switch in a cycle; `asks` is whether anybody asks for it.
    pub fn turn_of_switch(&mut self, router: RegionRouter, now: u32, asks: bool) -> SwitchTurn {
        let batch = &mut self.routers[router].switch;
        match batch {
            Some(SwitchBatch { due, .. }) if *due > now => SwitchTurn::Waits,
            Some(_) => SwitchTurn::Ends(batch.take().map_or_else(Vec::new, |batch| batch.slots)),
            None => {
                if asks && self.plan.switch_allocation_delay > 1 {
                    *batch = Some(SwitchBatch {
                        due: now + self.plan.switch_allocation_delay - 1,
                        slots: Vec::new(),
                    });
                }
                SwitchTurn::Begins
            }
        }
    }

    /// The flit of a slot is granted the switch: whether it leaves when the allocation ends, and not now.
    pub fn waits_for_switch(&mut self, router: RegionRouter, slot: u16) -> bool {
        let Some(batch) = &mut self.routers[router].switch else { return false };
        batch.slots.push(slot);
        true
    }

    /// The cycle at whose end a flit is at its output that leaves its queue in cycle `now`.
    pub fn traverse(&mut self, router: RegionRouter, now: u32) -> u32 {
        match self.plan.switch_traversal_delay {
            0 => now,
            cycles => StageBatch::join(&mut self.routers[router].traversal, now + 1, cycles),
        }
    }

    /// What a router is busy with, to be saved.
    pub fn row(&self, router: RegionRouter) -> &RouterBatches {
        &self.routers[router]
    }

    /// What a router goes on with.
    pub fn put_row(&mut self, router: RegionRouter, batches: &RouterBatches) {
        self.routers[router].clone_from(batches);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_comes_while_a_batch_is_under_way_waits_for_the_next_one() {
        let mut last = None;
        // In cycles 15, 17 and 19 a batch begins, of two cycles each: BookSim's flits that cross with st_final_delay = 2.
        let ends = [15, 16, 17, 18, 19].map(|from| StageBatch::join(&mut last, from, 2));
        assert_eq!(ends, [16, 18, 18, 20, 20]);
        assert_eq!(StageBatch::join(&mut last, 30, 2), 31);
        // A stage of a cycle makes nobody wait.
        let mut last = None;
        assert_eq!([1, 1, 2, 3].map(|from| StageBatch::join(&mut last, from, 1)), [1, 1, 2, 3]);
    }
}
