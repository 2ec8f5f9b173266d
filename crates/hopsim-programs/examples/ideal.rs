//! Runs the trace on standard input on the ideal network and prints what `traces.csv` has of it: to count instructions.

#![allow(clippy::print_stdout, reason = "it is what the example is for")]

use hopsim_programs::formats::mpt;
use hopsim_programs::host::rules::{Rules, SendCompletes};
use hopsim_programs::host::{Figures, Host};
use hopsim_programs::ideal::{Ejection, Ideal, Latency, Network};
use hopsim_programs::record::Script;
use hopsim_programs::units::Fraction;
use std::sync::Arc;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().collect();
    let setting = arguments.get(1).map_or("base", String::as_str);
    let speed = arguments.get(2).map_or("1", String::as_str);
    let trace: Arc<dyn Script> = Arc::new(mpt::read(std::io::stdin().lock())?);
    let mut network =
        Network { latency: Latency::Constant(500), cycles_per_phit: 1, ejection: Ejection::Unlimited };
    let mut rules = Rules { packet_length: 1024, ..Rules::default() };
    rules.cycles_per_nanosecond = Fraction::from_decimal(speed).map(Fraction::inverse);
    match setting {
        "instant" => (network.latency, network.cycles_per_phit) = (Latency::Constant(1), 0),
        "overheads" => (rules.send_overhead, rules.receive_overhead, rules.gap) = (200, 200, 100),
        "rendezvous" => rules.eager_limit = Some(8192),
        "synchronous" => rules.eager_limit = Some(0),
        "injected" => rules.send_completes = SendCompletes::Injected,
        "serial_ejection" => network.ejection = Ejection::Serial,
        "fsin_collectives" => rules.collectives = hopsim_programs::collectives::Choices::fsin(),
        _ => {}
    }
    let rules = Arc::new(rules);
    let ranks = 0..trace.ranks();
    let begun = std::time::Instant::now();
    let hosts = ranks.map(|rank| Host::of_script(rank, &trace, &rules)).collect();
    let mut ideal = Ideal::new(network, hosts, 0);
    ideal.advance(u32::MAX, |_, _| ());
    eprintln!("{:?} {:?}", ideal.verdict(), begun.elapsed());
    let figures: Vec<Figures> = ideal.hosts().iter().map(Host::figures).collect();
    let sum = |of: fn(&Figures) -> u64| figures.iter().map(of).sum::<u64>();
    let finish = || figures.iter().map(|f| f.finish);
    let wait = |f: &Figures| u64::from(f.finish) - f.compute - f.overhead;
    let compute_max = figures.iter().map(|f| f.compute).max().unwrap_or(0);
    let latency_max = figures.iter().map(|f| f.latency_max).max().unwrap_or(0);
    println!(
        "{},{setting},{speed},{},{},{},{compute_max},{},{},{},{},{},{},{latency_max}",
        arguments.get(3).map_or("", String::as_str),
        finish().max().unwrap_or(0),
        finish().min().unwrap_or(0),
        sum(|f| f.finish.into()),
        sum(|f| f.compute),
        sum(|f| f.overhead),
        sum(wait),
        sum(|f| f.messages_sent),
        sum(|f| f.bytes_sent),
        sum(|f| f.latency_sum),
    );
    Ok(())
}
