//! The engine against the reference.

use crate::fabrics::{Case, for_each_fabric};
use hopsim_infiniband::engine::Simulation;
use hopsim_infiniband::observer::{Observer, Sent};
use hopsim_infiniband::time::Ticks;
use hopsim_infiniband_reference::{Fact, Reference};

/// Writes down what the engine tells.
#[derive(Default)]
struct Facts(Vec<Fact>);

impl Observer for Facts {
    fn sent(&mut self, at: Ticks, packet: Sent) {
        self.0.push(Fact::Sent { at, packet });
    }

    fn granted(&mut self, at: Ticks, packet: Sent, input: u32, output: u32) {
        self.0.push(Fact::Granted { at, packet, input, output });
    }

    fn marked(&mut self, at: Ticks, packet: Sent, output: u32) {
        self.0.push(Fact::Marked { at, packet, output });
    }

    fn delivered(&mut self, at: Ticks, packet: Sent, sent: Ticks, marked: bool) {
        self.0.push(Fact::Delivered { at, packet, sent, marked });
    }
}

/// Facts in the order of time, and of [`Fact`] within a tick.
fn in_order(facts: &[Fact]) -> Vec<Fact> {
    let mut facts = facts.to_vec();
    facts.sort_unstable_by_key(|fact| (fact.at(), *fact));
    facts
}

/// The first fact that engine and reference do not share.
fn compare_facts(engine: &[Fact], reference: &[Fact]) -> Result<(), String> {
    let (engine, reference) = (in_order(engine), in_order(reference));
    let differs = |index: &usize| engine.get(*index) != reference.get(*index);
    let Some(index) = (0..engine.len().max(reference.len())).find(differs) else { return Ok(()) };
    Err(format!("fact {index}: engine {:?}, reference {:?}", engine.get(index), reference.get(index)))
}

/// What differs in the state of flows and outputs.
fn compare_states(
    engine: &Simulation<'_, Facts>,
    reference: &Reference,
    (fabric, flows, _): &Case,
) -> Result<(), String> {
    let same = |what: &str, which: &[u32], engine: u64, reference: u64| {
        if engine == reference {
            return Ok(());
        }
        Err(format!("{what} {which:?}: engine {engine}, reference {reference}"))
    };
    for flow in 0..flows.len() {
        same("CCTI of flow", &[flow as u32], engine.ccti(flow).into(), reference.ccti(flow).into())?;
    }
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

/// Both until some time; states are compared several times on the way.
fn compare(case: &Case, until: Ticks) -> Result<(), String> {
    let (fabric, flows, seed) = case;
    let mut engine = Simulation::new(fabric, flows, *seed, Facts::default());
    let mut reference = Reference::new(fabric, flows, *seed);
    // Looking at every tick finds more, letting the engine pass over many at once is what it is for.
    let stride = [1, 97, 997][(seed % 3) as usize];
    let mut states = Ok(());
    for now in 1..=until {
        reference.step();
        if (now % stride == 0 || now == until) && states.is_ok() {
            engine.advance(now);
            states =
                compare_states(&engine, &reference, case).map_err(|reason| format!("before {now}: {reason}"));
        }
    }
    engine.advance(until);
    compare_facts(&engine.observer().0, reference.facts()).and(states)
}

#[test]
fn the_engine_and_the_reference_agree_fact_by_fact() {
    for_each_fabric((150, 42), |case| compare(&case, 12_000));
}

#[test]
#[ignore = "takes minutes; make verify"]
fn they_agree_on_many_more_fabrics() {
    for_each_fabric((10_000, 43), |case| compare(&case, 20_000));
}
