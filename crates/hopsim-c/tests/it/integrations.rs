//! The back ends of `integrations/`, on stand-ins for the headers of the simulators that they are for. Where an environment variable names
//! the real thing its headers are taken.

use crate::support::{Language, crate_folder, printed};
use hopsim_core::engine::stepping::{DeliveredMessage, Stepping};
use hopsim_core::engine::{Control, run};
use hopsim_experiment::document;
use hopsim_experiment::plan::AnyPlan;
use hopsim_experiment::plan::programs::no_files;
use hopsim_random::{Purpose, Stream};
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The folder of an integration.
fn integration(name: &str) -> PathBuf {
    crate_folder().join("../../integrations").join(name)
}

/// A file of the tests with some text.
fn file(name: &str, text: &str) -> PathBuf {
    let file = std::env::current_exe().unwrap().with_file_name(name);
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(&file, text).unwrap();
    file
}

/// Where headers are: of the simulator that the environment variable names, or else the stand-in.
fn headers(variable: &str, name: &str) -> PathBuf {
    std::env::var_os(variable).map_or_else(|| integration(name).join("stand-in"), PathBuf::from)
}

#[test]
fn an_all_gather_of_astra_sim_takes_as_long_as_that_of_a_program() {
    let folder = integration("astra-sim");
    let headers = headers("ASTRA_SIM", "astra-sim");
    let program = Language::Cpp.compiled(
        &[&folder.join("tests/ring.cc"), &folder.join("network.cc")],
        "astra-sim",
        &["-isystem", headers.to_str().unwrap()],
    );
    for (nanoseconds, topology, bytes) in
        [(1, "torus.sides = [4, 4]", 4_000), (2, "dragonfly = { p = 2, a = 4, h = 2 }", 700)]
    {
        let network = format!(
            "units = {{ cycle = \"{nanoseconds} ns\", phit = \"4 B\" }}\ntopology.{topology}\n[[jobs]]\nhost.packet_length = 8\n"
        );
        let document = file("astra-sim.toml", &format!("{network}program = \"external\"\n"));
        let found = printed(Command::new(&program).arg(&document).arg(bytes.to_string()));
        let collective = format!(
            "{network}host.collectives.allgather = \"ring\"\nprogram.collective = {{ kind = \"allgather\", bytes = {bytes} }}\n"
        );
        let points = document::points(&collective, &[]).unwrap();
        let AnyPlan::Network(plan) = AnyPlan::new(&points[0].experiment, &no_files).unwrap() else {
            unreachable!()
        };
        let cycles = run(&plan, &Control::default()).unwrap().summary["execution_time"].as_u64().unwrap();
        assert_eq!(found, format!("{}\n", cycles * nanoseconds), "{topology}");
    }
}

/// What `sst-config` says, if SST is installed.
fn sst(question: &str) -> Option<Vec<String>> {
    let done = Command::new("sst-config").arg(question).output().ok()?;
    Some(String::from_utf8(done.stdout).unwrap().split_whitespace().map(str::to_owned).collect())
}

/// An element library of SST, made of a source and linked to more.
fn element(source: &Path, library: &Path, more: &[&str]) {
    let flags = ["--ELEMENT_CXXFLAGS", "--ELEMENT_LDFLAGS"].map(|question| sst(question).unwrap());
    let mut command = Command::new(&sst("--CXX").unwrap()[0]);
    command.args(&flags[0]).arg("-I").arg(crate_folder().join("include")).arg(source);
    command.args(&flags[1]).arg("-o").arg(library).args(more);
    printed(&mut command);
}

/// A request of an endpoint: when it is sent \[ps\], to which endpoint, its bits, and its virtual network.
type Send = (u64, usize, u64, u32);

/// Random requests of so many endpoints, in the order of time.
fn sends(endpoints: u32) -> Vec<Vec<Send>> {
    let mut stream = Stream::new(7, Purpose::Pattern, 0);
    let mut of = |endpoint: u32| {
        let mut sends: Vec<Send> = (0..40)
            .map(|_| {
                let other = (endpoint + 1 + stream.below(endpoints - 1)) % endpoints;
                let bits = [1, 8, 32, 33, 640, 4_000][stream.below(6) as usize];
                (u64::from(1 + stream.below(20_000)), other as usize, bits, stream.below(2))
            })
            .collect();
        sends.sort_by_key(|send| send.0);
        sends
    };
    (0..endpoints).map(&mut of).collect()
}

/// The lines that endpoints print of requests, as a network says that is driven by steps: links to it take so many picoseconds.
fn expected(document: &str, sends: &[Vec<Send>], link: u64) -> Vec<String> {
    let points = document::points(document, &[]).unwrap();
    let plan = AnyPlan::new(&points[0].experiment, &no_files).unwrap();
    let mut network = Stepping::new(plan, 1).unwrap();
    let nodes = network.nodes();
    let mut order: Vec<(u64, usize, usize)> = Vec::new();
    for (source, own) in sends.iter().enumerate() {
        order.extend(own.iter().enumerate().map(|(number, send)| (send.0 + link, source, number)));
    }
    order.sort_unstable();
    for (tag, &(time, source, number)) in (0..).zip(&order) {
        let (_, destination, bits, _) = sends[source][number];
        let cycle = network.cycles(time).unwrap();
        network.step(cycle - u64::from(network.now()), &mut || true).unwrap();
        let phits = network.phits(bits.div_ceil(8)).unwrap();
        network.inject((nodes[source], nodes[destination]), phits, tag).unwrap();
    }
    network.step(100_000, &mut || true).unwrap();
    let delivered = network.take_delivered();
    let told = |message: &DeliveredMessage| {
        let (_, source, number) = order[usize::try_from(message.tag).unwrap()];
        let (_, destination, bits, vn) = sends[source][number];
        let time = network.picoseconds(message.delivered.into()).unwrap() + link;
        format!("{time} ps: {bits} bits from {source} to {destination} on {vn}")
    };
    delivered.iter().map(told).collect()
}

#[test]
fn what_endpoints_of_sst_send_arrives_as_by_steps() {
    let Some(_) = sst("--CXX") else {
        return eprintln!("sst-config is not there: SST is not driven");
    };
    let (folder, libraries) = (integration("sst"), file("sst/README", "element libraries for the test"));
    let libraries = libraries.parent().unwrap();
    let hopsim = std::env::current_exe().unwrap().with_file_name("libhopsim.a");
    let linked = [hopsim.to_str().unwrap(), "-lpthread", "-ldl", "-lm"];
    element(&folder.join("network.cc"), &libraries.join("libhopsim.so"), &linked);
    element(&folder.join("tests/exchange.cc"), &libraries.join("libhopsimtest.so"), &[]);
    for (cycle, link, buffer) in [("1 ns", 500, "1MB"), ("0.8 ns", 1_234, "1MB"), ("2 ns", 1, "500B")] {
        let text = format!(
            "units = {{ cycle = \"{cycle}\", phit = \"4 B\" }}\ntopology.dragonfly = {{ p = 2, a = 4, h = 2 }}\n[[jobs]]\n\
             program = \"external\"\nplacement.list = [9, 2, 5, 70, 33, 34, 12, 50]\n"
        );
        let sends = sends(8);
        let (document, results) = (file("sst/net.toml", &text), libraries.join("results.json"));
        let plan = json!({
            "document": document, "results": results, "buffer": buffer, "latency": format!("{link}ps"), "sends": sends,
        });
        let plan = file("sst/plan.json", &plan.to_string());
        let mut command = Command::new("sst");
        command.arg(format!("--add-lib-path={}", libraries.display())).arg(folder.join("tests/exchange.py"));
        let printed = printed(command.env("HOPSIM_SST_PLAN", plan));
        let requests = printed.lines().filter(|line| line.contains(" ps: ")).map(str::to_owned);
        let (mut found, mut expected): (Vec<String>, _) = (requests.collect(), expected(&text, &sends, link));
        if buffer != "1MB" {
            // Requests wait in the endpoints: they come later, but all of them come.
            assert_ne!(found.last(), expected.last());
            let request = |line: &String| line.split_once(": ").unwrap().1.to_owned();
            (found, expected) = (found.iter().map(request).collect(), expected.iter().map(request).collect());
        }
        found.sort_unstable();
        expected.sort_unstable();
        assert_eq!(found, expected, "{cycle}");
        let measured: Value = serde_json::from_str(&fs::read_to_string(&results).unwrap()).unwrap();
        assert_eq!(measured["jobs"][0]["messages"], 320);
    }
}
