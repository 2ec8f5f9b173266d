//! Priority flow control: what records and tables say of pauses follows from the facts of the reference, and buffers are as large as they need to be
//! and no larger.

use crate::closed_forms::{flow, star};
use crate::fabrics::for_each_fabric_with_messages;
use crate::fabrics::workload::Players;
use crate::losses::simulated;
use crate::verdicts::facts;
use hopsim_experiment::plan::FabricPlan;
use hopsim_infiniband::engine::Simulation;
use hopsim_infiniband::fabric::{Fabric, FlowControl, NONE, Port, SwitchRules};
use hopsim_infiniband::flow::Flow;
use hopsim_infiniband::forwarding::Tables;
use hopsim_infiniband::observer::Unobserved;
use hopsim_infiniband::pfc::{Pfc, Thresholds, least_buffer};
use hopsim_infiniband::time::Ticks;
use hopsim_infiniband_reference::Fact;
use hopsim_measure::Column;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Three switches in a row with two hosts each; all send to the last host, in two VLs.
fn document(pause: &str) -> String {
    let flow = |source: u32, level: u32| {
        format!("{{ source = {source}, destination = 5, service_level = {level} }}")
    };
    let flows = [flow(0, 0), flow(1, 1), flow(2, 0), flow(3, 1), flow(4, 0)].join(", ");
    format!(
        "topology.graph = {{ edges = [{{ between = [0, 1] }}, {{ between = [1, 2] }}], nodes_per_router = 2 }}\n\
         measure.streams = [\"links\", \"link_series\"]\n\
         measure.time = {{ warmup = \"10 us\", window = \"41 us\", interval = \"3 us\" }}\n\
         [router.ethernet]\nmtu = 256\nlanes.count = 2\nhost = {{ injection = \"8 Gb/s\", drain = \"8 Gb/s\", start_jitter = \"300 ns\", \
         receive_buffer = \"2048 B\" }}\nlinks.switch = {{ rate = \"8 Gb/s\", delay = \"100 ns\" }}\n\
         links.host = {{ rate = \"8 Gb/s\", delay = \"50 ns\" }}\n\
         switch = {{ crossbar = \"8 Gb/s\", input_latency = \"10 ns\", output_latency = \"10 ns\", output_buffer = \"512 B\", \
         buffers = {{ host = \"2048 B\", switch = \"2048 B\" }} }}\n\
         flow_control.pfc = {{ pause = \"{pause}\", distance = \"300 B\", quanta = 12 }}\n\
         [[jobs]]\nflows = [{flows}]\n"
    )
}

/// The pauses of a port and VL: from when to when.
type Spans = BTreeMap<(u32, u8), Vec<(Ticks, Ticks)>>;

fn spans(plan: &FabricPlan) -> Spans {
    let (facts, _) = facts(plan);
    let mut spans = Spans::new();
    for fact in facts {
        if let Fact::Paused { at, port, lane, is_paused } = fact {
            let spans = spans.entry((port, lane)).or_default();
            if is_paused {
                spans.push((at, plan.span.end));
            } else {
                spans.last_mut().unwrap().1 = at;
            }
        }
    }
    spans
}

/// Pauses that begin in a time, and the part of it for which there is one.
fn within(spans: &[(Ticks, Ticks)], from: Ticks, to: Ticks) -> (u64, Ticks) {
    let begun = spans.iter().filter(|span| (from..to).contains(&span.0)).count() as u64;
    (begun, spans.iter().map(|span| span.1.min(to).saturating_sub(span.0.max(from))).sum())
}

#[test]
fn pauses_are_counted_in_records_and_tables() {
    for pause in ["700 B", "latest"] {
        let (plan, outcome) = simulated(&document(pause));
        let (all, span, interval) = (spans(&plan), &plan.span, plan.span.interval.unwrap());
        let plugged = plan.fabric.ports.iter().filter(|port| port.peer != NONE).count() as u64 * 2;
        let of = |place: &(u32, u8)| all.get(place).map_or(&[][..], Vec::as_slice);
        let (begun, paused) = all
            .values()
            .map(|spans| within(spans, span.warmup, span.end))
            .fold((0, 0), |sum, each| (sum.0 + each.0, sum.1 + each.1));
        assert!(begun >= 10, "{pause}: {begun}");
        let share = |paused: Ticks, time: Ticks| paused as f64 / time as f64;
        assert_eq!(outcome.summary["pauses"], begun, "{pause}");
        let fraction = outcome.summary["paused_fraction"].as_f64().unwrap();
        assert!(
            (fraction - share(paused, span.window()) / plugged as f64).abs() < 1e-12,
            "{pause}: {fraction}"
        );
        let places: Vec<(u32, u8)> = hopsim_experiment::plan::fabric::used::used(&plan)
            .iter()
            .map(|place| (place.port, place.lane))
            .collect();
        let window = places.iter().map(|place| (place, span.warmup, span.end));
        let intervals = (0..span.end / interval).flat_map(|number| {
            places.iter().map(move |place| (place, number * interval, (number + 1) * interval))
        });
        for (name, rows) in [("links", window.collect::<Vec<_>>()), ("link_series", intervals.collect())] {
            let (_, table) = outcome.tables.iter().find(|(table, _)| table == name).unwrap();
            let column = |name: &str| &table.iter().find(|(column, _)| column == name).unwrap().1;
            let (Column::U64(counts), Column::F64(shares)) = (column("pauses"), column("paused_fraction"))
            else {
                panic!("{name}")
            };
            let expected: Vec<(u64, f64)> = rows
                .iter()
                .map(|&(place, from, to)| {
                    let (begun, paused) = within(of(place), from, to);
                    (begun, share(paused, to - from))
                })
                .collect();
            let told: Vec<(u64, f64)> = counts.iter().copied().zip(shares.iter().copied()).collect();
            assert_eq!(told, expected, "{pause}: {name}");
        }
    }
}

/// The most that is ever in the buffer of a port, within so long.
fn fullest(fabric: &Fabric, flows: &[Flow], port: u32, until: Ticks) -> u64 {
    let mut engine = Simulation::new(fabric, flows, 1, Unobserved);
    let taken = (1..=until).map(|now| {
        engine.advance(now);
        engine.buffered(port, 0).into()
    });
    taken.max().unwrap_or(0)
}

/// A fabric in which one port pauses from the first byte on, and no other one ever.
fn with_one_pausing(fabric: Fabric, port: u32) -> Fabric {
    let never = Thresholds { pause: 1 << 20, resume: 0 };
    let mut thresholds = vec![never; fabric.ports.len()];
    thresholds[port as usize].pause = 1;
    let ports = fabric.ports.iter().map(|port| Port { buffer: 1 << 16, ..*port }).collect();
    let flow_control = FlowControl::Pfc(Pfc { thresholds, quanta: u16::MAX });
    let switch = SwitchRules { input_latency: 0, output_latency: 0, output_buffer: 2, ..fabric.switch };
    Fabric { mtu: 64, ports, flow_control, switch, ..fabric }
}

#[test]
fn a_host_can_fill_the_buffer_that_pauses_need_to_the_last_byte() {
    let fabric = with_one_pausing(star(&[1, 1, 1]), 3);
    let fabric = Fabric { switch: SwitchRules { crossbar: 5, ..fabric.switch }, ..fabric };
    // The switch puts a packet onto the link of host 0 at 10 + (5 - 1) · 64 = 266, a tick before the first head of host 0 is there. The
    // frame goes behind it and is with host 0 at 266 + 64 + 64 + 10 = 404; a tick before host 0 begins its last packet.
    let some =
        |source, destination, start, bytes| Flow { start, bytes: Some(bytes), ..flow(source, destination) };
    let flows = [some(1, 0, 0, 64), some(0, 2, 257, 146), some(0, 2, 403, 640)];
    assert_eq!(fullest(&fabric, &flows, 3, 1000), 146 + 64);
    assert_eq!(least_buffer(&fabric, 3, 1), 146 + 64);
    assert_eq!(least_buffer(&fabric, 3, 101), 100 + 146 + 64);
}

#[test]
fn a_switch_can_fill_the_buffer_that_pauses_need_to_the_last_byte() {
    // Hosts 0 at switch 0, 1, 2 and 3 at switch 1; switches 0 and 1 are ports 4, 5 and 6 … 9, joined by 5 and 9.
    let link = |peer, byte, delay| Port { peer, byte, delay, buffer: 0 };
    let to_hosts = [(4, 1), (6, 50), (7, 1), (8, 1)].map(|(peer, byte)| link(peer, byte, 10));
    let of_switches =
        [link(0, 1, 10), link(9, 2, 1), link(1, 50, 10), link(2, 1, 10), link(3, 1, 10), link(5, 2, 1)];
    let ports = to_hosts.into_iter().chain(of_switches).collect();
    let forwarding = Arc::new(Tables::Wide(vec![0, 1, 1, 1, 3, 0, 1, 2]));
    let fabric = Fabric { hosts: 4, first_port: vec![4, 6, 10], ports, forwarding, ..star(&[1]) };
    let fabric = with_one_pausing(fabric, 9);
    // Host 2 blocks the slow host 1. Host 0 sends to it from 1000 on: its packets are on the link between the switches from 1010, 1138 and 1266 on,
    // and so is one of host 3 from 1010 on the other way. The frame goes behind it and is there at 1010 + 128 + 128 + 1 = 1267; a tick before that
    // two packets have left, and the output buffer is filled with two more.
    let some =
        |source, destination, start, bytes| Flow { start, bytes: Some(bytes), ..flow(source, destination) };
    let flows = [some(2, 1, 0, 256), some(0, 1, 1000, 6400), some(3, 0, 1000, 64)];
    assert_eq!(fullest(&fabric, &flows, 9, 3000), 128 + 128);
    assert_eq!(least_buffer(&fabric, 9, 1), 128 + 128);
}

#[test]
fn buffers_for_pauses_are_never_too_small() {
    let taken = RefCell::new(0);
    for_each_fabric_with_messages((400, 46), |((fabric, flows, seed), script)| {
        // Buffers are fuller where sources do not slow down.
        let congestion = fabric.congestion.clone().filter(|_| seed.is_multiple_of(4));
        let fabric = Fabric { congestion, ..fabric };
        let FlowControl::Pfc(Pfc { thresholds, .. }) = &fabric.flow_control else { return Ok(()) };
        let mut engine =
            Simulation::with_workload(&fabric, &flows, seed, (Unobserved, Players::<true>::new(&script)));
        let plugged = (0..).zip(&fabric.ports).filter(|(_, port)| port.peer != NONE);
        let room: Vec<(u32, u64)> = plugged
            .map(|(port, _)| (port, least_buffer(&fabric, port, thresholds[port as usize].pause)))
            .collect();
        for now in 1..=6_000 {
            engine.advance(now);
            for (&(port, room), lane) in
                room.iter().flat_map(|each| (0..fabric.lanes.count).map(move |lane| (each, lane)))
            {
                let taken_here = u64::from(engine.buffered(port, lane));
                if taken_here > room {
                    return Err(format!("port {port} holds {taken_here} bytes of VL {lane} and has {room}"));
                }
                *taken.borrow_mut() += u64::from(taken_here * 5 > room * 4);
            }
        }
        Ok(())
    });
    let taken = taken.into_inner();
    println!("ticks in which a buffer is filled to more than 80 %: {taken}");
    assert!(taken >= 10, "{taken}");
}
