//! What keeps the buffers of a fabric from overflowing.

use super::path;
use crate::config::ethernet::{LATEST, LinkFlowControl, PfcConfig, QUANTA};
use crate::config::router::RouterConfig;
use crate::plan::quantity::{SIZES, positive};
use hopsim_infiniband::fabric::{BLOCK, Fabric, FlowControl, NONE};
use hopsim_infiniband::pfc::{Pfc, QUANTUM, Thresholds, least_buffer};
use hopsim_network::error::ConfigError;

/// Gives a fabric that has been built with credits the flow control that its document says.
pub fn build(router: &RouterConfig, fabric: &mut Fabric) -> Result<(), ConfigError> {
    let RouterConfig::Ethernet(config) = router else { return Ok(()) };
    let LinkFlowControl::Pfc(config) = &config.flow_control else { return Ok(()) };
    fabric.flow_control = FlowControl::Pfc(pfc(config, fabric)?);
    Ok(())
}

fn pfc(config: &PfcConfig, fabric: &Fabric) -> Result<Pfc, ConfigError> {
    if !fabric.faults.is_empty() {
        let reason = "fails in the middle of the run, and priority flow control has no rules for that yet";
        return Err(ConfigError::new("faults.0.time", reason)
            .valid("no such key: out of order from the beginning; or router.infiniband.flow_control.cbfc"));
    }
    check_quanta(config, fabric.mtu)?;
    let distance = bytes(&config.distance, "distance")?;
    let given = given_pause(config)?;
    let mut thresholds = Vec::with_capacity(fabric.ports.len());
    for (number, port) in (0..).zip(&fabric.ports) {
        let most = if port.peer == NONE { 1 } else { latest(fabric, number)? };
        let pause = given.unwrap_or(most);
        if pause > most && port.peer != NONE {
            let reason = format!(
                "{} has room for {} B of a VL, and {} B may still come when it has begun to pause: {} B could be lost",
                in_words(fabric, number),
                size(fabric, number),
                size(fabric, number) - most,
                pause - most
            );
            return Err(ConfigError::new(key("pause"), reason)
                .value(format!("{:?}", config.pause))
                .valid(format!("{LATEST:?}, at most {most} B, or a larger {}", buffer(fabric, number))));
        }
        // Buffers are of 2^30 bytes at most.
        let pause = pause.min(u64::from(u32::MAX)) as u32;
        let resume = u64::from(pause).saturating_sub(distance) as u32;
        thresholds.push(Thresholds { pause, resume });
    }
    Ok(Pfc { thresholds, quanta: config.quanta })
}

/// The path of a key of priority flow control.
fn key(name: &str) -> String {
    path(&format!("flow_control.pfc.{name}"))
}

/// Refuses pauses that could be over before they are told again, as the frame waits for the longest packet.
fn check_quanta(config: &PfcConfig, mtu: u32) -> Result<(), ConfigError> {
    let least = mtu.div_ceil(QUANTUM as u32 / 2).max(1);
    if u32::from(config.quanta) >= least {
        return Ok(());
    }
    let reason = format!(
        "half of a pause is shorter than a packet of {mtu} B (mtu), which the next frame may wait for"
    );
    let valid = format!("{least} … {}", QUANTA.end());
    Err(ConfigError::new(key("quanta"), reason).value(config.quanta).valid(valid))
}

/// A size that a key says, in whole bytes.
fn bytes(text: &str, name: &str) -> Result<u64, ConfigError> {
    positive(text, &SIZES, &key(name)).map(|size| size.numerator.div_ceil(size.denominator))
}

/// The bytes from which on ports pause, if the document says a number.
fn given_pause(config: &PfcConfig) -> Result<Option<u64>, ConfigError> {
    if config.pause == LATEST {
        return Ok(None);
    }
    bytes(&config.pause, "pause").map(Some).map_err(|error| {
        let valid = error.valid.clone().unwrap_or_default();
        error.valid(format!("{LATEST:?}, or {valid}"))
    })
}

/// The most bytes in the buffer of a port with which it may begin to pause, so that nothing can be lost.
fn latest(fabric: &Fabric, port: u32) -> Result<u64, ConfigError> {
    let (size, least) = (size(fabric, port), least_buffer(fabric, port, 1));
    if size < least {
        let reason = format!(
            "{least} B may come to {}, which pauses at the first packet: {} B could be lost",
            in_words(fabric, port),
            least - size
        );
        let least = least.next_multiple_of(BLOCK.into());
        return Err(ConfigError::new(buffer(fabric, port), reason)
            .value(format!("\"{size} B\""))
            .valid(format!("at least {least} B, shorter links, or router.infiniband.flow_control.cbfc")));
    }
    Ok(size - least + 1)
}

/// The buffer of a port for a VL \[bytes\].
fn size(fabric: &Fabric, port: u32) -> u64 {
    u64::from(fabric.ports[port as usize].buffer) * u64::from(BLOCK)
}

/// The key that says how large the buffer of a port is.
fn buffer(fabric: &Fabric, port: u32) -> String {
    path(match (fabric.is_host(port), fabric.is_host(fabric.ports[port as usize].peer)) {
        (true, _) => "host.receive_buffer",
        (false, true) => "switch.buffers.host",
        (false, false) => "switch.buffers.switch",
    })
}

fn in_words(fabric: &Fabric, port: u32) -> String {
    match fabric.switch_of(port) {
        Some(switch) => format!("port {} of switch {switch}", port - fabric.first_port[switch as usize]),
        None => format!("node {port}"),
    }
}
