//! How much memory the state of a fabric takes.

use super::host::Host;
use super::marking::Detector;
use super::pauses::Pauses;
use super::switch::{Inputs, Output, Places, Voq};
use super::telemetry::Telemetry;
use crate::congestion::PortRules;
use crate::fabric::{Fabric, FlowControl};
use crate::reaction::Needs;

/// What a small table takes besides its contents \[bytes\].
const SMALL_TABLE: usize = 32;

/// Bytes that the state of a fabric takes at time 0.
pub fn state_bytes(fabric: &Fabric) -> u64 {
    let places = Places::new(fabric);
    let lanes = usize::from(fabric.lanes.count);
    let rules = if fabric.congestion.is_some() { size_of::<PortRules>() } else { 0 };
    let pauses = if matches!(fabric.flow_control, FlowControl::Pfc(_)) { Pauses::BYTES } else { (0, 0) };
    let needs = fabric.congestion.as_ref().map(|control| control.reaction.needs());
    let notes = if needs == Some(Needs::Telemetry) { Telemetry::BYTES } else { 0 };
    let of_port = size_of::<Output>() + size_of::<u32>() + Places::BYTES + rules + pauses.0 + notes;
    let of_lane = pauses.1
        + size_of::<u32>()
        + size_of::<Inputs>()
        + size_of::<Detector>()
        + size_of::<bool>()
        + SMALL_TABLE;
    let of_host = size_of::<Host>() + size_of::<u32>() * lanes + size_of::<u64>() + 4 * SMALL_TABLE;
    let words: usize =
        (0..fabric.ports.len() as u32).map(|port| places.inputs(port).div_ceil(64) as usize).sum();
    let ports = fabric.ports.len() * (of_port + of_lane * lanes) + words * lanes * size_of::<u64>();
    (ports + fabric.hosts as usize * of_host + places.voqs() * size_of::<Voq>()) as u64
}
