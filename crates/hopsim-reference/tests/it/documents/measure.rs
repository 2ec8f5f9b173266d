//! Random windows, batches, intervals and record streams.

use super::Document;
use hopsim_experiment::config::measure::RecordStream;
use hopsim_experiment::document::schema;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Value, json};

/// The record streams of programs.
pub const OF_PROGRAMS: [&str; 4] = ["ranks", "messages", "operations", "message_sizes"];

/// All record streams that there are without programs, which are compared by themselves, and without InfiniBand.
pub fn streams() -> Vec<Value> {
    let schema = schema();
    let names = schema["$defs"]["RecordStream"]["oneOf"].as_array().unwrap();
    let names = names.iter().map(|stream| stream["const"].clone());
    let of_fabrics = RecordStream::OF_FABRICS.map(RecordStream::name);
    let others = || OF_PROGRAMS.iter().copied().chain(of_fabrics.iter().map(String::as_str));
    names.filter(|name| !others().any(|of| name == of)).collect()
}

/// Documents with a measurement of their own. Changes of traffic stay inside the window.
pub fn measured(documents: impl Strategy<Value = Document>) -> impl Strategy<Value = Document> {
    let streams = streams();
    let batches = prop_oneof![3 => 1..=7u32, 1 => 10..=23u32];
    let window = (500..700u32, 0..3u32, batches);
    let recorded =
        (select(vec![0, 1, 40, 64, 97, 500]), prop::sample::subsequence(streams.clone(), 4..=streams.len()));
    (documents, window, recorded, packets()).prop_map(
        |(mut document, window, (interval, streams), packets)| {
            let (end, thirds, batches) = window;
            let jobs = document.0["jobs"].as_array().unwrap();
            let changes = jobs.iter().flat_map(|job| job["traffic"]["changes"].as_array().unwrap());
            let first = changes.map(|change| change["cycle"].as_u64().unwrap() as u32).min().unwrap_or(end);
            let warmup = (end * thirds / 4).min(first);
            let by_interval = RecordStream::OF_INTERVALS.map(|stream| json!(stream.name()));
            let streams: Vec<Value> =
                streams.into_iter().filter(|stream| interval > 0 || !by_interval.contains(stream)).collect();
            let measure = document.0["measure"].as_object_mut().unwrap();
            measure.insert("warmup".into(), json!(warmup));
            measure.insert("cycles".into(), json!(end - warmup));
            measure.insert("batches".into(), json!(batches));
            measure.insert("interval".into(), json!(interval));
            measure.insert("streams".into(), json!(streams));
            if streams.contains(&json!(RecordStream::PacketHops.name())) {
                choose_packets(&mut document, packets);
            }
            with_its_streams(document)
        },
    )
}

/// The document without the streams that its routers do not have: input-queued ones have no output queues, and none of them flits.
pub fn with_its_streams(mut document: Document) -> Document {
    let mut missing = vec![json!(RecordStream::FlitHops.name())];
    if document.0["router"].get("input_queued").is_some() {
        missing.push(json!(RecordStream::OutputQueues.name()));
    }
    document.0["measure"]["streams"].as_array_mut().unwrap().retain(|stream| !missing.contains(stream));
    document
}

/// Which packets to record: every so many-th, of and for some node if any, generated in some cycles if any are named.
type Packets = (u32, [Option<prop::sample::Index>; 2], Option<(u32, u32)>);

fn packets() -> impl Strategy<Value = Packets> {
    let node = || prop::option::weighted(0.2, any::<prop::sample::Index>());
    let span = prop::option::of((0..300u32, 1..400u32));
    (select(vec![1, 1, 2, 3, 7]), [node(), node()], span)
}

/// Nodes of jobs are known once there is a plan; documents without one are left alone.
fn choose_packets(document: &mut Document, (every, nodes, span): Packets) {
    let Ok(plan) = document.plan() else { return };
    let all: Vec<u32> = plan.system.jobs.iter().flat_map(|job| job.nodes().to_vec()).collect();
    let mut packets = json!({ "every": every });
    for (key, node) in ["source", "destination"].into_iter().zip(nodes) {
        if let Some(node) = node {
            packets[key] = json!(node.get(&all));
        }
    }
    if let Some((from, length)) = span {
        packets["from"] = json!(from);
        packets["to"] = json!(from + length);
    }
    document.0["measure"]["packets"] = packets;
}
