//! The back ends of `integrations/`, on stand-ins for the headers of the simulators that they are for. Where an environment variable names
//! the real thing its headers are taken.

use crate::support::{Language, crate_folder, printed};
use hopsim_core::engine::{Control, run};
use hopsim_experiment::document;
use hopsim_experiment::plan::AnyPlan;
use hopsim_experiment::plan::programs::no_files;
use std::fs;
use std::path::PathBuf;
use std::process::Command;

/// The folder of an integration.
fn integration(name: &str) -> PathBuf {
    crate_folder().join("../../integrations").join(name)
}

/// A file of the tests with some text.
fn file(name: &str, text: &str) -> PathBuf {
    let file = std::env::current_exe().unwrap().with_file_name(name);
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
