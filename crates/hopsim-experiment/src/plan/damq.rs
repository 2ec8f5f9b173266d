//! Shared buffers: see [`DamqConfig`](crate::config::router::DamqConfig).

use crate::config::Experiment;
use crate::config::router::{DamqConfig, FlitDamq, RouterConfig};
use crate::config::virtual_channel::FlitSwitching;
use hopsim_cycles::choices::VcReuse;
use hopsim_cycles::system::{RouterPlan, Shares};
use hopsim_network::by_class::ByClass;
use hopsim_network::error::ConfigError;
use hopsim_network::network::Classes;
use hopsim_network::topology::Topology;

/// Lets the VCs of a port share its buffer, if the document says so; `classes` then gets what one VC can hold at most.
pub fn share(
    experiment: &Experiment,
    topology: &Topology,
    (plan, classes): (&mut RouterPlan, &mut Classes),
) -> Result<(), ConfigError> {
    match plan {
        RouterPlan::Cioq(plan) => plan.damq = share_packets(experiment, topology, classes)?,
        RouterPlan::VirtualChannel(plan) => {
            plan.damq = share_flits(experiment, topology.link_classes(), classes)?;
        }
    }
    Ok(())
}

/// How the VCs of each link class of CIOQ routers share their port's buffer, `None` if they do not.
fn share_packets(
    experiment: &Experiment,
    topology: &Topology,
    classes: &mut Classes,
) -> Result<Option<ByClass<Shares>>, ConfigError> {
    let RouterConfig::Cioq(router) = &experiment.router else { return Ok(None) };
    let Some(damq) = router.buffers.damq else { return Ok(None) };
    if topology.group_classes().is_none() {
        let reason = "the reserves are those of local and global links, which the topology does not have";
        return Err(
            ConfigError::new("router.cioq.buffers.damq", reason).valid("no such key, or topology.dragonfly")
        );
    }
    let longest = super::jobs::longest_packet(experiment);
    // Links of classes that there are not lack nothing.
    let mut shares = ByClass::splat(Shares { reserve: u32::MAX, pool: 0 });
    let keys = [("local", damq.local_reserve), ("global", damq.global_reserve)];
    for ((share, class), (key, packets)) in shares.iter_mut().zip(&mut classes.links).zip(keys) {
        let size = class.buffer;
        let most = size / longest / u32::from(class.vcs);
        check_reserve(&damq, key, packets, most)?;
        let reserve = packets * longest;
        *share = Shares { reserve, pool: size - reserve * u32::from(class.vcs) };
        class.buffer = share.reserve + share.pool;
    }
    Ok(Some(shares))
}

/// How the VCs of each link class of virtual-channel routers share their port's buffer, `None` if they do not.
fn share_flits(
    experiment: &Experiment,
    names: &[&str],
    classes: &mut Classes,
) -> Result<Option<ByClass<Shares>>, ConfigError> {
    let RouterConfig::VirtualChannel(router) = &experiment.router else { return Ok(None) };
    let Some(FlitDamq { reserve }) = router.buffers.damq else { return Ok(None) };
    let path = "router.virtual_channel.buffers.damq";
    let needs = [
        (
            router.switching == FlitSwitching::VirtualCutThrough,
            "room for the whole packet",
            "switching = \"wormhole\"",
        ),
        (router.vc_reuse == VcReuse::Credits, "all credits of the output VC", "vc_reuse = \"tail\""),
        (
            router.empty_vcs_first,
            "to know which output VCs have all their credits",
            "empty_vcs_first = false",
        ),
    ];
    if let Some((_, what, valid)) = needs.into_iter().find(|(needs, ..)| *needs) {
        let reason = format!("a head needs {what}, which other VCs may take of what they share");
        return Err(ConfigError::new(path, reason).valid(format!("no such key, or {valid}")));
    }
    let mut shares = ByClass::splat(Shares { reserve: u32::MAX, pool: 0 });
    for ((share, class), name) in shares.iter_mut().zip(&mut classes.links).zip(names) {
        let most = class.buffer / u32::from(class.vcs);
        if !(1..=most).contains(&reserve) {
            let reason = format!("the {name} buffer of a port has room for {most} flits per VC");
            let larger = format!("a larger buffers.{name}");
            let valid = if most == 0 { larger } else { format!("1 … {most} flits, or {larger}") };
            return Err(ConfigError::new(format!("{path}.reserve"), reason).value(reserve).valid(valid));
        }
        *share = Shares { reserve, pool: class.buffer - reserve * u32::from(class.vcs) };
        class.buffer = share.reserve + share.pool;
    }
    Ok(Some(shares))
}

fn check_reserve(damq: &DamqConfig, key: &str, packets: u32, most: u32) -> Result<(), ConfigError> {
    let path = format!("router.cioq.buffers.damq.{key}_reserve");
    if packets > most {
        let plural = if most == 1 { "" } else { "s" };
        let reason = format!("the {key} buffer of a port has room for {most} packet{plural} per VC");
        let larger = format!("a larger buffers.{key}");
        let valid = if most == 0 { larger } else { format!("1 … {most} packets, or {larger}") };
        return Err(ConfigError::new(path, reason).value(packets).valid(valid));
    }
    if packets == 0 && !damq.allow_deadlock {
        return Err(ConfigError::new(
            path,
            "without a reserve VCs can take each other's space: the network can deadlock",
        )
        .value(packets)
        .valid(format!("1 … {} packets, or damq.allow_deadlock = true", most.max(1))));
    }
    Ok(())
}
