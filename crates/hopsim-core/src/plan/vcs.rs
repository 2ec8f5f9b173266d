//! Virtual channels: what the routing needs, and which VC each hop uses.

use super::classes::{vcs_mut, vcs_of};
use super::jobs::answers;
use super::within;
use crate::config::Experiment;
use crate::config::router::{ReplyVcs, VcManagement, Vcs as VcsConfig};
use crate::error::ConfigError;
use crate::network::Network;
use crate::routing::flexvc::{FlexVc, Order, Support};
use crate::routing::minimal;
use crate::routing::sequence::{VcSequence, vcs_needed};
use crate::routing::vcs::Vcs;
use crate::routing::{Ordered, Paths, Reverts, Safety};
use crate::topology::Topology;

const CLASSES: [&str; 2] = ["local", "global"];

/// Fills in the VCs the routing needs, or checks the given ones against them.
pub fn resolve(experiment: &mut Experiment, topology: &Topology, paths: &Paths) -> Result<(), ConfigError> {
    let replies = answers(experiment);
    let routing = experiment.routing.name();
    let name = experiment.router.name();
    let vcs = vcs_mut(&mut experiment.router);
    let Safety::Ordered(order) = &paths.safety else {
        return resolve_unordered((name, vcs), topology, &paths.safety, replies);
    };
    within(1..=16, vcs.injection, &format!("router.{name}.vcs.injection"))?;
    let increasing = matches!(vcs.management, VcManagement::Increasing(_));
    if replies && vcs.injection < 2 {
        return Err(ConfigError::new(
            format!("router.{name}.vcs.injection"),
            "requests and replies need injection VCs of their own",
        )
        .value(vcs.injection)
        .valid("2 … 16"));
    }
    let reply = reply_vcs((name, vcs.reply), increasing, replies)?;
    let copies = if replies && increasing { 2 } else { 1 };
    let needed = vcs_needed(order.sequence).map(|n| u32::from(n) * copies);
    let given = [&mut vcs.local, &mut vcs.global];
    for (class, given) in given.into_iter().enumerate() {
        let given = *given.get_or_insert(needed[class] + reply[class]);
        let path = format!("router.{name}.vcs.{}", CLASSES[class]);
        if increasing && given < needed[class] {
            let reason = increasing_reason(routing, (order, paths.hops), class, copies > 1);
            return Err(ConfigError::new(path, reason).value(given).valid(format!("{} … 16", needed[class])));
        }
        within(1..=16, given, &path)?;
        if given < reply[class] {
            return Err(ConfigError::new(
                path,
                format!("{} of them would be for replies alone", reply[class]),
            )
            .value(given)
            .valid(format!("{} … 16", reply[class] + 1)));
        }
    }
    if increasing {
        return Ok(());
    }
    let vcs = [vcs.local, vcs.global].map(|n| n.unwrap_or(1));
    check_flexible((name, routing), order, vcs, (reply, replies))
}

/// The same where VCs have no order.
fn resolve_unordered(
    (name, vcs): (&str, &mut VcsConfig),
    topology: &Topology,
    safety: &Safety,
    replies: bool,
) -> Result<(), ConfigError> {
    within(1..=16, vcs.injection, &format!("router.{name}.vcs.injection"))?;
    for class in topology.link_classes() {
        let given = *vcs_of(vcs, class).get_or_insert(safety.vcs().unwrap_or(1));
        let path = format!("router.{name}.vcs.{class}");
        within(1..=16, given, &path)?;
        if let Some((least, reason, valid)) = unordered_reason(safety).filter(|&(least, ..)| given < least) {
            let valid = format!("{least} … 16{valid}");
            return Err(ConfigError::new(path, reason).value(given).valid(valid));
        }
    }
    if vcs.management != VcManagement::default() {
        let path = format!("router.{name}.vcs.management");
        let kept = matches!(safety, Safety::Layers(_));
        let reason =
            if kept { "a packet keeps the VC of its path" } else { "every hop may use every VC here" };
        return Err(ConfigError::new(path, reason).valid("no such key"));
    }
    if replies {
        let reason = "requests and replies need VCs in an order, which this topology does not have";
        return Err(ConfigError::new("jobs.0.traffic.request_reply", reason).valid("topology.dragonfly"));
    }
    Ok(())
}

/// The least number of VCs if one is too few, why, and what would do besides more of them.
fn unordered_reason(safety: &Safety) -> Option<(u32, String, &'static str)> {
    match safety {
        Safety::Ordered(_) | Safety::Any { .. } => None,
        Safety::Escape => {
            Some((2, "adaptive routing needs an escape VC and at least one adaptive VC".into(), ""))
        }
        Safety::Phases => {
            Some((2, "the ways to the intermediate router and from there need a VC each".into(), ""))
        }
        Safety::Layers(layers) => {
            let count = layers.count();
            let reason = format!("the shortest paths of the graph need {count} VCs to be free of deadlock");
            Some((count, reason, ", or routing.up_down, which needs one"))
        }
    }
}

fn increasing_reason(routing: &str, (order, hops): (&Ordered, u32), class: usize, doubled: bool) -> String {
    let (links, key) = (vcs_needed(order.sequence)[class], CLASSES[class]);
    let plural = if links == 1 { "" } else { "s" };
    let both = if doubled { ", and as many for replies" } else { "" };
    let sequence = order.sequence;
    // Misroutes that use VCs again (OLM).
    let more = if hops as usize > sequence.len() { ", local misroutes aside," } else { "" };
    format!(
        "routing {routing} follows up to {links} {key} link{plural} ({sequence}){more} and needs one VC for each, in increasing order, to be free of deadlock{both}"
    )
}

/// VCs for replies alone by class.
fn reply_vcs(
    (name, reply): (&str, Option<ReplyVcs>),
    increasing: bool,
    replies: bool,
) -> Result<[u32; 2], ConfigError> {
    let path = format!("router.{name}.vcs.reply");
    let value = |vcs: ReplyVcs| format!("{{ local = {}, global = {} }}", vcs.local, vcs.global);
    if let Some(vcs) = reply {
        within(1..=16, vcs.local, &format!("{path}.local"))?;
        within(1..=16, vcs.global, &format!("{path}.global"))?;
    }
    match reply {
        Some(vcs) if !replies => Err(ConfigError::new(path, "no job has replies")
            .value(value(vcs))
            .valid("no such key, or request_reply in the traffic of a job")),
        Some(vcs) if increasing => {
            Err(ConfigError::new(path, "with increasing VCs replies use the second half of them")
                .value(value(vcs))
                .valid("no such key, or management = \"flexvc\""))
        }
        None if replies && !increasing => Err(ConfigError::new(
            path,
            "is missing: with FlexVC replies need VCs of their own, so that they never wait for requests",
        )
        .valid("at least { local = 2, global = 1 }, out of local and global")),
        Some(vcs) => Ok([vcs.local, vcs.global]),
        None => Ok([0; 2]),
    }
}

/// Refuses a set of VCs that leaves packets without a safe path.
fn check_flexible(
    (name, routing): (&str, &str),
    paths: &Ordered,
    vcs: [u32; 2],
    (reply, replies): ([u32; 2], bool),
) -> Result<(), ConfigError> {
    let order = order(paths, vcs, reply);
    let path = format!("router.{name}.vcs");
    let value = format!("{{ local = {}, global = {} }}", vcs[0], vcs[1]);
    let kinds: &[(bool, &str)] =
        if replies { &[(false, "requests"), (true, "replies")] } else { &[(false, "packets")] };
    for &(is_reply, who) in kinds {
        let safe = order.support(minimal::PATH, &[], is_reply) == Support::Safe;
        if safe && supports_detours(&order, paths, is_reply) {
            continue;
        }
        let [l, g] = vcs_needed(paths.references[paths.references.len() - 1]);
        let reason = if safe {
            let detour = paths.detour;
            format!("on the nonminimal paths ({detour}) of routing {routing} {who} would have no safe way on")
        } else {
            format!("the minimal path ({}) is not safe for {who}", minimal::PATH)
        };
        let more = if replies { ", besides those for replies alone (at least 2 and 1)" } else { "" };
        return Err(ConfigError::new(path, reason)
            .value(value)
            .valid(format!("at least {l} local and {g} global VCs{more}")));
    }
    Ok(())
}

/// Whether packets that leave their minimal path always have a safe way on.
fn supports_detours(order: &Order, paths: &Ordered, reply: bool) -> bool {
    match paths.reverts {
        Reverts::Never => order.support(paths.detour, paths.escapes, reply) == Support::Safe,
        // Its reply can leave injection by the minimal path, and then what it waits for drains.
        Reverts::AtInjection => order.fits(paths.detour, reply),
        Reverts::Everywhere => order.support(paths.detour, paths.escapes, reply) != Support::Impossible,
    }
}

fn order(paths: &Ordered, vcs: [u32; 2], reply: [u32; 2]) -> Order {
    // Replies that cannot follow the longest path in their own VCs have those laid out for minimal ones.
    let references: Vec<&str> = paths.references.iter().copied().chain([minimal::PATH]).collect();
    Order::new(vcs.map(|n| n as u8), reply.map(|n| n as u8), &references)
}

/// The VC management of a resolved experiment.
pub fn build(experiment: &Experiment, paths: &Paths, network: &Network) -> Vcs {
    let classes = &network.classes;
    let count = classes.links[0].vcs;
    let unordered = || VcSequence::unordered(classes, 0);
    let vcs = match &paths.safety {
        Safety::Ordered(order) => build_ordered(experiment, order, network),
        Safety::Escape => Vcs::chosen(unordered(), [count, 0]),
        Safety::Phases => Vcs::by_phase(unordered(), [count, 0]),
        Safety::Layers(layers) => Vcs::kept(VcSequence::keeping(classes), layers.vcs(count), [count, 0]),
        Safety::Any { .. } if count == 1 => Vcs::increasing(unordered()),
        Safety::Any { .. } => Vcs::any(classes, count),
    };
    vcs.with_entries(classes.links[0].bubble > 0)
}

/// The same where VCs follow an order.
fn build_ordered(experiment: &Experiment, order: &Ordered, network: &Network) -> Vcs {
    let replies = answers(experiment);
    let vcs = experiment.router.vcs();
    let VcManagement::Flexvc(config) = vcs.management else {
        return Vcs::increasing(VcSequence::new(order.sequence, &network.classes, replies));
    };
    let sequence = VcSequence::new(order.sequence, &network.classes, false);
    let reply = vcs.reply.map_or([0; 2], |r| [r.local, r.global]);
    let all = [vcs.local, vcs.global].map(|n| n.unwrap_or(1));
    let flex = FlexVc::new(&self::order(order, all, reply), order.detour, config.selection);
    Vcs::flexible(sequence, flex, all.map(|n| n as u8))
}
