//! Random windows, batches, intervals and record streams.

use super::Document;
use hopsim_core::config::document::schema;
use hopsim_core::config::measure::RecordStream;
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
    let window = (500..700u32, 0..3u32, 1..=7u32);
    let recorded =
        (select(vec![0, 1, 40, 64, 97, 500]), prop::sample::subsequence(streams.clone(), 4..=streams.len()));
    (documents, window, recorded).prop_map(|(mut document, window, (interval, streams))| {
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
        document
    })
}
