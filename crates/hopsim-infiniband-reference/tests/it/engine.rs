//! The engine against the reference.

use crate::closed_forms::{flow, star};
use crate::fabrics::workload::{Players, Role, Script};
use crate::fabrics::{
    Case, for_each_fabric_that_reacts, for_each_fabric_with_messages, for_each_fabric_with_paths,
    for_each_failing_fabric,
};
use hopsim_infiniband::engine::{Held, Simulation};
use hopsim_infiniband::fabric::{Fabric, Port};
use hopsim_infiniband::faults::{Change, Faults, Loss, What};
use hopsim_infiniband::flow::Flow;
use hopsim_infiniband::forwarding::Tables;
use hopsim_infiniband::observer::{Observer, Sent};
use hopsim_infiniband::time::Ticks;
use hopsim_infiniband::workload::Workload;
use hopsim_infiniband_reference::{Fact, Reference};
use std::fmt::Debug;
use std::sync::Arc;

/// Writes down what the engine tells.
#[derive(Default)]
struct Facts {
    facts: Vec<Fact>,
    /// The flows of the workload: their numbers, sources, destinations and service levels.
    flows: Vec<(u32, u32, u32, u8)>,
}

impl Observer for Facts {
    fn sent(&mut self, at: Ticks, packet: Sent) {
        self.facts.push(Fact::Sent { at, packet });
    }

    fn granted(&mut self, at: Ticks, packet: Sent, input: u32, output: u32) {
        self.facts.push(Fact::Granted { at, packet, input, output });
    }

    fn on_link(&mut self, at: Ticks, packet: Sent, port: u32) {
        self.facts.push(Fact::OnLink { at, packet, port });
    }

    fn hears_stalls(&self) -> bool {
        true
    }

    fn stalled(&mut self, at: Ticks, port: u32, lane: u8, is_stalled: bool) {
        self.facts.push(Fact::Stalled { at, port, lane, is_stalled });
    }

    fn frame(&mut self, at: Ticks, port: u32, lanes: u16) {
        self.facts.push(Fact::Frame { at, port, lanes });
    }

    fn paused(&mut self, at: Ticks, port: u32, lane: u8, is_paused: bool) {
        self.facts.push(Fact::Paused { at, port, lane, is_paused });
    }

    fn marked(&mut self, at: Ticks, packet: Sent, output: u32) {
        self.facts.push(Fact::Marked { at, packet, output });
    }

    fn delivered(&mut self, at: Ticks, packet: Sent, sent: Ticks, marked: bool) {
        self.facts.push(Fact::Delivered { at, packet, sent, marked });
    }

    fn lost(&mut self, at: Ticks, packet: Sent, why: Loss) {
        self.facts.push(Fact::Lost { at, packet, why });
    }

    fn posted(&mut self, at: Ticks, flow: u32, bytes: u64) {
        self.facts.push(Fact::Posted { at, flow, bytes });
    }

    fn message(&mut self, at: Ticks, flow: u32, bytes: u64, posted: Ticks) {
        self.facts.push(Fact::Message { at, flow, bytes, posted });
    }

    fn message_lost(&mut self, at: Ticks, flow: u32) {
        self.facts.push(Fact::MessageLost { at, flow });
    }

    fn flow(&mut self, number: u32, flow: &Flow) {
        self.flows.push((number, flow.source, flow.destination, flow.service_level));
    }
}

/// Facts in the order of time, and of [`Fact`] within a tick.
fn in_order(facts: &[Fact]) -> Vec<Fact> {
    let mut facts = facts.to_vec();
    facts.sort_unstable_by_key(|fact| (fact.at(), *fact));
    facts
}

/// The first element that two lists do not share.
fn compare_lists<T: PartialEq + Debug>(what: &str, engine: &[T], reference: &[T]) -> Result<(), String> {
    let differs = |index: &usize| engine.get(*index) != reference.get(*index);
    let Some(index) = (0..engine.len().max(reference.len())).find(differs) else { return Ok(()) };
    let [engine, reference] = [engine, reference].map(|list| list.get(index));
    Err(format!("{what} {index}: engine {engine:?}, reference {reference:?}"))
}

/// What differs in the state of flows and outputs.
fn compare_states<W: Workload>(
    engine: &Simulation<'_, Facts, W>,
    reference: &Reference<W>,
    fabric: &Fabric,
) -> Result<(), String> {
    let same = |what: &str, which: &[u32], engine: u64, reference: u64| {
        if engine == reference {
            return Ok(());
        }
        Err(format!("{what} {which:?}: engine {engine}, reference {reference}"))
    };
    for flow in 0..reference.flows().len() {
        let which = [flow as u32];
        same("CCTI of flow", &which, engine.ccti(flow).into(), reference.ccti(flow).into())?;
        same("ticks at the limit of flow", &which, engine.limited(flow), reference.limited(flow))?;
    }
    compare_lists("held up", &engine.held_up(), &reference.held_up())?;
    for (ports, lane) in
        fabric.first_port.windows(2).flat_map(|ports| (0..fabric.lanes.count).map(move |lane| (ports, lane)))
    {
        for output in ports[0]..ports[1] {
            let congested = reference.is_congested(output as usize, lane.into());
            same(
                "congested: output and VL",
                &[output, lane.into()],
                engine.is_congested(output, lane).into(),
                congested.into(),
            )?;
            for input in ports[0]..ports[1] {
                let occupancy = reference.occupancy(output as usize, input as usize, lane.into());
                let which = [input, output, lane.into()];
                same("bytes from, for, in VL", &which, engine.occupancy(output, input, lane), occupancy)?;
            }
        }
    }
    Ok(())
}

/// Engine and reference until some time; states are compared several times on the way.
fn compare<const HEARS: bool>(
    (fabric, flows, seed): &Case,
    script: &Script,
    until: Ticks,
) -> Result<(), String> {
    let workload = || Players::<HEARS>::new(script);
    let mut engine = Simulation::with_workload(fabric, flows, *seed, (Facts::default(), workload()));
    let mut reference = Reference::with_workload(fabric, flows, *seed, workload());
    // Looking at every tick finds more, letting the engine pass over many at once is what it is for.
    let stride = [1, 97, 997][(seed % 3) as usize];
    let mut states = Ok(());
    for now in 1..=until {
        reference.step();
        if (now % stride == 0 || now == until) && states.is_ok() {
            engine.advance(now);
            states = compare_states(&engine, &reference, fabric)
                .map_err(|reason| format!("before {now}: {reason}"));
        }
    }
    engine.advance(until);
    let numbered = (0..).zip(reference.flows()).skip(flows.len());
    let begun: Vec<_> =
        numbered.map(|(number, it)| (number, it.source, it.destination, it.service_level)).collect();
    compare_lists("fact", &in_order(&engine.observer().facts), &in_order(reference.facts()))
        .and(compare_lists("flow", &engine.observer().flows, &begun))
        .and(compare_lists("heard", &engine.workload().log, &reference.workload().log))
        .and(states)
}

/// A quarter of the workloads does not want to hear of its messages.
fn compare_all((case, script): &(Case, Script), until: Ticks) -> Result<(), String> {
    if case.2.is_multiple_of(4) {
        compare::<false>(case, script, until)
    } else {
        compare::<true>(case, script, until)
    }
}

#[test]
fn the_engine_and_the_reference_agree_fact_by_fact() {
    for_each_fabric_with_messages((150, 42), |case| compare_all(&case, 12_000));
}

#[test]
fn they_agree_where_sources_hear_of_what_they_react_to() {
    for_each_fabric_that_reacts((210, 46), |case| compare_all(&case, 12_000));
}

#[test]
#[ignore = "takes minutes; make verify"]
fn they_agree_on_many_more_fabrics_whose_sources_react() {
    for_each_fabric_that_reacts((10_000, 47), |case| compare_all(&case, 20_000));
}

#[test]
#[ignore = "takes minutes; make verify"]
fn they_agree_on_many_more_fabrics() {
    for_each_fabric_with_messages((10_000, 43), |case| compare_all(&case, 20_000));
}

/// Two switches with a host each, of which the second one has an old table: what is for its own host it sends back.
fn a_circle(changes: &[(Ticks, What)]) -> Fabric {
    let ports = [2, 5, 0, 4, 3, 1].map(|peer| Port { peer, byte: 1, delay: 10, buffer: 16 });
    let tables = [vec![0, 1, 0, 0], vec![0, 1, 0, 1]].map(|outputs| Arc::new(Tables::Wide(outputs)));
    let [forwarding, mended] = tables;
    let changes = changes.iter().map(|&(at, what)| Change { at, what }).collect();
    let faults = Faults { changes, tables: vec![mended] };
    Fabric { first_port: vec![2, 4, 6], ports: ports.to_vec(), forwarding, faults, ..star(&[1, 1]) }
}

#[test]
fn a_packet_comes_back_to_an_output_that_its_own_last_bytes_still_cross_to() {
    let script: Script = (0..2).map(|_| Role::default()).collect();
    let fails = |drops| What::Fails { port: 3, drops };
    let mended = What::Table { switch: 1, tables: 1 };
    // The head is back after 44 ticks, the packet has crossed after 256.
    for at in [1, 20, 50, 60, 100, 300, 350, 500] {
        let detected = (at + 40, What::Detected { port: 3 });
        let repaired = (at + 300, What::Repaired { port: 3 });
        for changes in [
            vec![(at, mended)],
            vec![(at, fails(true)), detected, repaired, (at + 400, mended)],
            vec![(at, fails(false)), detected, repaired, (at + 400, mended)],
        ] {
            let case = (a_circle(&changes), vec![flow(0, 1)], 3);
            assert_eq!(compare::<true>(&case, &script, 2000), Ok(()), "{changes:?}");
        }
    }
    let circle = a_circle(&[]);
    let mut engine = Simulation::new(&circle, &[flow(0, 1)], 3, Facts::default());
    engine.advance(100);
    assert_eq!(engine.held_up(), [Held { flow: 0, root: 3 }]);
}

#[test]
fn they_agree_where_flows_take_any_shortest_way() {
    for_each_fabric_with_paths((120, 48), |case| compare_all(&case, 12_000));
}

#[test]
#[ignore = "takes minutes; make verify"]
fn they_agree_on_many_more_fabrics_with_several_ways() {
    for_each_fabric_with_paths((10_000, 49), |case| compare_all(&case, 20_000));
}

#[test]
fn they_agree_where_links_fail() {
    for_each_failing_fabric((150, 44), |case| compare_all(&case, 12_000));
}

#[test]
#[ignore = "takes minutes; make verify"]
fn they_agree_on_many_more_fabrics_whose_links_fail() {
    for_each_failing_fabric((10_000, 45), |case| compare_all(&case, 20_000));
}
