//! Where a run without warm-up has settled: the warm-up of others.

use super::Counts;
use super::evidence::evidence;
use super::parts::PARTS;
use super::stop::queues_grow;
use super::trend::{MSER_BATCH, Trend, transient};
use super::verdict::{FEWEST, Verdict};
use hopsim_experiment::plan::Plan;

/// A warm-up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settled {
    /// Length of the warm-up \[cycles\].
    pub cycles: u32,
    /// What has settled at the end of the warm-up: latency or accepted load.
    pub by: &'static str,
}

/// The warm-up that a run without one has shown to be enough, if it has: what MSER-5 leaves out of latency and accepted load, and one
/// of its batches more, because a transient that is shorter than one does not show.
pub fn settled(plan: &Plan, counts: &Counts) -> Option<Settled> {
    let Counts { recorder, places, .. } = counts;
    let jobs: Vec<usize> = (0..plan.system.jobs.len()).collect();
    let evidence = evidence(plan, recorder, places, &jobs)?;
    if (evidence.delivered.len() as f64) < FEWEST[1] {
        return None;
    }
    let load = end_of_transient(&(0..PARTS).zip(evidence.loads()).collect::<Vec<_>>())?;
    let (end, by) = if queues_grow(plan, Some(Verdict::new(&evidence).name())) {
        // Their latency never settles.
        (load, "accepted load")
    } else {
        let latencies: Vec<(u32, f64)> =
            evidence.delivered.iter().map(|part| (part.part, part.latency)).collect();
        (end_of_transient(&latencies)?.max(load), "latency")
    };
    Some(Settled { cycles: (end + MSER_BATCH as u32) * recorder.parts.length() as u32, by })
}

/// The number of the first part behind the transient of values with the numbers of their parts, if it is in the first half and nothing
/// drifts from there on.
fn end_of_transient(values: &[(u32, f64)]) -> Option<u32> {
    let series: Vec<f64> = values.iter().map(|&(_, value)| value).collect();
    let left_out = transient(&series);
    let &(first, _) = values.get(left_out)?;
    let rest = Trend::of(&series[left_out..])?;
    (first < PARTS / 2 && !rest.is_drift()).then_some(first)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parts::PartTotals;
    use crate::places::Places;
    use crate::recorder::Recorder;
    use serde_json::{Value, json};

    /// What a pilot of 10,000 cycles shows whose accepted load settles after 20 parts, and whose latency is this in every part. The
    /// backlog of the first of its four nodes grows by so many packets in each tenth.
    fn found(latency: impl Fn(u32) -> u64, growth: i32, nic: &Value) -> Option<Settled> {
        let measure = json!({ "warmup": 0, "cycles": 10_000 });
        let mut document =
            json!({ "topology": { "mesh": { "sides": [4] } }, "load": 0.5, "measure": measure });
        document["nic"] = nic.clone();
        let plan = Plan::new(&serde_json::from_value(document).unwrap()).unwrap();
        let (mut recorder, mut places) = (Recorder::new(&plan), Places::new(&plan, 0, 4, 4));
        for backlog in &mut places.backlogs {
            backlog.generated = 1000;
        }
        places.backlogs[0].growth = std::array::from_fn(|tenth| growth + tenth as i32 % 2);
        for (part, totals) in (0..).zip(&mut recorder.by_part) {
            *totals =
                PartTotals { delivered: 10, phits: if part < 20 { 40 } else { 80 }, latency: latency(part) };
        }
        settled(&plan, &Counts { recorder, places, packet_hops: 0, decisions: 0, congestion: None })
    }

    #[test]
    fn a_pilot_has_settled_when_latency_and_load_have() {
        let settles = |after| move |part: u32| if part < after { 600 } else { 300 };
        let [none, bounded] = [json!({}), json!({ "source_queue": { "packets": 8 } })];
        let latency = |parts: u32| Some(Settled { cycles: 100 * (parts + 5), by: "latency" });
        assert_eq!(found(settles(10), 0, &none), latency(20));
        assert_eq!(found(settles(30), 0, &none), latency(30));
        assert_eq!(found(settles(50), 0, &none), None);
        // Where queues grow for ever so does latency, and the load alone settles.
        let grows = |part: u32| 300 + 10 * u64::from(part);
        assert_eq!(found(grows, 30, &none), Some(Settled { cycles: 2500, by: "accepted load" }));
        assert_eq!(found(grows, 30, &bounded), None);
        assert_eq!(found(grows, 0, &none), None);
    }

    /// Values around 100, up to 5 above and below, of all parts, with something added: those of a generator by Lehmer.
    fn noisy(added: impl Fn(u32) -> f64) -> Vec<(u32, f64)> {
        let next = |state: &u64| Some(state * 48271 % 2_147_483_647);
        let noise = std::iter::successors(Some(1), next).skip(10);
        let value =
            |(part, state): (u32, u64)| (part, 95.0 + 10.0 * state as f64 / 2_147_483_647.0 + added(part));
        (0..PARTS).zip(noise).map(value).collect()
    }

    #[test]
    fn a_transient_ends_in_the_first_half_and_nothing_drifts_behind_it() {
        let early = |last: u32| noisy(move |part| if part < last { 50.0 } else { 0.0 });
        assert!((10..50).contains(&end_of_transient(&early(10)).unwrap()));
        assert!((15..50).contains(&end_of_transient(&early(12)).unwrap()));
        // As much as MSER-5 may leave out is no end.
        assert_eq!(end_of_transient(&early(50)), None);
        // A drift of 10 % is less than the noise, so that MSER-5 leaves out nothing.
        assert_eq!(end_of_transient(&noisy(|part| 0.1 * f64::from(part))), None);
        assert!(end_of_transient(&noisy(|_| 0.0)).is_some());
    }

    #[test]
    fn parts_without_packets_are_left_out_but_counted() {
        let busy: Vec<(u32, f64)> = noisy(|part| if part < 20 { 50.0 } else { 0.0 })
            .into_iter()
            .filter(|(part, _)| part % 2 == 0)
            .collect();
        assert_eq!(end_of_transient(&busy), Some(20));
    }
}
