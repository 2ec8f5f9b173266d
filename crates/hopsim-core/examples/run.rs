//! Runs one experiment, given as resolved JSON, and prints its summary: for profilers and bug reports.
//!
//! `cargo run --release --example run -- experiment.json`; with `--general` behind it in the mode that fits any plan.

use hopsim_core::config::Experiment;
use hopsim_core::engine::{Control, run, run_in_general};
use hopsim_core::plan::Plan;
use std::error::Error;
use std::io::Write;
use std::sync::atomic::Ordering;

fn main() -> Result<(), Box<dyn Error>> {
    let usage = "usage: run EXPERIMENT.json [--general]";
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (path, general) = match &arguments[..] {
        [path] => (path, false),
        [path, option] if option == "--general" => (path, true),
        _ => return Err(usage.into()),
    };
    let experiment: Experiment = serde_json::from_str(&std::fs::read_to_string(path)?)?;
    let plan = Plan::new(&experiment)?;
    let control = Control::default();
    let outcome = if general { run_in_general(&plan, &control) } else { run(&plan, &control) }?;
    let mut out = std::io::stdout().lock();
    writeln!(out, "{}", serde_json::to_string_pretty(&outcome.summary)?)?;
    writeln!(out, "packet_hops {}", control.packet_hops.load(Ordering::Relaxed))?;
    Ok(())
}
