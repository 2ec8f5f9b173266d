//! Programs on the nodes of a fabric.

use super::clock::Clock;
use super::running;
use crate::config::Experiment;
use crate::config::limits::{CYCLES, MAX_CYCLES, SERVICE_LEVELS, within};
use crate::config::program::ProgramConfig;
use crate::plan::jobs;
use crate::plan::programs::{self, Library, ProgramJob, Units};
use crate::plan::quantity::{TIMES, positive};
use hopsim_infiniband::time::Ticks;
use hopsim_network::error::ConfigError;
use hopsim_programs::job::ProgramPlan;
use rustc_hash::FxHashMap;

/// Where the cycle stands in the document.
pub const CYCLE: &str = "router.infiniband.host.cycle";

/// A job whose nodes run a program.
#[derive(Clone, Debug)]
pub struct FabricProgram {
    /// Number of the job among those that run.
    pub job: usize,
    /// The program that the nodes of the job run.
    pub plan: ProgramPlan,
    /// Service level of the messages.
    pub service_level: u8,
}

/// Says when a run of programs ends at the latest, if the document does not.
pub fn resolve(experiment: &mut Experiment) -> Result<(), ConfigError> {
    if !experiment.has_programs() {
        return Ok(());
    }
    let most = *experiment.measure.max_cycles.get_or_insert(MAX_CYCLES);
    within(CYCLES, most, "measure.max_cycles")
}

/// The programs on these nodes, by the number of their job.
pub fn build(
    experiment: &Experiment,
    places: &mut FxHashMap<usize, Vec<u32>>,
    cycle: &str,
    library: &Library<'_>,
) -> Result<Vec<FabricProgram>, ConfigError> {
    let units = Units::without_phits(positive(cycle, &TIMES, CYCLE)?);
    let one = |(number, job): (usize, &crate::config::JobConfig)| {
        let program = job.program.as_ref()?;
        let nodes = places.remove(&number).unwrap_or_default();
        let host = job.host.clone().unwrap_or_default();
        let service_level = host.service_level.unwrap_or(0);
        let plan = within(SERVICE_LEVELS, service_level.into(), "host.service_level").and_then(|()| {
            check_driven(program)?;
            programs::plan(
                experiment,
                ProgramJob { number: number as u64, job, config: program },
                nodes,
                Some(units),
                library,
            )
        });
        Some(match plan {
            Ok(plan) => Ok(FabricProgram { job: running(experiment, number), plan, service_level }),
            Err(error) => Err(error.within(&format!("jobs.{number}"))),
        })
    };
    let all: Vec<FabricProgram> = experiment.running().filter_map(one).collect::<Result<_, _>>()?;
    jobs::check_ends(all.iter().map(|program| &program.plan))?;
    Ok(all)
}

/// Refuses nodes that another simulator drives: such a simulator counts in cycles and phits.
fn check_driven(program: &ProgramConfig) -> Result<(), ConfigError> {
    if !matches!(program, ProgramConfig::External(_)) {
        return Ok(());
    }
    let reason = "another simulator counts in cycles and phits, which a fabric of InfiniBand has not";
    Err(ConfigError::new("program.external", reason).valid("router.cioq, router.input_queued"))
}

/// The longest time that programs may take.
pub fn longest(experiment: &Experiment, cycle: Ticks, clock: &Clock) -> Result<Ticks, ConfigError> {
    let cycles = experiment.measure.max_cycles.unwrap_or(MAX_CYCLES);
    Ticks::from(cycles).checked_mul(cycle).filter(|&end| end < super::clock::MOST_TICKS).ok_or_else(|| {
        let most = super::clock::MOST_TICKS / cycle;
        let reason =
            format!("so many cycles ({CYCLE}) are too long for the unit that all times have in common");
        ConfigError::new("measure.max_cycles", reason).value(cycles).valid(format!(
            "at most {most}, or times and rates with fewer digits than {} to the ns",
            clock.ticks_per_ns()
        ))
    })
}
