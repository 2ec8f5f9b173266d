//! What C sees: the header fits the library, the example runs, and bad input is refused.
#![allow(clippy::multiple_unsafe_ops_per_block, reason = "a test calls one function of C after the other")]

use crate::support::{Language, crate_folder, printed};
use hopsim::{
    Message, Simulation, Status, hopsim_delivered, hopsim_free, hopsim_in_flight, hopsim_inject,
    hopsim_last_error, hopsim_new, hopsim_now, hopsim_results, hopsim_step, hopsim_step_until_delivered,
    hopsim_version,
};
use std::ffi::{CStr, CString, c_char};
use std::fmt::Write as _;
use std::fs;
use std::mem::offset_of;
use std::process::Command;
use std::ptr;

const DOCUMENT: &str =
    "topology.torus.sides = [4, 4]\nmeasure.max_cycles = 1000\n[[jobs]]\nprogram = \"external\"\n";

#[test]
fn the_example_in_c_prints_what_that_in_python_does() {
    let examples = crate_folder().join("../../examples");
    let program = Language::C.compiled(&[&examples.join("co_simulation.c")], "example", &[]);
    let found = printed(Command::new(program).arg(examples.join("co_simulation.toml")));
    assert_eq!(found, fs::read_to_string(examples.join("co_simulation.txt")).unwrap());
}

const SANITIZERS: [&str; 5] = [
    "-fsanitize=address,undefined",
    "-fno-sanitize-recover=all",
    "-g",
    "-pthread",
    "-D_POSIX_C_SOURCE=200809L",
];

/// Whether the C compiler comes with its sanitizers.
fn has_sanitizers() -> bool {
    let source = std::env::current_exe().unwrap().with_file_name("sanitized.c");
    fs::write(&source, "int main(void) { return 0; }\n").unwrap();
    let done = Language::C
        .compiler(&SANITIZERS)
        .arg(&source)
        .arg("-o")
        .arg(source.with_extension("program"))
        .output();
    done.is_ok_and(|done| done.status.success())
}

#[test]
fn every_call_survives_abuse_under_sanitizers() {
    let options: &[&str] = if has_sanitizers() {
        &SANITIZERS
    } else {
        eprintln!("the C compiler has no sanitizers: the program runs without");
        &SANITIZERS[2..]
    };
    let program = Language::C.compiled(&[&crate_folder().join("tests/abuse.c")], "abuse", options);
    assert_eq!(printed(&mut Command::new(program)), "every call said what it has to say\n");
}

#[test]
fn no_panic_passes_a_function_of_the_library() {
    let source = fs::read_to_string(crate_folder().join("src/lib.rs")).unwrap();
    for function in source.split("extern \"C\" fn hopsim_").skip(1) {
        let name = function.split('(').next().unwrap();
        let body = function.split("\n}\n").next().unwrap();
        let guards = ["guarded(", "told(", "with(", "tell(", "try_with(", "VERSION.as_ptr()"];
        assert!(guards.iter().any(|guard| body.contains(guard)), "hopsim_{name} has no guard");
    }
}

#[test]
fn the_header_has_the_layout_of_the_library() {
    let fields = ["number", "tag", "source", "destination", "phits", "injected", "delivered"];
    let mut text = "#include <hopsim.h>\n#include <stdio.h>\nint main(void) {\n".to_owned();
    for field in fields {
        writeln!(text, "printf(\"%d \", (int)offsetof(hopsim_message, {field}));").unwrap();
    }
    text += "printf(\"%d %d %d %d %d %d %d\\n\", (int)sizeof(hopsim_message), (int)sizeof(hopsim_status), HOPSIM_OK, \
             HOPSIM_STOPPED, HOPSIM_REFUSED, HOPSIM_INTERNAL, HOPSIM_INTERRUPTED);\nreturn 0;\n}\n";
    let source = std::env::current_exe().unwrap().with_file_name("layout.c");
    fs::write(&source, text).unwrap();
    let found = printed(&mut Command::new(Language::C.compiled(&[&source], "layout", &[])));
    let offsets = [
        offset_of!(Message, number),
        offset_of!(Message, tag),
        offset_of!(Message, source),
        offset_of!(Message, destination),
        offset_of!(Message, phits),
        offset_of!(Message, injected),
        offset_of!(Message, delivered),
        size_of::<Message>(),
        size_of::<Status>(),
    ];
    let statuses = [Status::Ok, Status::Stopped, Status::Refused, Status::Internal, Status::Interrupted]
        .map(|status| status as usize);
    let numbers: Vec<String> = offsets.iter().chain(&statuses).map(ToString::to_string).collect();
    assert_eq!(found.trim_end(), numbers.join(" "));
}

#[test]
fn the_header_declares_what_the_library_exports() {
    let names = |text: &str, before: &str| {
        let mut names: Vec<String> = text
            .split(before)
            .skip(1)
            .map(|rest| rest.split('(').next().unwrap().trim().to_owned())
            .filter(|name| name.starts_with("hopsim_"))
            .collect();
        names.sort();
        names
    };
    let header = fs::read_to_string(crate_folder().join("include/hopsim.h")).unwrap();
    let source = fs::read_to_string(crate_folder().join("src/lib.rs")).unwrap();
    let lines = header
        .lines()
        .filter(|line| line.contains('(') && !line.starts_with([' ', '/']) && !line.starts_with("typedef"));
    let name =
        |line: &str| line[line.find("hopsim_").unwrap()..].trim_start_matches("hopsim_status ").to_owned();
    let declared = lines.map(|line| "fn ".to_owned() + &name(line)).collect::<Vec<_>>().join("\n");
    assert_eq!(names(&declared, "fn "), names(&source, "extern \"C\" fn "));
    assert_eq!(names(&source, "extern \"C\" fn ").len(), 17);
}

/// A simulation, which ends with it.
struct Owned(*mut Simulation);

impl Drop for Owned {
    fn drop(&mut self) {
        // SAFETY: `hopsim_new` made it, or it is NULL.
        unsafe { hopsim_free(self.0) };
    }
}

fn begun(document: &str) -> Result<Owned, String> {
    let document = CString::new(document).unwrap();
    let mut simulation = ptr::null_mut();
    // SAFETY: a C string, and a place to write to.
    match unsafe { hopsim_new(document.as_ptr(), 1, &raw mut simulation) } {
        Status::Ok => Ok(Owned(simulation)),
        status => {
            assert_eq!(status, Status::Refused);
            assert!(simulation.is_null());
            Err(last_error())
        }
    }
}

fn text(pointer: *const c_char) -> String {
    // SAFETY: the library says that it is a C string.
    unsafe { CStr::from_ptr(pointer) }.to_str().unwrap().to_owned()
}

fn last_error() -> String {
    text(hopsim_last_error())
}

#[test]
fn bad_input_is_refused_with_a_message() {
    assert!(
        begun("topology = 3").err().unwrap().starts_with("line 1, column 1: topology = 3: must be a name")
    );
    assert!(
        begun(&format!("{DOCUMENT}[sweep.product]\n\"measure.seed\" = [1, 2]\n"))
            .err()
            .unwrap()
            .starts_with("sweep: the document has 2 points")
    );
    assert!(
        begun("load = 0.1\ntopology.torus.sides = [4, 4]\n")
            .err()
            .unwrap()
            .starts_with("jobs: no other simulator drives")
    );
    let simulation = begun(DOCUMENT).unwrap();
    // SAFETY: a simulation; NULL is allowed.
    let status = unsafe { hopsim_inject(simulation.0, 3, 99, 1, 0, ptr::null_mut()) };
    assert_eq!(
        (status, last_error().as_str()),
        (Status::Refused, "destination = 99: there is no such node; valid: 0 … 15")
    );
    // SAFETY: likewise.
    let status = unsafe { hopsim_step(simulation.0, 1001) };
    assert_eq!(status, Status::Refused);
    assert!(last_error().starts_with("cycles = 1001: "), "{}", last_error());
}

#[test]
fn null_is_refused_and_never_followed() {
    let (none, mut place) = (ptr::null_mut(), ptr::null_mut());
    // SAFETY: NULL is allowed everywhere.
    unsafe {
        assert_eq!(hopsim_new(ptr::null(), 1, &raw mut place), Status::Refused);
        assert_eq!(last_error(), "document: is NULL; valid: TOML text");
        assert_eq!(hopsim_new(c"".as_ptr(), 0, &raw mut place), Status::Refused);
        assert_eq!(last_error(), "threads: 0 cannot simulate anything; valid: 1 …");
        assert_eq!(hopsim_new(c"".as_ptr(), 1, ptr::null_mut()), Status::Refused);
        assert_eq!(hopsim_inject(none, 0, 1, 1, 0, ptr::null_mut()), Status::Refused);
        assert_eq!(last_error(), "simulation: is NULL; valid: what hopsim_new made");
        assert_eq!(hopsim_step(none, 1), Status::Refused);
        assert_eq!(hopsim_step_until_delivered(none, 1), Status::Refused);
        assert_eq!(hopsim_results(none, ptr::null_mut()), Status::Refused);
        assert_eq!((hopsim_now(none), hopsim_in_flight(none)), (0, 0));
        assert_eq!(hopsim_delivered(none, ptr::null_mut(), 1), 0);
        hopsim_free(none);
    }
}

#[test]
fn messages_come_as_there_is_room_for_them() {
    let simulation = begun(DOCUMENT).unwrap();
    let mut number = 0;
    let empty = Message { number: 9, tag: 9, source: 9, destination: 9, phits: 9, injected: 9, delivered: 9 };
    let mut messages = [empty; 4];
    // SAFETY: a simulation, places to write to, and as much room as is said.
    unsafe {
        for node in 1..4 {
            assert_eq!(
                hopsim_inject(simulation.0, node, 0, 4, u64::MAX - u64::from(node), &raw mut number),
                Status::Ok
            );
            assert_eq!(number, u64::from(node) - 1);
        }
        assert_eq!(hopsim_in_flight(simulation.0), 3);
        assert_eq!(hopsim_step(simulation.0, 200), Status::Ok);
        assert_eq!(hopsim_delivered(simulation.0, messages.as_mut_ptr(), 2), 2);
        assert_eq!(hopsim_step_until_delivered(simulation.0, 100), Status::Ok);
        assert_eq!(hopsim_now(simulation.0), 200, "one is there already");
        assert_eq!(hopsim_delivered(simulation.0, messages[2..].as_mut_ptr(), 2), 1);
        assert_eq!(hopsim_step_until_delivered(simulation.0, 100), Status::Ok);
        assert_eq!(hopsim_now(simulation.0), 300);
    }
    assert_eq!(messages[3], empty);
    assert!(messages[..3].is_sorted_by_key(|message| message.delivered));
    assert!(messages[..3].iter().all(|message| message.tag == u64::MAX - u64::from(message.source)));
}

#[test]
fn results_are_json_and_end_the_simulation() {
    let simulation = begun(DOCUMENT).unwrap();
    let mut results = ptr::null();
    // SAFETY: a simulation, and a place to write to.
    unsafe {
        assert_eq!(hopsim_results(simulation.0, &raw mut results), Status::Refused);
        assert!(results.is_null());
        assert_eq!(hopsim_inject(simulation.0, 1, 2, 40, 0, ptr::null_mut()), Status::Ok);
        assert_eq!(hopsim_step(simulation.0, 500), Status::Ok);
        assert_eq!(hopsim_results(simulation.0, &raw mut results), Status::Ok);
        assert_eq!(hopsim_step(simulation.0, 1), Status::Refused);
        let first = text(results);
        assert_eq!(hopsim_results(simulation.0, &raw mut results), Status::Ok);
        assert_eq!(text(results), first);
    }
    let results: serde_json::Value = serde_json::from_str(&text(results)).unwrap();
    assert_eq!(results["summary"]["cycles"], 500);
    assert_eq!(results["jobs"][0]["messages"], 1);
    assert!(text(hopsim_version()).starts_with("0.1.0+"));
}
