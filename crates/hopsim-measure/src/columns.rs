//! What every column of the results means: of the summary record, said here, and of the tables, said where they are made.

mod fabric;
mod programs;
mod stop;
mod verdict;

use crate::table_kind::{CYCLES, ColumnText, LOAD, PACKETS, RATE, TableKind};
use crate::{fabric as fabrics, program_tables, tables};
use programs::PROGRAMS;
use serde::Serialize;

/// A column of the results.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Described {
    /// Where the column is: `summary`, or the name of a table.
    pub table: &'static str,
    /// Name of the column.
    pub name: String,
    /// Unit of the values; empty for names, numbers of things and ratios.
    pub unit: &'static str,
    /// What the values say.
    pub meaning: String,
}

/// Means over the window: each has `…_ci95` beside it in the summary, and a column in `batches`.
const MEANS: [ColumnText; 14] = [
    (
        "accepted_load",
        LOAD,
        "Phits delivered: what left the network. Mean over the nodes of the jobs and the window. In a fabric: data delivered, over what the links to the nodes that flows are for can carry [0 … 1].",
    ),
    ("generated_load", LOAD, "Phits generated: what the sources drew, and replies."),
    (
        "injected_load",
        LOAD,
        "Phits injected: what entered the network (semantics.injection_count says when).",
    ),
    (
        "packet_latency_mean",
        CYCLES,
        "From the generation of a packet to the delivery of its tail. Sum of base, misrouting, injection and queue latency.",
    ),
    (
        "injection_latency_mean",
        CYCLES,
        "From the generation of a packet to its grant at the source router (semantics.injection_latency).",
    ),
    ("network_latency_mean", CYCLES, "Packet latency less injection latency."),
    (
        "base_latency_mean",
        CYCLES,
        "Links and length of the minimal path: the packet latency in an empty network without detours, routers apart.",
    ),
    (
        "misrouting_latency_mean",
        CYCLES,
        "Links of the path taken less those of the minimal path; negative where detours are shorter in cycles.",
    ),
    (
        "misrouted_fraction",
        "",
        "Share of the delivered packets that ever left the minimal path [0 … 1]: sum of the four shares by place.",
    ),
    (
        "misrouted_at_injection_fraction",
        "",
        "Share of the delivered packets that first left the minimal path at injection [0 … 1].",
    ),
    (
        "misrouted_in_source_group_fraction",
        "",
        "Share of the delivered packets that first left the minimal path in the source group after their first hop [0 … 1].",
    ),
    (
        "misrouted_in_intermediate_group_fraction",
        "",
        "Share of the delivered packets that first left the minimal path in an intermediate group [0 … 1].",
    ),
    (
        "misrouted_in_destination_group_fraction",
        "",
        "Share of the delivered packets that first left the minimal path in the destination group [0 … 1].",
    ),
    (
        "hops_mean",
        "links",
        "Links between routers that a packet crossed, or the routers that it passed (semantics.hop_count).",
    ),
];

/// Means over the window for each class of links: what follows the name of the class.
const MEANS_BY_CLASS: [ColumnText; 2] = [
    (
        "queue_latency_mean",
        CYCLES,
        "From the arrival of a head over a link of this class to its departure from that router, crossbar included, summed over the path.",
    ),
    ("hops_mean", "links", "Links of this class that a packet crossed."),
];

/// Shares of the delivered packets by the classes of links of their nonminimal hops.
const MISROUTED_OVER: [ColumnText; 6] = [
    (
        "misrouted_over_local_fraction",
        "",
        "Share of the delivered packets that took nonminimal hops over local links only [0 … 1]. Dragonflies only.",
    ),
    (
        "misrouted_over_global_fraction",
        "",
        "Share of the delivered packets that took nonminimal hops over global links only [0 … 1]. Dragonflies only.",
    ),
    (
        "misrouted_over_local_and_global_fraction",
        "",
        "Share of the delivered packets that took nonminimal hops over local and over global links [0 … 1]. Dragonflies only.",
    ),
    (
        "misrouted_over_network_fraction",
        "",
        "Share of the delivered packets that took nonminimal hops, of planes over links of the planes only [0 … 1]. Where links have one class only, and in planes.",
    ),
    (
        "misrouted_over_rail_fraction",
        "",
        "Share of the delivered packets that took nonminimal hops over rails only [0 … 1]. Planes only.",
    ),
    (
        "misrouted_over_network_and_rail_fraction",
        "",
        "Share of the delivered packets that took nonminimal hops over links of planes and over rails [0 … 1]. Planes only.",
    ),
];

/// Names of the classes of links, and the topologies that have them alone.
const CLASSES: [(&str, &str); 4] = [
    ("local", " Dragonflies only."),
    ("global", " Dragonflies only."),
    ("network", ""),
    ("rail", " Planes only."),
];

/// Means over the window of requests and replies, where jobs have request-reply.
const MEANS_OF_REPLIES: [ColumnText; 5] = [
    ("request_accepted_load", LOAD, "Phits of requests delivered."),
    ("reply_accepted_load", LOAD, "Phits of replies delivered."),
    ("request_latency_mean", CYCLES, "Packet latency of requests."),
    (
        "reply_latency_mean",
        CYCLES,
        "Packet latency of replies, from the departure of the request to its node.",
    ),
    (
        "response_latency_mean",
        CYCLES,
        "From the generation of a request to the delivery of the tail of its reply.",
    ),
];

/// Keys of the summary that are not among the means.
const SUMMARY: [ColumnText; 27] = [
    ("job", "", "Name of the job that the record is about; in records and rows by job only."),
    (
        "offered_load",
        LOAD,
        "What the document says: mean over the nodes of the jobs, and over the window if it changes. Empty where the process has no load. In a fabric the rates of the flows, by the same measure as the accepted load; empty unless all have one, and no bytes.",
    ),
    (
        "packet_latency_p50",
        CYCLES,
        "Median of the packet latency, from a histogram with bins at most 0.1 % wide.",
    ),
    (
        "packet_latency_p99",
        CYCLES,
        "99th percentile of the packet latency, from a histogram with bins at most 0.1 % wide.",
    ),
    ("packet_latency_min", CYCLES, "Least packet latency."),
    ("packet_latency_max", CYCLES, "Greatest packet latency."),
    (
        "router_injection_min",
        LOAD,
        "Least injected load of a router: mean over those of its nodes that send. Replies do not count.",
    ),
    ("router_injection_max", LOAD, "Greatest injected load of a router, likewise."),
    (
        "router_injection_max_min_ratio",
        "",
        "Greatest over least injected load of a router; 1 is fair, empty when a router injected nothing.",
    ),
    (
        "router_injection_cov",
        "",
        "Standard deviation over mean of the injected load of the routers; 0 is fair.",
    ),
    ("node_injection_min", LOAD, "Least injected load of a node that sends. Replies do not count."),
    ("node_injection_mean", LOAD, "Mean injected load of the nodes that send."),
    ("node_injection_max", LOAD, "Greatest injected load of a node that sends."),
    (
        "node_injection_cov",
        "",
        "Standard deviation over mean of the injected load of the nodes that send; 0 is fair.",
    ),
    (
        "jain_index",
        "",
        "Jain's index of the injected load x of the n nodes that send, (Σx)² / (n Σx²) [1/n … 1]; 1 is fair. In a fabric x is the throughput of the n flows.",
    ),
    ("packets_generated", PACKETS, "Packets generated in the window, dropped ones included."),
    (
        "packets_dropped",
        PACKETS,
        "Packets generated in the window and lost because the source queue was full.",
    ),
    (
        "packets_lost",
        PACKETS,
        "Packets lost for good in the window because links or routers failed, in the network or, without a way to their destination, before it; with faults only.",
    ),
    (
        "retransmissions",
        PACKETS,
        "Packets that came back to their source queues in the window, lost in the network and sent again, as often as they were; with faults.reaction.retransmit only.",
    ),
    ("packets_injected", PACKETS, "Packets injected in the window."),
    ("packets_delivered", PACKETS, "Packets delivered in the window, whenever they were generated."),
    (
        "decisions_per_hop",
        "",
        "How often routing was asked by waiting heads, per grant, over the whole run; empty where no head has a choice.",
    ),
    ("nodes", "nodes", "Nodes of the jobs: of flows those that send or receive."),
    ("cycles", CYCLES, "Length of the measurement window."),
    ("seed", "", "Seed of all random numbers."),
    (
        "bursts_completed",
        "bursts",
        "Synchronised bursts that began and ended in the window; with such bursts only.",
    ),
    (
        "cycles_per_burst",
        CYCLES,
        "Mean length of those bursts, from the first packet's generation until all are delivered; with such bursts only.",
    ),
];

/// Every column, the summary first.
pub fn columns() -> Vec<Described> {
    let means = means();
    let mut all = Vec::new();
    for (name, unit, meaning) in &means {
        all.push(Described { table: "summary", name: name.clone(), unit, meaning: meaning.clone() });
        all.push(interval(
            name,
            unit,
            "batches of the window, or over neighbouring ones taken together, whichever is widest",
        ));
    }
    for &(name, unit, meaning) in
        SUMMARY.iter().chain(&verdict::SUMMARY).chain(&stop::SUMMARY).chain(&PROGRAMS).chain(&fabric::SUMMARY)
    {
        all.push(Described { table: "summary", name: name.into(), unit, meaning: meaning.into() });
    }
    all.push(interval("cycles_per_burst", CYCLES, "bursts"));
    for (growth, unit) in [("backlog_growth", LOAD), ("backlog_growth_gbps", RATE)] {
        all.push(interval(growth, unit, "tenths of the window"));
    }
    for (table, columns) in all_tables() {
        all.extend(columns.iter().copied().flatten().map(|&(name, unit, meaning)| Described {
            table,
            name: name.into(),
            unit,
            meaning: meaning.into(),
        }));
        if table == "batches" {
            all.extend(means.iter().map(|(name, unit, _)| Described {
                table,
                name: name.clone(),
                unit,
                meaning: format!("{name} of the batch alone."),
            }));
        }
    }
    all
}

/// Every table by name, with its columns; those that several engines make stand there once for each, with what is new.
fn all_tables() -> Vec<(&'static str, &'static [&'static [ColumnText]])> {
    let of_programs = program_tables::KINDS.iter().map(TableKind::texts);
    let [first, last] = [&tables::FIRST[..], &tables::LAST].map(|kinds| kinds.iter().map(TableKind::texts));
    let of_fabrics = fabrics::tables::KINDS.iter().map(TableKind::texts);
    first.chain(of_programs).chain(last).chain(of_fabrics).collect()
}

/// Every mean with unit and meaning.
fn means() -> Vec<(String, &'static str, String)> {
    let owned = |&(name, unit, meaning): &ColumnText| (name.to_owned(), unit, meaning.to_owned());
    let of_class = |(class, only): (&'static str, &'static str)| {
        let row = move |&(name, unit, meaning): &ColumnText| {
            (format!("{class}_{name}"), unit, format!("{meaning}{only}"))
        };
        MEANS_BY_CLASS.iter().map(row)
    };
    let of_replies = |row: &ColumnText| {
        let (name, unit, meaning) = owned(row);
        (name, unit, format!("{meaning} Over the jobs with request-reply, where there are any."))
    };
    let classes = CLASSES.into_iter().flat_map(of_class);
    let simple = MEANS.iter().chain(&MISROUTED_OVER).map(owned);
    simple.chain(classes).chain(MEANS_OF_REPLIES.iter().map(of_replies)).collect()
}

fn interval(name: &str, unit: &'static str, parts: &str) -> Described {
    let meaning = format!(
        "Half width of the 95 % confidence interval of {name}, by Student's t over the {parts}. Empty with fewer than two."
    );
    Described { table: "summary", name: format!("{name}_ci95"), unit, meaning }
}
