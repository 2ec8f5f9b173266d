//! Credits, or pauses with buffers that are just large enough for them.

use hopsim_infiniband::fabric::{BLOCK, Fabric, FlowControl};
use hopsim_infiniband::pfc::{Pfc, Thresholds, least_buffer};
use proptest::prelude::*;

/// What controls the flow between so many ports. Pauses begin with few packets in a buffer or with some.
pub fn flow_control(mtu: u32, ports: usize) -> impl Strategy<Value = FlowControl> {
    let credits = (0..=40u64).prop_map(|delay| FlowControl::Credits { delay });
    let one = (1..=3 * mtu, 0..=100u32)
        .prop_map(|(pause, percent)| Thresholds { pause, resume: (pause - 1) * percent / 100 });
    let thresholds = proptest::collection::vec(one, ports);
    // A pause is told again before it is over, if a packet can go onto the link in half its time.
    let quanta = mtu.div_ceil(32) as u16..=60;
    let pfc =
        (thresholds, quanta).prop_map(|(thresholds, quanta)| FlowControl::Pfc(Pfc { thresholds, quanta }));
    prop_oneof![credits, pfc]
}

/// The fabric with the least buffers that its thresholds need, if it has some.
pub fn with_least_buffers(mut fabric: Fabric) -> Fabric {
    if let FlowControl::Pfc(Pfc { thresholds, .. }) = &fabric.flow_control {
        let least = (0..).zip(thresholds).map(|(port, each)| least_buffer(&fabric, port, each.pause));
        let least: Vec<u64> = least.collect();
        for (port, least) in fabric.ports.iter_mut().zip(least) {
            port.buffer = least.div_ceil(BLOCK.into()) as u32;
        }
    }
    fabric
}
