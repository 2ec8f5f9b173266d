//! Stages of virtual-channel routers that go on in batches: a router begins a stage with all that waits for it, and with nothing else until
//! that is through. See *Batches* in `docs/model.md`.

use crate::simulator::Simulator;
use crate::state::flits::StageBatches;
use crate::state::place::Place;
use hopsim_cycles::choices::StageFlow;

impl Simulator<'_> {
    /// Whether the stages of a router go on in batches.
    pub(crate) fn works_in_batches(&self, router: usize) -> bool {
        self.flits(router).plan.stages == StageFlow::Batched
    }

    /// A step: what waits for a stage that is free begins, and then what is through with its stage goes on.
    pub(crate) fn work_in_batches(&mut self, router: usize) {
        self.begin_routing(router);
        self.begin_vcs(router);
        self.begin_switch(router);
        self.begin_traversal(router);
        self.end_routing(router);
        self.end_vcs(router);
        self.end_switch(router);
        self.end_traversal(router);
    }

    fn batches(&mut self, router: usize) -> &mut StageBatches {
        &mut self.flits_mut(router).batches
    }

    /// The step in which a stage of so many cycles ends that begins now.
    fn end_of(&self, router: usize, cycles: u32) -> u64 {
        self.flits(router).step + u64::from(cycles) - 1
    }

    fn begin_routing(&mut self, router: usize) {
        let cycles = self.flits(router).plan.routing_delay;
        if cycles == 0 || self.flits(router).batches.routing.is_some() {
            return;
        }
        let waits = |&(router, input, vc): &Place| {
            let lane = &self.flits(router).lanes[input][vc];
            let is_here = self.routers[router].inputs[input].vcs[vc].front().is_some();
            is_here && lane.owned.is_none() && lane.routed.is_none()
        };
        let waiting: Vec<Place> = self.places(router).into_iter().filter(waits).collect();
        let end = self.end_of(router, cycles);
        self.batches(router).routing = Some((end, waiting)).filter(|(_, waiting)| !waiting.is_empty());
    }

    fn end_routing(&mut self, router: usize) {
        let step = self.flits(router).step;
        let Some((_, all)) = self.batches(router).routing.take_if(|batch| batch.0 == step) else { return };
        for (router, input, vc) in all {
            self.flits_mut(router).lanes[input][vc].routed = Some(step);
        }
    }

    fn begin_vcs(&mut self, router: usize) {
        self.flits_mut(router).speculating.clear();
        let asks = self.places(router).into_iter().any(|place| self.seeks_vc(place));
        if !asks || self.flits(router).batches.vcs.is_some() {
            return;
        }
        let end = self.end_of(router, self.flits(router).plan.vc_allocation_delay);
        let granted = self.allocate_vcs(router);
        self.batches(router).vcs = Some((end, granted));
    }

    fn end_vcs(&mut self, router: usize) {
        let step = self.flits(router).step;
        let Some((_, granted)) = self.batches(router).vcs.take_if(|batch| batch.0 == step) else { return };
        for (place, choice) in granted {
            self.give_vc(place, choice, step + 1);
        }
    }

    fn begin_switch(&mut self, router: usize) {
        if self.flits(router).batches.switch.is_some() {
            return;
        }
        let cycles = self.flits(router).plan.switch_allocation_delay;
        if cycles == 1 {
            // What crosses at once may hold the switch, which is looked at in every cycle.
            return;
        }
        if self.places(router).into_iter().any(|place| self.waits_for_switch(place)) {
            self.batches(router).switch = Some((self.end_of(router, cycles), Vec::new()));
            self.allocate_switch(router);
        }
    }

    /// Whether an input VC has a flit whose packet owns an output VC, and may ask for the switch.
    fn waits_for_switch(&self, (router, input, vc): Place) -> bool {
        let flits = self.flits(router);
        let is_here = self.routers[router].inputs[input].vcs[vc]
            .front()
            .is_some_and(|front| front.crossed < front.phits);
        is_here && flits.lanes[input][vc].owned.as_ref().is_some_and(|owned| flits.step >= owned.ready)
    }

    fn end_switch(&mut self, router: usize) {
        let step = self.flits(router).step;
        if self.flits(router).plan.switch_allocation_delay == 1 {
            return self.allocate_switch(router);
        }
        let Some((_, granted)) = self.batches(router).switch.take_if(|batch| batch.0 == step) else { return };
        for (place, input) in granted {
            self.use_switch(place, input);
        }
    }

    fn begin_traversal(&mut self, router: usize) {
        let batches = &self.flits(router).batches;
        if batches.traversal.is_some() || batches.before_traversal.is_empty() {
            return;
        }
        let end = self.end_of(router, self.flits(router).plan.switch_traversal_delay);
        let batches = self.batches(router);
        batches.traversal = Some((end, std::mem::take(&mut batches.before_traversal)));
    }

    fn end_traversal(&mut self, router: usize) {
        let step = self.flits(router).step;
        let Some((_, flits)) = self.batches(router).traversal.take_if(|batch| batch.0 == step) else {
            return;
        };
        for (port, flit) in flits {
            assert_eq!(flit.enters, step, "a flit is at its output when it was said to be");
            self.flits_mut(router).queues[port].crossing.push_back(flit);
        }
    }
}
