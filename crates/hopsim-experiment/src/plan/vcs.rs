//! Virtual channels: what the routing needs, and which VC each hop uses.

use super::classes::{vcs_mut, vcs_of};
use super::jobs::answers;
use super::within;
use crate::config::Experiment;
use crate::config::limits::VCS;
use crate::config::router::{ReplyVcs, RouterConfig, VcManagement, Vcs as VcsConfig};
use hopsim_network::by_class::ByClass;
use hopsim_network::error::ConfigError;
use hopsim_network::network::Network;
use hopsim_network::topology::Topology;
use hopsim_routing::dateline::Dateline;
use hopsim_routing::flexvc::{FlexVc, Order, Selection, Support};
use hopsim_routing::minimal;
use hopsim_routing::path::{G, L, letters, vcs_needed};
use hopsim_routing::sequence::VcSequence;
use hopsim_routing::vcs::{MOST, Rings, Vcs};
use hopsim_routing::{Flexible, Ordered, Paths, Reverts, Safety};
use std::cmp::Reverse;
use std::sync::Arc;

/// Fills in the VCs that the routing needs over the tables of any time, or checks the given ones against them.
pub fn resolve_all(
    experiment: &mut Experiment,
    topology: &Topology,
    all: &[Paths],
) -> Result<(), ConfigError> {
    let need = |paths: &&Paths| match &paths.safety {
        Safety::Ordered(order) => order.sequence.len(),
        other => other.vcs().unwrap_or(1) as usize,
    };
    let mut all: Vec<&Paths> = all.iter().collect();
    // The first are those that say how many there are by default.
    all.sort_by_key(|paths| Reverse(need(paths)));
    all.into_iter().try_for_each(|paths| resolve(experiment, topology, paths))
}

/// Fills in the VCs that paths need, or checks the given ones against them.
fn resolve(experiment: &mut Experiment, topology: &Topology, paths: &Paths) -> Result<(), ConfigError> {
    resolve_ejection(&mut experiment.router)?;
    let replies = answers(experiment);
    let routing = experiment.routing.name();
    let name = experiment.router.name();
    let vcs = vcs_mut(&mut experiment.router);
    let (vcs_of_one_way, flexible) = match &paths.safety {
        Safety::Ordered(order) => (vcs_needed(order.sequence), Some(&order.flexible)),
        &Safety::ByHop { vcs: count, shares } => {
            check_sharing((name, routing), vcs.management, shares, replies)?;
            (ByClass::splat(count as u8), None)
        }
        other => return resolve_unordered(name, vcs, topology, other, replies),
    };
    within(VCS, vcs.injection, format!("router.{name}.vcs.injection"))?;
    let increasing = matches!(vcs.management, VcManagement::Increasing(_));
    if replies && vcs.injection < 2 {
        return Err(ConfigError::new(
            format!("router.{name}.vcs.injection"),
            "requests and replies need injection VCs of their own",
        )
        .value(vcs.injection)
        .valid(format!("2 … {MOST}")));
    }
    let reply = reply_vcs(name, vcs.reply, increasing, replies)?;
    let classes = topology.link_classes();
    let copies = if replies && increasing { 2 } else { 1 };
    let needed = vcs_of_one_way.map(|n| u32::from(n) * copies);
    for (class, key) in classes.iter().enumerate() {
        let reason = || increasing_reason(routing, paths, (classes, class), copies > 1);
        if increasing && needed[class] > MOST {
            let valid =
                format!("no such key: a link has {MOST} VCs at most, and this would take {}", needed[class]);
            return Err(ConfigError::new("jobs.0.traffic.request_reply", reason()).valid(valid));
        }
        let given = *vcs_of(vcs, key).get_or_insert(needed[class] + reply[class]);
        let path = format!("router.{name}.vcs.{key}");
        if (increasing || flexible.is_none()) && given < needed[class] {
            return Err(ConfigError::new(path, reason())
                .value(given)
                .valid(format!("{} … {MOST}", needed[class])));
        }
        within(VCS, given, &path)?;
        if given < reply[class] {
            return Err(ConfigError::new(
                path,
                format!("{} of them would be for replies alone", reply[class]),
            )
            .value(given)
            .valid(format!("{} … {MOST}", reply[class] + 1)));
        }
    }
    let vcs = ByClass::from([vcs.local, vcs.global]).map(Option::unwrap_or_default);
    let Some(paths) = flexible.filter(|_| !increasing) else { return Ok(()) };
    check_flexible((name, routing), paths, classes, vcs, (reply, replies))
}

/// Refuses FlexVC where VCs are by hop and hops cannot share them.
fn check_sharing(
    (name, routing): (&str, &str),
    management: VcManagement,
    shares: bool,
    replies: bool,
) -> Result<(), ConfigError> {
    let reason = match management {
        VcManagement::Increasing(_) => return Ok(()),
        VcManagement::Flexvc(_) if !shares => {
            format!(
                "the paths of routing {routing} are not shortest ones, and a hop does not know how many links are left"
            )
        }
        VcManagement::Flexvc(_) if replies => {
            "with FlexVC replies need VCs of their own, and where VCs are by hop there are none".into()
        }
        VcManagement::Flexvc(config) => return check_selection((name, routing), config.selection),
    };
    let valid = if shares {
        "increasing, or no request_reply"
    } else {
        "increasing, or routing.minimal, ecmp, adaptive, valiant or ugal"
    };
    Err(ConfigError::new(format!("router.{name}.vcs.management"), reason).value("flexvc").valid(valid))
}

/// Refuses a selection where the routing picks the VC.
fn check_selection((name, routing): (&str, &str), selection: Selection) -> Result<(), ConfigError> {
    if routing != "adaptive" || selection == Selection::Shortest {
        return Ok(());
    }
    let reason = "routing adaptive asks for the output and VC with most credits";
    Err(ConfigError::new(format!("router.{name}.vcs.management.flexvc.selection"), reason)
        .valid("shortest, or no such key"))
}

/// Fills in the ejection VCs of virtual-channel routers, or checks the given ones; refuses them of other routers.
fn resolve_ejection(router: &mut RouterConfig) -> Result<(), ConfigError> {
    let (path, moves_flits) =
        (format!("router.{}.vcs.ejection", router.name()), matches!(router, RouterConfig::VirtualChannel(_)));
    let vcs = vcs_mut(router);
    match vcs.ejection {
        Some(given) if !moves_flits => {
            let reason = "whole packets leave for a node one behind the other";
            Err(ConfigError::new(path, reason).value(given).valid("no such key, or router.virtual_channel"))
        }
        Some(given) => within(VCS, given, path),
        None if moves_flits => {
            vcs.ejection = Some(vcs.injection);
            Ok(())
        }
        None => Ok(()),
    }
}

/// Fills in the VCs of a network where VCs have no order, or checks the given ones.
fn resolve_unordered(
    name: &str,
    vcs: &mut VcsConfig,
    topology: &Topology,
    safety: &Safety,
    replies: bool,
) -> Result<(), ConfigError> {
    within(VCS, vcs.injection, format!("router.{name}.vcs.injection"))?;
    for (number, class) in topology.link_classes().iter().enumerate() {
        let given = *vcs_of(vcs, class).get_or_insert(safety.vcs_of(number).unwrap_or(1));
        let path = format!("router.{name}.vcs.{class}");
        within(VCS, given, &path)?;
        if let Some((least, reason, valid)) =
            unordered_reason(safety, number).filter(|&(least, ..)| given < least)
        {
            let valid = format!("{least} … {MOST}{valid}");
            return Err(ConfigError::new(path, reason).value(given).valid(valid));
        }
    }
    if vcs.management != VcManagement::default() {
        let path = format!("router.{name}.vcs.management");
        let kept = matches!(
            safety,
            Safety::Layers(_)
                | Safety::Destinations(_)
                | Safety::Dateline(_)
                | Safety::Levels
                | Safety::Given { .. }
        );
        let reason = match safety {
            Safety::Layers(_) => "a packet keeps the VC of its path",
            Safety::Destinations(_) => "a packet keeps the VC of the layer of its destination",
            Safety::Given { .. } => "the table says which VC a hop has",
            Safety::Levels => "a hop uses the VCs of its half, which its place on the path says",
            Safety::Dateline(_) => "a hop uses the VCs of its class, which the dateline says",
            _ => {
                "says in which order packets use VCs, and with this routing on this topology they need none: every hop may \
                 use every VC"
            }
        };
        let valid =
            "no such key, or a routing whose paths need VCs in an order, as minimal on topology.dragonfly";
        return Err(ConfigError::new(path, reason).valid(if kept { "no such key" } else { valid }));
    }
    if vcs.reply.is_some() {
        let reason = "no VC is for replies alone where VCs have no order";
        return Err(ConfigError::new(format!("router.{name}.vcs.reply"), reason).valid("no such key"));
    }
    if replies {
        let reason =
            "requests and replies need VCs in an order, which this routing does not have on this topology";
        return Err(ConfigError::new("jobs.0.traffic.request_reply", reason)
            .valid("topology.dragonfly, or routing.valiant or ugal on topology.graph or hyperx"));
    }
    Ok(())
}

/// The least number of VCs if one is too few, why, and what would do besides more of them.
fn unordered_reason(safety: &Safety, class: usize) -> Option<(u32, String, &'static str)> {
    match safety {
        Safety::Ordered(_) | Safety::ByHop { .. } | Safety::Any { .. } => None,
        Safety::Dateline(_) => Some((2, "datelines divide the VCs of a link into two classes".into(), "")),
        Safety::Escape => {
            Some((2, "adaptive routing needs an escape VC and at least one adaptive VC".into(), ""))
        }
        Safety::Phases => {
            Some((2, "the ways to the intermediate router and from there need a VC each".into(), ""))
        }
        Safety::Levels => Some((2, "the ways to another group and from there need a VC each".into(), "")),
        Safety::Orders => Some((2, "the two orders of dimensions need a VC each".into(), "")),
        Safety::Destinations(paths) => {
            let vcs = paths.layers();
            let reason = format!("routing nue divides destinations among {vcs} layers, each with a VC");
            Some((vcs, reason, ", or fewer layers (routing.nue.vcs)"))
        }
        Safety::Given { .. } => {
            let count = safety.vcs_of(class).unwrap_or(1);
            Some((count, format!("the table of routing.table uses {count} VCs"), ""))
        }
        Safety::Layers(layers) => {
            let count = layers.count();
            let reason = format!("the shortest paths of the graph need {count} VCs to be free of deadlock");
            Some((count, reason, ", or routing.up_down, which needs one"))
        }
    }
}

fn increasing_reason(
    routing: &str,
    paths: &Paths,
    (classes, class): (&[&str], usize),
    doubled: bool,
) -> String {
    let of_links =
        |links: u32, kind: &str| format!("{links} {kind}link{}", if links == 1 { "" } else { "s" });
    let links = match &paths.safety {
        Safety::Ordered(order) => {
            let links = of_links(vcs_needed(order.sequence)[class].into(), &format!("{} ", classes[class]));
            // Misroutes that use VCs again (OLM).
            let more =
                if paths.hops as usize > order.sequence.len() { ", local misroutes aside," } else { "" };
            format!("{links} ({}){more}", letters(order.sequence, classes))
        }
        // Links of one class need no list of classes.
        _ if classes.len() == 1 => of_links(paths.hops, &format!("{} ", classes[class])),
        _ => format!("{}, of whatever class,", of_links(paths.hops, "")),
    };
    let both = if doubled { ", and as many for replies" } else { "" };
    format!(
        "routing {routing} follows up to {links} and needs one VC for each, in increasing order, to be free of deadlock{both}"
    )
}

/// VCs for replies alone, by class of links.
fn reply_vcs(
    name: &str,
    reply: Option<ReplyVcs>,
    increasing: bool,
    replies: bool,
) -> Result<ByClass<u32>, ConfigError> {
    let path = format!("router.{name}.vcs.reply");
    let value = |vcs: ReplyVcs| format!("{{ local = {}, global = {} }}", vcs.local, vcs.global);
    if let Some(vcs) = reply {
        within(VCS, vcs.local, format!("{path}.local"))?;
        within(VCS, vcs.global, format!("{path}.global"))?;
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
        Some(vcs) => Ok(ByClass::from([vcs.local, vcs.global])),
        None => Ok(ByClass::default()),
    }
}

/// Refuses a set of VCs that leaves packets without a safe path.
fn check_flexible(
    (name, routing): (&str, &str),
    paths: &Flexible,
    classes: &[&str],
    vcs: ByClass<u32>,
    (reply, replies): (ByClass<u32>, bool),
) -> Result<(), ConfigError> {
    let order = order(paths, vcs, reply);
    let path = format!("router.{name}.vcs");
    let value = format!("{{ local = {}, global = {} }}", vcs[L as usize], vcs[G as usize]);
    let kinds: &[(bool, &str)] =
        if replies { &[(false, "requests"), (true, "replies")] } else { &[(false, "packets")] };
    for &(is_reply, who) in kinds {
        let safe = order.support(minimal::PATH, &[], is_reply) == Support::Safe;
        if safe && supports_detours(&order, paths, is_reply) {
            continue;
        }
        let needed = vcs_needed(paths.references[paths.references.len() - 1]);
        let (l, g) = (needed[L as usize], needed[G as usize]);
        let reason = if safe {
            let detour = letters(paths.detour, classes);
            format!("on the nonminimal paths ({detour}) of routing {routing} {who} would have no safe way on")
        } else {
            format!("the minimal path ({}) is not safe for {who}", letters(minimal::PATH, classes))
        };
        let more = if replies { ", besides those for replies alone (at least 2 and 1)" } else { "" };
        return Err(ConfigError::new(path, reason)
            .value(value)
            .valid(format!("at least {l} local and {g} global VCs{more}")));
    }
    Ok(())
}

/// Whether packets that leave their minimal path always have a safe way on.
fn supports_detours(order: &Order, paths: &Flexible, reply: bool) -> bool {
    match paths.reverts {
        Reverts::Never => order.support(paths.detour, paths.escapes, reply) == Support::Safe,
        // Its reply can leave injection by the minimal path, and then what it waits for drains.
        Reverts::AtInjection => order.fits(paths.detour, reply),
        Reverts::Everywhere => order.support(paths.detour, paths.escapes, reply) != Support::Impossible,
    }
}

fn order(paths: &Flexible, vcs: ByClass<u32>, reply: ByClass<u32>) -> Order {
    // Replies that cannot follow the longest path in their own VCs have those laid out for minimal ones.
    let references: Vec<&[u8]> = paths.references.iter().copied().chain([minimal::PATH]).collect();
    Order::new(vcs.map(|n| n as u8), reply.map(|n| n as u8), &references)
}

/// The VC management of a resolved experiment.
pub fn build(experiment: &Experiment, paths: &Paths, network: &Network) -> Vcs {
    let classes = &network.classes;
    // Where packets keep their VC, or VCs are divided, as many are used of all classes.
    let count = classes.links.iter().map(|class| class.vcs).min().unwrap_or(1);
    let used = ByClass::from_fn(|class| if class < classes.links.len() { count } else { 0 });
    let unordered = || VcSequence::unordered(classes, 0);
    let of_class = |class: usize| classes.links.get(class).map_or(0, |link| link.vcs);
    let vcs = match &paths.safety {
        Safety::Ordered(order) => build_ordered(experiment, order, network),
        &Safety::ByHop { vcs, .. } => match experiment.router.vcs().management {
            VcManagement::Increasing(_) => {
                Vcs::increasing(VcSequence::by_hop(vcs as u8, classes, answers(experiment)))
            }
            VcManagement::Flexvc(config) => Vcs::ahead(unordered(), config.selection, used),
        },
        Safety::Escape => Vcs::chosen(unordered(), used),
        Safety::Phases | Safety::Orders if matches!(experiment.router, RouterConfig::VirtualChannel(_)) => {
            Vcs::in_halves(unordered(), count, used)
        }
        Safety::Phases | Safety::Orders => Vcs::by_phase(unordered(), used),
        Safety::Levels => Vcs::given(unordered(), used),
        Safety::Given { .. } => Vcs::given(unordered(), ByClass::from_fn(of_class)),
        Safety::Destinations(paths) => {
            Vcs::by_destination(unordered(), Arc::clone(paths), ByClass::from_fn(of_class))
        }
        Safety::Layers(layers) => Vcs::kept(VcSequence::keeping(classes), layers.vcs(count), used),
        Safety::Any { .. } if classes.links.iter().all(|class| class.vcs == 1) => {
            Vcs::increasing(unordered())
        }
        // Of two VCs each class has one.
        Safety::Dateline(_) if count == 2 => Vcs::chosen(unordered(), used),
        Safety::Any { .. } | Safety::Dateline(_) => Vcs::any(classes, ByClass::from_fn(of_class)),
    };
    vcs.in_rings(match paths.safety {
        Safety::Dateline(config) => Rings::Dateline(Dateline::new(config, count)),
        _ if classes.links[0].bubble > 0 => Rings::Entries,
        _ => Rings::Free,
    })
}

/// The VC management where VCs follow an order.
fn build_ordered(experiment: &Experiment, order: &Ordered, network: &Network) -> Vcs {
    let sequence = |replies| VcSequence::new(order.sequence, &network.classes, replies);
    let vcs = experiment.router.vcs();
    let VcManagement::Flexvc(config) = vcs.management else {
        return Vcs::increasing(sequence(answers(experiment)));
    };
    let reply = vcs.reply.map_or(ByClass::default(), |r| ByClass::from([r.local, r.global]));
    let all = ByClass::from([vcs.local, vcs.global]).map(Option::unwrap_or_default);
    let paths = &order.flexible;
    let flex = FlexVc::new(&self::order(paths, all, reply), paths.detour, config.selection);
    Vcs::flexible(sequence(false), flex, all.map(|n| n as u8))
}
