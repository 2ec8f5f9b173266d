//! A simulation of a plan that is measured.

use crate::error::RunError;
use hopsim_cycles::begin;
use hopsim_cycles::begin::{AnySimulation, Beginning, Fit};
use hopsim_cycles::change::{Change, Losses};
use hopsim_cycles::control::Control;
use hopsim_cycles::simulation::{Heard, Schedule, Unreadable};
use hopsim_experiment::config::measure::{MeasureConfig, RecordStream};
use hopsim_experiment::plan::{Epoch, MOST_ROWS, Plan, unchangeable};
use hopsim_measure::Counts;
use hopsim_measure::places::Places;
use hopsim_measure::recorder::{Recorder, RecorderState};
use hopsim_measure::standing::Congestion;
#[cfg(feature = "trace")]
use hopsim_measure::trace::{PacketTrace, Tracer};
use hopsim_network::network::Network;
use serde::{Deserialize, Serialize};

/// A simulation of a plan, with what is looked at from outside it.
pub struct Measured<'p> {
    /// The plan that is simulated now: what is measured is the same in all epochs.
    pub plan: &'p Plan,
    /// The simulation, of which recorders hear.
    pub simulation: AnySimulation<'p, Recorder>,
    /// What is looked at after every interval, if anything is.
    congestion: Option<Congestion>,
    fit: Fit,
    schedule: Schedule,
    /// The plan that is simulated from cycle 0 on.
    first: &'p Plan,
    /// What takes over later on, ascending.
    epochs: &'p [Epoch],
    stage: Stage,
}

/// How far the epochs of a run have come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Stage {
    /// How many epochs have begun.
    begun: usize,
    /// How many had begun when the tables came that are in force.
    tables: usize,
    /// Whether nodes inject nothing until the network is drained.
    drains: bool,
}

/// The state of a measured simulation between two cycles.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct MeasuredState {
    /// The state of the simulation, as bytes.
    simulation: Vec<u8>,
    stage: Stage,
    /// Counts by node and router.
    places: Places,
    /// All other counts.
    recorder: RecorderState,
}

/// What of a state a simulation goes on with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// All of the state: the run is the same.
    All,
    /// The state of the network, and counts since the beginning of the run: what is measured begins later.
    Network,
}

impl<'p> Measured<'p> {
    /// A simulation at cycle 0 of the system of a plan.
    pub fn new(plan: &'p Plan, fit: Fit, schedule: Schedule) -> Self {
        Self::in_stage((plan, &plan.epochs), Stage::default(), (fit, schedule))
    }

    /// A simulation at cycle 0 of the system that is in force in a stage.
    fn in_stage(
        (first, epochs): (&'p Plan, &'p [Epoch]),
        stage: Stage,
        (fit, schedule): (Fit, Schedule),
    ) -> Self {
        let plan = stage.tables.checked_sub(1).map_or(first, |last| &epochs[last].plan);
        let simulation = begin(&Beginning { system: &plan.system, wishes: plan, fit, schedule });
        let looks = plan.experiment.measure.streams.contains(&RecordStream::CongestionTrees);
        let congestion = looks.then(Congestion::default);
        Self { plan, simulation, congestion, fit, schedule, first, epochs, stage }
    }

    /// The simulation, with plans whose systems take over, each from the beginning of a cycle on. Such a plan has the same routers,
    /// nodes, jobs and measurements. Packets that have been granted an output go on as they were granted it, and heads that ask for one
    /// thing only go on asking for it, unless the change says otherwise.
    pub fn changing(self, epochs: &'p [Epoch]) -> Self {
        Self { epochs, ..self }
    }

    /// The present cycle: the next one to be simulated.
    pub fn now(&self) -> u32 {
        self.simulation.now()
    }

    /// Simulates up to cycle `end`, unless the caller wants to stop.
    pub fn advance(&mut self, end: u32, control: &Control) -> Result<(), RunError> {
        while self.now() < end {
            let next = end.min(self.next_look()).min(self.next_change());
            self.simulation.advance(next, control)?;
            self.look();
            self.change()?;
        }
        self.check_rows()
    }

    /// Refuses to go on if there are more rows of packets than anybody could read.
    fn check_rows(&mut self) -> Result<(), RunError> {
        let MeasureConfig { streams, packets, .. } = &self.plan.experiment.measure;
        for stream in RecordStream::OF_PACKETS.into_iter().filter(|stream| streams.contains(stream)) {
            let places = self.simulation.places();
            let rows: usize = places.iter().map(|(_, places)| places.rows_of_packets(stream)).sum();
            if rows > MOST_ROWS as usize {
                let every = packets.as_ref().map_or(1, |packets| packets.every);
                return Err(RunError::LongTrace(every, stream, MOST_ROWS));
            }
        }
        Ok(())
    }

    /// The next cycle in which it is looked what stands still.
    fn next_look(&self) -> u32 {
        let interval = self.plan.experiment.measure.interval;
        self.congestion.as_ref().map_or(u32::MAX, |_| (self.now() / interval + 1).saturating_mul(interval))
    }

    /// Looks what stands still, if it is time for that.
    fn look(&mut self) {
        let Some(congestion) = &mut self.congestion else { return };
        let MeasureConfig { warmup, interval, .. } = self.plan.experiment.measure;
        let now = self.simulation.now();
        // Before the first cycle something may change, and nothing stands.
        if now > 0 && now.is_multiple_of(interval) {
            let in_window = now > warmup.cycles() || self.plan.system.has_programs();
            congestion.look(&self.plan.system, now, in_window, &self.simulation.standing());
        }
    }

    /// The next cycle as which begins something may change.
    fn next_change(&self) -> u32 {
        let next = self.epochs.get(self.stage.begun).map_or(u32::MAX, |epoch| epoch.at);
        if self.stage.drains { next.min(self.now() + 1) } else { next }
    }

    /// Makes the changes for which it is time.
    fn change(&mut self) -> Result<(), RunError> {
        while let Some(epoch) = self.epochs.get(self.stage.begun).filter(|epoch| epoch.at <= self.now()) {
            let Stage { begun, tables, drains } = self.stage;
            let drains = drains || epoch.change.closes;
            let tables = if drains { tables } else { begun + 1 };
            // Tables that come while the network is drained wait until it is.
            let reroutes = epoch.change.reroutes && !drains;
            let change = Change { reroutes, ..epoch.change.clone() };
            self.go_on_in(Stage { begun: begun + 1, tables, drains }, &change)?;
        }
        if self.stage.drains && self.simulation.is_drained() {
            let change = Change { opens: true, reroutes: true, ..Change::default() };
            self.go_on_in(Stage { tables: self.stage.begun, drains: false, ..self.stage }, &change)?;
        }
        Ok(())
    }

    /// Goes on with the system of another stage: the state is taken apart, changed, and put together in that system.
    fn go_on_in(&mut self, stage: Stage, change: &Change) -> Result<(), RunError> {
        let mut next = Self::in_stage((self.first, self.epochs), stage, (self.fit, self.schedule));
        let [before, after] = [self.plan, next.plan].map(|plan| &plan.system.network);
        let size = |network: &Network| (network.routers, network.layout.slots(), network.layout.pairs());
        // Events may lie as far ahead as the links of the system before reach.
        let fits = after.longest_link() >= before.longest_link() && size(after) == size(before);
        if !fits || unchangeable(self.plan).is_some() {
            return Err(RunError::Snapshot);
        }
        let now = self.now();
        let lost = next.load_changed(&self.save(), Scope::All, change).map_err(|_| RunError::Snapshot)?;
        if let Some(recorder) = next.simulation.observers().into_iter().next() {
            for packet in &lost.packets {
                recorder.lose(packet, now);
            }
        }
        next.tell_waits(change, &lost, now);
        next.congestion = self.congestion.take();
        #[cfg(feature = "trace")]
        if let Some(tracer) = self.take_tracer() {
            next.trace();
            next.simulation.observers()[0].tracer = Some(tracer);
        }
        *self = next;
        Ok(())
    }

    /// Tells those who count what packets wait for of links that are repaired, and of heads that are lost.
    fn tell_waits(&mut self, change: &Change, lost: &Losses, now: u32) {
        for (span, places) in self.simulation.places() {
            let Some(waits) = places.link_waits() else { return };
            let here = |router: u32| {
                let number = router.checked_sub(span.first_router)? as usize;
                (number < span.routers).then_some(number)
            };
            for &(router, port) in change.repaired.iter().flatten() {
                if let Some(router) = here(router) {
                    waits.repair(router, port, now);
                }
            }
            for &(router, slot) in &lost.heads {
                if let Some(router) = here(router) {
                    waits.lose_head(router, slot, now);
                }
            }
        }
    }

    /// If nothing happens before some cycle in the whole network, goes on there, at most at cycle `end`. Returns whether nothing
    /// will ever happen.
    pub fn skip_idle(&mut self, end: u32) -> bool {
        let next = self.simulation.next_event();
        if next <= self.now() {
            return false;
        }
        // The change itself is made when the simulation goes on from there.
        self.simulation.skip_to(next.min(end).min(self.next_look()).min(self.next_change()));
        self.look();
        next == u32::MAX
    }

    /// The state of the simulation, with what was measured.
    pub fn save(&mut self) -> MeasuredState {
        let mut recorder = Recorder::new(self.plan);
        self.simulation.observers().iter().for_each(|own| recorder.load(&own.save()));
        let places = self.simulation.places().into_iter().map(|(_, places)| places.clone());
        let places = places.reduce(Places::joined).unwrap_or_default();
        let simulation = self.simulation.save();
        MeasuredState { simulation, stage: self.stage, places, recorder: recorder.save() }
    }

    /// Goes on with a state, at cycle 0.
    pub fn load(&mut self, state: &MeasuredState, scope: Scope) -> Result<(), Unreadable> {
        let Stage { begun, tables, .. } = state.stage;
        if tables > begun || begun > self.epochs.len() {
            return Err(Unreadable);
        }
        if state.stage != self.stage {
            *self = Self::in_stage((self.first, self.epochs), state.stage, (self.fit, self.schedule));
        }
        self.load_changed(state, scope, &Change::default()).map(|_| ())
    }

    /// Goes on, at cycle 0, with what a change makes of a state. Returns what is lost.
    fn load_changed(
        &mut self,
        state: &MeasuredState,
        scope: Scope,
        change: &Change,
    ) -> Result<Losses, Unreadable> {
        let MeasuredState { simulation, stage: _, places, recorder } = state;
        let lost = self.simulation.load_changed(simulation, change)?;
        for (span, own) in self.simulation.places() {
            match scope {
                Scope::All => *own = places.part(&span),
                Scope::Network => own.keep_series(places.part(&span)),
            }
        }
        if let Some(own) = self.simulation.observers().into_iter().next() {
            match scope {
                Scope::All => own.load(recorder),
                Scope::Network => own.load_life(recorder),
            }
        }
        Ok(lost)
    }

    /// Counts what is left at cycle `end`, the last of the run, and returns all that was counted.
    pub fn finish(&mut self, end: u32) -> Counts {
        let Heard { observers, places, packet_hops, decisions } = self.simulation.finish(end);
        let joined = |mut all: Recorder, other| {
            all.add(other);
            all
        };
        Counts {
            recorder: observers.into_iter().reduce(joined).unwrap_or_default(),
            places: places.into_iter().reduce(Places::joined).unwrap_or_default(),
            packet_hops,
            decisions,
            congestion: self.congestion.take(),
        }
    }

    /// Lives of packets are written down from now on.
    #[cfg(feature = "trace")]
    pub fn trace(&mut self) {
        let nodes_per_router = self.plan.system.topology.nodes_per_router();
        self.simulation.observers().into_iter().for_each(|recorder| recorder.trace(nodes_per_router));
    }

    /// All that has been written down of the lives of packets, if they are.
    #[cfg(feature = "trace")]
    fn take_tracer(&mut self) -> Option<Tracer> {
        let tracers = self.simulation.observers().into_iter().filter_map(|recorder| recorder.tracer.take());
        tracers.reduce(Tracer::joined)
    }

    /// The lives of packets as far as they have been written down.
    #[cfg(feature = "trace")]
    pub fn take_lives(&mut self) -> Vec<PacketTrace> {
        self.take_tracer().unwrap_or_default().into_traces()
    }
}
