//! Virtual-channel routers: a packet owns an output VC from its head to its tail, and its flits cross one by one. See
//! *Virtual-channel routers* in `docs/model.md`.

use crate::arbiter::Candidate;
use crate::matching::{Asks, Precedence};
use crate::simulator::Simulator;
use crate::state::flits::{CreditMessage, Flits, Owned};
use crate::state::packet::{Choice, FlitPassage, Packet, Phit, Role};
use crate::state::parts::{Outstanding, Resident};
use crate::state::place::{Place, Request};
use hopsim_cycles::choices::{
    FlitAge, FlitAllocator, FlitArbiter, PortOrder, Speculation, SwitchInput, Timestamp, VcReuse,
};
use hopsim_experiment::config::router::RouterConfig;
use hopsim_measure::trace::Hop;
use hopsim_network::topology::Topology;
use hopsim_random::{Purpose, Stream};

/// The VC of an input port that asks for the switch.
#[derive(Clone, Copy)]
struct Turn {
    place: Place,
    /// The output of the crossbar that its packet needs.
    output: usize,
    rank: Precedence,
}

impl Simulator<'_> {
    /// Whether the routers let flits through, one by one.
    pub(crate) fn moves_flits(&self) -> bool {
        self.plan.system.router.cioq().is_none()
    }

    /// Lets heads have output VCs, and then flits the switch, in one router.
    pub(crate) fn allocate_flits(&mut self, router: usize) {
        for step in self.flits(router).plan.speedup.steps(self.now) {
            self.flits_mut(router).step = step;
            if self.works_in_batches(router) {
                self.work_in_batches(router);
            } else if !self.is_empty(router) {
                for (place, choice) in self.allocate_vcs(router) {
                    let ready = step + u64::from(self.flits(router).plan.vc_allocation_delay);
                    self.give_vc(place, choice, ready);
                }
                self.allocate_switch(router);
            }
            self.fill_queues(router);
        }
    }

    /// What the virtual-channel router of this number keeps.
    pub(crate) fn flits(&self, router: usize) -> &Flits {
        self.routers[router].flits.as_ref().expect("it is a virtual-channel router")
    }

    pub(crate) fn flits_mut(&mut self, router: usize) -> &mut Flits {
        self.routers[router].flits.as_mut().expect("it is a virtual-channel router")
    }

    /// Where a port stands among those of its router if these are counted as BookSim does: links before the node of a router that has
    /// one and behind those of one that has several, and of a dimension the link to larger coordinates first.
    fn port_place(&self, is_node: bool, port: usize) -> (bool, usize, bool) {
        let order = self.plan.experiment.semantics.port_order;
        let (Some(PortOrder::Booksim), Topology::Cube(cube)) = (order, &*self.plan.system.topology) else {
            return (false, 0, false);
        };
        let nodes_are_last = self.nodes_per_router == 1;
        if is_node {
            return (nodes_are_last, 0, false);
        }
        let link = port - self.nodes_per_router;
        assert_eq!(cube.direction(port), (link / 2, link % 2 == 1));
        (!nodes_are_last, link / 2, link.is_multiple_of(2))
    }

    /// The input ports of a router as allocators count them.
    fn input_ports(&self, router: usize) -> Vec<usize> {
        let inputs = &self.routers[router].inputs;
        let mut ports: Vec<usize> = (0..inputs.len()).collect();
        ports.sort_by_key(|&port| self.port_place(inputs[port].node.is_some(), port));
        ports
    }

    /// The output ports of a router as allocators count them.
    fn output_ports(&self, router: usize) -> Vec<usize> {
        let outputs = &self.routers[router].outputs;
        let mut ports: Vec<usize> = (0..outputs.len()).collect();
        ports.sort_by_key(|&port| self.port_place(outputs[port].is_terminal(), port));
        ports
    }

    /// The output of the crossbar by which an input port of a router gets to an output port: each output port has several, among which the input
    /// ports are divided in turn.
    fn crossbar_output(&self, router: usize, input: usize, output: usize) -> usize {
        let count = usize::from(self.flits(router).plan.crossbar_outputs);
        let place =
            |ports: Vec<usize>, port| ports.into_iter().position(|one| one == port).expect("it has the port");
        place(self.output_ports(router), output) * count + place(self.input_ports(router), input) % count
    }

    /// The input VCs of a router as allocators count them: those of a node with those of all its ports.
    pub(crate) fn places(&self, router: usize) -> Vec<Place> {
        let inputs = &self.routers[router].inputs;
        let mut ports = self.input_ports(router);
        ports.sort_by_key(|&port| {
            let node = inputs[port].node.map(|(node, _)| node);
            (self.port_place(node.is_some(), port), node.unwrap_or(usize::MAX))
        });
        let vcs = |port: usize| (0..inputs[port].vcs.len()).map(move |vc| (router, port, vc));
        ports.into_iter().flat_map(vcs).collect()
    }

    /// The inputs of the crossbar of a router as allocators count them: port and first VC of each.
    fn flit_inputs(&self, router: usize) -> Vec<(usize, usize)> {
        if self.plan.experiment.semantics.port_order != Some(PortOrder::Booksim) {
            return self.crossbar_inputs(router);
        }
        let inputs = &self.routers[router].inputs;
        let of_port = |port: usize| (0..inputs[port].arbiters.len()).map(move |first| (port, first));
        self.input_ports(router).into_iter().flat_map(of_port).collect()
    }

    /// Whether the present packet of a VC owns no output VC, and its route has been computed.
    pub(crate) fn seeks_vc(&self, place: Place) -> bool {
        let (router, input, vc) = place;
        let lane = &self.flits(router).lanes[input][vc];
        let Some(front) = self.routers[router].inputs[input].vcs[vc].front() else { return false };
        let flits = self.flits(router);
        let arrived = flits.plan.speedup.steps(front.arrived).start;
        let begins = arrived.max(lane.left.map_or(0, |left| left + 1));
        if self.works_in_batches(router) && flits.plan.routing_delay > 0 {
            return lane.owned.is_none() && lane.routed.is_some_and(|routed| flits.step > routed);
        }
        lane.owned.is_none() && flits.step >= begins + u64::from(flits.plan.routing_delay)
    }

    /// The heads that are granted output VCs, with these.
    pub(crate) fn allocate_vcs(&mut self, router: usize) -> Vec<(Place, Choice)> {
        let places = self.places(router);
        let choices: Vec<Vec<Choice>> = places.iter().map(|&place| self.choices(place)).collect();
        let first = |choices: &Vec<Choice>| self.empty_first(router, choices.clone());
        let picked: Vec<Vec<Choice>> = choices.iter().map(first).collect();
        let doors = &self.flits(router).doors;
        let vcs = |port: usize| (0..doors[port].len()).map(move |vc| Request { port, vc: vc as u8 });
        let outputs: Vec<Request> = self.output_ports(router).into_iter().flat_map(vcs).collect();
        let asks: Asks = places
            .iter()
            .zip(&picked)
            .map(|(&place, choices)| {
                let rank = (false, self.stamp(place));
                let asked = |to: &Request| choices.iter().any(|choice| choice.to == *to).then_some(rank);
                outputs.iter().map(asked).collect()
            })
            .collect();
        self.note_speculating(&places, &choices);
        let draws = self.draws(router, 0);
        let granted = self.flits_mut(router).vc_allocator.grant(&asks, draws).into_iter();
        let choice = |(input, output): (usize, usize)| {
            let choice = choices[input].iter().find(|choice| choice.to == outputs[output]);
            (places[input], choice.expect("it is granted what it asks for").clone())
        };
        granted.map(choice).collect()
    }

    /// Of what a head asks for the output VCs whose buffers have all their room, if these go first and there are any.
    fn empty_first(&self, router: usize, choices: Vec<Choice>) -> Vec<Choice> {
        let has_all = |choice: &Choice| {
            let output = &self.routers[router].outputs[choice.to.port];
            let (vc, size) = (choice.to.vc as usize, self.ejection_buffer().unwrap_or(u32::MAX));
            if output.is_terminal() {
                self.room_at_node(router, choice.to) == size
            } else {
                output.credits(vc) == output.buffer
            }
        };
        let empty: Vec<Choice> = choices.iter().filter(|choice| has_all(choice)).cloned().collect();
        if self.flits(router).plan.empty_vcs_first && !empty.is_empty() { empty } else { choices }
    }

    /// Notes which heads ask for the switch before they own an output VC: some VC that they ask for takes a flit, and so does the link.
    fn note_speculating(&mut self, places: &[Place], choices: &[Vec<Choice>]) {
        let Some(&(router, ..)) = places.first() else { return };
        let takes = |choices: &Vec<Choice>| {
            choices
                .iter()
                .any(|choice| self.takes_flit(router, choice.to) && self.is_free(router, choice.to.port))
        };
        let heads = places.iter().zip(choices).filter(|(_, choices)| takes(choices));
        let all: Vec<(Place, usize)> = heads.map(|(&place, choices)| (place, choices[0].to.port)).collect();
        let flits = self.flits_mut(router);
        flits.speculating = if flits.plan.speculation == Speculation::None { Vec::new() } else { all };
    }

    /// Whether an output VC has a credit, or leads to a node.
    fn takes_flit(&self, router: usize, to: Request) -> bool {
        let output = &self.routers[router].outputs[to.port];
        if output.is_terminal() {
            self.room_at_node(router, to) > 0
        } else {
            output.credits(to.vc as usize) > 0
        }
    }

    /// The size of the buffers at nodes, if they have one.
    fn ejection_buffer(&self) -> Option<u32> {
        let RouterConfig::VirtualChannel(router) = &self.plan.experiment.router else { return None };
        router.buffers.ejection
    }

    /// Flits that the buffer at a node behind an ejection VC has room for; without end if it has no size, or is for requests.
    fn room_at_node(&self, router: usize, to: Request) -> u32 {
        let size = self.ejection_buffer();
        let is_answered = to.vc >= self.plan.system.network.classes.one_way;
        let Some(size) = size.filter(|_| !is_answered) else { return u32::MAX };
        let taken = self.flits(router).doors[to.port][to.vc as usize].taken.iter();
        size - taken.filter(|&&back| back > self.now).count() as u32
    }

    /// What a present packet asks for that counts.
    fn choices(&mut self, place: Place) -> Vec<Choice> {
        let Some(choice) = self.route(place, self.flits(place.0).step) else { return Vec::new() };
        let vcs = if choice.others.is_empty() { vec![choice.to.vc] } else { choice.others.clone() };
        let requests = vcs.into_iter().map(|vc| Request { vc, ..choice.to });
        let counting = requests.filter(|&to| self.counts(place, to));
        counting.map(|to| Choice { to, ..choice.clone() }).collect()
    }

    /// The random numbers of an allocator in this step: 0 is that of output VCs, 1 that of the switch.
    fn draws(&self, router: usize, stage: u64) -> Stream {
        let seed = self.plan.experiment.measure.seed;
        Stream::new(seed, Purpose::Allocation, router as u64).at(self.flits(router).step).at(stage)
    }

    /// What goes before others at the allocators if it is smaller.
    fn stamp(&self, place: Place) -> u32 {
        let (router, input, vc) = place;
        let queue = &self.routers[router].inputs[input].vcs[vc];
        match self.flits(router).plan.arbiter {
            FlitArbiter::RoundRobin(_)
            | FlitArbiter::LeastRecentlyServed(_)
            | FlitArbiter::FixedPriority(_) => 0,
            // Whoever draws the smallest number.
            FlitArbiter::Random(_) => {
                let slot = self.plan.system.network.layout.slot_base[input] as usize + vc;
                self.draws(router, 3).at(slot as u64).below(u32::MAX)
            }
            FlitArbiter::QueueLength(_) => {
                u32::MAX - queue.iter().map(|packet| packet.phits - packet.crossed).sum::<u32>()
            }
            FlitArbiter::Age(FlitAge { by_flit: true, .. }) => {
                let first = queue.front().and_then(|front| front.arrivals.get(front.crossed as usize));
                first.copied().unwrap_or(0)
            }
            // Whoever waits behind lends its age.
            FlitArbiter::Age(FlitAge { donation: true, .. }) => {
                queue.iter().map(|packet| self.stamp_of(router, packet)).min().unwrap_or(0)
            }
            _ => queue.front().map_or(0, |front| self.stamp_of(router, front)),
        }
    }

    /// The stamp of a packet that is in a router.
    fn stamp_of(&self, router: usize, resident: &Resident) -> u32 {
        let trace = &self.packets[resident.packet].trace;
        match self.flits(router).plan.arbiter {
            // The routers that the packet has left when its head came here.
            FlitArbiter::HopCount(_) => {
                let before = trace.hops.iter().filter(|hop| hop.granted < resident.arrived).count();
                u32::MAX - before as u32
            }
            // The class of the job, the highest one first.
            FlitArbiter::Priority(_) => {
                let job = self.nics[trace.source as usize].job.expect("a node that sends has a job");
                let (_, job) = self.plan.experiment.running().nth(job).expect("it runs");
                u32::MAX - job.priority
            }
            FlitArbiter::Age(age) => match age.timestamp {
                Timestamp::Generation => trace.generated,
                Timestamp::Injection => trace.hops.first().map_or(u32::MAX, |source| source.granted),
                Timestamp::Arrival => resident.arrived,
            },
            _ => unreachable!("such arbiters look at no packet"),
        }
    }

    /// Whether the request of a present packet for an output VC counts.
    pub(crate) fn counts(&self, place: Place, to: Request) -> bool {
        let (router, input, vc) = place;
        let output = &self.routers[router].outputs[to.port];
        if self.is_owned(router, to) || output.closed.is_some() {
            return false;
        }
        let Packet { length, role, .. } = self.packets[self.head(router, input, vc)];
        match role {
            Role::Request(kind) if output.is_terminal() => {
                self.nics[router * self.nodes_per_router + to.port].reply_space[kind] >= length
            }
            _ if !output.is_terminal() && !output.is_link() => false,
            _ => {
                let plan = self.flits(router).plan;
                let (credits, size) = if output.is_terminal() {
                    let size = self.ejection_buffer();
                    (self.room_at_node(router, to), size.unwrap_or(u32::MAX))
                } else {
                    (output.credits(to.vc as usize), output.buffer)
                };
                let is_empty = credits == size;
                (plan.vc_reuse == VcReuse::Tail || is_empty)
                    && (!plan.whole_packets || credits >= length)
                    && (!plan.vc_needs_credit || credits > 0)
            }
        }
    }

    /// Whether some packet owns an output VC; in other routers none ever does.
    pub(crate) fn is_owned(&self, router: usize, to: Request) -> bool {
        let flits = self.routers[router].flits.as_ref();
        flits.is_some_and(|flits| flits.doors[to.port][to.vc as usize].owner.is_some())
    }

    /// Lets a packet own an output VC, which may ask for the switch from step `ready` on.
    pub(crate) fn give_vc(&mut self, (router, input, vc): Place, choice: Choice, ready: u64) {
        let (packet, to) = (self.head(router, input, vc), choice.to);
        self.flits_mut(router).lanes[input][vc].owned = Some(Owned { choice, ready });
        let Packet { length, role, .. } = self.packets[packet];
        let is_terminal = self.routers[router].outputs[to.port].is_terminal();
        if !(is_terminal && matches!(role, Role::Request(_))) {
            self.flits_mut(router).doors[to.port][to.vc as usize].owner = Some(packet);
        }
        if let (true, Role::Request(kind)) = (is_terminal, role) {
            self.nics[router * self.nodes_per_router + to.port].reply_space[kind] -= length;
        }
    }

    /// Lets flits have the switch, each at once or when the allocation that has begun ends.
    pub(crate) fn allocate_switch(&mut self, router: usize) {
        let inputs = self.flit_inputs(router);
        let held = self.pass_held(router);
        let speculation = self.flits(router).plan.speculation;
        let separate = speculation.is_apart();
        let firm = self.all_turns(router, &held, |speculates| !speculates || !separate);
        let late = self.all_turns(router, &held, |speculates| speculates && separate);
        let firm_asks = self.asks(router, &firm);
        let draws = self.draws(router, 1);
        let granted = self.flits_mut(router).switch_allocator.grant(&firm_asks, draws);
        let asks = self.asks(router, &late);
        let draws = self.draws(router, 2);
        let mut more = self.flits_mut(router).speculative_allocator.grant(&asks, draws);
        let is_asked = |output: usize| firm_asks.iter().any(|asks| asks[output].is_some());
        more.retain(|pair| {
            let is_left = granted.iter().all(|firm| firm.0 != pair.0 && firm.1 != pair.1);
            is_left && !(speculation == Speculation::Pessimistic && is_asked(pair.1))
        });
        for (turns, mut pairs) in [(firm, granted), (late, more)] {
            pairs.sort_unstable_by_key(|pair| pair.1);
            for (input, output) in pairs {
                let turn = turns[input].iter().find(|turn| turn.output == output);
                let place = turn.expect("it is granted what it asks for").place;
                let (port, number) = inputs[input];
                let step = self.flits(router).step;
                if !matches!(self.flits(router).plan.arbiter, FlitArbiter::FixedPriority(_)) {
                    self.routers[router].inputs[port].arbiters[number].serve((place.2, 0), step);
                }
                match &mut self.flits_mut(router).batches.switch {
                    Some((_, granted)) => granted.push((place, input)),
                    None => self.use_switch(place, input),
                }
            }
        }
    }

    /// Lets the packets go on that hold an input and an output of the switch; which these are.
    fn pass_held(&mut self, router: usize) -> Vec<(usize, usize)> {
        let mut all = Vec::new();
        for input in 0..self.flits(router).held.len() {
            let Some(place) = self.flits_mut(router).held[input].take() else { continue };
            let owned = self.flits(router).lanes[place.1][place.2].owned.as_ref();
            let port = owned.expect("its tail has not left").choice.to.port;
            all.push((input, self.crossbar_output(router, place.1, port)));
            if self.asks_for_switch(place).is_some() {
                self.use_switch(place, input);
            }
        }
        all
    }

    /// Lets the first flit of an input VC through the switch if the output VC that its packet owns takes it.
    pub(crate) fn use_switch(&mut self, place: Place, input: usize) {
        let (router, port, vc) = place;
        let Some(owned) = &self.flits(router).lanes[port][vc].owned else { return };
        if !self.takes_flit(router, owned.choice.to) {
            return;
        }
        self.pass_flit(place);
        let flits = self.flits(router);
        let waits = |front: &Resident| front.crossed < front.phits;
        let next_is_here = self.routers[router].inputs[port].vcs[vc].front().is_some_and(waits);
        if flits.plan.hold_switch && flits.lanes[port][vc].owned.is_some() && next_is_here {
            self.flits_mut(router).held[input] = Some(place);
        }
    }

    /// What each input of the crossbar asks for at an allocator.
    fn asks(&self, router: usize, turns: &[Vec<Turn>]) -> Asks {
        let equal = self.flits(router).plan.speculation == Speculation::Equal;
        let outputs = self.output_ports(router).len() * usize::from(self.flits(router).plan.crossbar_outputs);
        let of = |turns: &Vec<Turn>, output: usize| {
            let turn = turns.iter().find(|turn| turn.output == output)?;
            Some((turn.rank.0 && !equal, turn.rank.1))
        };
        turns.iter().map(|turns| (0..outputs).map(|output| of(turns, output)).collect()).collect()
    }

    /// The VCs for which the inputs of the crossbar ask, of those that speculate or do not, as `counts` says; held inputs and outputs are
    /// not asked for.
    fn all_turns(
        &self,
        router: usize,
        held: &[(usize, usize)],
        counts: impl Fn(bool) -> bool,
    ) -> Vec<Vec<Turn>> {
        let inputs = self.flit_inputs(router).into_iter().enumerate();
        let turns = |(number, input)| {
            let is_held = held.iter().any(|held| held.0 == number);
            let asks = |turn: &Turn| {
                !is_held && counts(turn.rank.0) && held.iter().all(|held| held.1 != turn.output)
            };
            self.turns(router, input, asks)
        };
        inputs.map(turns).collect()
    }

    /// The VCs for which an input of the crossbar asks, out of some: one, or one for each output port that is needed.
    fn turns(
        &self,
        router: usize,
        (input, number): (usize, usize),
        asks: impl Fn(&Turn) -> bool,
    ) -> Vec<Turn> {
        let port = &self.routers[router].inputs[input];
        let vcs = (0..port.vcs.len()).filter(|vc| vc % port.arbiters.len() == number);
        let places = vcs.map(|vc| (router, input, vc));
        let turn = |place| self.asks_for_switch(place).or_else(|| self.speculates(place));
        let mut asking: Vec<Turn> = places.filter_map(turn).filter(asks).collect();
        let plan = self.flits(router).plan;
        let one = matches!(plan.switch_allocator, FlitAllocator::SeparableInputFirst(_))
            && plan.switch_input == SwitchInput::Vc;
        let mut turns = Vec::new();
        while let Some(&first) = asking.first() {
            let (rivals, others): (Vec<Turn>, Vec<Turn>) =
                asking.iter().partition(|turn| one || turn.output == first.output);
            let oldest = rivals.iter().map(|turn| turn.rank).min();
            let oldest = rivals.iter().filter(|turn| Some(turn.rank) == oldest);
            let candidates: Vec<Candidate> = oldest.map(|turn| candidate(turn.place.2)).collect();
            let chosen = port.arbiters[number].choose(&candidates, self.flits(router).step);
            turns.extend(rivals.into_iter().find(|turn| Some(turn.place.2) == chosen));
            asking = others;
        }
        turns
    }

    /// The request of a head for the switch that owned no output VC when the cycle began, if it asks.
    fn speculates(&self, place: Place) -> Option<Turn> {
        let heads = &self.flits(place.0).speculating;
        let &(_, port) = heads.iter().find(|head| head.0 == place)?;
        let output = self.crossbar_output(place.0, place.1, port);
        Some(Turn { place, output, rank: (true, self.stamp(place)) })
    }

    /// The request of an input VC for the switch, if it asks.
    fn asks_for_switch(&self, place: Place) -> Option<Turn> {
        let (router, input, vc) = place;
        let flits = self.flits(router);
        let owned = flits.lanes[input][vc].owned.as_ref()?;
        let to = owned.choice.to;
        let front = self.routers[router].inputs[input].vcs[vc].front()?;
        let may_ask = flits.step >= owned.ready;
        let is_here = front.crossed < front.phits;
        let is_free = self.is_free(router, to.port);
        let rank = (false, self.stamp(place));
        (may_ask && is_here && is_free && self.takes_flit(router, to)).then_some(Turn {
            place,
            output: self.crossbar_output(router, input, to.port),
            rank,
        })
    }

    /// Lets the first flit of an input VC through the switch.
    fn pass_flit(&mut self, place: Place) {
        let (router, input, vc) = place;
        let Resident { packet, crossed: index, .. } = self.routers[router].inputs[input].vcs[vc][0];
        if index == 0 {
            self.set_head_out(place);
        }
        self.note_flit(place, (packet, index));
        self.routers[router].inputs[input].vcs[vc][0].crossed += 1;
        self.send_flit(place, (packet, index));
        if index + 1 == self.packets[packet].length {
            self.end_packet(place, packet);
        }
        let step = self.flits(router).step;
        match self.flits_mut(router).messages.get_mut(input) {
            None => self.send_credit((router, input), (vc, (packet, index))),
            Some(messages) if messages.back().is_some_and(|last| last.step == step) => {
                messages.back_mut().expect("it is there").flits.push((vc, (packet, index)));
            }
            Some(messages) => messages.push_back(CreditMessage { step, flits: vec![(vc, (packet, index))] }),
        }
    }

    /// Notes when the first flit of an input VC has passed the stages of its router.
    fn note_flit(&mut self, place: Place, (packet, flit): (usize, u32)) {
        let (router, input, vc) = place;
        let flits = self.flits(router);
        let owned = flits.lanes[input][vc].owned.as_ref().expect("it has a VC");
        let to = owned.choice.to;
        let cycle = |step| flits.plan.speedup.cycle_of(step);
        // The head may be routers ahead; the flit before has been here.
        let before = |last: &&FlitPassage| {
            last.flit + 1 == flit && (last.router as usize, last.input) == (router, (input, vc))
        };
        let hop = match self.packets[packet].flits.iter().rev().find(before) {
            Some(last) => last.hop,
            None => self.packets[packet].trace.hops.len() - 1,
        };
        let passage = FlitPassage {
            flit,
            hop,
            router: router as u32,
            input: (input, vc),
            to,
            arrived: self.routers[router].inputs[input].vcs[vc][0].arrivals[flit as usize],
            stages: (flit == 0).then(|| (cycle(self.end_of_routing(place)), cycle(owned.ready - 1))),
            granted: self.now,
            departed: self.departure(router, to.port),
        };
        self.packets[packet].flits.push(passage);
    }

    /// The step at whose end the route of the first packet of an input VC was there, or that in which it became the first if its
    /// route was known.
    fn end_of_routing(&self, (router, input, vc): Place) -> u64 {
        let flits = self.flits(router);
        let lane = &flits.lanes[input][vc];
        let arrived = flits.plan.speedup.steps(self.routers[router].inputs[input].vcs[vc][0].arrived).start;
        let begins = arrived.max(lane.left.map_or(0, |left| left + 1));
        match flits.plan.routing_delay {
            0 => begins,
            _ if self.works_in_batches(router) => lane.routed.expect("it has gone on"),
            cycles => begins + u64::from(cycles) - 1,
        }
    }

    /// Notes that the head of a packet leaves a router.
    fn set_head_out(&mut self, place: Place) {
        let (router, input, vc) = place;
        let Resident { packet, arrived, .. } = self.routers[router].inputs[input].vcs[vc][0];
        let Owned { choice, .. } = self.flits(router).lanes[input][vc].owned.as_ref().expect("it has a VC");
        let departed = self.departure(router, choice.to.port);
        let (Choice { to, after, .. }, granted, number) = (choice.clone(), self.now, router as u32);
        let (port, misrouted) = (to.port as u16, after.misrouted);
        let hop = Hop { router: number, port, vc: to.vc, arrived, granted, departed, misrouted };
        self.packets[packet].trace.hops.push(hop);
        self.packets[packet].memory = after;
    }

    /// Lets a flit depart by the output VC that its packet owns.
    fn send_flit(&mut self, (router, input, vc): Place, (packet, index): (usize, u32)) {
        let owned = self.flits(router).lanes[input][vc].owned.as_ref().expect("it has a VC");
        let (to, minimal) = (owned.choice.to, !owned.choice.after.misrouted);
        let departs = self.departure(router, to.port);
        let latency = self.plan.system.network.link(router as u32, to.port).latency;
        let vc = to.vc as usize;
        let has_queue = self.queue(router, to.port).is_some();
        if has_queue {
            self.push_in_queue((router, to.port), (packet, index), vc);
        }
        let output = &mut self.routers[router].outputs[to.port];
        output.next = self.now + output.pace;
        let Some((peer, back)) = output.peer else {
            if !has_queue {
                output.crossbar.push(departs, (packet, index));
            }
            let link = self.plan.experiment.links.ejection.map_or(1, |link| link.latency);
            let back = departs + 2 * link + self.flits(router).plan.credit_delay;
            return self.flits_mut(router).doors[to.port][vc].taken.push(back);
        };
        output.outstanding[vc].push(Outstanding { packet, length: 1, minimal });
        if has_queue {
            return;
        }
        let arrives = departs + latency + output.pace - 1;
        self.routers[peer].inputs[back].wire.push(arrives, Phit { packet, index, vc });
    }

    /// Lets a packet whose tail leaves give back the output VC, and the next one in its queue become the present one.
    fn end_packet(&mut self, (router, input, vc): Place, packet: usize) {
        let now = self.now;
        self.routers[router].inputs[input].vcs[vc].pop_front();
        let flits = self.flits_mut(router);
        let step = flits.step;
        let lane = &mut flits.lanes[input][vc];
        lane.left = Some(step);
        lane.routed = None;
        let to = lane.owned.take().expect("it has a VC").choice.to;
        let departs = match flits.last_in_queue(to.port) {
            Some(flit) => flit.departs,
            None => now + flits.plan.switch_traversal_delay,
        };
        let flits = self.flits_mut(router);
        flits.doors[to.port][to.vc as usize].owner = None;
        if self.routers[router].outputs[to.port].is_terminal() {
            let delivered = departs + 1 - self.packets[packet].length;
            self.packets[packet].trace.delivered = Some(delivered);
            self.flits_mut(router).handled.push((now.max(delivered), packet));
        }
        if let Some((node, first)) = self.routers[router].inputs[input].node {
            self.leave_node(node, first + vc, packet);
        }
    }

    /// Lets flits leave for the nodes, and nodes hear of packets.
    pub(crate) fn eject_flits(&mut self) {
        for router in 0..self.routers.len() {
            let all = std::mem::take(&mut self.flits_mut(router).handled);
            let (due, later): (Vec<_>, Vec<_>) = all.into_iter().partition(|&(due, _)| due == self.now);
            self.flits_mut(router).handled = later;
            for (_, packet) in due {
                self.consume(packet);
            }
            for output in 0..self.routers[router].outputs.len() {
                while let Some(flit) = self.routers[router].outputs[output].crossbar.pop_due(self.now) {
                    self.take_flit(flit);
                }
                self.empty_queue(router, output);
            }
            self.send_messages(router);
        }
    }

    /// Lets a flit leave for its node.
    pub(crate) fn take_flit(&mut self, (number, index): (usize, u32)) {
        let packet = &mut self.packets[number];
        assert_eq!(packet.absorbed, index, "flits come in order");
        packet.absorbed += 1;
        if packet.absorbed == packet.length {
            let source = packet.trace.source as usize;
            self.finish_in_burst(source);
        }
    }
}

/// Somebody who asks an arbiter that looks at nothing but whose turn it is.
fn candidate(index: usize) -> Candidate {
    Candidate { index, age: 0, class: 0 }
}
