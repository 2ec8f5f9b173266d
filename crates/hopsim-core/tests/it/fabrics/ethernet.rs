//! Fabrics of Ethernet: messages, thresholds that lose nothing, and that credits are those of InfiniBand.

use crate::message_of;
use hopsim_core::engine::{Control, run_any};
use hopsim_experiment::document;
use hopsim_experiment::plan::AnyPlan;
use hopsim_experiment::plan::programs::no_files;
use hopsim_infiniband::congestion::{Ecn, Marking, Notification};
use hopsim_infiniband::fabric::FlowControl;
use hopsim_infiniband::pfc::Thresholds;
use hopsim_infiniband::reaction::Reaction;
use serde_json::{Map, Value};

const VALID: &str = "\
topology.fat_tree = { k = 4, levels = 1 }
measure.time = { warmup = \"10 us\", window = \"50 us\" }
[router.ethernet]
[[jobs]]
flows = [{ source = 0, destination = 3 }, { source = 1, destination = 3 }]
";

fn router(key: &str, value: &str) -> String {
    message_of(VALID, &[&format!("router.ethernet.{key}={value}")])
}

#[test]
fn messages_name_the_keys_of_ethernet() {
    for (key, value, expected) in [
        ("mtu", "63", "mtu = 63 (override): out of range; valid: 64 … 9216"),
        ("lanes.count", "9", "lanes.count = 9 (override): out of range; valid: 1 … 8"),
        (
            "flow_control",
            "{ cbfc = { delay = \"fast\" } }",
            "flow_control.cbfc.delay = \"fast\" (override): is not a number and a unit; valid: a decimal number and ps, ns, us, ms, s",
        ),
        (
            "flow_control.pfc.quanta",
            "31",
            "flow_control.pfc.quanta = 31 (override): half of a pause is shorter than a packet of 1024 B (mtu), which the next frame may wait for; \
             valid: 32 … 65535",
        ),
        (
            "flow_control.pfc.distance",
            "\"0 B\"",
            "flow_control.pfc.distance = \"0 B\" (override): is not a positive number and a unit; valid: a decimal number above 0 and B, kB, KiB",
        ),
        (
            "flow_control.pfc.pause",
            "\"late\"",
            "flow_control.pfc.pause = \"late\" (override): is not a positive number and a unit; valid: \"latest\", or a decimal number above 0 and \
             B, kB, KiB",
        ),
        // A packet of 1024 B and the frame take 87.04 ns, both ways 1000 ns: 13,587 B of the link, less than one for the two ticks, and the
        // output buffer of 10,240 B.
        (
            "flow_control.pfc.pause",
            "\"107247 B\"",
            "flow_control.pfc.pause = \"107247 B\" (override): node 0 has room for 131072 B of a VL, and 23826 B may still come when it has begun \
             to pause: 1 B could be lost; valid: \"latest\", at most 107246 B, or a larger router.ethernet.host.receive_buffer",
        ),
        (
            "switch.buffers.host",
            "\"4 KiB\"",
            "switch.buffers.host = \"4096 B\" (override): 14611 B may come to port 0 of switch 0, which pauses at the first packet: 10515 B could be \
             lost; valid: at least 14656 B, shorter links, or router.ethernet.flow_control.cbfc",
        ),
    ] {
        assert_eq!(router(key, value), format!("router.ethernet.{expected}"));
    }
    assert_eq!(
        message_of(VALID, &["links.network.latency=10"]),
        "links (override): is not of Ethernet fabrics; valid: no such key; router.ethernet.links"
    );
    assert_eq!(
        message_of(
            VALID,
            &[
                "faults=[{ links = { between = [[0, 1]] }, time = { at = \"1 us\" } }]",
                "topology={ ring = { routers = 4 } }",
                "router.ethernet.lanes.allow_deadlock=true"
            ]
        ),
        "faults.0.time (override): fails in the middle of the run, and priority flow control has no rules for that yet; \
         valid: no such key: out of order from the beginning; or router.ethernet.flow_control.cbfc"
    );
}

fn planned(text: &str, overrides: &[&str]) -> AnyPlan {
    let split = |text: &&str| text.split_once('=').map(|(key, value)| (key.to_owned(), value.to_owned()));
    let overrides: Vec<(String, String)> = overrides.iter().filter_map(split).collect();
    let point = document::points(text, &overrides).unwrap().remove(0);
    AnyPlan::new(&point.experiment, &no_files).unwrap()
}

fn thresholds(overrides: &[&str]) -> Vec<Thresholds> {
    let AnyPlan::Fabric(plan) = planned(VALID, overrides) else { panic!("the router is that of a fabric") };
    let FlowControl::Pfc(pfc) = &plan.fabric.flow_control else { panic!("pauses are the default") };
    pfc.thresholds.clone()
}

#[test]
fn thresholds_are_as_late_as_loses_nothing_or_what_is_given() {
    let of = |pause, resume| Thresholds { pause, resume };
    let (at_node, at_switch) = (of(107_246, 104_174), of(116_462, 113_390));
    assert_eq!(thresholds(&[]), [[at_node; 4], [at_switch; 4]].concat());
    let pause = "router.ethernet.flow_control.pfc={ pause = \"5.5 kB\", distance = \"1 KiB\" }";
    assert_eq!(thresholds(&[pause]), [of(5500, 4476); 8]);
    let all = "router.ethernet.flow_control.pfc={ pause = \"100 B\", distance = \"1 KiB\" }";
    assert_eq!(thresholds(&[all]), [of(100, 0); 8]);
}

#[test]
fn congestion_control_is_dcqcn_with_the_values_of_its_paper() {
    let text = VALID.replace("[router.ethernet]", "[router.ethernet.congestion_control]");
    let AnyPlan::Fabric(plan) = planned(&text, &["router.ethernet.lanes.count=2"]) else {
        panic!("a fabric")
    };
    let control = plan.fabric.congestion.unwrap();
    // A tick is what a thousandth of a byte takes.
    let us = plan.fabric.ticks_per_ns * 1000;
    assert_eq!(control.marking, Marking::Ecn(Ecn { min: 5000, max: 200_000, probability: 42_949_673 }));
    assert_eq!(control.notification, Notification::Packets { interval: 50 * us });
    let Reaction::Dcqcn(dcqcn) = control.reaction else { panic!("another reaction") };
    assert_eq!((dcqcn.g, dcqcn.alpha_timer, dcqcn.rate_timer), (1 << 24, 55 * us, 55 * us));
    assert_eq!((dcqcn.byte_counter, dcqcn.fast_recovery), (10_000_000, 5));
}

#[test]
fn congestion_control_of_ethernet_names_its_keys() {
    let key = "router.ethernet.congestion_control";
    for (name, value, expected) in [
        (
            "reaction",
            "table",
            "reaction = \"table\" (override): has a table and a timer, for which there are no keys here; valid: aimd, dcqcn, timely, swift, nscc, hpcc",
        ),
        (
            "marking.ecn.max",
            "4 kB",
            "marking.ecn.max = \"4 kB\" (override): is below min, \"5 kB\"; valid: at least 5000 B",
        ),
        (
            "marking.ecn",
            "{ min = \"512 KiB\", max = \"600 KiB\" }",
            "marking.ecn.min = \"512 KiB\" (override): no packet would ever be marked: all input buffers of a switch hold 524288 B of a VL at most; \
             valid: less than 524288 B, or larger router.ethernet.switch.buffers",
        ),
        (
            "notification.packets.service_level",
            "16",
            "notification.packets.service_level = 16 (override): out of range; valid: 0 … 15",
        ),
        ("reaction.dcqcn.g", "0", "reaction.dcqcn.g = 0 (override): out of range; valid: 0.000001 … 1"),
    ] {
        assert_eq!(router(&format!("congestion_control.{name}"), value), format!("{key}.{expected}"));
    }
}

#[test]
fn notification_packets_with_a_service_level_go_in_its_vl() {
    let text = VALID.replace(
        "[router.ethernet]",
        "[router.ethernet]\nlanes.count = 2\n[router.ethernet.congestion_control]",
    );
    let AnyPlan::Fabric(plan) =
        planned(&text, &["router.ethernet.congestion_control.notification.packets.service_level=1"])
    else {
        panic!("a fabric")
    };
    let ways = plan.ways(true);
    let control = plan.fabric.congestion.as_ref().unwrap();
    let interval = 50_000 * plan.fabric.ticks_per_ns;
    assert_eq!((control.notification, control.answer_lane), (Notification::Packets { interval }, Some(1)));
    assert_eq!(ways.keys().copied().collect::<Vec<u8>>(), [0, 1]);
}

fn summary(text: &str) -> Map<String, Value> {
    run_any(&planned(text, &[]), &Control::default()).unwrap().summary
}

#[test]
fn with_credits_a_fabric_of_ethernet_is_one_of_infiniband() {
    let ethernet = VALID.replace(
        "[router.ethernet]\n",
        "router.ethernet = { mtu = 512, flow_control.cbfc.delay = \"70 ns\" }\n",
    );
    let infiniband = VALID.replace(
        "[router.ethernet]\n",
        "[router.infiniband]\nmtu = 512\nlinks.host = { rate = \"100 Gb/s\", delay = \"500 ns\" }\n\
         links.switch = { rate = \"100 Gb/s\", delay = \"500 ns\" }\nlinks.credit_delay = \"70 ns\"\n\
         host = { injection = \"252 Gb/s\", drain = \"252 Gb/s\", receive_buffer = \"128 KiB\" }\n\
         switch = { buffers = { host = \"128 KiB\", switch = \"128 KiB\" }, output_buffer = \"10 KiB\", crossbar = \"200 Gb/s\", \
         input_latency = \"200 ns\", output_latency = \"200 ns\" }\n",
    );
    assert_eq!(summary(&ethernet), summary(&infiniband));
    let pauses = summary(VALID);
    assert!(pauses["pauses"].as_u64().unwrap() > 0, "{pauses:?}");
    assert!(!summary(&ethernet).contains_key("pauses"));
}
