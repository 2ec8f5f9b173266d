//! Random programs that come to an end, and hosts for them.
//!
//! Messages, collective operations and computations have an order among all ranks, in which every rank does its part of them.
//! Receives may be posted earlier and what does not block is waited for later. So the first thing in this order that is not done
//! can always go on.

mod graph;
mod sequence;
mod table;

use super::measure::OF_PROGRAMS;
use super::network::nodes;
use super::traffic::longest_packet;
use super::{Document, document_with, mostly, one_of};
use hopsim_experiment::config::program::ProgramConfig;
use hopsim_programs::formats::{Contents, Format};
use hopsim_programs::program::Program;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Value, json};

/// Cycles after which a run is given up.
pub const LIMIT: u32 = 30_000;

/// Tag of messages that are received from any source.
const ANYONE: u32 = 9;

/// What happens next, in numbers that mean something only when it is known how many ranks there are.
#[derive(Clone, Debug)]
struct Draw {
    what: u8,
    /// Who with whom.
    who: [u32; 3],
    /// How much.
    size: u64,
    /// Whether the sender and the receiver wait, and whether some receive is posted before.
    blocks: [bool; 2],
    ahead: bool,
}

/// In which form a program is written.
#[derive(Clone, Copy, Debug)]
enum Form {
    Sequence,
    Graph,
    /// A graph with collective operations.
    Calls,
    Table,
}

/// A program and its host.
#[derive(Clone, Debug)]
pub struct Workload {
    ranks: u32,
    /// Which nodes it gets.
    turn: usize,
    draws: Vec<Draw>,
    form: Form,
    host: Value,
    header: u32,
    start: u32,
}

/// An experiment with a program or two.
pub fn document(common: u32) -> impl Strategy<Value = Document> {
    let cycle = one_of(&["1 ns", "0.7 ns", "1.6 ns", "3 ns"]);
    let phit = one_of(&["4 B", "2.5 B", "16 B"]);
    (document_with(common, programs(common)), cycle, phit).prop_map(|(mut document, cycle, phit)| {
        document.0["units"] = json!({ "cycle": cycle, "phit": phit });
        document
    })
}

/// A program or two.
pub fn programs(common: u32) -> impl Strategy<Value = Vec<Option<Workload>>> {
    let one = || workload(common);
    prop_oneof![
        1 => one().prop_map(|only| vec![Some(only)]),
        2 => (one(), one()).prop_map(|(first, second)| vec![Some(first), Some(second)]),
    ]
}

fn draw() -> impl Strategy<Value = Draw> {
    let size = prop_oneof![1 => Just(0), 8 => 0..200u64, 2 => 0..3000u64];
    (any::<u8>(), any::<[u32; 3]>(), size, any::<[bool; 2]>(), any::<bool>())
        .prop_map(|(what, who, size, blocks, ahead)| Draw { what, who, size, blocks, ahead })
}

fn workload(common: u32) -> impl Strategy<Value = Workload> {
    let draws = prop::collection::vec(draw(), 0..60);
    let form = prop_oneof![6 => Just(Form::Sequence), 2 => Just(Form::Graph), 1 => Just(Form::Calls), 1 => Just(Form::Table)];
    (2..=9u32, any::<u8>(), (draws, form), host(common), 0..4u32, select(vec![0, 0, 17, 300])).prop_map(
        |(ranks, turn, (draws, form), host, header, start)| Workload {
            ranks,
            turn: turn.into(),
            draws,
            form,
            host,
            header,
            start,
        },
    )
}

fn host(common: u32) -> impl Strategy<Value = Value> {
    let cycles = || mostly(common, 0..=3, &[20, 150]);
    let speed = select(vec![json!(1), json!(4), json!(0.3), json!(7.7), json!("infinite")]);
    let limit = select(vec![json!("none"), json!("none"), json!(0), json!(60), json!(200)]);
    let completes = one_of(&["buffered", "injected"]);
    let last = one_of(&["short", "short", "full"]);
    let algorithm = select(vec![None, None, Some("fsin"), Some("other")]);
    ((cycles(), cycles(), cycles()), speed, limit, (completes, last), any::<bool>(), algorithm).prop_map(
        |((send, receive, gap), speed, limit, (completes, last), first, algorithm)| {
            let mut host = json!({
                "send_overhead": send, "receive_overhead": receive, "gap": gap * 2, "cpu_speed": speed,
                "eager_limit": limit, "send_completes": completes, "last_packet": last,
            });
            let queues = [Some(2), None, Some(1), None, Some(7)];
            if let Some(packets) = queues[(send + 2 * receive + 3 * gap) as usize % queues.len()] {
                host["nic_queue"] = json!(packets);
            }
            // What anyone may take, and exchanges by sends that block, may wait for ever by rendezvous.
            if host["eager_limit"] == "none" {
                host["any_source"] = json!(if first { "first" } else { "recorded" });
            }
            match algorithm {
                Some("fsin") if host["eager_limit"] == "none" => {
                    let kinds = ["barrier", "allreduce", "alltoall", "bcast", "reduce"];
                    host["collectives"] = kinds.iter().map(|&kind| (kind, json!("fsin"))).collect();
                }
                Some("other") => {
                    host["collectives"] = json!({
                        "allreduce": "ring", "allgather": "ring", "alltoall": "bruck", "bcast": "scatter_ring",
                    });
                }
                _ => {}
            }
            host
        },
    )
}

/// Jobs that will run programs send packets only, of the greatest length that they have.
pub fn make_room(document: &mut Value, programs: &[Option<Workload>]) {
    let jobs = document["jobs"].as_array_mut().unwrap();
    for (job, _) in jobs.iter_mut().zip(programs).filter(|(_, program)| program.is_some()) {
        job["traffic"] = json!({ "packet_length": longest_packet(job) });
    }
}

/// Puts programs into the first jobs.
pub fn place(document: &mut Value, programs: &[Option<Workload>]) {
    if programs.is_empty() {
        return;
    }
    let all = nodes(&document["topology"]);
    for (job, work) in document["jobs"].as_array_mut().unwrap().iter_mut().zip(programs) {
        let Some(work) = work else { continue };
        let length = job["traffic"]["packet_length"].as_u64().unwrap();
        job.as_object_mut().unwrap().remove("traffic");
        let mut own: Vec<u64> = match job["placement"]["list"].as_array() {
            Some(list) => list.iter().map(|node| node.as_u64().unwrap()).collect(),
            None => (0..all).collect(),
        };
        // Neither all on the first nodes nor in their order.
        let count = own.len();
        own.rotate_left(work.turn % count);
        let ranks = count.min(work.ranks as usize);
        let stride = (1..count).rev().find(|stride| gcd(*stride, count) == 1 && stride * 3 < count * 2);
        let list: Vec<u64> = (0..ranks).map(|rank| own[rank * stride.unwrap_or(1) % count]).collect();
        job["placement"] = json!({ "list": list });
        job["host"] = work.host.clone();
        job["host"]["packet_length"] = json!(length);
        job["host"]["header_length"] = json!(u64::from(work.header).min(length - 1));
        job["start"] = json!(work.start);
        let ranks = ranks as u32;
        job["program"] = match work.form {
            Form::Sequence => json!({ "list": { "mpt": sequence::text(ranks, &work.draws) } }),
            Form::Graph => json!({ "goal": { "file": graph::text(ranks, &work.draws) } }),
            Form::Calls => json!({ "chakra": { "file": graph::text(ranks, &work.draws) } }),
            Form::Table => {
                job["host"].as_object_mut().unwrap().remove("cpu_speed");
                json!({ "table": { "file": table::text(ranks, &work.draws) } })
            }
        };
    }
    let measure = document["measure"].as_object_mut().unwrap();
    for key in ["warmup", "cycles", "batches"] {
        measure.remove(key);
    }
    measure.insert("streams".to_owned(), json!(OF_PROGRAMS));
    measure.insert("max_cycles".to_owned(), json!(LIMIT));
}

fn gcd(a: usize, b: usize) -> usize {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// The program that a document names: here that is its text. What is said to be in Chakra is GOAL and gets collective operations.
pub fn library(program: &ProgramConfig) -> Result<Program, String> {
    let (format, text) = match program {
        ProgramConfig::Goal(config) => (Format::Goal, &config.file),
        ProgramConfig::Chakra(config) => (Format::Goal, &config.file),
        ProgramConfig::Table(config) => (Format::Table, &config.file),
        _ => return Err("is in no file".to_owned()),
    };
    let mut contents = format.read(text.as_bytes()).map_err(|error| error.to_string())?;
    if let (ProgramConfig::Chakra(_), Contents::Graph(graph)) = (program, &mut contents) {
        graph::add_calls(graph);
    }
    Ok(contents.program())
}
