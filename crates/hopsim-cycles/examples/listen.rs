//! A network from Rust, without a document: a mesh of sixteen routers under uniform traffic, and an observer of one's own.

use hopsim_cycles::control::Control;
use hopsim_cycles::injection::InjectionControl;
use hopsim_cycles::jobs::{JobPlan, TrafficPlan, job_of};
use hopsim_cycles::kernel::packet::Packet;
use hopsim_cycles::kernel::regions::Span;
use hopsim_cycles::observer::Observer;
use hopsim_cycles::simulation::{Schedule, Simulate as _, Simulation};
use hopsim_cycles::system::{NicPlan, RouterPlan, System};
use hopsim_cycles::{Cioq, Full};
use hopsim_network::network::{ClassSpec, Classes, Network};
use hopsim_network::topology::{Topology, TopologyConfig};
use hopsim_routing::RoutingConfig;
use hopsim_routing::sequence::VcSequence;
use hopsim_routing::vcs::Vcs;
use hopsim_traffic::pattern::Site;
use std::sync::Arc;

/// Sums over the packets delivered.
#[derive(Default)]
struct Latency {
    packets: u64,
    cycles: u64,
}

impl Observer for Latency {
    type Wishes = ();
    type Places = ();

    fn begin((): &()) -> Self {
        Self::default()
    }

    fn places((): &(), _: &Span) {}

    fn delivered(&mut self, (): &mut (), packet: &Packet, at: u32, _: &Topology) {
        self.packets += 1;
        self.cycles += u64::from(at + u32::from(packet.length) - packet.generated);
    }
}

#[expect(clippy::print_stdout, reason = "what an example is for")]
fn main() -> Result<(), Box<dyn std::error::Error>> {
    let topology: TopologyConfig = serde_json::from_str(r#"{ "mesh": { "sides": [4, 4] } }"#)?;
    let topology = Arc::new(topology.build()?);
    let injection = ClassSpec { vcs: 1, buffer: 32, latency: 1, bubble: 0 };
    let link = ClassSpec { vcs: 1, buffer: 64, latency: 1, bubble: 0 };
    let classes = Classes { terminal: injection, links: vec![link], ejection: 1, one_way: 1 };
    let network = Arc::new(Network::new(&topology, classes, 1, 1));
    let routing: RoutingConfig = serde_json::from_str(r#"{ "minimal": {} }"#)?;
    let routing = routing.build(&topology, Vcs::increasing(VcSequence::unordered(&network.classes, 0)));
    let nodes: Vec<u32> = (0..network.nodes).collect();
    let site = Site { topology: &topology, nodes: &nodes, seed: 1, job: 0, to_itself: false };
    let jobs = vec![JobPlan::Traffic(TrafficPlan::uniform(&site, 0.2, 8)?)];
    let system = System {
        job_of: job_of(&jobs, network.nodes),
        priorities: vec![0],
        topology: Arc::clone(&topology),
        network,
        routing,
        router: RouterPlan::input_queued(8),
        nic: NicPlan::default(),
        jobs,
        control: InjectionControl::default(),
        seed: 1,
    };
    let mut simulation = Simulation::<Cioq<'_, 1, Full<Latency>>>::new(&system, &(), Schedule::new(1));
    simulation.advance(10_000, &Control::default())?;
    let heard = simulation.finish(10_000);
    let Latency { packets, cycles } = &heard.observers[0];
    println!("{packets} packets took {:.1} cycles each", *cycles as f64 / *packets as f64);
    Ok(())
}
