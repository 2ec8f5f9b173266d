//! Runs a document, as resolved JSON, whose program is the trace on standard input, and prints the records of its jobs: to count
//! instructions.
#![expect(clippy::print_stdout, reason = "a program")]

use hopsim_core::config::document;
use hopsim_core::engine::{self, Control};
use hopsim_core::plan::Plan;
use hopsim_programs::formats::mpt;
use hopsim_programs::program::Program;
use std::sync::Arc;

fn main() {
    let path = std::env::args().nth(1).expect("a document");
    let text = std::fs::read_to_string(path).expect("it can be read");
    let experiment = document::from_json(&text).expect("it is valid");
    let trace = Arc::new(mpt::read(std::io::stdin().lock()).expect("a trace"));
    let plan = Plan::with_programs(&experiment, &|_| Ok(Program::Script(trace.clone())));
    let plan = match plan {
        Ok(plan) => plan,
        Err(error) => {
            println!("{error}");
            return;
        }
    };
    let begun = std::time::Instant::now();
    match engine::run(&plan, &Control::default()) {
        Ok(outcome) => println!("{}", serde_json::to_string(&outcome.jobs).expect("json")),
        Err(error) => println!("{error}"),
    }
    eprintln!("{:?}", begun.elapsed());
}
