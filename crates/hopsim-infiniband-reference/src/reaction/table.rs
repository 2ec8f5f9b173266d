//! The congestion control table.

use super::{Reactions, SERVICE_LEVELS};
use hopsim_infiniband::reaction::table::{Table, Timer};
use hopsim_infiniband::time::Ticks;
use hopsim_random::Stream;

/// The timers of all hosts, as they are at first.
pub fn timers(rules: &Table, draws: &mut [Stream]) -> Vec<Option<Ticks>> {
    match rules.timer {
        Timer::Free => draws.iter_mut().flat_map(|stream| first_lowerings(rules, stream)).collect(),
        Timer::OnDemand => vec![None; draws.len() * SERVICE_LEVELS],
    }
}

/// The first lowering of each service level of a host with timers that always run.
fn first_lowerings(rules: &Table, stream: &mut Stream) -> Vec<Option<Ticks>> {
    let draw = |_| 1 + (stream.unit() * rules.period as f64) as Ticks;
    let times: Vec<Ticks> = (0..SERVICE_LEVELS).map(draw).collect();
    times.into_iter().map(|time| (rules.period > 0).then_some(time)).collect()
}

/// Timers that run out lower the indices of their service level.
pub fn lower_indices(reaction: &mut Reactions, rules: &Table) {
    for (number, timer) in reaction.timers.iter_mut().enumerate() {
        let Some(left) = timer else { continue };
        if *left > 0 {
            *left -= 1;
            continue;
        }
        for point in reaction.points.iter_mut().filter(|point| point.place == number) {
            if point.index > rules.minimum {
                point.index -= 1;
            }
        }
        *left = rules.period - 1;
    }
}

/// A point has been notified.
pub fn raise_index(reaction: &mut Reactions, rules: &Table, number: usize) {
    let place = reaction.points[number].place;
    let mut neighbours = reaction.points.iter().filter(|point| point.place == place);
    let at_rest = neighbours.all(|point| point.index == rules.minimum);
    if at_rest && rules.timer == Timer::OnDemand && rules.period > 0 {
        reaction.timers[place] = Some(rules.period - 1);
    }
    let point = &mut reaction.points[number];
    point.index = (point.index + u16::from(rules.increase)).min(rules.limit);
}

/// Counts the tick that ends for the points whose index is at its limit, unless it can be nothing else.
pub fn count_limited(reaction: &mut Reactions, rules: &Table) {
    if rules.limit == rules.minimum {
        return;
    }
    for point in reaction.points.iter_mut().filter(|point| point.index == rules.limit) {
        point.limited += 1;
    }
}

/// The time from the start of a packet, which takes `on_link` on the link, to the start of the next one.
pub fn gap(rules: &Table, index: u16, on_link: Ticks) -> Ticks {
    let entry = rules.entries[usize::from(index)];
    on_link + (on_link * Ticks::from(entry.multiplier)) / (1 << entry.shift)
}
