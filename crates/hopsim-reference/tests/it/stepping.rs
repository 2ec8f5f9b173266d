//! Messages that are injected one by one arrive as those of a table of traffic do, in the engine and in the reference.

use crate::documents::{Document, LIMIT, for_each_program};
use hopsim_core::engine::stepping::{DeliveredMessage, Stepping};
use hopsim_core::engine::{Control, Outcome, Trial, run};
use hopsim_cycles::choices::InjectionLink;
use hopsim_experiment::config::measure::RecordStream;
use hopsim_experiment::config::program::{
    ExternalConfig, FileConfig, HostConfig, ProgramConfig, UnitsConfig,
};
use hopsim_experiment::plan::{AnyPlan, Plan};
use hopsim_measure::{Column, Table};
use hopsim_programs::formats::Format;
use hopsim_programs::program::Program;
use hopsim_random::{Purpose, Stream};
use hopsim_reference::metrics::messages_table;
use serde_json::json;
use std::cell::Cell;
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// Bytes of a phit.
const PHIT: u32 = 4;

/// A message of a job: when, from which rank to which, and how long.
#[derive(Clone, Copy)]
struct Row {
    cycle: u32,
    job: usize,
    ranks: (u32, u32),
    phits: u32,
}

/// What becomes of a message: when it joined the queue of its node, and when it arrived. By job, source and number there.
type Fates = BTreeMap<(usize, u32, usize), (u32, u32)>;

/// Random messages for the jobs of a plan that run programs, by cycle. One of them has the last rank, so that a table has as many.
fn rows(plan: &Plan) -> Vec<Row> {
    let mut stream = Stream::new(plan.experiment.measure.seed, Purpose::Pattern, u64::MAX);
    let mut rows = Vec::new();
    for (job, program) in plan.system.programs().all {
        let ranks = program.nodes.len() as u32;
        if ranks == 1 {
            continue;
        }
        for number in 0..=stream.below(50) {
            let source = stream.below(ranks);
            let other = (source + 1 + stream.below(ranks - 1)) % ranks;
            let ranks = if number == 0 { (ranks - 1, 0) } else { (source, other) };
            let phits = 1 + if stream.below(8) == 0 { stream.below(400) } else { stream.below(40) };
            rows.push(Row { cycle: stream.below(1_500), job, ranks, phits });
        }
    }
    rows.sort_by_key(|row| row.cycle);
    rows
}

/// The plan of the same network and hosts with other programs.
fn with(
    plan: &Plan,
    streams: &[RecordStream],
    program: impl Fn(usize) -> ProgramConfig,
) -> Result<Plan, String> {
    let mut experiment = plan.experiment.clone();
    experiment.units = Some(UnitsConfig { cycle: "1 ns".into(), phit: format!("{PHIT} B") });
    experiment.measure.streams = streams.to_vec();
    for (number, job) in experiment.jobs.iter_mut().enumerate().filter(|(_, job)| job.program.is_some()) {
        let host = job.host.take().unwrap_or_default();
        let HostConfig { packet_length, header_length, last_packet, gap, .. } = host;
        job.host =
            Some(HostConfig { packet_length, header_length, last_packet, gap, ..HostConfig::default() });
        (job.start, job.program) = (0, Some(program(number)));
    }
    let library = |program: &ProgramConfig| -> Result<Program, String> {
        let ProgramConfig::Table(table) = program else { return Err("is in no file".into()) };
        let contents = Format::Table.read(table.file.as_bytes()).map_err(|error| error.to_string())?;
        Ok(contents.program())
    };
    Plan::with_programs(&experiment, &library).map_err(|error| error.to_string())
}

/// The messages as tables of traffic.
fn as_tables(plan: &Plan, rows: &[Row]) -> Result<Plan, String> {
    let streams = [RecordStream::Messages, RecordStream::MessageSizes, RecordStream::Nodes];
    with(plan, &streams, |number| {
        let mut file = "time_cycles,source,destination,bytes\n".to_owned();
        for Row { cycle, ranks: (source, destination), phits, .. } in
            rows.iter().filter(|row| row.job == number)
        {
            writeln!(file, "{cycle},{source},{destination},{}", phits * PHIT).unwrap();
        }
        ProgramConfig::Table(FileConfig { file, sha256: None })
    })
}

/// When the last packet of every message was admitted: where the wire of a node carries a phit per cycle the message has left so many
/// cycles later as that packet is long.
fn admissions(plan: &Plan, rows: &[Row], table: &Table) -> Admissions {
    let is_serial = plan.system.nic.injection_link == InjectionLink::Serial;
    let left = fates(plan, table, ["joined", "left"]);
    let mut sent: BTreeMap<(usize, u32), usize> = BTreeMap::new();
    let admission = |row: &Row| {
        let number = sent.entry((row.job, row.ranks.0)).or_default();
        let (_, left) = left[&(row.job, row.ranks.0, *number)];
        *number += 1;
        let job = plan.system.jobs[row.job].program().unwrap();
        let packets = job.rules.packets(u64::from(row.phits * PHIT));
        let length = if is_serial { packets.length_of(packets.count - 1) } else { 0 };
        (job.nodes[row.ranks.0 as usize], left - length)
    };
    rows.iter().map(admission).collect()
}

/// What became of the messages in a table.
fn of_table(plan: &Plan, table: &Table) -> Fates {
    fates(plan, table, ["joined", "arrived"])
}

/// Two cycles of every message in a table.
fn fates(plan: &Plan, table: &Table, columns: [&str; 2]) -> Fates {
    let numbers = |name: &str| match table.iter().find(|column| column.0 == name) {
        Some((_, Column::U32(numbers))) => numbers.clone(),
        other => panic!("{name}: {other:?}"),
    };
    let names: Vec<String> = match &table[0].1 {
        Column::Named { names, rows } => rows.iter().map(|&row| names[usize::from(row)].clone()).collect(),
        Column::Text(names) => names.clone(),
        other => panic!("{other:?}"),
    };
    let mut fates = Fates::new();
    let mut sent: BTreeMap<(usize, u32), usize> = BTreeMap::new();
    let times = numbers(columns[0]).into_iter().zip(numbers(columns[1]));
    for ((name, source), times) in names.iter().zip(numbers("source")).zip(times) {
        let job = plan.system.jobs.iter().position(|job| job.name() == name).unwrap();
        let number = sent.entry((job, source)).or_default();
        fates.insert((job, source, *number), times);
        *number += 1;
    }
    fates
}

/// How a simulation is driven.
#[derive(Clone, Copy, Debug)]
struct Way {
    /// Most cycles of a step.
    step: u32,
    trial: Trial,
    /// Whether deliveries, and what waits, are asked for after every step.
    asks: bool,
}

/// The cycle in which the last packet of every message is admitted, by the node of the message.
type Admissions = Vec<(u32, u32)>;

/// Compares the messages that wait at all nodes that are driven with those whose last packet is still to be admitted.
fn compare_waiting(
    simulation: &Stepping,
    rows: &[Row],
    admissions: &Admissions,
    injected: usize,
) -> Result<(), String> {
    for node in simulation.nodes() {
        let messages = rows[..injected].iter().zip(admissions);
        let expected =
            messages.filter(|(_, (from, admitted))| *from == node && *admitted >= simulation.now()).count();
        let found = simulation.waiting(node).map_err(|error| error.to_string())?;
        if found != expected {
            return Err(format!(
                "at cycle {} {found} messages wait at node {node}, expected {expected}",
                simulation.now()
            ));
        }
    }
    Ok(())
}

/// Drives the messages through a plan up to cycle `end`. Returns what was delivered, in order, and what was measured.
fn driven(
    plan: &Plan,
    (rows, admissions): (&[Row], &Admissions),
    end: u32,
    way: Way,
) -> Result<(Vec<DeliveredMessage>, Outcome), String> {
    let boxed = AnyPlan::Network(Box::new(plan.clone()));
    let mut simulation = Stepping::new_as(boxed, way.trial).map_err(|error| error.to_string())?;
    let mut delivered = Vec::new();
    let mut injected = 0;
    while simulation.now() < end {
        while let Some(&Row { job, ranks: (source, destination), phits, .. }) =
            rows.get(injected).filter(|row| row.cycle == simulation.now())
        {
            injected += 1;
            let nodes = plan.system.jobs[job].nodes();
            let pair = (nodes[source as usize], nodes[destination as usize]);
            let number = simulation.inject(pair, phits, 7).map_err(|error| error.to_string())?;
            assert!(u64::from(phits) > 0 && number < u64::MAX);
        }
        let next = rows.get(injected).map_or(end, |row| row.cycle).min(end);
        let step = (next - simulation.now()).min(way.step);
        simulation.step(step.into(), &mut || true).map_err(|error| error.to_string())?;
        if way.asks {
            compare_waiting(&simulation, rows, admissions, injected)?;
            delivered.append(&mut simulation.take_delivered());
        }
    }
    delivered.append(&mut simulation.take_delivered());
    let outcome = simulation.results().map_err(|error| error.to_string())?;
    Ok((delivered, outcome))
}

/// What became of the messages that were delivered.
fn of_messages(plan: &Plan, rows: &[Row], delivered: &[DeliveredMessage]) -> Fates {
    let mut sent: BTreeMap<(usize, u32), usize> = BTreeMap::new();
    let mut places = Vec::new();
    for Row { job, ranks, phits, .. } in rows {
        let number = sent.entry((*job, ranks.0)).or_default();
        places.push(((*job, ranks.0, *number), *phits));
        *number += 1;
    }
    let fate = |message: &DeliveredMessage| {
        let (place, phits) = places[message.number as usize];
        let nodes = plan.system.jobs[place.0].nodes();
        assert_eq!((message.source, message.phits, message.tag), (nodes[place.1 as usize], phits, 7));
        assert_eq!(
            message.destination, nodes[rows[message.number as usize].ranks.1 as usize],
            "the node that it was for"
        );
        (place, (message.injected, message.delivered))
    };
    delivered.iter().map(fate).collect()
}

/// The ways in which a simulation is driven. All of them must come to the same.
const WAYS: [Way; 4] = [
    Way { step: 1_000, trial: WHOLE, asks: false },
    Way {
        step: 1_000,
        trial: Trial { finest: true, threads: 3, varies: true, reversed: true, ..WHOLE },
        asks: true,
    },
    Way { step: 1, trial: WHOLE, asks: true },
    Way { step: 1, trial: Trial { finest: true, ..WHOLE }, asks: false },
];

/// A network that is not cut, on one thread.
const WHOLE: Trial =
    Trial { finest: false, threads: 1, reversed: false, stretched: 0, panics: None, varies: false };

/// Compares a run of tables with simulations that are driven. Returns how many messages were compared.
fn compare(plan: &Plan, reference: bool) -> Result<usize, String> {
    let external = with(plan, &[RecordStream::MessageSizes, RecordStream::Nodes], |_| {
        ProgramConfig::External(ExternalConfig {})
    })?;
    let rows = rows(&external);
    let tables = as_tables(plan, &rows)?;
    let Ok(outcome) = run(&tables, &Control::default()) else { return Ok(0) };
    let messages = |outcome: &Outcome| outcome.tables.iter().find(|table| table.0 == "messages").cloned();
    let expected = if reference {
        let Some(run) = hopsim_reference::programs(&tables, 256, LIMIT) else { return Ok(0) };
        of_table(&tables, &messages_table(&tables, &run.programs))
    } else {
        of_table(&tables, &messages(&outcome).unwrap().1)
    };
    assert_eq!(expected.len(), rows.len());
    let admissions = admissions(&tables, &rows, &messages(&outcome).unwrap().1);
    let end = outcome.summary["cycles"].as_u64().unwrap() as u32;
    let mut first: Option<(Vec<DeliveredMessage>, String)> = None;
    for way in WAYS {
        let (delivered, measured) = driven(&external, (&rows, &admissions), end, way)?;
        let found = of_messages(&external, &rows, &delivered);
        if found != expected {
            return Err(format!("{way:?}: delivered {found:?}\nexpected {expected:?}"));
        }
        let order: Vec<_> = delivered.iter().map(|message| (message.delivered, message.number)).collect();
        assert!(order.is_sorted(), "{order:?}");
        compare_outcomes(&measured, &outcome)?;
        let told = (delivered, format!("{measured:?}"));
        if *first.get_or_insert_with(|| told.clone()) != told {
            return Err(format!("{way:?}: {told:?}\nexpected {first:?}"));
        }
    }
    Ok(rows.len())
}

/// Compares what was measured, but for what a program that is driven has not.
fn compare_outcomes(found: &Outcome, expected: &Outcome) -> Result<(), String> {
    let records =
        std::iter::once((&found.summary, &expected.summary)).chain(found.jobs.iter().zip(&expected.jobs));
    for (found, expected) in records {
        for (key, value) in found.iter().filter(|(_, value)| !value.is_null()) {
            if expected.get(key) != Some(value) {
                return Err(format!("{key} = {value}, expected {:?}", expected.get(key)));
            }
        }
    }
    for name in ["nodes", "message_sizes"] {
        let table =
            |outcome: &Outcome| outcome.tables.iter().find(|table| table.0 == name).map(|t| format!("{t:?}"));
        if table(found).is_none() || table(found) != table(expected) {
            return Err(format!("{name}: {:?}\nexpected {:?}", table(found), table(expected)));
        }
    }
    Ok(())
}

#[test]
fn the_signal_of_sat_passes_a_node_whose_message_is_injected_in_that_cycle() {
    for seed in 0..20 {
        let document = json!({
            "topology": { "ring": { "routers": 5 } },
            "routing": { "minimal": {} },
            "router": { "input_queued": {} },
            "nic": { "control": { "sat": { "l": 1, "k": 2 } } },
            "units": { "cycle": "1 ns", "phit": "4 B" },
            "jobs": [{
                "program": { "list": { "mpt": "mpt 1\nname x\nranks 5\ncomm 0 5 0 1 2 3 4\nrank 0 0\nrank 1 0\nrank 2 0\nrank 3 0\nrank 4 0\nend\n" } },
                "host": { "packet_length": 4 },
            }],
            "measure": { "seed": seed },
        });
        assert!(compare(&Document(document).plan().unwrap(), false).unwrap() > 0, "seed {seed}");
    }
}

#[test]
fn messages_that_are_injected_arrive_as_those_of_a_table_do() {
    let (compared, messages) = (Cell::new(0), Cell::new(0));
    for_each_program((120, 41), |plan| {
        let count = compare(plan, false)?;
        compared.set(compared.get() + usize::from(count > 0));
        messages.set(messages.get() + count);
        Ok(())
    });
    assert!(compared.get() > 100 && messages.get() > 3_000, "{} {}", compared.get(), messages.get());
}

#[test]
fn messages_that_are_injected_arrive_as_the_reference_says() {
    let compared = Cell::new(0);
    for_each_program((25, 42), |plan| {
        compared.set(compared.get() + usize::from(compare(plan, true)? > 0));
        Ok(())
    });
    assert!(compared.get() > 20, "{}", compared.get());
}
