//! The reference: hopsim's model simulated phit by phit, slowly and obviously, to compare the engine with.
//!
//! The engine of `hopsim-core` moves packets and computes the cycles in between. Here nothing is computed
//! ahead: every phit is in a buffer, in the crossbar, in an output queue or on a wire, and takes one step per
//! cycle; credits travel on wires of their own; all routers are visited in every cycle. When a packet leaves a
//! router follows from when its phits could move. Both must give the same [`PacketTrace`] for every packet.
//!
//! Shared with the engine are only the plan, the topology's links, the random streams and the traffic. Where packets
//! go is decided in `routing/`. What there is between two cycles is in `state/`: its files do not know the simulator,
//! those that say what happens in a cycle do. A cycle ([`Simulator::step`]) is:
//!
//! 0. *change*: links fail or are repaired, routers notice it, tables change;
//! 1. *receive*: phits that have reached the end of their wire enter the input buffers, credits the counters;
//! 2. *signal and sense*: the signal of injection control moves on; each router counts what its heads may read, from scratch, and tells its group;
//! 3. *allocate*: nodes that take a packet from every VC at once take those that have arrived; each router runs the iterations of its separable allocator, inputs first;
//! 4. *move*: phits cross the crossbar and leave the output queues, one per cycle on every wire;
//! 5. *network interfaces*: changes of traffic, replies, generation, what programs do, admission to the injection buffers;
//!    phits leave the nodes.
//!
//! In virtual-channel routers (`flits.rs`) VC and switch allocation take the place of 3, and the flits that are granted the switch are on
//! their way at once, so that 4 is about those that reach nodes. Everything else is shared.
//!
//! Virtual cut-through reserves space for whole packets: credits and room are taken and given back in packets
//! at the moment the head moves, while the phits follow. So an output queue may for a moment hold more
//! phits than its size (the rest of a departing packet); an input buffer cannot.

mod allocator;
mod arbiter;
mod audit;
mod batches;
mod build;
mod consumption;
mod flits;
mod lengths;
mod life;
mod listed;
mod matching;
pub mod metrics;
mod nic;
mod on_off;
mod outages;
mod output_queues;
mod program;
mod room;
mod route;
mod routing;
mod sensors;
mod signal;
mod simulator;
mod stalls;
mod standing;
mod state;
mod waiting;
mod waits;
mod worms;

use hopsim_experiment::plan::Plan;
use hopsim_measure::trace::PacketTrace;
pub use life::{Life, Record, joined};
pub use simulator::Simulator;
pub use state::packet::{Loss, LossReason, Passage};
pub use state::program::told::{ProgramRun, Programs, Told};

/// The life of every packet granted at least one output in the first `cycles` cycles, by source and serial
/// number. A packet granted its ejection port by then is followed until it leaves.
pub fn trace(plan: &Plan, cycles: u32) -> Vec<PacketTrace> {
    let mut simulator = Simulator::new(plan);
    (0..cycles).for_each(|_| simulator.step());
    simulator.into_traces()
}

/// What a run of programs leaves behind that ends at the first multiple of `period` by which they are done; `None` if that is not
/// by cycle `limit`.
pub fn programs(plan: &Plan, period: u32, limit: u32) -> Option<ProgramRun> {
    Simulator::new(plan).run_programs(period, limit)
}

/// What a whole run, warm-up included, leaves behind.
pub fn record(plan: &Plan) -> Record {
    let measure = &plan.experiment.measure;
    let mut simulator = Simulator::new(plan);
    (0..measure.warmup.cycles() + measure.cycles).for_each(|_| simulator.step());
    simulator.into_record()
}
