//! The state of a simulation between two cycles: the same however it is carried out, so that one that was saved goes on with
//! another cut and on another number of threads.
//!
//! Who owns state says what of it is saved, in a file or function beside it, and takes itself apart there field by field: the
//! compiler finds those that are forgotten.

use crate::engine::kernel::worker::Worker;
use crate::engine::region::Region;
use crate::engine::simulation::Simulation;
use crate::measure::places::Places;
use crate::measure::recorder::{Recorder, RecorderState};
use serde::{Deserialize, Serialize};

/// That of a network of some kind of routers and nodes.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct State<R> {
    /// The cycle: the next one to be simulated.
    pub cycle: u32,
    /// Routers and nodes.
    pub region: R,
    /// Counts of nodes and routers.
    pub places: Option<Places>,
    /// All other counts.
    pub recorder: RecorderState,
}

/// What of a state a simulation goes on with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// All of it: the run is the same.
    All,
    /// The network, and counts since the beginning of the run: what is measured begins later.
    Network,
}

impl<'p, R: Region<'p>> Simulation<'p, R> {
    /// Its state.
    pub fn save(&self) -> State<R::Saved> {
        let mut all = Recorder::new(self.plan);
        self.workers.iter().for_each(|worker| all.load(&worker.recorder.save()));
        let (region, recorder) = (R::Saved::default(), all.save());
        let mut state = State { cycle: self.now(), region, places: None, recorder };
        self.regions.iter().for_each(|region| region.save(&mut state));
        state
    }

    /// Goes on with a state, at cycle 0.
    pub fn load(&mut self, state: &State<R::Saved>, scope: Scope) {
        self.regions.iter_mut().for_each(|region| region.load(state, scope));
        if let Some(Worker { recorder, .. }) = self.workers.first_mut() {
            match scope {
                Scope::All => recorder.load(&state.recorder),
                Scope::Network => recorder.load_life(&state.recorder),
            }
        }
        self.skip_to(state.cycle);
    }
}
