//! Runs one experiment, given as resolved JSON, and prints its summary: for profilers and bug reports.
//!
//! `cargo run --release --example run -- experiment.json`; with `--general` behind it in the mode that fits any plan, with
//! `--set-up` no further than the first cycle, with a number on so many threads at most. All traces that the experiment names are
//! the one on standard input, in format mpt 1.

use hopsim_core::config::document;
use hopsim_core::config::program::ProgramConfig;
use hopsim_core::engine::{Control, run_any, run_in_general};
use hopsim_core::plan::AnyPlan;
use hopsim_programs::formats::mpt;
use hopsim_programs::program::Program;
use std::error::Error;
use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

fn main() -> Result<(), Box<dyn Error>> {
    let usage = "usage: run EXPERIMENT.json [--general|--set-up|THREADS] [< TRACE]";
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (path, option, threads) = match &arguments[..] {
        [path] => (path, "", 1),
        [path, option] if ["--general", "--set-up"].contains(&option.as_str()) => (path, option.as_str(), 1),
        [path, threads] => (path, "", threads.parse().map_err(|_| usage)?),
        _ => return Err(usage.into()),
    };
    let experiment = document::from_json(&std::fs::read_to_string(path)?)?;
    let is_trace = |program: &Option<ProgramConfig>| matches!(program, Some(ProgramConfig::Trace(_)));
    let has_traces = experiment.jobs.iter().any(|job| is_trace(&job.program));
    let trace = if has_traces { Some(Arc::new(mpt::read(std::io::stdin().lock())?)) } else { None };
    let library = |_: &_| match &trace {
        Some(trace) => Ok(Program::Script(trace.clone())),
        None => Err("only traces are read".into()),
    };
    let plan = AnyPlan::new(&experiment, &library)?;
    let control = Control { threads: AtomicUsize::new(threads), ..Control::default() };
    let mut out = std::io::stdout().lock();
    if option != "--set-up" {
        let outcome = match &plan {
            AnyPlan::Network(plan) if option == "--general" => run_in_general(plan, &control),
            _ => run_any(&plan, &control),
        }?;
        writeln!(out, "{}", serde_json::to_string_pretty(&outcome.summary)?)?;
    }
    writeln!(out, "packet_hops {}", control.packet_hops.load(Ordering::Relaxed))?;
    let used = control.threads_used.load(Ordering::Relaxed);
    if used > 1 {
        let seconds = |time: &AtomicU64| time.load(Ordering::Relaxed) as f64 / 1e9;
        let (worked, waited) = (seconds(&control.worked), seconds(&control.waited));
        writeln!(out, "threads {used}, worked {worked:.3} s, waited {waited:.3} s")?;
    }
    Ok(())
}
