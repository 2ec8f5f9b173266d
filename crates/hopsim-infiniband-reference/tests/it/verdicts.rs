//! Verdicts on fabrics: what the engine says is what follows from the facts of the reference, by *Measurement* in
//! `docs/infiniband.md` and *Verdict* in `docs/model.md`.

use crate::fabrics::workload::{Players, Role};
use hopsim_core::engine::{Control, Outcome, run_any};
use hopsim_experiment::config::infiniband::messages::Gaps;
use hopsim_experiment::config::infiniband::sizes::SizesConfig;
use hopsim_experiment::document;
use hopsim_experiment::plan::fabric::MessagesPlan;
use hopsim_experiment::plan::programs::no_files;
use hopsim_experiment::plan::{AnyPlan, FabricPlan};
use hopsim_infiniband::flow::Flow;
use hopsim_infiniband::time::Ticks;
use hopsim_infiniband::workload::Message;
use hopsim_infiniband_reference::{Fact, Reference};
use hopsim_measure::Column;
use hopsim_random::{Purpose, Stream};
use hopsim_reference::metrics::{Names, Observed, Part, Shortfall, Source};
use serde_json::{Map, Value};
use std::ops::Range;

/// A document whose bytes and times are whole nanoseconds: five hosts at two switches, links and sinks of 8 Gb/s.
pub fn document(jobs: &str, window: &str, more: &str) -> String {
    format!(
        "topology.graph = {{ edges = [{{ between = [0, 1] }}], nodes = [3, 2] }}\nmeasure.streams = [\"flows\"]\n\
         measure.time = {{ warmup = \"5 us\", window = \"{window}\" }}\n\
         [router.infiniband]\nmtu = 256\nlinks.host = {{ rate = \"8 Gb/s\", delay = \"20 ns\" }}\n\
         links.switch = {{ rate = \"8 Gb/s\", delay = \"30 ns\" }}\nlinks.credit_delay = \"20 ns\"\n\
         host = {{ injection = \"8 Gb/s\", drain = \"8 Gb/s\", receive_buffer = \"512 B\", start_jitter = \"300 ns\" }}\n\
         switch = {{ crossbar = \"8 Gb/s\", input_latency = \"10 ns\", output_latency = \"10 ns\", output_buffer = \"512 B\", \
         buffers = {{ host = \"512 B\", switch = \"512 B\" }} }}\n{more}\n{jobs}\n"
    )
}

/// The length of a message of a job, by what the document says.
fn length(plan: &FabricPlan, job: usize, size: &mut Stream) -> u64 {
    let messages = plan.experiment.jobs[job].messages.as_ref().unwrap();
    let points = match &messages.sizes {
        None => return messages.bytes.unwrap(),
        Some(SizesConfig::Points(points)) => points.clone(),
        Some(other) => panic!("{other:?}"),
    };
    let u = size.unit();
    let mut before = [points[0][0], 0.0];
    for [bytes, fraction] in points {
        if u <= fraction {
            let [least, below] = before;
            return (least + (u - below) * (bytes - least) / (fraction - below)).ceil() as u64;
        }
        before = [bytes, fraction];
    }
    panic!("the last fraction is 1")
}

/// What a node draws, in the order of time.
fn drawn(plan: &FabricPlan, messages: &MessagesPlan, node: u32) -> Vec<(Ticks, Message)> {
    let stream = |purpose| Stream::new(plan.experiment.measure.seed, purpose, node.into());
    let (mut process, mut pattern, mut size) =
        (stream(Purpose::Process), stream(Purpose::Pattern), stream(Purpose::MessageSize));
    let (mut all, mut at, gap) = (Vec::new(), messages.start, messages.gap as f64);
    for number in 0.. {
        at += match messages.gaps {
            Gaps::Exponential => ((-process.unit().ln() * gap) as Ticks).max(1),
            Gaps::Even if number == 0 => (process.unit() * gap) as Ticks,
            Gaps::Even => messages.gap,
        };
        if at >= messages.end.min(plan.span.end) {
            break;
        }
        let destination = messages.pattern.destination(node, &mut pattern);
        let service_level = messages.service_level;
        if destination != node {
            let bytes = length(plan, messages.job, &mut size);
            all.push((at, Message { destination, service_level, bytes, tag: 0 }));
        }
    }
    all
}

/// What hosts do: all that their nodes draw.
pub fn roles(plan: &FabricPlan) -> Vec<Role> {
    let mut roles = vec![Role::default(); plan.fabric.hosts as usize];
    for messages in &plan.messages {
        for &node in &messages.nodes {
            roles[node as usize].agenda = drawn(plan, messages, node);
        }
    }
    roles
}

/// What happens in the reference until the end of a run, with the flows that have begun.
pub fn facts(plan: &FabricPlan) -> (Vec<Fact>, Vec<Flow>) {
    let players = Players::<false>::new(&roles(plan));
    let seed = plan.experiment.measure.seed;
    let mut reference = Reference::with_workload(&plan.fabric, &plan.flows, seed, players);
    (0..plan.span.end).for_each(|_| reference.step());
    (reference.facts().to_vec(), reference.flows().to_vec())
}

/// Who is measured together: a flow of the list, or what a node draws.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Account {
    Flow(usize),
    Node(u32),
}

/// A run of the reference.
struct Seen<'a> {
    plan: &'a FabricPlan,
    facts: Vec<Fact>,
    flows: Vec<Flow>,
}

impl Seen<'_> {
    fn account(&self, flow: u32) -> Account {
        let flow = flow as usize;
        if flow < self.plan.flows.len() {
            Account::Flow(flow)
        } else {
            Account::Node(self.flows[flow].source)
        }
    }

    /// The accounts of a job, or of all, in the order of the table of flows.
    fn accounts(&self, job: Option<usize>) -> Vec<Account> {
        let is_of = |other: usize| job.is_none_or(|job| job == other);
        let flows = (0..self.plan.flows.len()).filter(|&flow| is_of(self.plan.accounts[flow].job));
        let drawing = self.plan.messages.iter().filter(|messages| is_of(messages.job));
        let nodes = drawing.flat_map(|messages| messages.nodes.iter().copied());
        flows.map(Account::Flow).chain(nodes.map(Account::Node)).collect()
    }

    /// So many equal parts of the window.
    fn parts(&self, count: u64) -> Vec<Range<Ticks>> {
        let length = self.plan.span.window() / 100 * (100 / count);
        let first = |part| self.plan.span.warmup + part * length;
        (0..count).map(|part| first(part)..first(part + 1)).collect()
    }

    /// Bytes of an account in each tenth: what hosts begin to send, or are given to send.
    fn bytes(&self, account: Account, of: impl Fn(&Fact) -> Option<(Ticks, u32, u64)>) -> Vec<f64> {
        let all: Vec<(Ticks, u64)> = self
            .facts
            .iter()
            .filter_map(of)
            .filter(|&(_, flow, _)| self.account(flow) == account)
            .map(|(at, _, bytes)| (at, bytes))
            .collect();
        let within = |tenth: Range<Ticks>| {
            all.iter().filter(|(at, _)| tenth.contains(at)).map(|&(_, bytes)| bytes as f64).sum()
        };
        self.parts(10).into_iter().map(within).collect()
    }

    fn source(&self, account: Account) -> Option<Source> {
        let posted = |fact: &Fact| match *fact {
            Fact::Posted { at, flow, bytes } => Some((at, flow, bytes)),
            _ => None,
        };
        let squares = |fact: &Fact| posted(fact).map(|(at, flow, bytes)| (at, flow, bytes * bytes));
        let sent = |fact: &Fact| match *fact {
            Fact::Sent { at, packet } if !packet.is_notification => {
                Some((at, packet.flow, packet.bytes.into()))
            }
            _ => None,
        };
        let (node, offered, drew) = match account {
            Account::Node(node) => {
                let bytes = self.bytes(account, posted);
                let drew =
                    bytes.iter().sum::<f64>().powi(2) / self.bytes(account, squares).iter().sum::<f64>();
                (node, bytes, Some(if drew.is_nan() { 0.0 } else { drew }))
            }
            Account::Flow(number) => {
                let flow = self.plan.flows[number];
                if flow.byte == 0 || flow.bytes.is_some() {
                    return None;
                }
                let is_on = |at: &Ticks| (flow.start..flow.end).contains(at);
                let bytes = |tenth: Range<Ticks>| tenth.filter(is_on).count() as f64 / flow.byte as f64;
                (flow.source, self.parts(10).into_iter().map(bytes).collect::<Vec<f64>>(), None)
            }
        };
        let sent = self.bytes(account, sent);
        let tenths = offered.iter().zip(sent).map(|(offered, sent)| offered - sent).collect();
        let waits = Shortfall { tenths, offered: offered.iter().sum::<f64>() / 10.0 };
        Some(Source { node, waits, weight: 1.0, drew, stood: None })
    }

    fn observed(&self, job: Option<usize>) -> Observed {
        let accounts = self.accounts(job);
        let sources: Vec<Source> = accounts.iter().filter_map(|&account| self.source(account)).collect();
        let mut parts = vec![Part::default(); 100];
        for fact in &self.facts {
            let Fact::Delivered { at, packet, sent, .. } = *fact else { continue };
            let part = self.parts(100).iter().position(|part| part.contains(&at));
            let counts = !packet.is_notification && accounts.contains(&self.account(packet.flow));
            if let Some(part) = part.filter(|_| counts) {
                parts[part].latencies.push((at - sent) as f64);
                parts[part].load += f64::from(packet.bytes);
            }
        }
        Observed {
            sources: (!sources.is_empty()).then_some(sources),
            parts,
            length: (self.plan.span.window() / 100) as f64,
            window: self.plan.span.window() as f64,
        }
    }

    fn columns(&self, job: Option<usize>) -> Map<String, Value> {
        let (observed, per_ns) = (self.observed(job), self.plan.fabric.ticks_per_ns as f64);
        observed.columns(&Names {
            growth: ("backlog_growth_gbps", 10.0 * observed.length / per_ns / 8.0),
            transient: "transient_s",
            missing: "missing_s",
            time: 1e9 * per_ns,
        })
    }
}

/// Which accounts fall behind, by the table of flows.
fn falls_behind(outcome: &Outcome) -> Vec<bool> {
    let (_, table) = outcome.tables.iter().find(|(name, _)| name == "flows").unwrap();
    match &table.iter().find(|(name, _)| name == "falls_behind").unwrap().1 {
        Column::F64(values) => values.iter().map(|&value| value > 0.0).collect(),
        other => panic!("{other:?}"),
    }
}

/// The verdict on a document, the same by engine and reference, and on each of its jobs.
fn compared(text: &str) -> Vec<String> {
    let point = document::points(text, &[]).unwrap_or_else(|error| panic!("{error}")).remove(0);
    let plan = AnyPlan::new(&point.experiment, &no_files).unwrap_or_else(|error| panic!("{error}"));
    let outcome = run_any(&plan, &Control::default()).unwrap_or_else(|error| panic!("{error}"));
    let AnyPlan::Fabric(plan) = plan else { panic!("the router is that of a fabric") };
    let (facts, flows) = facts(&plan);
    let seen = Seen { plan: &plan, facts, flows };
    let behind = |account| seen.source(account).is_some_and(|source| source.falls_behind());
    let again: Vec<bool> = seen.accounts(None).into_iter().map(behind).collect();
    assert_eq!(falls_behind(&outcome), again, "{text}");
    let records = std::iter::once((None, &outcome.summary)).chain((0..).map(Some).zip(&outcome.jobs));
    let mut verdicts = Vec::new();
    for (job, record) in records {
        for (key, again) in seen.columns(job) {
            let close = match (record[&key].as_f64(), again.as_f64()) {
                (Some(one), Some(other)) => {
                    (one - other).abs() <= 1e-9 * one.abs().max(other.abs()).max(1e-6)
                }
                _ => record[&key] == again,
            };
            assert!(close, "{key} of {job:?} is {}, computed again {again}: {text}", record[&key]);
        }
        verdicts.push(record["verdict"].as_str().unwrap().to_owned());
    }
    verdicts
}

/// A job whose nodes all send to the first host.
fn hot(rate: &str, more: &str) -> String {
    let pattern = "pattern = { hotspot = { node = 0, fraction = 1.0 } }";
    format!("[[jobs]]\nmessages = {{ {pattern}, rate = \"{rate}\", bytes = 300{more} }}")
}

#[test]
fn nodes_that_draw() {
    let even = ", gaps = \"even\"";
    // Four nodes share 8 Gb/s.
    assert_eq!(compared(&document(&hot("1 Gb/s", even), "100 us", ""))[0], "steady");
    assert_eq!(compared(&document(&hot("4 Gb/s", even), "60 us", ""))[0], "saturated");
    assert_eq!(compared(&document(&hot("1 Gb/s", ""), "12 us", ""))[0], "too few samples");
    let ends = ", start = \"20 us\", end = \"40 us\"";
    compared(&document(&hot("2 Gb/s", ends), "50 us", ""));
    let uniform = "[[jobs]]\nmessages = { pattern = \"uniform\", rate = \"4 Gb/s\", bytes = 700 }";
    compared(&document(uniform, "60 us", ""));
    // Most messages are small, and most bytes in few: as if fewer were drawn.
    let sizes = "sizes = { points = [[64, 0.6], [300, 0.95], [4000, 1]] }";
    for rate in ["1 Gb/s", "3 Gb/s"] {
        compared(&document(&hot(rate, "").replace("bytes = 300", sizes), "60 us", ""));
    }
    // In so short a window nodes 1 and 2, which lose a tenth or two, have drawn too little to tell whether they fall behind.
    for (rate, window) in [("2.5 Gb/s", "20 us"), ("4 Gb/s", "16 us")] {
        assert_eq!(compared(&document(&hot(rate, even), window, ""))[0], "saturated");
    }
}

#[test]
fn flows_with_rates_and_without() {
    let lot = |flow: &str| {
        let flows = [0, 1, 3].map(|source| format!("{{ source = {source}, destination = 4{flow} }}"));
        format!("jobs = [{{ flows = [{}] }}]", flows.join(", "))
    };
    let within = |window: &str, jobs: &str, more: &str| format!("{jobs}\n{}", document("", window, more));
    let top = |jobs: &str, more: &str| within("150 us", jobs, more);
    // What waits at the ends of tenths is less than 1 % of what is offered in longer ones alone.
    assert_eq!(compared(&within("600 us", &lot(", rate = \"2 Gb/s\""), ""))[0], "steady");
    assert_eq!(compared(&top(&lot(", rate = \"2 Gb/s\""), ""))[0], "too few samples");
    assert_eq!(compared(&top(&lot(", rate = \"4 Gb/s\""), ""))[0], "saturated");
    assert_eq!(compared(&top(&lot(""), ""))[0], "steady");
    // They are off at the beginning and at the end of the window, and not for whole tenths.
    let off = ", rate = \"2 Gb/s\", start = \"33 us\", end = \"132 us\"";
    compared(&top(&lot(off), ""));
    compared(&top(&lot(", rate = \"2 Gb/s\", bytes = 9000"), ""));
}

#[test]
fn notifications_are_no_load() {
    let marking = "congestion_control = { thresholds = { high = \"512 B\", low = \"128 B\" }, mark_point = \"enqueue\", ccti_timer = 2 }";
    let back = "[[jobs]]\nname = \"back\"\nflows = [{ source = 0, destination = 3, rate = \"2 Gb/s\" }, \
        { source = 4, destination = 1 }]";
    let jobs = format!("{}\nplacement = {{ list = [0, 1, 2, 3] }}\n{back}", hot("4 Gb/s", ""));
    let verdicts = compared(&document(&jobs, "60 us", marking));
    assert_eq!(verdicts.len(), 3);
    assert_eq!(verdicts[0], "saturated");
}
