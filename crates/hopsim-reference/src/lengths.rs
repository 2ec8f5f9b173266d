//! How long the packets of jobs with a pattern are: *Nodes* in `docs/model.md`, from the keys of the document.

use hopsim_experiment::plan::Plan;
use hopsim_random::Stream;
use hopsim_traffic::packet_lengths::Share;
use hopsim_traffic::packet_list::ListedPacket;

/// The lengths of the packets of a job with their weights, if they are given each for itself; none if it runs a program.
pub fn of_job(plan: &Plan, job: usize) -> Vec<Share> {
    let (_, job) = plan.experiment.running().nth(job).expect("the job of the plan is in the document");
    let Some(traffic) = &job.traffic else { return Vec::new() };
    if let Some(list) = &traffic.packet_list {
        let length = |packet: &ListedPacket| packet.length.or(traffic.packet_length).unwrap_or_default();
        let share = |packet| Share { length: length(packet), weight: 1.0 };
        return list.packets().iter().map(share).collect();
    }
    match (traffic.packet_length, &traffic.packet_lengths) {
        (Some(length), None) => vec![Share { length, weight: 1.0 }],
        (None, Some(shares)) => shares.clone(),
        _ => unreachable!("a plan has one of the two"),
    }
}

fn total(shares: &[Share]) -> f64 {
    shares.iter().map(|share| share.weight).sum()
}

/// The mean length.
pub fn mean(shares: &[Share]) -> f64 {
    shares.iter().map(|share| share.weight * f64::from(share.length)).sum::<f64>() / total(shares)
}

/// The length of a packet by its number among those that its node generates, `stream` being that of the node.
pub fn drawn(shares: &[Share], stream: &Stream, number: u32) -> u32 {
    let (draw, mut sum) = (stream.at(number.into()).unit(), 0.0);
    for share in shares {
        sum += share.weight;
        if draw < sum / total(shares) {
            return share.length;
        }
    }
    shares[shares.len() - 1].length
}
