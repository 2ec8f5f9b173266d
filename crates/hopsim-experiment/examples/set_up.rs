//! Sets up one experiment, given as resolved JSON, and prints how long each part takes [s], and the most memory so far [MB]: for
//! benchmarks and profilers.
//!
//! `cargo run --release -p hopsim-experiment --example set_up -- experiment.json`; with `tables` or `plan` behind it no further
//! than that.

use hopsim_experiment::plan::Plan;
use hopsim_experiment::{document, proof};
use std::error::Error;
use std::io::Write;
use std::time::Instant;

fn main() -> Result<(), Box<dyn Error>> {
    let usage = "usage: set_up EXPERIMENT.json [tables|plan|proof]";
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (path, last) = match &arguments[..] {
        [path] => (path, "proof"),
        [path, last] => (path, last.as_str()),
        _ => return Err(usage.into()),
    };
    let experiment = document::from_json(&std::fs::read_to_string(path)?)?;
    let mut out = std::io::stdout().lock();
    let mut begin = Instant::now();
    let mut tell = |what: &str, more: &str| -> Result<bool, std::io::Error> {
        writeln!(out, "{what} {:.3} s, {} MB{more}", begin.elapsed().as_secs_f64(), most_memory())?;
        begin = Instant::now();
        Ok(what == last)
    };
    let topology = experiment.topology.build()?;
    if tell("tables", "")? {
        return Ok(());
    }
    drop(topology);
    let plan = Plan::new(&experiment)?;
    let vcs = plan.experiment.router.vcs().network;
    if tell("plan", &format!(", tables included: {vcs:?} VCs, {} hops", plan.paths.hops))? {
        return Ok(());
    }
    let verdict = proof::prove(&plan);
    tell("proof", &format!(": {verdict:?}"))?;
    Ok(())
}

/// Most memory that the process has had, where the system says so \[MB\].
fn most_memory() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<u64>().ok()).unwrap_or(0) / 1000
}
