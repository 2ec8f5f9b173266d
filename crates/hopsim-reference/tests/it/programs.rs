//! Engine and reference must tell the same of programs: the lives of all packets, and what every job took.

use crate::documents::{LIMIT, for_each_program, trial};
use crate::engine::{check_ways, compare, may_deadlock};
use hopsim_core::engine::{Control, Outcome, run_as, trace_as};
use hopsim_core::error::RunError;
use hopsim_experiment::plan::Plan;
use hopsim_measure::Column;
use hopsim_programs::graph::Clock;
use hopsim_programs::program::Program;
use hopsim_reference::metrics::{messages_table, operations_table, ranks_table, sizes_table};
use hopsim_reference::{ProgramRun, Told};
use serde_json::Value;
use std::cell::RefCell;
use std::collections::BTreeMap;

/// Runs end at a multiple of this.
pub const PERIOD: u32 = 256;

/// What must have been compared.
const COVERED: [&str; 33] = [
    "dragonfly",
    "mesh",
    "torus",
    "ring",
    "hyperx",
    "fat_tree",
    "graph",
    "minimal",
    "valiant",
    "adaptive",
    "ugal",
    "piggyback",
    "source_adaptive",
    "olm",
    "par",
    "up_down",
    "control sat",
    "control ipr",
    "control lbr",
    "sequences",
    "graphs",
    "tables",
    "collectives in graphs",
    "eager",
    "rendezvous",
    "Buffered",
    "Injected",
    "link Serial",
    "link Unlimited",
    "2 injection ports",
    "several lengths",
    "beside traffic",
    "2 jobs",
];

/// What was compared: runs by what they had, and what became of the others.
#[derive(Default)]
pub struct Coverage(RefCell<BTreeMap<String, usize>>);

impl Coverage {
    fn count(&self, name: impl Into<String>) {
        *self.0.borrow_mut().entry(name.into()).or_default() += 1;
    }

    /// Counts a run that neither brings to an end.
    fn skip(&self, why: &str) {
        self.count("not compared");
        self.count(format!("not compared: {why}"));
    }

    /// Compares engine and reference.
    pub fn compare(&self, plan: &Plan) -> Result<(), String> {
        let reference = hopsim_reference::programs(plan, PERIOD, LIMIT);
        let engine = match trace_as(plan, LIMIT, trial(plan)) {
            // Shared buffers without a reserve for every VC and rings without bubble may lock up.
            Err(RunError::Deadlock(_)) if may_deadlock(plan) && reference.is_none() => {
                self.skip("deadlock");
                return Ok(());
            }
            // What anyone may take may be missing where it is needed.
            Err(RunError::Stuck(_)) if has_graph(plan) && reference.is_none() => {
                self.skip("stuck");
                return Ok(());
            }
            Err(RunError::Unfinished(..)) if reference.is_none() => {
                self.skip("unfinished");
                return Ok(());
            }
            outcome => outcome.map_err(|e| e.to_string())?,
        };
        let reference = reference.ok_or("the reference does not come to an end")?;
        compare(&engine, &reference.traces)?;
        let outcome = run_as(plan, &Control::default(), trial(plan)).map_err(|e| e.to_string())?;
        compare_figures(plan, &outcome, &reference)?;
        self.count_all(plan, &reference);
        Ok(())
    }

    /// Panics unless everything has been compared.
    fn check(&self) {
        let counts = self.0.borrow();
        for name in COVERED {
            assert!(counts.contains_key(name), "{name}: nothing compared; {counts:?}");
        }
        assert!(self.of("compared") > 10 * self.of("not compared"), "{counts:?}");
    }

    /// How often something has been counted.
    pub fn of(&self, name: &str) -> usize {
        self.0.borrow().get(name).copied().unwrap_or_default()
    }

    fn count_all(&self, plan: &Plan, run: &ProgramRun) {
        self.count("compared");
        *self.0.borrow_mut().entry("packets".into()).or_default() += run.traces.len();
        let messages: usize = run.programs.ranks.iter().flatten().map(|rank| rank.received.len()).sum();
        *self.0.borrow_mut().entry("messages".into()).or_default() += messages;
        self.count(plan.experiment.topology.name());
        self.count(plan.experiment.routing.name());
        let control = serde_json::to_value(plan.experiment.nic.control).unwrap();
        self.count(format!("control {}", control.as_object().unwrap().keys().next().unwrap()));
        self.count(if plan.system.jobs.iter().any(|job| job.traffic().is_some()) {
            "beside traffic"
        } else {
            "alone"
        });
        self.count(format!("{} jobs", plan.system.jobs.len()));
        self.count(format!("link {:?}", plan.system.nic.injection_link));
        self.count(format!("{} injection ports", plan.experiment.nic.injection_ports));
        let several = plan.system.shortest_packet() < plan.system.longest_packet();
        self.count(if several { "several lengths" } else { "one length" });
        for program in plan.system.jobs.iter().filter_map(|job| job.program()) {
            self.count(match &program.program {
                Program::Graph(graph) if graph.clock != Clock::Nanoseconds => "tables",
                Program::Graph(graph) if graph.communicators.len() > 1 => "collectives in graphs",
                Program::Graph(_) => "graphs",
                Program::Script(_) | Program::Search(_) | Program::External(_) => "sequences",
            });
            let rules = &program.rules;
            self.count(if rules.eager_limit.is_some() { "rendezvous" } else { "eager" });
            self.count(format!("{:?}", rules.send_completes));
        }
    }
}

/// Whether some program is a graph.
fn has_graph(plan: &Plan) -> bool {
    let programs = plan.system.jobs.iter().filter_map(|job| job.program());
    programs.into_iter().any(|program| matches!(program.program, Program::Graph(_)))
}

/// Compares what every job with a program took.
pub fn compare_figures(plan: &Plan, outcome: &Outcome, reference: &ProgramRun) -> Result<(), String> {
    for ((job, record), ranks) in plan.system.jobs.iter().zip(&outcome.jobs).zip(&reference.programs.ranks) {
        let Some(program) = job.program() else { continue };
        for (name, expected) in figures(ranks, program.start) {
            let found = record.get(name).and_then(Value::as_f64);
            let agrees = match (found, expected) {
                // The engine counts latencies in classes that are a thousandth wide.
                (Some(found), Some(expected)) if name.starts_with("message_latency_p") => {
                    (found - expected).abs() <= expected / 500.0
                }
                (Some(found), Some(expected)) => (found - expected).abs() <= 1e-9 * expected.abs(),
                (found, expected) => found.is_none() && expected.is_none(),
            };
            if !agrees {
                let name = format!("{name} of {}", job.name());
                return Err(format!("{name}: the engine says {found:?}, the reference {expected:?}"));
            }
        }
    }
    compare_tables(plan, outcome, reference)
}

/// Compares the tables of ranks, messages, operations and sizes.
fn compare_tables(plan: &Plan, outcome: &Outcome, reference: &ProgramRun) -> Result<(), String> {
    let programs = &reference.programs;
    let tables = [
        ("ranks", ranks_table(plan, programs)),
        ("messages", messages_table(plan, programs)),
        ("operations", operations_table(plan, programs)),
        ("message_sizes", sizes_table(plan, programs)),
    ];
    for (name, expected) in tables {
        let found = outcome.tables.iter().find(|table| table.0 == name).map_or(&[][..], |table| &table.1);
        if found.len() != expected.len() {
            return Err(format!("{name}: {} columns, the reference has {}", found.len(), expected.len()));
        }
        for ((column, found), (expected_name, expected)) in found.iter().zip(&expected) {
            if column != expected_name || !agree(column, found, expected) {
                return Err(format!(
                    "{column} of {name}: the engine says {found:?}, the reference {expected:?}"
                ));
            }
        }
    }
    Ok(())
}

/// Whether two columns say the same. The engine counts latencies in classes that are a thousandth wide.
fn agree(name: &str, found: &Column, expected: &Column) -> bool {
    match (found, expected) {
        (Column::Named { names, rows }, Column::Text(expected)) => {
            rows.iter().map(|&row| &names[usize::from(row)]).eq(expected)
        }
        (Column::F64(found), Column::F64(expected)) => {
            found.len() == expected.len()
                && found
                    .iter()
                    .zip(expected)
                    .all(|(found, expected)| (found - expected).abs() <= 1e-9 * expected)
        }
        (Column::U64(found), Column::U64(expected)) if name.starts_with("latency_p") => {
            found.len() == expected.len()
                && found
                    .iter()
                    .zip(expected)
                    .all(|(found, expected)| found.abs_diff(*expected) * 500 <= *expected)
        }
        (found, expected) => found == expected,
    }
}

/// The figures of a job whose ranks told this.
fn figures(ranks: &[Told], start: u32) -> Vec<(&'static str, Option<f64>)> {
    let finish = |rank: &Told| u64::from(rank.finish - start);
    let wait = |rank: &Told| finish(rank) - rank.compute - rank.overhead;
    let mean =
        |of: &dyn Fn(&Told) -> u64| Some(ranks.iter().map(of).sum::<u64>() as f64 / ranks.len() as f64);
    let most = |of: &dyn Fn(&Told) -> u64| ranks.iter().map(of).max().map(|most| most as f64);
    let received = || ranks.iter().flat_map(|rank| &rank.received);
    let mut latencies: Vec<u32> = received().map(|&(_, latency)| latency).collect();
    latencies.sort_unstable();
    let count = latencies.len();
    let quantile = |share: f64| {
        let place = ((share * count as f64).ceil() as usize).saturating_sub(1);
        latencies.get(place).map(|&latency| f64::from(latency))
    };
    let total = latencies.iter().map(|&latency| u64::from(latency)).sum::<u64>() as f64;
    vec![
        ("execution_time", most(&finish)),
        ("rank_finish_min", ranks.iter().map(finish).min().map(|least| least as f64)),
        ("rank_finish_mean", mean(&finish)),
        ("compute_time_mean", mean(&|rank| rank.compute)),
        ("compute_time_max", most(&|rank| rank.compute)),
        ("overhead_time_mean", mean(&|rank| rank.overhead)),
        ("wait_time_mean", mean(&wait)),
        ("wait_time_max", most(&wait)),
        ("messages", Some(count as f64)),
        ("message_bytes", Some(received().map(|&(bytes, _)| bytes).sum::<u64>() as f64)),
        ("message_latency_mean", (count > 0).then(|| total / count as f64)),
        ("message_latency_p50", quantile(0.5)),
        ("message_latency_p99", quantile(0.99)),
        ("message_latency_max", latencies.last().map(|&latency| f64::from(latency))),
    ]
}

#[test]
fn engine_and_reference_agree_on_programs() {
    let coverage = Coverage::default();
    for_each_program((180, 6), |plan| coverage.compare(plan));
    coverage.check();
}

#[test]
#[ignore = "takes minutes"]
fn engine_and_reference_agree_on_many_programs() {
    let coverage = Coverage::default();
    for seed in 10..20 {
        for_each_program((300, seed), |plan| coverage.compare(plan));
    }
    coverage.check();
}

#[test]
fn results_of_programs_do_not_depend_on_cut_threads_and_order_of_mail() {
    for_each_program((40, 7), check_ways);
}
