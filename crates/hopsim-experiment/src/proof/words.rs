//! What is found, in words.

use super::{Cycle, Ground, Proof, Verdict, is_too_large};
use crate::circle;
use crate::plan::Plan;
use hopsim_routing::vcs::Rings;
use hopsim_routing::{Routing, Safety};

/// What `hopsim check` says of a verdict, at most `most` heads having been looked at.
pub fn deadlock_line(plan: &Plan, verdict: &Verdict, most: u64) -> String {
    match verdict {
        Verdict::Proved(proof) => format!("free of deadlock: {}", of_proof(proof)),
        Verdict::Circle(circle) => match rule(plan).filter(|_| circle.is_of_resorts) {
            Some(rule) => format!("deadlock not excluded: {}; yet {rule}", of_circle(plan, circle)),
            None => format!("can deadlock: {}", of_circle(plan, circle)),
        },
        Verdict::Unproved => {
            if let Routing::Function(_) = plan.system.routing {
                return "deadlock not looked for: what a function in Python chooses is not known before the run".into();
            }
            let rule = rule(plan).unwrap_or_else(|| "none excludes it".into());
            let why = if is_too_large(&plan.system) {
                "a graph of more than a gigabit".into()
            } else {
                format!("more than {} heads to look at", grouped(most))
            };
            format!("deadlock not looked for: {why}; rule: {rule}")
        }
    }
}

/// What `hopsim check` says of the verdicts of the tables of a plan, as [`prove_tables`](super::prove_tables) gives them.
pub fn deadlock_of_tables(plan: &Plan, verdicts: &[(u32, Verdict)], most: u64) -> String {
    let doubtful = verdicts.iter().find(|(_, verdict)| !matches!(verdict, Verdict::Proved(_)));
    let Some((cycle, first)) = doubtful.or(verdicts.first()) else { return String::new() };
    let line = deadlock_line(plan, first, most);
    if doubtful.is_some() {
        let since = if *cycle > 0 { format!(" ({})", since(plan, *cycle)) } else { String::new() };
        return line + &since;
    }
    let later = verdicts.iter().skip(1).filter_map(|(cycle, verdict)| match verdict {
        Verdict::Proved(proof) => Some(format!("; {}: {}", since(plan, *cycle), of_proof(proof))),
        Verdict::Circle(_) | Verdict::Unproved => None,
    });
    line + &later.collect::<String>()
}

/// From when on tables are in force that come in a cycle, and who has come by others then.
fn since(plan: &Plan, cycle: u32) -> String {
    let is_drained = plan.epochs.iter().any(|epoch| epoch.at == cycle && epoch.change.closes);
    let when =
        if is_drained { "once the network is drained" } else { "with the packets that are under way then" };
    format!("from cycle {} on, {when}", grouped(cycle.into()))
}

fn of_proof(proof: &Proof) -> String {
    let count = |number: usize, what: &str| {
        let plural = if number == 1 { "" } else { "s" };
        format!("{} {what}{plural}", grouped(number as u64))
    };
    let dependencies = match proof.dependencies {
        1 => "1 dependency".into(),
        many => format!("{} dependencies", grouped(many as u64)),
    };
    let (what, choice) = match proof.ground {
        Ground::Ranks => {
            return format!("{}, VCs increase along every path, no cycle", count(proof.channels, "channel"));
        }
        Ground::HighestRanks => {
            let channels = count(proof.channels, "channel");
            return format!(
                "{channels}, after every hop a path with VCs in increasing order is left, no cycle"
            );
        }
        Ground::Acyclic => ("channel", ""),
        Ground::Escape => ("escape channel", ", one of which every head that may choose can wait for"),
    };
    let circle = match proof.rings {
        0 => ", no cycle".into(),
        rings => format!("; bubble flow control in {}, between rings no cycle", count(rings, "ring")),
    };
    format!("{}{choice}, {dependencies}{circle}", count(proof.channels, what))
}

fn of_circle(plan: &Plan, found: &Cycle) -> String {
    let way: Vec<String> = found.channels.iter().map(|channel| channel.name(&plan.system.network)).collect();
    circle::in_words("packets", "outputs", &way)
}

/// The rule that keeps packets from waiting for each other in a circle, `None` if the plan breaks it.
fn rule(plan: &Plan) -> Option<String> {
    let paths = &plan.paths;
    let shares = plan.system.router.damq();
    let full = plan.system.router.full_reserve(plan.system.longest_packet());
    if shares.is_some_and(|shares| shares.iter().any(|share| share.reserve < full)) {
        return None;
    }
    let has_rings = plan.system.topology.has_rings() && paths.safety.bubble();
    let ring = match plan.system.routing.vcs().rings() {
        Rings::Free if has_rings => return None,
        Rings::Free => "",
        Rings::Entries => "; in rings bubble flow control",
        Rings::Dateline(_) => "; in rings datelines",
    };
    let rule = match &paths.safety {
        Safety::Ordered(_) | Safety::ByHop { .. } if plan.system.routing.vcs().is_flexible() => {
            "after every hop a path with VCs in increasing order is left"
        }
        Safety::Ordered(order) if paths.hops as usize > order.sequence.len() => {
            "every head can wait for its minimal path, along which VCs increase"
        }
        Safety::Ordered(_) | Safety::ByHop { .. } => "VCs increase along every path",
        Safety::Any { .. } | Safety::Dateline(_) => "the paths close no cycle in any VC",
        Safety::Escape => "every head can wait for the escape VC, whose paths close no cycle",
        Safety::Phases => {
            "VC 0 waits for VC 1 and never the other way round, and the paths in each close no cycle"
        }
        Safety::Orders => "a packet keeps to the VCs of its order of dimensions, whose paths close no cycle",
        Safety::Levels => {
            "hops go up, out and down in the lower half of the VCs, then in the upper half, and never back"
        }
        Safety::Given { .. } => "the paths of the table close no cycle",
        Safety::Destinations(_) => {
            "a packet keeps the VC of its destination's layer, and the paths of each layer close no cycle"
        }
        Safety::Layers(_) => "a packet keeps the VC of its path, and the paths of each VC close no cycle",
    };
    Some(format!("{rule}{ring}"))
}

/// `1,234,567`.
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let groups: Vec<&str> = digits
        .as_bytes()
        .rchunks(3)
        .rev()
        .map(|group| std::str::from_utf8(group).unwrap_or_default())
        .collect();
    groups.join(",")
}

#[cfg(test)]
mod tests {
    use super::grouped;

    #[test]
    fn numbers_are_written_in_groups_of_three_digits() {
        assert_eq!([0, 12, 123, 1_234, 1_234_567].map(grouped), ["0", "12", "123", "1,234", "1,234,567"]);
    }
}
