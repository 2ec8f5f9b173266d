//! Engine and reference must tell the same life of every packet.

use crate::documents::{EXTREME, ORDINARY, for_each_plan};
use hopsim_core::plan::Plan;
use hopsim_core::trace::PacketTrace;
use std::fmt::Write;

/// Engine and reference side by side, one line per hop.
fn side_by_side(engine: Option<&PacketTrace>, reference: Option<&PacketTrace>) -> String {
    let lines = |trace: Option<&PacketTrace>| {
        let Some(t) = trace else { return vec!["no such packet".to_owned()] };
        let mut lines =
            vec![format!("{}#{} to {}, generated {}", t.source, t.serial, t.destination, t.generated)];
        lines.extend(t.hops.iter().map(|h| {
            format!(
                "router {} arrived {} granted {} to port {} VC {}",
                h.router, h.arrived, h.granted, h.port, h.vc
            )
        }));
        lines.push(t.delivered.map_or("not delivered".to_owned(), |d| format!("delivered {d}")));
        lines
    };
    let (left, right) = (lines(engine), lines(reference));
    let mut text = format!("  {:<60} | reference\n", "engine");
    for row in 0..left.len().max(right.len()) {
        let cell = |side: &[String]| side.get(row).cloned().unwrap_or_default();
        let (l, r) = (cell(&left), cell(&right));
        let _ = writeln!(text, "{} {l:<60} | {r}", if l == r { ' ' } else { '*' });
    }
    text
}

/// The earliest moment in which two traces of a packet differ.
fn first_difference(one: &PacketTrace, other: &PacketTrace) -> u32 {
    let differing = one.hops.iter().zip(&other.hops).find(|(a, b)| a != b);
    let extra = || one.hops.get(other.hops.len()).or(other.hops.get(one.hops.len())).map(|hop| hop.granted);
    let cycle = differing.map(|(a, b)| a.granted.min(b.granted)).or_else(extra);
    cycle.or(one.delivered).or(other.delivered).unwrap_or(one.generated)
}

fn compare(plan: &Plan, cycles: u32) -> Result<(), String> {
    let engine = hopsim_core::engine::trace(plan, cycles).map_err(|e| e.to_string())?;
    let reference = hopsim_reference::trace(plan, cycles);
    let key = |t: &PacketTrace| (t.source, t.serial);
    let differing = engine.iter().zip(&reference).filter(|(a, b)| key(a) == key(b) && a != b);
    if let Some((one, other)) = differing.min_by_key(|(a, b)| first_difference(a, b)) {
        return Err(format!("the first difference:\n{}", side_by_side(Some(one), Some(other))));
    }
    let unmatched = engine.iter().zip(&reference).find(|(a, b)| key(a) != key(b));
    if let Some((one, other)) = unmatched {
        return Err(format!("one has a packet the other has not:\n{}", side_by_side(Some(one), Some(other))));
    }
    if engine.len() != reference.len() {
        return Err(format!(
            "the engine granted {} packets, the reference {}",
            engine.len(),
            reference.len()
        ));
    }
    Ok(())
}

#[test]
fn engine_and_reference_agree_on_every_packet() {
    for_each_plan((350, ORDINARY, 3), compare);
}

#[test]
fn engine_and_reference_agree_in_extreme_networks() {
    for_each_plan((80, EXTREME, 4), compare);
}

#[test]
#[ignore = "takes minutes"]
fn engine_and_reference_agree_on_many_networks() {
    for seed in 10..20 {
        for_each_plan((400, ORDINARY, seed), compare);
        for_each_plan((100, EXTREME, seed), compare);
    }
}
