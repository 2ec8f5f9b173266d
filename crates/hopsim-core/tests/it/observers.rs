//! Systems made by hand, and observers that are not the recorder.

use hopsim_core::engine::{self, Control};
use hopsim_cycles::injection::InjectionControl;
use hopsim_cycles::jobs::{JobPlan, TrafficPlan, job_of};
use hopsim_cycles::kernel::ids::RegionNode;
use hopsim_cycles::kernel::packet::Packet;
use hopsim_cycles::kernel::regions::Span;
use hopsim_cycles::observer::{Load, Observer};
use hopsim_cycles::simulation::{Schedule, Simulate as _, Simulation};
use hopsim_cycles::system::{NicPlan, RouterPlan, System};
use hopsim_cycles::{Cioq, Full};
use hopsim_experiment::plan::Plan;
use hopsim_network::network::{ClassSpec, Classes, Network};
use hopsim_network::topology::{Topology, TopologyConfig};
use hopsim_routing::RoutingConfig;
use hopsim_routing::sequence::VcSequence;
use hopsim_routing::vcs::Vcs;
use hopsim_traffic::pattern::Site;
use serde_json::json;
use std::sync::Arc;

const CYCLES: u32 = 5_000;
const LENGTH: u32 = 8;

/// What a window of the first so many cycles has of packets: generated, injected, delivered, and the latency of these.
#[derive(Default)]
struct Sums([u64; 4]);

impl Observer for Sums {
    type Wishes = ();
    type Places = ();

    fn begin((): &()) -> Self {
        Self::default()
    }

    fn places((): &(), _: &Span) {}

    fn generated(&mut self, (): &mut (), _: RegionNode, _: Load) {
        self.0[0] += 1;
    }

    fn injected(&mut self, (): &mut (), _: RegionNode, _: Load) {
        self.0[1] += 1;
    }

    fn delivered(&mut self, (): &mut (), packet: &Packet, at: u32, _: &Topology) {
        if at < CYCLES {
            self.0[2] += 1;
            self.0[3] += u64::from(at + LENGTH - packet.generated);
        }
    }
}

/// A mesh of sixteen input-queued routers with a VC, under uniform traffic.
fn by_hand() -> System {
    let topology: TopologyConfig =
        serde_json::from_value(json!({ "mesh": { "sides": [4, 4] } })).expect("a topology");
    let topology = Arc::new(topology.build().expect("a topology"));
    let spec = |buffer| ClassSpec { vcs: 1, buffer, latency: 1, bubble: 0 };
    let classes = Classes { terminal: spec(32), links: vec![spec(64)], ejection: 1, one_way: 1 };
    let network = Arc::new(Network::new(&topology, classes, 1, 1));
    let routing: RoutingConfig = serde_json::from_value(json!({ "minimal": {} })).expect("a mechanism");
    let routing = routing.build(&topology, Vcs::increasing(VcSequence::unordered(&network.classes, 0)));
    let nodes: Vec<u32> = (0..network.nodes).collect();
    let site = Site { topology: &topology, nodes: &nodes, seed: 7, job: 0, to_itself: false };
    let jobs = vec![JobPlan::Traffic(TrafficPlan::uniform(&site, 0.3, LENGTH).expect("traffic"))];
    System {
        job_of: job_of(&jobs, network.nodes),
        priorities: vec![0],
        topology: Arc::clone(&topology),
        network,
        routing,
        router: RouterPlan::input_queued(LENGTH),
        nic: NicPlan::default(),
        jobs,
        control: InjectionControl::default(),
        seed: 7,
    }
}

#[test]
fn a_system_made_by_hand_simulates_as_that_of_its_document() {
    let system = by_hand();
    let mut simulation = Simulation::<Cioq<'_, 1, Full<Sums>>>::new(&system, &(), Schedule::new(1));
    simulation.advance(CYCLES, &Control::default()).expect("nobody stops it");
    let heard = simulation.finish(CYCLES);
    let document = json!({
        "topology": { "mesh": { "sides": [4, 4] } },
        "load": 0.3,
        "routing": { "minimal": {} },
        "router": { "input_queued": { "vcs": { "injection": 1, "network": 1 }, "buffers": { "injection": 32 } } },
        "measure": { "warmup": 0, "cycles": CYCLES, "seed": 7 },
    });
    let plan = Plan::new(&serde_json::from_value(document).expect("a document")).expect("a plan");
    let summary = engine::run(&plan, &Control::default()).expect("a run").summary;
    let [generated, injected, delivered, latency] = heard.observers[0].0;
    let counted = ["packets_generated", "packets_injected", "packets_delivered"];
    assert_eq!(counted.map(|key| summary[key].as_u64()), [generated, injected, delivered].map(Some));
    assert_eq!(summary["packet_latency_mean"].as_f64(), Some(latency as f64 / delivered as f64));
    assert!(delivered > 1_000, "so many packets say something: {delivered}");
}
