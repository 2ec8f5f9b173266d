//! What runs that find out by themselves how long they must be may ask for: the messages.

use crate::errors::{VALID, message_of};

/// The message about a small network with a table `measure` and something after it.
fn measured(measure: &str, after: &str) -> String {
    message_of(&format!("{VALID}[measure]\n{measure}\n{after}"), &[])
}

#[test]
fn what_a_run_may_stop_by() {
    for valid in [
        "stop = {}",
        "warmup = \"auto\"",
        "warmup = \"auto\"\nstop = { relative_ci = 0.5, metric = \"local_hops_mean\", max_cycles = 10_000 }",
        "stop = { metric = \"injected_load\", relative_ci = 0.0001, max_cycles = 1_499_995_000 }",
        "warmup = \"auto\"\ncycles = 187_500_000",
    ] {
        assert_eq!(measured(valid, ""), "accepted", "{valid}");
    }
    let names = "accepted_load, generated_load, injected_load, packet_latency_mean, injection_latency_mean, \
                 network_latency_mean, base_latency_mean, misrouting_latency_mean, misrouted_fraction, \
                 misrouted_at_injection_fraction, misrouted_in_source_group_fraction, \
                 misrouted_in_intermediate_group_fraction, misrouted_in_destination_group_fraction, \
                 misrouted_over_local_fraction, misrouted_over_global_fraction, \
                 misrouted_over_local_and_global_fraction, hops_mean, \
                 local_queue_latency_mean, global_queue_latency_mean, local_hops_mean, global_hops_mean";
    let [at, inside] = ["line 8, column 1: measure.", "line 8, column 10: measure."];
    for (measure, message) in [
        ("stop = 0.01", format!("{at}stop = 0.01: must be a table, not a decimal number; valid: {{ relative_ci = …, metric = …, max_cycles = … }}")),
        ("stop = { relative_ci = 0 }", format!("{inside}stop.relative_ci = 0: out of range; valid: 0.0001 … 0.5")),
        ("stop = { relative_ci = 1 }", format!("{inside}stop.relative_ci = 1: out of range; valid: 0.0001 … 0.5")),
        (
            "stop = { metric = \"packet_latency\" }",
            format!(
                "{inside}stop.metric = \"packet_latency\": the summary has no such mean with an interval; did you mean \
                 `packet_latency_mean`? Valid: {names}"
            ),
        ),
        (
            "stop = { metric = \"packet_latency_p99\" }",
            format!(
                "{inside}stop.metric = \"packet_latency_p99\": the summary has no such mean with an interval; did you mean \
                 `packet_latency_mean`? Valid: {names}"
            ),
        ),
        (
            "stop = {}\nbatches = 1",
            "line 9, column 1: measure.batches = 1: measure.stop needs an interval, and one batch has none; valid: 2 …".into(),
        ),
        (
            "warmup = \"auto\"\ncycles = 187_500_001",
            "line 9, column 1: measure.cycles = 187500001: a pilot of 16 times as many cycles is too long; valid: 1 … \
             187500000, or measure.warmup in cycles"
                .into(),
        ),
        (
            "stop = {}\ninterval = 1\nstreams = [\"generation\"]\ncycles = 1_000_000",
            "line 9, column 1: measure.interval = 1: the time series would have more than 10,000,000 rows; valid: 0 or at \
             least 11"
                .into(),
        ),
    ] {
        assert_eq!(measured(measure, ""), message, "{measure}");
    }
}

#[test]
fn two_windows_fit_into_a_run() {
    assert_eq!(measured("stop = { max_cycles = 1_499_995_000 }", ""), "accepted");
    let inside = "line 8, column 10: measure.";
    for (measure, message) in [
        (
            "stop = { max_cycles = 9_999 }",
            format!("{inside}stop.max_cycles = 9999: the first window is longer; valid: 10000 … 1499995000"),
        ),
        (
            "stop = { max_cycles = 1_499_995_001 }",
            format!("{inside}stop.max_cycles = 1499995001: the run is too long; valid: 10000 … 1499995000"),
        ),
        (
            "stop = {}\ncycles = 1_500_000_000",
            "line 9, column 1: measure.cycles = 1500000000: with measure.stop a second window is simulated behind the first, \
             and the run is too long; valid: 1 … 1499995000"
                .into(),
        ),
    ] {
        assert_eq!(measured(measure, ""), message, "{measure}");
    }
}

#[test]
fn windows_that_end_with_a_number_of_packets() {
    for valid in [
        "end = { packets = 1 }",
        "warmup = \"auto\"\nend = { packets = 1_000_000_000_000, max_cycles = 10_000 }",
        "cycles = 5\nbatches = 5\nend = { packets = 10, max_cycles = 100 }",
    ] {
        assert_eq!(measured(valid, ""), "accepted", "{valid}");
    }
    let [at, inside] = ["line 8, column 1: measure.", "line 8, column 9: measure."];
    for (measure, message) in [
        ("end = 100", format!("{at}end = 100: must be a table, not an integer; valid: {{ packets = …, max_cycles = … }}")),
        ("end = {}", format!("{at}end.packets: is missing; valid: 1 … 1000000000000")),
        (
            "end = { packets = 0 }",
            format!("{inside}end.packets = 0: out of range; valid: 1 … 1000000000000"),
        ),
        (
            "end = { packets = 9, max_cycles = 9_999 }",
            "line 8, column 22: measure.end.max_cycles = 9999: the first window is longer; valid: 10000 … 2999990000".into(),
        ),
        (
            "end = { packets = 9, max_cycles = 2_999_990_001 }",
            "line 8, column 22: measure.end.max_cycles = 2999990001: the run is too long; valid: 10000 … 2999990000".into(),
        ),
        (
            "end = { packets = 9 }\nbatches = 101",
            "line 9, column 1: measure.batches = 101: the window that measure.end finds may be too short to be divided \
             into that many batches; valid: 1 … 100"
                .into(),
        ),
        (
            "end = { packets = 9 }\nstop = {}",
            format!("{at}end: measure.stop says already when the window ends; valid: one of the two"),
        ),
    ] {
        assert_eq!(measured(measure, ""), message, "{measure}");
    }
    let changes = "[[jobs]]\ntraffic = { changes = [{ cycle = 12_000, load = 0.2 }] }";
    assert_eq!(
        measured("end = { packets = 9 }", changes),
        format!(
            "{at}end: the traffic of job 0 changes, so that no window is like a longer one; valid: no such key, or jobs \
             without changes"
        )
    );
}

#[test]
fn warm_ups_are_cycles_or_auto() {
    let at = "line 8, column 1: measure.warmup = ";
    let valid = "valid: 0 … 3000000000 or auto";
    for (warmup, reason) in [
        ("\"automatic\"", "no such choice; did you mean `auto`? Valid: 0 … 3000000000 or auto".to_owned()),
        ("\"many\"", format!("no such choice; {valid}")),
        ("1.5", format!("must be an integer, not a decimal number; {valid}")),
        ("true", format!("must be an integer or a name, not true or false; {valid}")),
        ("3_000_000_001", "out of range; valid: 0 … 3000000000".to_owned()),
    ] {
        let shown = warmup.replace('_', "");
        assert_eq!(measured(&format!("warmup = {warmup}"), ""), format!("{at}{shown}: {reason}"));
    }
    assert_eq!(message_of(VALID, &["measure.warmup=auto"]), "accepted");
}

#[test]
fn what_has_no_window_to_find() {
    let at = "line 8, column 1: measure.";
    let changes = "[[jobs]]\ntraffic = { changes = [{ cycle = 12_000, load = 0.2 }] }";
    let reason = "the traffic of job 0 changes, so that no window is like a longer one";
    assert_eq!(
        measured("stop = {}", changes),
        format!("{at}stop: {reason}; valid: no such key, or jobs without changes")
    );
    assert_eq!(
        measured("warmup = \"auto\"", &changes.replace("12_000", "2_000")),
        format!("{at}warmup = \"auto\": {reason}; valid: cycles, or jobs without changes")
    );
    let program = "[[jobs]]\nprogram = { collective = { kind = \"barrier\" } }";
    let document = |measure: &str| {
        message_of(&format!("{}[measure]\n{measure}\n{program}", VALID.replace("load = 0.5\n", "")), &[])
    };
    for measure in ["stop = {}", "end = { packets = 9 }", "warmup = \"auto\""] {
        let message = document(measure);
        let reason = "a run of programs begins at cycle 0 and ends when they are done; valid: no such key; measure.max_cycles";
        assert!(message.ends_with(reason), "{message}");
    }
    let branches = measured("stop = {}", "[sweep]\nbranch_at = 500");
    assert_eq!(
        branches,
        "line 10, column 1: sweep.branch_at = 500: a run that finds its warm-up or its window has no one state; \
         valid: no measure.stop or measure.end, and measure.warmup in cycles"
    );
}
