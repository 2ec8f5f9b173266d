//! Runs one experiment, given as resolved JSON, and prints its summary: for profilers and bug reports.
//!
//! `cargo run --release --example run -- experiment.json`; with `--general` behind it in the mode that fits any plan, with
//! `--set-up` no further than the first cycle, with a number on so many threads at most; with `--profile` and a number it prints
//! the time \[ns\] that each region took in every window, cut for so many threads. All traces that the experiment names are the one
//! on standard input, in format mpt 1.

use hopsim_core::engine::{Control, run_any, run_in_general};
use hopsim_experiment::config::program::ProgramConfig;
use hopsim_experiment::document;
use hopsim_experiment::plan::AnyPlan;
use hopsim_programs::formats::mpt;
use hopsim_programs::program::Program;
use std::error::Error;
use std::io::Write;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

fn main() -> Result<(), Box<dyn Error>> {
    let usage = "usage: run EXPERIMENT.json [--general|--set-up|[--profile] THREADS] [< TRACE]";
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (path, option, threads) = match &arguments[..] {
        [path] => (path, "", 1),
        [path, option] if ["--general", "--set-up"].contains(&option.as_str()) => (path, option.as_str(), 1),
        [path, threads] => (path, "", threads.parse().map_err(|_| usage)?),
        [path, option, threads] if option == "--profile" => {
            (path, option.as_str(), threads.parse().map_err(|_| usage)?)
        }
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
    let profile = (option == "--profile").then(Mutex::default);
    let control = Control { threads: AtomicUsize::new(threads), profile, ..Control::default() };
    let mut out = std::io::stdout().lock();
    if option != "--set-up" {
        let outcome = match &plan {
            AnyPlan::Network(plan) if option == "--general" => run_in_general(plan, &control),
            _ => run_any(&plan, &control),
        }?;
        writeln!(out, "{}", serde_json::to_string_pretty(&outcome.summary)?)?;
    }
    writeln!(out, "packet_hops {}", control.packet_hops.load(Ordering::Relaxed))?;
    for window in control.profile.into_iter().flat_map(|profile| profile.into_inner().unwrap_or_default()) {
        let times: Vec<String> = window.iter().map(|time| time.as_nanos().to_string()).collect();
        writeln!(out, "window {}", times.join(" "))?;
    }
    let used = control.threads_used.load(Ordering::Relaxed);
    if used > 1 {
        let seconds = |time: &AtomicU64| time.load(Ordering::Relaxed) as f64 / 1e9;
        let (worked, waited) = (seconds(&control.worked), seconds(&control.waited));
        writeln!(out, "threads {used}, worked {worked:.3} s, waited {waited:.3} s")?;
    }
    Ok(())
}
