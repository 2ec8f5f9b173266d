//! The time that a flow takes alone: the closed form is what engine and reference take, to the tick, on every fabric with large buffers.

use crate::closed_forms::{flow, star};
use crate::fabrics::workload::{Players, Role};
use crate::fabrics::{for_each_fabric, for_each_fabric_with_paths};
use hopsim_infiniband::alone::time;
use hopsim_infiniband::engine::Simulation;
use hopsim_infiniband::fabric::{Fabric, FlowControl, NONE, Port, SwitchRules, Switching};
use hopsim_infiniband::flow::Flow;
use hopsim_infiniband::observer::{Observer, Sent};
use hopsim_infiniband::time::{NEVER, Ticks};
use hopsim_infiniband::workload::Message;
use hopsim_infiniband_reference::{Fact, Reference};
use std::cell::RefCell;

/// Blocks of a buffer that is never full.
const LARGE: u32 = 1 << 20;

/// The fabric with buffers that are never full, and without congestion control.
pub fn ample(fabric: &Fabric) -> Fabric {
    let large = |port: &Port| Port { buffer: if port.peer == NONE { 0 } else { LARGE }, ..*port };
    Fabric {
        ports: fabric.ports.iter().map(large).collect(),
        switch: SwitchRules { output_buffer: LARGE, ..fabric.switch },
        flow_control: FlowControl::Credits { delay: 0 },
        congestion: None,
        ..fabric.clone()
    }
}

/// When the last packet of a flow that starts at 0 is delivered, alone in a fabric with large buffers, by the reference.
pub fn simulated(fabric: &Fabric, (number, flow): (u32, &Flow), bytes: u64) -> Ticks {
    let mut fabric = ample(fabric);
    fabric.host.start_jitter = 0;
    let mut reference = Reference::new(&fabric, &numbered(number, flow, bytes), 1);
    let (mut left, mut seen) = (bytes, 0);
    loop {
        reference.step();
        for fact in &reference.facts()[seen..] {
            if let Fact::Delivered { at, packet, .. } = *fact {
                left -= u64::from(packet.bytes);
                if left == 0 {
                    return at;
                }
            }
        }
        seen = reference.facts().len();
    }
}

/// A flow of so many bytes from time 0 on behind so many that send nothing.
fn numbered(number: u32, flow: &Flow, bytes: u64) -> Vec<Flow> {
    let alone = |bytes: u64| Flow { bytes: Some(bytes), start: 0, end: NEVER, ..*flow };
    let mut flows = vec![alone(0); number as usize];
    flows.push(alone(bytes));
    flows
}

/// When the engine delivers messages and packets.
#[derive(Default)]
struct Last {
    message: Option<Ticks>,
    packet: Ticks,
}

impl Observer for Last {
    fn message(&mut self, at: Ticks, _flow: u32, _bytes: u64, posted: Ticks) {
        self.message = Some(at - posted);
    }

    fn delivered(&mut self, at: Ticks, _packet: Sent, _sent: Ticks, _marked: bool) {
        self.packet = at;
    }
}

/// What a flow from time 0 on and a message posted at 77 take in the engine.
fn in_engine(fabric: &Fabric, (number, flow): (u32, &Flow), bytes: u64) -> [Ticks; 2] {
    let mut fabric = ample(fabric);
    fabric.host.start_jitter = 0;
    let &Flow { source, destination, .. } = flow;
    let mut engine = Simulation::new(&fabric, &numbered(number, flow, bytes), 1, Last::default());
    engine.advance(1 << 40);
    let of_flow = engine.observer().packet;
    let mut roles = vec![Role::default(); fabric.hosts as usize];
    let message = Message { destination, service_level: 0, bytes, tag: 0 };
    roles[source as usize].agenda.push((77, message));
    let hearing = (Last::default(), Players::<false>::new(&roles));
    let mut engine = Simulation::with_workload(&fabric, &[], 1, hearing);
    engine.advance(1 << 40);
    [of_flow, engine.observer().message.unwrap()]
}

/// How many flows have one packet, several of one length, a rest, and pass several switches; with both kinds of switching each.
type Seen = [[usize; 2]; 4];

/// Whether each of the flows, alone, takes the closed form.
fn compare(fabric: &Fabric, flows: &[Flow], seed: u64, counts: &RefCell<Seen>) -> Result<(), String> {
    let kind = usize::from(fabric.switch.switching == Switching::StoreAndForward);
    for (number, flow) in (0..).zip(flows) {
        // A flow of 16 packets and a bit now and then, of one or a few mostly.
        let most = [1, 3, 17][((seed >> 7) + u64::from(number)) as usize % 3] * u64::from(fabric.mtu);
        let bytes = if number % 4 == 1 { most } else { 1 + (seed >> number) % most };
        let named = (number, flow);
        let reference = simulated(fabric, named, bytes);
        let [of_flow, _] = in_engine(fabric, named, bytes);
        // The flow of a message is the first one, and has no rate.
        let first = (0, &Flow { byte: 0, ..*flow });
        let [_, of_message] = in_engine(fabric, first, bytes);
        let found = [reference, of_flow, of_message];
        let expected = time(fabric, named, bytes);
        let expected = [expected, expected, time(fabric, first, bytes)];
        if found != expected {
            return Err(format!("{bytes} B of flow {number} take {found:?}, not {expected:?}"));
        }
        let mtu = u64::from(fabric.mtu);
        let home = |host: u32| fabric.switch_of(fabric.ports[host as usize].peer);
        let is_of = [
            bytes <= mtu,
            bytes > mtu && bytes.is_multiple_of(mtu),
            bytes > 2 * mtu && !bytes.is_multiple_of(mtu),
            home(flow.source) != home(flow.destination),
        ];
        for (count, is_one) in counts.borrow_mut().iter_mut().zip(is_of) {
            count[kind] += usize::from(is_one);
        }
    }
    Ok(())
}

#[test]
fn a_flow_alone_takes_the_closed_form_to_the_tick() {
    let seen = RefCell::new(Seen::default());
    for_each_fabric((120, 50), |(fabric, flows, seed)| compare(&fabric, &flows, seed, &seen));
    let seen = seen.into_inner();
    println!("flows of one packet, of several alike, with a rest, over several switches: {seen:?}");
    assert!(seen.iter().flatten().all(|&count| count >= 20), "{seen:?}");
}

#[test]
fn a_flow_alone_takes_the_closed_form_of_the_way_that_its_hash_says() {
    let seen = RefCell::new(Seen::default());
    for_each_fabric_with_paths((60, 51), |((fabric, flows, seed), _)| compare(&fabric, &flows, seed, &seen));
}

#[test]
fn a_long_flow_alone_takes_its_bytes_at_the_slowest_stage() {
    // A byte takes 2 ticks on links, and what is named takes 7: beyond the first packet nothing else matters.
    let first = flow(0, 1);
    let packet = |fabric: &Fabric| time(fabric, (0, &first), 256);
    let slow: [fn(&mut Fabric); 3] =
        [|it| it.host.injection = 7, |it| it.switch.crossbar = 7, |it| it.host.drain = 7];
    for change in slow {
        for switching in [Switching::CutThrough, Switching::StoreAndForward] {
            let mut fabric = star(&[2, 2]);
            fabric.switch.switching = switching;
            change(&mut fabric);
            let long = time(&fabric, (0, &first), 256 * 1_000_000);
            assert_eq!(long, packet(&fabric) + 256 * 999_999 * 7);
        }
    }
    // A flow with a rate takes that.
    assert_eq!(
        time(&star(&[2, 2]), (0, &Flow { byte: 9, ..first }), 2560),
        packet(&star(&[2, 2])) + 2304 * 9
    );
}

#[test]
fn cut_through_alone_takes_its_delays_and_its_bytes_at_the_slowest_stage_where_links_are_as_fast() {
    // 10 + 5 + 7 + 10 ticks for the head over one switch, and 2 ticks a byte on both links.
    for bytes in [1, 255, 256, 257, 640, 4096, 100_000] {
        assert_eq!(time(&star(&[2, 2]), (0, &flow(0, 1)), bytes), 32 + 2 * bytes);
    }
}
