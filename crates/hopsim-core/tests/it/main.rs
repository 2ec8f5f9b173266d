//! Integration tests of the core: one binary, one module per concern.

#![allow(clippy::unwrap_used, reason = "helpers of tests may fail as tests do")]

mod booksim;
mod deadlock;
mod distrusted;
mod fabric_links;
mod fabric_programs;
mod fabric_verdicts;
mod fabrics;
mod failing_links;
mod flits;
mod graphs;
mod injection;
mod laws;
mod microscope;
mod modes;
mod observers;
mod packet_hops;
mod programs;
mod regions;
mod snapshots;
mod stepping;
mod tables;
mod traffic;

use hopsim_experiment::document;

/// The message about a document, with overrides written `path=value`.
fn message_of(text: &str, overrides: &[&str]) -> String {
    let pair = |text: &&str| {
        let (path, value) = text.split_once('=').unwrap();
        (path.to_owned(), value.to_owned())
    };
    let overrides: Vec<_> = overrides.iter().map(pair).collect();
    document::points(text, &overrides).map_or_else(|error| error.to_string(), |_| "accepted".into())
}
