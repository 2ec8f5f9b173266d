//! A simulation of a plan that is measured.

use crate::error::RunError;
use hopsim_cycles::begin;
use hopsim_cycles::begin::{AnySimulation, Beginning, Fit};
use hopsim_cycles::change::Change;
use hopsim_cycles::control::Control;
use hopsim_cycles::kernel::packet::Packet;
use hopsim_cycles::simulation::{Heard, Schedule, Unreadable};
use hopsim_experiment::config::measure::{MeasureConfig, RecordStream};
use hopsim_experiment::plan::{Epoch, MOST_ROWS, Plan, unsaved};
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
    /// The plan.
    pub plan: &'p Plan,
    /// The simulation, of which recorders hear.
    pub simulation: AnySimulation<'p, Recorder>,
    /// What is looked at after every interval, if anything is.
    congestion: Option<Congestion>,
    fit: Fit,
    schedule: Schedule,
    /// What takes over from the system before, each from the beginning of a cycle on; ascending.
    epochs: &'p [Epoch],
}

/// The state of a measured simulation between two cycles.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct MeasuredState {
    /// The state of the simulation, as bytes.
    simulation: Vec<u8>,
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
        let simulation = begin(&Beginning { system: &plan.system, wishes: plan, fit, schedule });
        let looks = plan.experiment.measure.streams.contains(&RecordStream::CongestionTrees);
        let congestion = looks.then(Congestion::default);
        Self { plan, simulation, congestion, fit, schedule, epochs: &plan.epochs }
    }

    /// The simulation, with plans whose systems take over, each from the beginning of a cycle on. Such a plan has the same routers,
    /// nodes, jobs and measurements. Packets that have been granted an output go on as they were granted it, and heads that ask for one
    /// thing only go on asking for it, unless the change says otherwise.
    pub fn changing(self, epochs: &'p [Epoch]) -> Self {
        Self { epochs, ..self }
    }

    /// Begins with the system that is simulated from some cycle on, at cycle 0: a state of that cycle may be loaded.
    pub fn begin_in_epoch_of(&mut self, cycle: u32) {
        let (passed, later) = self.epochs.split_at(self.epochs.partition_point(|epoch| epoch.at <= cycle));
        if let Some(epoch) = passed.last() {
            *self = Self::new(&epoch.plan, self.fit, self.schedule).changing(later);
        }
    }

    /// The present cycle: the next one to be simulated.
    pub fn now(&self) -> u32 {
        self.simulation.now()
    }

    /// Simulates up to cycle `end`, unless the caller wants to stop.
    pub fn advance(&mut self, end: u32, control: &Control) -> Result<(), RunError> {
        while self.now() < end {
            self.simulation.advance(end.min(self.next_look()).min(self.next_change()), control)?;
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
        if now.is_multiple_of(interval) {
            let in_window = now > warmup.cycles() || self.plan.system.has_programs();
            congestion.look(&self.plan.system, now, in_window, &self.simulation.standing());
        }
    }

    /// The next cycle from which on another system is simulated.
    fn next_change(&self) -> u32 {
        self.epochs.first().map_or(u32::MAX, |epoch| epoch.at)
    }

    /// Goes on with another system, if it is time for that: the state is taken apart, and put together in that system.
    fn change(&mut self) -> Result<(), RunError> {
        let Some((Epoch { at, plan, change }, later)) = self.epochs.split_first() else { return Ok(()) };
        if self.now() < *at {
            return Ok(());
        }
        let [before, after] = [self.plan, plan].map(|plan| &plan.system.network);
        let size = |network: &Network| (network.routers, network.layout.slots(), network.layout.pairs());
        // Events may lie as far ahead as the links of the system before reach.
        let fits = after.longest_link() >= before.longest_link() && size(after) == size(before);
        if !fits || unsaved(self.plan).is_some() {
            return Err(RunError::Snapshot);
        }
        let state = self.save();
        let mut next = Self::new(plan, self.fit, self.schedule).changing(later);
        let lost = next.load_changed(&state, Scope::All, change).map_err(|_| RunError::Snapshot)?;
        if let Some(recorder) = next.simulation.observers().into_iter().next() {
            lost.iter().for_each(|packet| recorder.lose(packet, *at));
        }
        #[cfg(feature = "trace")]
        if let Some(tracer) = self.take_tracer() {
            next.trace();
            next.simulation.observers()[0].tracer = Some(tracer);
        }
        *self = next;
        Ok(())
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
        MeasuredState { simulation: self.simulation.save(), places, recorder: recorder.save() }
    }

    /// Goes on with a state, at cycle 0.
    pub fn load(&mut self, state: &MeasuredState, scope: Scope) -> Result<(), Unreadable> {
        self.load_changed(state, scope, &Change::default()).map(|_| ())
    }

    /// Goes on, at cycle 0, with what a change makes of a state. Returns the packets that are lost.
    fn load_changed(
        &mut self,
        state: &MeasuredState,
        scope: Scope,
        change: &Change,
    ) -> Result<Vec<Packet>, Unreadable> {
        let MeasuredState { simulation, places, recorder } = state;
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
