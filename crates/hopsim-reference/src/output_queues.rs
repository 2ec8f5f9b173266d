//! Queues at the outputs of virtual-channel routers that are faster than their links. See *Virtual-channel routers* in
//! `docs/model.md`.

use crate::simulator::Simulator;
use crate::state::flits::{Flits, OutputQueue, QueuedFlit};
use crate::state::packet::Phit;
use crate::state::parts::Input;

impl Simulator<'_> {
    /// The queue of an output, if there is one.
    pub(crate) fn queue(&self, router: usize, port: usize) -> Option<&OutputQueue> {
        self.flits(router).queues.get(port)
    }

    /// Whether an output takes a flit in this step.
    pub(crate) fn is_free(&self, router: usize, port: usize) -> bool {
        match (self.queue(router, port), self.flits(router).plan.output_queue) {
            (Some(queue), Some(size)) => queue.waiting.len() < size as usize,
            _ => self.routers[router].outputs[port].next <= self.now,
        }
    }

    /// The cycle of a step that is to come before a flit has crossed which is granted the switch now.
    fn cycle_of(&self, router: usize, step: u64) -> u32 {
        let plan = self.flits(router).plan;
        let cycles = self.now..=self.now + 2 * plan.switch_traversal_delay + 1;
        cycles.into_iter().find(|&cycle| plan.speedup.steps(cycle).contains(&step)).expect("it will come")
    }

    /// The step at whose end a flit is at its output that is granted the switch now.
    fn enters(&self, router: usize) -> u64 {
        let Flits { plan, step, batches, .. } = self.flits(router);
        let long = u64::from(plan.switch_traversal_delay);
        match plan.switch_traversal_delay {
            // All that waits begins when what is crossing is through.
            2.. if self.works_in_batches(router) => match &batches.traversal {
                Some((end, _)) if end > step => end + long,
                _ => step + long,
            },
            0 => *step,
            1 => step + 1,
            cycles => plan.speedup.steps(self.cycle_of(router, step + 1) + cycles - 1).start,
        }
    }

    /// The cycle in which a flit leaves that is granted the switch to an output now: all that are in its queue leave before.
    pub(crate) fn departure(&self, router: usize, port: usize) -> u32 {
        let Flits { plan, step, .. } = self.flits(router);
        let Some(queue) = self.queue(router, port) else { return self.now + plan.switch_traversal_delay };
        let in_order = queue.waiting.iter().chain(self.flits(router).on_their_way(port));
        let free = in_order.fold(queue.link_free.max(self.now), |free, flit| {
            let comes = if flit.enters < *step { self.now } else { self.cycle_of(router, flit.enters) };
            free.max(comes) + flit.link.1
        });
        free.max(self.cycle_of(router, self.enters(router)))
    }

    /// Lets a flit begin to cross to an output with a queue.
    pub(crate) fn push_in_queue(&mut self, (router, port): (usize, usize), flit: (usize, u32), vc: usize) {
        let (enters, departs) = (self.enters(router), self.departure(router, port));
        let link = self.plan.system.network.link(router as u32, port);
        let link = (link.latency, self.routers[router].outputs[port].pace);
        let queued = QueuedFlit { flit, vc, enters, departs, link };
        let in_batches = self.works_in_batches(router) && self.flits(router).plan.switch_traversal_delay > 1;
        let flits = self.flits_mut(router);
        if in_batches {
            flits.batches.before_traversal.push((port, queued));
        } else {
            flits.queues[port].crossing.push_back(queued);
        }
    }

    /// Ends a step: flits that have crossed are in the queues.
    pub(crate) fn fill_queues(&mut self, router: usize) {
        let flits = self.flits_mut(router);
        for queue in &mut flits.queues {
            while queue.crossing.front().is_some_and(|flit| flit.enters <= flits.step) {
                let flit = queue.crossing.pop_front().expect("it is there");
                queue.waiting.push_back(flit);
            }
        }
    }

    /// Lets the first flit of a queue leave, if the link takes it.
    pub(crate) fn empty_queue(&mut self, router: usize, port: usize) {
        let now = self.now;
        let Some(queue) = self.flits_mut(router).queues.get_mut(port) else { return };
        if queue.link_free > now {
            return;
        }
        let Some(QueuedFlit { flit, vc, departs, link, .. }) = queue.waiting.pop_front() else { return };
        assert_eq!(departs, now, "a flit leaves when it was said to");
        queue.link_free = now + link.1;
        match self.routers[router].outputs[port].peer {
            None => self.take_flit(flit),
            Some((peer, back)) => {
                let (arrives, (packet, index)) = (now + link.0 + link.1 - 1, flit);
                self.routers[peer].inputs[back].wire.push(arrives, Phit { packet, index, vc });
            }
        }
    }

    /// Lets every input send back the credits of one step.
    pub(crate) fn send_messages(&mut self, router: usize) {
        for input in 0..self.flits(router).messages.len() {
            if let Some(message) = self.flits_mut(router).messages[input].pop_front() {
                message.flits.into_iter().for_each(|flit| self.send_credit((router, input), flit));
            }
        }
    }

    /// Sends back the credit of a flit that has left a VC of an input.
    pub(crate) fn send_credit(&mut self, (router, input): (usize, usize), (vc, flit): (usize, (usize, u32))) {
        let &Input { peer, node, latency, .. } = &self.routers[router].inputs[input];
        if let Some((peer, back)) = peer {
            let due = self.now + latency + self.flits(router).plan.credit_delay;
            self.routers[peer].outputs[back].credit_wire.push(due, (vc, flit.0));
        }
        if let Some((node, first)) = node {
            self.tell_node(node, first + vc, flit);
        }
    }

    /// The flits that cross to an output, or wait there, and go to one VC of the next router.
    pub(crate) fn queued(&self, router: usize, port: usize, vc: usize) -> u32 {
        let Some(queue) = self.routers[router].flits.as_ref().and_then(|flits| flits.queues.get(port)) else {
            return 0;
        };
        let all = queue.waiting.iter().chain(self.flits(router).on_their_way(port));
        all.filter(|queued| queued.vc == vc).count() as u32
    }

    /// The flits that have left a VC of an input without its other end having been told.
    pub(crate) fn untold(&self, router: usize, input: usize, vc: usize) -> u32 {
        let Some(messages) = self.routers[router].flits.as_ref().and_then(|flits| flits.messages.get(input))
        else {
            return 0;
        };
        messages.iter().flat_map(|message| &message.flits).filter(|flit| flit.0 == vc).count() as u32
    }
}
