//! Links of InfiniBand fabrics: what they carry, when they are stalled for credits, and whom they hold up.

use hopsim_core::engine::{Control, run_any};
use hopsim_experiment::document;
use hopsim_experiment::plan::AnyPlan;
use hopsim_experiment::plan::programs::no_files;
use hopsim_measure::{Column, Table};

/// The tables of a document.
fn tables(text: &str) -> Vec<(String, Table)> {
    let point = document::points(text, &[]).unwrap_or_else(|error| panic!("{error}")).remove(0);
    let plan = AnyPlan::new(&point.experiment, &no_files).unwrap_or_else(|error| panic!("{error}"));
    run_any(&plan, &Control::default()).unwrap().tables
}

fn table<'t>(tables: &'t [(String, Table)], name: &str) -> &'t Table {
    &tables.iter().find(|(other, _)| other == name).unwrap().1
}

fn reals(table: &Table, name: &str) -> Vec<f64> {
    match &table.iter().find(|(other, _)| other == name).unwrap().1 {
        Column::F64(values) => values.clone(),
        Column::U64(values) => values.iter().map(|&value| value as f64).collect(),
        other => panic!("{other:?}"),
    }
}

fn texts(table: &Table, name: &str) -> Vec<String> {
    match &table.iter().find(|(other, _)| other == name).unwrap().1 {
        Column::Text(values) => values.clone(),
        Column::Named { names, rows } => rows.iter().map(|&row| names[usize::from(row)].clone()).collect(),
        other => panic!("{other:?}"),
    }
}

/// Two nodes of a switch send to a third one.
fn shared(measure: &str) -> String {
    format!(
        "topology.fat_tree = {{ k = 4, levels = 1 }}\nrouter = \"infiniband\"\nmeasure = {{ {measure} }}\n\
         jobs = [{{ flows = [{{ source = 0, destination = 3 }}, {{ source = 1, destination = 3 }}] }}]\n"
    )
}

#[test]
fn a_link_is_busy_stalled_or_has_nothing_to_send() {
    let measure = "time = { warmup = \"200 us\", window = \"20 ms\" }, streams = [\"links\"]";
    let all = tables(&shared(measure));
    let links = table(&all, "links");
    assert_eq!(texts(links, "from"), ["node 0", "node 1", "switch 0"]);
    assert_eq!(texts(links, "to"), ["switch 0", "switch 0", "node 3"]);
    let near = |found: &[f64], expected: [f64; 3]| {
        for (found, expected) in found.iter().zip(expected) {
            assert!((found - expected).abs() < 0.002, "{found} instead of {expected}");
        }
    };
    near(&reals(links, "throughput_gbps"), [6.5, 6.5, 13.0]);
    // Links carry 16 Gb/s, the receiver takes 13, which the sources share.
    near(&reals(links, "utilisation"), [6.5 / 16.0, 6.5 / 16.0, 13.0 / 16.0]);
    // A source could send a packet each time the bus has brought one, at 13 Gb/s, and may send every other time. The switch gets
    // credits for a packet every 2048 · 8 / 13 ns, the packet is on the link 50 ns later (output_latency), for 1024 ns.
    let period = 2048.0 * 8.0 / 13.0;
    near(&reals(links, "credit_stall_fraction"), [0.5, 0.5, (period - 50.0 - 1024.0) / period]);
}

#[test]
fn intervals_shorter_and_longer_than_a_packet_add_up_to_the_window() {
    for interval in [400, 2000] {
        let measure = format!(
            "time = {{ warmup = \"20 us\", window = \"80 us\", interval = \"{interval} ns\" }}, streams = [\"links\", \"link_series\"]"
        );
        let all = tables(&shared(&measure));
        let [links, series] = ["links", "link_series"].map(|name| table(&all, name));
        assert_eq!(texts(series, "from")[..3], texts(links, "from"));
        let in_window: Vec<bool> = reals(series, "time_s").iter().map(|&time| time > 20.1e-6).collect();
        let rows = f64::from(80_000 / interval);
        for (column, parts) in [("bytes", 1.0), ("utilisation", rows), ("credit_stall_fraction", rows)] {
            let (whole, values) = (reals(links, column), reals(series, column));
            assert!(column == "bytes" || values.iter().all(|share| (0.0..=1.0).contains(share)), "{column}");
            for (number, whole) in whole.iter().enumerate() {
                let own = (number..values.len()).step_by(3).filter(|&row| in_window[row]);
                let sum: f64 = own.map(|row| values[row]).sum();
                assert!((sum / parts - whole).abs() < 1e-9 * whole.max(1.0), "{column}: {sum} and {whole}");
            }
        }
    }
}

/// Figure 8 of Gran et al.: nodes 1, 2, 6 and 7 send to node 5 of the second switch, node 0 of the first one to node 4.
fn parking_lot(control: &str) -> Table {
    let flow =
        |source: u32, destination: u32| format!("{{ source = {source}, destination = {destination} }}");
    let flows = [(0, 4), (1, 5), (2, 5), (6, 5), (7, 5)].map(|(source, to)| flow(source, to)).join(", ");
    let text = format!(
        "topology.graph = {{ edges = [{{ between = [0, 1] }}], nodes_per_router = 4 }}\nrouter.infiniband = {{ {control} }}\n\
         measure = {{ time = {{ warmup = \"20 ms\", window = \"10 ms\" }}, streams = [\"victims\"] }}\njobs = [{{ flows = [{flows}] }}]\n"
    );
    table(&tables(&text), "victims").clone()
}

#[test]
fn a_flow_that_waits_behind_others_is_a_victim_of_where_they_go() {
    let table = parking_lot("");
    assert_eq!(texts(&table, "name"), ["flow0", "flow1", "flow2", "flow3", "flow4"]);
    assert_eq!(texts(&table, "role"), ["victim", "contributor", "contributor", "contributor", "contributor"]);
    assert!(texts(&table, "from").iter().all(|from| from == "switch 1"));
    assert!(texts(&table, "to").iter().all(|to| to == "node 5"));
    assert!(reals(&table, "lost_fraction").iter().all(|&share| share > 0.9), "{table:?}");
    assert!(reals(&table, "lost_s").iter().all(|&time| (0.009..=0.01).contains(&time)), "{table:?}");
}

#[test]
fn congestion_control_leaves_no_victim() {
    let table = parking_lot("congestion_control = {}");
    let lost: f64 = texts(&table, "role")
        .iter()
        .zip(reals(&table, "lost_fraction"))
        .filter_map(|(role, share)| (role == "victim").then_some(share))
        .sum();
    assert!(lost < 0.05, "{table:?}");
}
