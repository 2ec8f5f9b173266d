//! Packets that wait for each other are reported, where there can be any.

use hopsim_core::engine::{Control, run};
use hopsim_core::error::RunError;
use hopsim_experiment::plan::Plan;
use hopsim_routing::minimal::Minimal;
use hopsim_routing::sequence::VcSequence;
use hopsim_routing::valiant::Config;
use hopsim_routing::vcs::Vcs;
use hopsim_routing::{Routing, RoutingConfig};
use serde_json::json;
use std::sync::Arc;

fn overloaded() -> Plan {
    let document = json!({
        "topology": { "dragonfly": { "p": 2, "a": 4, "h": 2 } },
        "load": 1.0,
        "routing": { "valiant": {} },
        "router": { "cioq": { "buffers": { "local": 8, "global": 8, "injection": 8, "output": 8 } } },
        "measure": { "warmup": 0, "cycles": 20_000, "watchdog": 500 }
    });
    Plan::new(&serde_json::from_value(document).unwrap()).unwrap()
}

#[test]
fn without_vc_order_the_cycle_of_waiting_packets_is_reported() {
    let mut plan = overloaded();
    assert!(matches!(plan.experiment.routing, RoutingConfig::Valiant(_)));
    let vcs = Vcs::increasing(VcSequence::unordered(&plan.system.network.classes, 0));
    let base = Minimal::new(Arc::clone(&plan.system.topology), vcs);
    plan.system.routing = Routing::Valiant(Config::default().build(base));
    let Err(RunError::Deadlock(report)) = run(&plan, &Control::default()) else {
        panic!("eight-phit buffers and one VC must deadlock under Valiant at full load")
    };
    assert!(report.waiting.len() >= 2 && report.packets >= report.waiting.len());
    assert!(report.waiting.iter().all(|head| head.output_vc == 0));
    assert!(report.to_string().contains("wait for each other"), "{report}");
}

#[test]
fn shared_buffers_without_a_reserve_deadlock_and_with_one_they_do_not() {
    let document = |reserve: u32| {
        json!({
            "topology": { "dragonfly": { "p": 2, "a": 4, "h": 2 } },
            "load": 1.0,
            "router": { "cioq": { "buffers": {
                "local": 32, "global": 32, "injection": 32, "output": 16,
                "damq": { "local_reserve": reserve, "global_reserve": reserve, "allow_deadlock": true }
            } } },
            "measure": { "warmup": 0, "cycles": 20_000, "watchdog": 500 }
        })
    };
    let outcome = |reserve| {
        let experiment = serde_json::from_value(document(reserve)).unwrap();
        run(&Plan::new(&experiment).unwrap(), &Control::default())
    };
    assert!(matches!(outcome(0), Err(RunError::Deadlock(_))), "{:?}", outcome(0).is_ok());
    assert!(outcome(1).is_ok());
}

#[test]
fn with_vc_order_the_same_overload_never_deadlocks() {
    assert!(run(&overloaded(), &Control::default()).is_ok());
}
