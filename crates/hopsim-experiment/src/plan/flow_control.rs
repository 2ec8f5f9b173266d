//! What keeps the buffers of links from overflowing: with on/off flow control, when they say off and on.

use super::classes::thresholds_of;
use super::within;
use crate::config::Experiment;
use crate::config::limits::BUFFERS;
use crate::config::router::{FlowControl, OnOff};
use hopsim_cycles::jobs::JobPlan;
use hopsim_cycles::system::{CioqPlan, Thresholds};
use hopsim_network::by_class::ByClass;
use hopsim_network::error::ConfigError;
use hopsim_network::network::Network;
use hopsim_routing::{Routing, RoutingConfig};

/// What of a network says how much may still come when a buffer has said off.
pub struct Sizes<'n> {
    network: &'n Network,
    /// The shortest packet of all jobs \[phits\].
    shortest: u32,
    /// The longest packet of all jobs \[phits\].
    longest: u32,
}

/// When the buffers of links say off and on, `None` with credits. Fills in what the document leaves out.
pub fn thresholds(
    experiment: &mut Experiment,
    (router, routing): (&CioqPlan, &Routing),
    sizes: &Sizes<'_>,
) -> Result<Option<ByClass<Thresholds>>, ConfigError> {
    let name = experiment.router.name();
    let Some(&mut FlowControl::OnOff(mut on_off)) = experiment.router.flow_control_mut() else {
        return Ok(None);
    };
    if experiment.topology.is_ideal() {
        return Ok(None);
    }
    for &class in sizes.network.link_classes {
        check_ranges(&mut on_off, (name, class))?;
    }
    check_mechanisms(experiment, (router, routing), sizes.network).map_err(|(reason, valid)| {
        ConfigError::new(format!("router.{name}.flow_control.on_off"), reason).valid(valid)
    })?;
    let mut all = ByClass::default();
    for (number, all) in all.iter_mut().enumerate().take(sizes.network.classes.links.len()) {
        *all = of_class(&mut on_off, (name, number), sizes.least_off(router, number), sizes.network)?;
    }
    if let Some(own) = experiment.router.flow_control_mut() {
        *own = FlowControl::OnOff(on_off);
    }
    Ok(Some(all))
}

/// Refuses thresholds of a class that no buffer could have.
fn check_ranges(on_off: &mut OnOff, (router, class): (&str, &str)) -> Result<(), ConfigError> {
    let given = thresholds_of(on_off, class).unwrap_or_default();
    for (key, given) in [("off", given.off), ("on", given.on)] {
        let path = || format!("router.{router}.flow_control.on_off.{class}.{key}");
        given.map_or(Ok(()), |phits| within(BUFFERS, phits, path()))?;
    }
    Ok(())
}

/// Refuses what reads how much room there is in the next buffer: reason, and what would be valid.
fn check_mechanisms(
    experiment: &Experiment,
    (router, routing): (&CioqPlan, &Routing),
    network: &Network,
) -> Result<(), (&'static str, &'static str)> {
    if routing.redecides() && !matches!(experiment.routing, RoutingConfig::Valiant(_)) {
        return Err((
            "adaptive routing compares the room in buffers, of which a router knows no more than on or off",
            "credits, or routing that does not adapt: minimal, valiant, up_down or nue",
        ));
    }
    if routing.vcs().is_flexible() {
        return Err((
            "packets take the VC with most room, and a router knows no more of buffers than on or off",
            "credits, or VCs of which each hop has one: increasing instead of flexvc, or one VC per link",
        ));
    }
    if network.classes.links.iter().any(|class| class.bubble > 0) {
        return Err((
            "a bubble is room for a packet more, and a router knows no more of buffers than on or off",
            "credits, a network without rings, or two VCs with vcs.rings = \"dateline\" (minimal routing)",
        ));
    }
    if router.damq.is_some() {
        return Err((
            "the VCs of a shared buffer take room from each other, of which on and off say nothing",
            "credits, or buffers without damq",
        ));
    }
    Ok(())
}

/// When the buffers of a class of links say off and on. `least`: the least `off` with which none overflows.
fn of_class(
    on_off: &mut OnOff,
    (router, number): (&str, usize),
    least: u32,
    network: &Network,
) -> Result<Thresholds, ConfigError> {
    let (class, size) = (network.link_classes[number], network.classes.links[number].buffer);
    let given = thresholds_of(on_off, class).get_or_insert_default();
    let path = format!("router.{router}.flow_control.on_off.{class}");
    let off = given.off.unwrap_or(least);
    if off < least {
        let reason =
            format!("up to {least} phits may still come when a buffer has said off, and it would overflow");
        return Err(ConfigError::new(format!("{path}.off"), reason)
            .value(off)
            .valid(format!("at least {least} phits")));
    }
    if off > size {
        let reason = match given.off {
            Some(off) => format!("a buffer that has room for fewer than {off} phits would never be on"),
            None => {
                format!("up to {least} phits may still come when a buffer has said off (on/off flow control)")
            }
        };
        return Err(ConfigError::new(format!("router.{router}.buffers.{class}"), reason)
            .value(size)
            .valid(format!("at least {off} phits")));
    }
    let on = given.on.unwrap_or(off);
    if !(off..=size).contains(&on) {
        let reason = if on < off {
            format!("a buffer says off when fewer than {off} phits are free")
        } else {
            format!("the buffer has {size} phits, and would never say on again")
        };
        return Err(ConfigError::new(format!("{path}.on"), reason)
            .value(on)
            .valid(format!("{off} … {size}")));
    }
    (given.off, given.on) = (Some(off), Some(on));
    Ok(Thresholds { off, on })
}

impl<'n> Sizes<'n> {
    /// The sizes of a network, and of the packets of its jobs.
    pub fn new(network: &'n Network, jobs: &[JobPlan]) -> Self {
        let (shortest, longest) = (JobPlan::shortest_packet, JobPlan::longest_packet);
        Self {
            network,
            shortest: jobs.iter().map(shortest).min().unwrap_or(1),
            longest: jobs.iter().map(longest).max().unwrap_or(1),
        }
    }

    /// The least number of free phits with which the buffers of a class must say off: for the link that needs most.
    fn least_off(&self, router: &CioqPlan, class: usize) -> u32 {
        let layout = &self.network.layout;
        let ports = (0..layout.ports()).filter(|&port| usize::from(layout.class[port]) == class + 1);
        let links = ports.flat_map(|port| (0..self.network.routers).map(move |router| (router, port)));
        let links = links.map(|(router, port)| self.network.link(router, port));
        let plugged = links.filter(|link| link.peer.is_some());
        let phits =
            plugged.map(|link| self.may_come(router, (link.latency.into(), link.cycles_per_phit.into())));
        u32::try_from(phits.max().unwrap_or(1)).unwrap_or(u32::MAX)
    }

    /// Phits of all packets that may come over a link, which takes `latency` cycles, and `pace` for a phit, from the cycle on in which
    /// a buffer says off.
    ///
    /// Their heads were granted before that is heard, a latency later. They come up to a latency, and what they wait in the router before,
    /// after their grant.
    fn may_come(&self, router: &CioqPlan, (latency, pace): (u64, u64)) -> u64 {
        let [shortest, longest, crossbar] =
            [self.shortest, self.longest, router.crossbar_latency].map(u64::from);
        let waits = match router.output_buffer.map(u64::from) {
            // What is before a packet in the queue leaves first, and what is leaving.
            Some(size) => {
                let size = if shortest == longest { size / longest * longest } else { size };
                crossbar.max(longest * pace - 1) + size.saturating_sub(shortest) * pace
            }
            None => crossbar,
        };
        let cycles = 2 * latency + waits + longest * (pace - 1);
        if shortest == longest {
            return cycles.div_ceil(longest * pace) * longest;
        }
        cycles - 1 + longest
    }
}
