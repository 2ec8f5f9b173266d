//! What keeps the packets in rings of links from waiting for each other in a circle: bubbles or datelines.

use crate::config::Experiment;
use crate::config::router::{Rings, RouterConfig};
use hopsim_network::error::ConfigError;
use hopsim_network::nothing::Nothing;
use hopsim_network::topology::Topology;
use hopsim_routing::{Paths, Safety, dateline};

/// What does without bubbles and datelines.
const WITHOUT: &str = "routing.up_down or nue, topology.mesh, or router.cioq or input_queued";

/// The paths of a document on its topology, with datelines if it has such. Refuses rings that nothing keeps free of deadlock, unless the
/// document accepts that.
pub fn resolve(experiment: &Experiment, topology: &Topology, paths: Paths) -> Result<Paths, ConfigError> {
    let has_rings = topology.has_rings() && paths.safety.bubble();
    check_key(experiment, (topology, has_rings))?;
    if !has_rings {
        return Ok(paths);
    }
    match rings(experiment) {
        Rings::Dateline(config) => {
            check_dateline(experiment, &paths)?;
            Ok(Paths { safety: Safety::Dateline(config), ..paths })
        }
        Rings::Bubble(_) => check_bubble(experiment).map(|()| paths),
    }
}

/// What the document says of rings, or what it means if it says nothing. Virtual-channel routers have no bubbles, but a document may
/// say that there is none.
fn rings(experiment: &Experiment) -> Rings {
    let vcs = experiment.router.vcs();
    let without = vcs.bubble.is_none() && matches!(experiment.router, RouterConfig::VirtualChannel(_));
    let default =
        if without { Rings::Dateline(dateline::Config::default()) } else { Rings::Bubble(Nothing {}) };
    vcs.rings.unwrap_or(default)
}

/// Refuses the key where packets go round no ring.
fn check_key(experiment: &Experiment, (topology, has_rings): (&Topology, bool)) -> Result<(), ConfigError> {
    let Some(rings) = experiment.router.vcs().rings.filter(|_| !has_rings) else { return Ok(()) };
    let (reason, valid) = if topology.has_rings() {
        ("no packet goes round a ring", "no such key, or another routing than up_down and nue")
    } else {
        ("the topology has no rings", "no such key, or topology.torus or ring")
    };
    let name = match rings {
        Rings::Bubble(_) => "bubble",
        Rings::Dateline(_) => "dateline",
    };
    let path = format!("router.{}.vcs.rings.{name}", experiment.router.name());
    Err(ConfigError::new(path, reason).valid(valid))
}

/// Refuses datelines for paths that do not lead dimension by dimension, and beside a bubble.
fn check_dateline(experiment: &Experiment, paths: &Paths) -> Result<(), ConfigError> {
    let (router, vcs) = (experiment.router.name(), experiment.router.vcs());
    if !matches!(paths.safety, Safety::Any { .. }) {
        let routing = experiment.routing.name();
        if vcs.rings.is_some() {
            let reason = format!(
                "datelines are for packets that go dimension by dimension to their destination, and with routing {routing} they do not"
            );
            let path = format!("router.{router}.vcs.rings.dateline");
            let bubble = if router == "virtual_channel" { "" } else { ", or vcs.rings = \"bubble\"" };
            return Err(ConfigError::new(path, reason).valid(format!("routing.minimal{bubble}")));
        }
        let reason = "packets of a ring can wait for each other in a circle: virtual-channel routers prevent that by datelines, \
                      which are for packets that go dimension by dimension to their destination";
        return Err(ConfigError::new(format!("routing.{routing}"), reason)
            .valid(format!("routing.minimal, {WITHOUT}")));
    }
    match vcs.bubble {
        Some(packets) => Err(ConfigError::new(
            format!("router.{router}.vcs.bubble"),
            "rings with datelines need no bubble",
        )
        .value(packets)
        .valid("no such key, or no datelines (vcs.rings)")),
        None => Ok(()),
    }
}

/// Refuses bubbles in routers that do not have them.
fn check_bubble(experiment: &Experiment) -> Result<(), ConfigError> {
    let RouterConfig::VirtualChannel(router) = &experiment.router else { return Ok(()) };
    if router.vcs.bubble == Some(0) && router.vcs.allow_deadlock {
        return Ok(());
    }
    let reason = "packets of a ring can wait for each other in a circle, and the bubble that prevents it is made of whole packets";
    let error = ConfigError::new("router.virtual_channel.vcs.bubble", reason);
    let error = match router.vcs.bubble {
        Some(packets) => error.value(packets),
        None => error,
    };
    Err(error.valid(format!(
        "no such key with routing.minimal, which has datelines, 0 with vcs.allow_deadlock = true, {WITHOUT}"
    )))
}
