//! Runs one experiment, given as resolved JSON, and prints its summary: for profilers and bug reports.
//!
//! `cargo run --release --example run -- experiment.json`

use hopsim_core::config::Experiment;
use hopsim_core::engine::{Control, run};
use hopsim_core::plan::Plan;
use std::error::Error;
use std::io::Write;
use std::sync::atomic::Ordering;

fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args().nth(1).ok_or("usage: run EXPERIMENT.json")?;
    let experiment: Experiment = serde_json::from_str(&std::fs::read_to_string(path)?)?;
    let plan = Plan::new(&experiment)?;
    let control = Control::default();
    let outcome = run(&plan, &control)?;
    let mut out = std::io::stdout().lock();
    writeln!(out, "{}", serde_json::to_string_pretty(&outcome.summary)?)?;
    writeln!(out, "packet_hops {}", control.packet_hops.load(Ordering::Relaxed))?;
    Ok(())
}
