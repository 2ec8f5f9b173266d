//! Packets that wait for each other are reported, where there can be any.

use hopsim_core::engine::{Control, run};
use hopsim_core::error::RunError;
use hopsim_experiment::plan::Plan;
use hopsim_experiment::proof::{Verdict, prove};
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
    let Verdict::Circle(circle) = prove(&plan) else { panic!("no circle is found") };
    assert!(circle.channels.len() >= 2 && circle.channels.iter().all(|channel| channel.vc == 0));
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
    let plan = |reserve| Plan::new(&serde_json::from_value(document(reserve)).unwrap()).unwrap();
    let outcome = |reserve| run(&plan(reserve), &Control::default());
    assert!(matches!(prove(&plan(0)), Verdict::Circle(_)));
    assert!(matches!(prove(&plan(1)), Verdict::Proved(_)));
    assert!(matches!(outcome(0), Err(RunError::Deadlock(_))), "{:?}", outcome(0).is_ok());
    assert!(outcome(1).is_ok());
}

#[test]
fn a_torus_without_bubbles_deadlocks_and_with_them_it_does_not() {
    let plan = |bubble: u32| {
        let document = json!({
            "topology": { "ring": { "routers": 6 } },
            "load": 1.0,
            "router": { "input_queued": {
                "vcs": { "network": 1, "bubble": bubble, "allow_deadlock": true },
                "buffers": { "network": 16, "injection": 16 }
            } },
            "measure": { "warmup": 0, "cycles": 20_000, "watchdog": 500 }
        });
        Plan::new(&serde_json::from_value(document).unwrap()).unwrap()
    };
    let Verdict::Circle(circle) = prove(&plan(0)) else { panic!("no circle is found") };
    assert_eq!(circle.channels.len(), 6, "once round the ring");
    assert!(matches!(run(&plan(0), &Control::default()), Err(RunError::Deadlock(_))));
    assert!(matches!(prove(&plan(1)), Verdict::Proved(proof) if proof.rings == 2));
    assert!(run(&plan(1), &Control::default()).is_ok());
}

#[test]
fn with_vc_order_the_same_overload_never_deadlocks() {
    assert!(run(&overloaded(), &Control::default()).is_ok());
}
