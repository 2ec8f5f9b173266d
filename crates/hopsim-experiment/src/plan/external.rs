//! Jobs with `program = "external"`: another simulator says, while the simulation runs, what their nodes
//! send, and is told what arrives. Here is what a document may say of such jobs, and which jobs of a plan are
//! such.
//!
//! `programs.rs` calls [`check_keys`] and [`whole_bytes`] while it plans a job, `any.rs` [`check_alone`]
//! before a run that no other simulator takes part in; the stepping of `hopsim-core`, which the other
//! simulator calls, asks for [`driven_jobs`]. All of this only reads documents and plans.

use super::Plan;
use super::programs::Units;
use crate::config::JobConfig;
use crate::config::program::ProgramConfig;
use hopsim_network::error::ConfigError;
use hopsim_programs::job::ProgramPlan;

/// Refuses keys that mean nothing for a job that another simulator drives: when its program starts, where its
/// ranks stand, and what its hosts compute are decided by that simulator.
pub fn check_keys(job: &JobConfig) -> Result<(), ConfigError> {
    let host = job.host.clone().unwrap_or_default();
    let of_job = [("start", job.start > 0), ("rank_order", job.rank_order.is_some())];
    let of_host = [
        ("host.compat", host.compat.is_some()),
        ("host.cpu_speed", host.cpu_speed.is_some()),
        ("host.send_overhead", host.send_overhead > 0),
        ("host.receive_overhead", host.receive_overhead > 0),
        ("host.eager_limit", host.eager_limit.is_some()),
        ("host.send_completes", host.send_completes.is_some()),
        ("host.collectives", !host.collectives.is_empty()),
        ("host.any_source", host.any_source.is_some()),
    ];
    if let Some((key, _)) = of_job.into_iter().chain(of_host).find(|(_, is_given)| *is_given) {
        let valid = "no such key; host.packet_length, header_length, last_packet and gap";
        return Err(ConfigError::new(key, "another simulator drives the nodes").valid(valid));
    }
    Ok(())
}

/// The units of a job that another simulator drives, plain ones if the document states none. Refuses a phit
/// of less than a byte.
///
/// The other simulator states lengths in phits, and hosts count whole bytes: a message of n phits has ⌊n ·
/// bytes of a phit⌋ of them. With a byte or more to a phit these bytes take n phits again, with less they
/// could take fewer.
pub fn whole_bytes(units: Option<Units>) -> Result<Units, ConfigError> {
    let units = units.unwrap_or(Units::PLAIN);
    if units.phit.numerator < units.phit.denominator {
        let reason = "another simulator drives the nodes, whose messages have whole bytes in every phit";
        return Err(ConfigError::new("program.external", reason).valid("units.phit of at least 1 B"));
    }
    Ok(units)
}

/// The jobs of a plan that another simulator drives, with their numbers among all jobs.
pub fn driven_jobs(plan: &Plan) -> impl Iterator<Item = (usize, &ProgramPlan)> {
    plan.system.programs().all.into_iter().filter(|(_, job)| job.is_external())
}

/// Refuses a plan with a job that another simulator must drive, for a run in which there is no other
/// simulator.
pub fn check_alone(plan: &Plan) -> Result<(), ConfigError> {
    plan.experiment.routing.check_given().map_err(|error| error.within("routing"))?;
    let is_external = |job: &JobConfig| matches!(job.program, Some(ProgramConfig::External(_)));
    let mut running = plan.experiment.running();
    running.find(|(_, job)| is_external(job)).map_or(Ok(()), |(number, _)| {
        let reason = "another simulator drives the nodes, and this run has none";
        Err(ConfigError::new(format!("jobs.{number}.program.external"), reason)
            .valid("hs.Simulation in Python, hopsim.h in C, or a job that sends by itself"))
    })
}
