//! What sources do about notifications: messages, and which keys a resolved document has.

use super::{VALID, control, starts};
use crate::message_of;
use hopsim_experiment::document;
use hopsim_experiment::plan::AnyPlan;
use hopsim_experiment::plan::programs::no_files;

#[test]
fn reactions() {
    let of = |key: &str, value: &str| control(&format!("reaction{key}"), value);
    for reaction in [
        "table",
        "aimd",
        "{ aimd = { increase = 1, decrease = 0.000001, least = 0.0001 } }",
        "dcqcn",
        "{ dcqcn = { g = 1, byte_counter = 0, fast_recovery = 65535, cut_interval = '4 us', least = 1 } }",
    ] {
        assert_eq!(of("", reaction), "accepted", "{reaction}");
    }
    let key = "router.infiniband.congestion_control";
    for (name, value, valid) in [
        ("increase", "0", "0.000001 … 1"),
        ("decrease", "1.1", "0.000001 … 1"),
        ("least", "0.00001", "0.0001 … 1"),
    ] {
        let message = of(&format!(".aimd.{name}"), value);
        let expected = format!("{key}.reaction.aimd.{name} = ");
        assert!(message.starts_with(&expected), "{message}");
        assert!(message.ends_with(&format!(" (override): out of range; valid: {valid}")), "{message}");
    }
    assert_eq!(
        of(".aimd.period", "0 us"),
        format!(
            "{key}.reaction.aimd.period = \"0 us\" (override): is not a positive number and a unit; \
             valid: a decimal number above 0 and ps, ns, us, ms, s"
        )
    );
    starts(&of("", "cubic"), &format!("{key}.reaction = \"cubic\": no such choice; "));
}

#[test]
fn another_reaction_has_nothing_of_the_table() {
    let key = "router.infiniband.congestion_control";
    for (name, value) in [
        ("timer", "free"),
        ("ccti_timer", "150"),
        ("ccti_increase", "1"),
        ("ccti_limit", "127"),
        ("ccti_min", "0"),
        ("cct", "simula"),
    ] {
        let written = format!("{key}.{name}={value}");
        assert_eq!(
            message_of(VALID, &[&format!("{key}.reaction=aimd"), &written]),
            format!(
                "{key}.{name} (override): is of the reaction table, and there is another one; valid: no such key"
            )
        );
        assert_eq!(message_of(VALID, &[&format!("{key}.reaction=table"), &written]), "accepted");
    }
    let text = VALID.replacen("congestion_control = {}", "congestion_control.reaction.aimd = {}", 1);
    let point = document::points(&text, &[]).unwrap().remove(0);
    let resolved = document::resolved(&point.experiment).unwrap();
    let control = resolved["router"]["infiniband"]["congestion_control"].as_object().unwrap();
    let keys: Vec<&str> = control.keys().map(String::as_str).filter(|key| key.starts_with("cc")).collect();
    assert!(control.contains_key("level") && keys.is_empty() && !control.contains_key("timer"), "{keys:?}");
    let again = document::from_json(&resolved.to_string()).unwrap();
    assert_eq!(AnyPlan::new(&again, &no_files).unwrap().into_experiment(), point.experiment);
}

#[test]
fn values_of_dcqcn() {
    let of = |name: &str, value: &str| control(&format!("reaction.dcqcn.{name}"), value);
    let key = "router.infiniband.congestion_control.reaction.dcqcn";
    for (name, value, valid) in [
        ("g", "0", "0.000001 … 1"),
        ("increase", "2", "0.000001 … 1"),
        ("hyper_increase", "0", "0.000001 … 1"),
        ("least", "0.00001", "0.0001 … 1"),
        ("fast_recovery", "0", "1 … 65535"),
        ("fast_recovery", "65536", "1 … 65535"),
        ("byte_counter", "1000000000001", "0 … 1000000000000"),
    ] {
        let expected = format!("{key}.{name} = {value} (override): out of range; valid: {valid}");
        assert_eq!(of(name, value), expected);
    }
    for name in ["alpha_timer", "rate_timer", "cut_interval"] {
        let expected = format!(
            "{key}.{name} = \"0 us\" (override): is not a positive number and a unit; \
             valid: a decimal number above 0 and ps, ns, us, ms, s"
        );
        assert_eq!(of(name, "0 us"), expected);
    }
    let unknown = of("period", "'50 us'");
    assert!(unknown.starts_with(&format!("{key}.period = \"50 us\" (override): unknown key")), "{unknown}");
}

#[test]
fn values_of_timely() {
    let key = "router.infiniband.congestion_control";
    let acknowledged = format!("{key}.notification=acknowledgements");
    let of = |name: &str, value: &str| {
        message_of(VALID, &[&acknowledged, &format!("{key}.reaction.timely{name}={value}")])
    };
    assert_eq!(of("", "{}"), "accepted");
    assert_eq!(of(".least", "1"), "accepted");
    for (name, value, expected) in [
        ("alpha", "0", "0 (override): out of range; valid: 0.000001 … 1"),
        ("beta", "1.5", "1.5 (override): out of range; valid: 0.000001 … 1"),
        ("increase", "0", "0 (override): out of range; valid: 0.000001 … 1"),
        ("least", "0", "0 (override): out of range; valid: 0.0001 … 1"),
        ("hyper_after", "0", "0 (override): out of range; valid: 1 … 65535"),
        ("hyper_steps", "0", "0 (override): out of range; valid: 1 … 65535"),
        ("high", "49 us", "\"49 us\" (override): is shorter than low, \"50 us\"; valid: at least \"50 us\""),
        (
            "least_round_trip",
            "0 us",
            "\"0 us\" (override): is not a positive number and a unit; valid: a decimal number above 0 and ps, ns, us, ms, s",
        ),
    ] {
        let expected = format!("{key}.reaction.timely.{name} = {expected}");
        assert_eq!(of(&format!(".{name}"), value), expected);
    }
    assert_eq!(
        control("reaction", "timely"),
        format!(
            "{key}.reaction (override): follows the round trips of packets, of which notification packets do not tell; \
             valid: notification.acknowledgements beside it, or a reaction to marks"
        )
    );
}

#[test]
fn values_of_swift() {
    let key = "router.infiniband.congestion_control";
    let acknowledged = format!("{key}.notification=acknowledgements");
    let with = |more: &[&str]| {
        let own = [acknowledged.as_str()];
        message_of(VALID, &[&own[..], more].concat())
    };
    let of = |name: &str, value: &str| with(&[&format!("{key}.reaction.swift{name}={value}")]);
    assert_eq!(of("", "{}"), "accepted");
    assert_eq!(of("", "{ least = 4, most = 4, initial = 9 }"), "accepted");
    for (name, value, expected) in [
        ("beta", "0", "0 (override): out of range; valid: 0.000001 … 1"),
        ("most_decrease", "2", "2 (override): out of range; valid: 0.000001 … 1"),
        ("increase", "0", "0 (override): out of range; valid: 0.0001 … 65536"),
        ("initial", "65537", "65537 (override): out of range; valid: 0.0001 … 65536"),
        ("most", "0.0005", "0.0005 (override): is not above least, 0.001; valid: more than 0.001"),
        ("scale_to", "0.1", "0.1 (override): is not above scale_from, 0.1; valid: more than 0.1"),
        (
            "target",
            "0 us",
            "\"0 us\" (override): is not a positive number and a unit; valid: a decimal number above 0 and ps, ns, us, ms, s",
        ),
    ] {
        let expected = format!("{key}.reaction.swift.{name} = {expected}");
        assert_eq!(of(&format!(".{name}"), value), expected);
    }
    let swift = format!("{key}.reaction=swift");
    for (other, expected) in [
        (
            "level=sl",
            "level = \"sl\" (override): is for all flows of a service level, and the reaction has a window for each flow; valid: qp",
        ),
        (
            "notification.acknowledgements.every=2",
            "notification.acknowledgements.every = 2 (override): the reaction has a window of few packets, which would wait for the next \
             ones; valid: 1",
        ),
    ] {
        assert_eq!(with(&[&swift, &format!("{key}.{other}")]), format!("{key}.{expected}"));
    }
    let fails = "faults=[{ links = { between = [[0, 1]] }, time = { at = '1 us' } }]";
    let ring = "topology={ ring = { routers = 4 } }";
    let message = with(&[&swift, fails, ring, "router.infiniband.lanes.allow_deadlock=true"]);
    assert!(
        message.starts_with("faults.0.time (override): fails in the middle of the run, and sources"),
        "{message}"
    );
}

#[test]
fn values_of_nscc() {
    let key = "router.infiniband.congestion_control";
    let acknowledged = format!("{key}.notification=acknowledgements");
    let of = |name: &str, value: &str| {
        message_of(VALID, &[&acknowledged, &format!("{key}.reaction.nscc{name}={value}")])
    };
    assert_eq!(of("", "{}"), "accepted");
    for (name, value, valid) in [
        ("gamma", "0", "0.000001 … 1"),
        ("most_decrease", "2", "0.000001 … 1"),
        ("weight", "0", "0.000001 … 1"),
        ("fast_share", "1.5", "0.000001 … 1"),
        ("fair_increase", "0", "0.0001 … 65536"),
        ("proportional_increase", "70000", "0.0001 … 65536"),
        ("eta", "0", "0.0001 … 65536"),
        ("most", "0.5", "1 … 65536"),
    ] {
        let expected =
            format!("{key}.reaction.nscc.{name} = {value} (override): out of range; valid: {valid}");
        assert_eq!(of(&format!(".{name}"), value), expected);
    }
    for name in ["base_round_trip", "target", "fast_below"] {
        let expected = format!(
            "{key}.reaction.nscc.{name} = \"0 us\" (override): is not a positive number and a unit; \
             valid: a decimal number above 0 and ps, ns, us, ms, s"
        );
        assert_eq!(of(&format!(".{name}"), "0 us"), expected);
    }
}

#[test]
fn values_of_hpcc() {
    let key = "router.infiniband.congestion_control";
    let acknowledged = format!("{key}.notification=acknowledgements");
    let of = |name: &str, value: &str| {
        message_of(VALID, &[&acknowledged, &format!("{key}.reaction.hpcc{name}={value}")])
    };
    assert_eq!(of("", "{}"), "accepted");
    assert_eq!(of("", "{ stages = 0, utilisation = 1, least = 1 }"), "accepted");
    for (name, value, valid) in [
        ("utilisation", "0", "0.000001 … 1"),
        ("increase", "1.5", "0.000001 … 1"),
        ("least", "0.00001", "0.0001 … 1"),
        ("stages", "65536", "0 … 65535"),
    ] {
        let expected =
            format!("{key}.reaction.hpcc.{name} = {value} (override): out of range; valid: {valid}");
        assert_eq!(of(&format!(".{name}"), value), expected);
    }
    assert_eq!(
        of(".base_round_trip", "0 us"),
        format!(
            "{key}.reaction.hpcc.base_round_trip = \"0 us\" (override): is not a positive number and a unit; \
             valid: a decimal number above 0 and ps, ns, us, ms, s"
        )
    );
    starts(&control("reaction", "hpcc"), &format!("{key}.reaction: follows "));
    let hpcc = format!("{key}.reaction=hpcc");
    let message = message_of(VALID, &[&acknowledged, &hpcc, &format!("{key}.level=sl")]);
    starts(&message, &format!("{key}.level = \"sl\": is for all flows of a service level"));
}

#[test]
fn marks_by_the_length_of_queues() {
    let key = "router.infiniband.congestion_control.marking.ecn";
    let of = |value: &str| control("marking", value);
    let accepted = [
        "ecn",
        "{ ecn = { min = '0 B', max = '0 B', probability = 1 } }",
        "{ ecn = { min = '1.5 MTU', max = '4 MTU', probability = 0.000001 } }",
    ];
    for value in accepted {
        assert_eq!(of(value), "accepted", "{value}");
    }
    assert_eq!(
        control("marking.ecn.max", "4.9 kB"),
        format!("{key}.max = \"4.9 kB\" (override): is below min, \"5 kB\"; valid: at least 5000 B")
    );
    assert_eq!(
        control("marking.ecn.min", "5"),
        format!("{key}.min = 5 (override): must be a string, not an integer; valid: text as \"5 kB\"")
    );
    assert_eq!(
        control("marking.ecn.min", "-5 kB"),
        format!(
            "{key}.min = \"-5 kB\" (override): is not a number and a unit; valid: a decimal number and B, kB, KiB, MTU"
        )
    );
    for value in ["0", "1.5"] {
        assert_eq!(
            control("marking.ecn.probability", value),
            format!("{key}.probability = {value} (override): out of range; valid: 0.000001 … 1")
        );
    }
}

#[test]
fn marks_by_the_length_of_queues_have_nothing_of_congested_outputs() {
    let key = "router.infiniband.congestion_control";
    let ecn = format!("{key}.marking=ecn");
    for (place, name, value, told) in [
        ("", "thresholds", "{ high = '4 MTU' }", "{\"high\":\"4 MTU\"}"),
        ("", "victim_mask", "all", "\"all\""),
        ("", "marking_rate", "3", "3"),
        (".exceptions.0", "marking_rate", "3", "3"),
        (".exceptions.0", "victim_mask", "all", "\"all\""),
    ] {
        let exceptions =
            format!("{key}.exceptions=[{{ ports = 'hosts', packet_size = 3, {name} = {value:?} }}]");
        let exceptions = exceptions.replace("\"3\"", "3");
        let written = if place.is_empty() { format!("{key}.{name}={value}") } else { exceptions };
        let message = message_of(VALID, &[&ecn, &written]);
        let expected = format!("{key}{place}.{name} = {told}");
        assert!(message.starts_with(&expected), "{message}");
        let reason = "is of outputs that are congested or not, and marking.ecn looks at the bytes that wait";
        assert!(message.ends_with(&format!("{reason}; valid: no such key")), "{message}");
        assert_eq!(message_of(VALID, &[&format!("{key}.marking=periodic"), &written]), "accepted");
    }
    let long = format!("{key}.exceptions=[{{ ports = 'hosts', packet_size = 3 }}]");
    assert_eq!(message_of(VALID, &[&ecn, &long]), "accepted");
    let text = VALID.replacen("congestion_control = {}", "congestion_control.marking.ecn = {}", 1);
    let point = document::points(&text, &[]).unwrap().remove(0);
    let resolved = document::resolved(&point.experiment).unwrap();
    let control = resolved["router"]["infiniband"]["congestion_control"].as_object().unwrap();
    assert!(["thresholds", "victim_mask", "marking_rate"].iter().all(|key| !control.contains_key(*key)));
    let again = document::from_json(&resolved.to_string()).unwrap();
    assert_eq!(AnyPlan::new(&again, &no_files).unwrap().into_experiment(), point.experiment);
}

#[test]
fn notification_packets_may_be_so_far_apart() {
    let of = |value: &str| control("notification.packets.interval", value);
    assert_eq!([of("50 us"), of("0 us")], ["accepted"; 2]);
    let key = "router.infiniband.congestion_control.notification";
    assert_eq!(
        of("50"),
        format!(
            "{key}.packets.interval = 50 (override): must be a string, not an integer; valid: text as \"50 us\""
        )
    );
    assert_eq!(
        control("notification.packets.service_level", "16"),
        format!("{key}.packets.service_level = 16 (override): out of range; valid: 0 … 15")
    );
    let both = control("notification", "{ packets = { interval = '50 us' }, acknowledgements = {} }");
    assert_eq!(
        both,
        format!(
            "{key}.acknowledgements (override): a second choice beside `packets`; valid: one of packets, acknowledgements"
        )
    );
    // A resolved document without an interval has the name that it always had.
    let notification = |written: &str| {
        let control = format!("congestion_control.notification = {written}");
        let text = VALID.replacen("congestion_control = {}", &control, 1);
        let point = document::points(&text, &[]).unwrap().remove(0);
        let resolved = document::resolved(&point.experiment).unwrap();
        let again = document::from_json(&resolved.to_string()).unwrap();
        assert_eq!(again, point.experiment);
        resolved["router"]["infiniband"]["congestion_control"]["notification"].clone()
    };
    assert_eq!(notification("\"packets\""), "packets");
    assert_eq!(notification("{ packets = {} }"), "packets");
    assert_eq!(notification("{ packets = { interval = \"1 us\" } }")["packets"]["interval"], "1 us");
}
