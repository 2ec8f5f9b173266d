//! What is a snapshot of a run, and what is none.

use hopsim_core::VERSION;
use hopsim_core::engine::{Control, Snapshot, Stages, run_in_stages};
use hopsim_experiment::plan::Plan;
use serde_json::{Value, json};

fn plan(changes: &Value) -> Plan {
    let mut document = json!({
        "topology": { "dragonfly": { "p": 2, "a": 4, "h": 2 } }, "load": 0.5,
        "measure": { "warmup": 200, "cycles": 400 },
    });
    document.as_object_mut().unwrap().extend(changes.as_object().unwrap().clone());
    Plan::new(&serde_json::from_value(document).unwrap()).unwrap()
}

/// The states of a run that are kept: that of a cycle, if it is given, and one that is asked for at the beginning.
fn kept(plan: &Plan, at: Option<u32>, asked: bool) -> Vec<Snapshot> {
    let mut kept = Vec::new();
    let mut keep = |snapshot: &Snapshot| kept.push(snapshot.clone());
    let control = Control::default();
    control.save.store(asked, std::sync::atomic::Ordering::Relaxed);
    run_in_stages(plan, &control, Stages { at, keep: Some(&mut keep), ..Stages::default() }).unwrap();
    kept
}

#[test]
fn the_state_is_kept_when_it_is_asked_for_and_at_its_cycle() {
    let cycles =
        |at, asked| kept(&plan(&json!({})), at, asked).iter().map(Snapshot::cycle).collect::<Vec<_>>();
    assert_eq!(cycles(None, false), Vec::<u32>::new());
    assert_eq!(cycles(None, true), [256], "at the first look");
    assert_eq!(cycles(Some(333), true), [256, 333]);
    assert_eq!(cycles(Some(600), false), [600], "the end of the run");
    assert_eq!(cycles(Some(601), false), Vec::<u32>::new());
}

#[test]
fn a_snapshot_is_read_as_it_was_written_or_not_at_all() {
    let bytes = kept(&plan(&json!({})), Some(333), false)[0].to_bytes();
    assert_eq!(Snapshot::from_bytes(&bytes).unwrap().to_bytes(), bytes);
    let none = "is no snapshot; valid: a file that --save-state has written";
    assert_eq!(Snapshot::from_bytes(b"").unwrap_err(), none);
    assert_eq!(Snapshot::from_bytes(b"{}").unwrap_err(), none);
    let damaged = "is a damaged snapshot; valid: a file that --save-state has written";
    for place in [18, bytes.len() / 2, bytes.len() - 1] {
        let mut changed = bytes.clone();
        changed[place] ^= 1;
        assert_eq!(Snapshot::from_bytes(&changed).unwrap_err(), damaged, "byte {place}");
    }
    for length in [18, 20, 22, bytes.len() - 1] {
        assert_eq!(Snapshot::from_bytes(&bytes[..length]).unwrap_err(), damaged, "{length} bytes");
    }
}

#[test]
fn a_snapshot_of_something_else_is_refused() {
    let own = plan(&json!({}));
    let snapshot = kept(&own, Some(333), false).remove(0);
    assert_eq!(snapshot.check(&own), Ok(()));
    let other = plan(&json!({ "load": 0.6 }));
    assert_eq!(
        snapshot.check(&other).unwrap_err(),
        "is a snapshot of another experiment (jobs.0.traffic.process.bernoulli.load: 0.5 there, 0.6 here); \
         valid: the experiment that it is of"
    );
    let longer = plan(&json!({ "measure": { "warmup": 100, "cycles": 500, "batches": 4, "seed": 2 } }));
    assert_eq!(
        snapshot.check(&longer).unwrap_err(),
        "is a snapshot of another experiment (measure.warmup: 200 there, 100 here; measure.cycles: 400 there, 500 here; \
         measure.seed: 1 there, 2 here; 1 more); valid: the experiment that it is of"
    );
    // As long a version as the own one, so that everything stays in its place.
    let mut bytes = snapshot.to_bytes();
    let place = bytes.windows(VERSION.len()).position(|bytes| bytes == VERSION.as_bytes()).unwrap();
    bytes[place] = b'9';
    let sum = crc32fast::hash(&bytes[..bytes.len() - 4]).to_le_bytes();
    let end = bytes.len() - 4;
    bytes[end..].copy_from_slice(&sum);
    let older = Snapshot::from_bytes(&bytes).unwrap();
    assert_eq!(
        older.check(&own).unwrap_err(),
        format!("was written by hopsim 9{}; valid: a snapshot of hopsim {VERSION}", &VERSION[1..])
    );
}
