//! Packets that have been lost in the network and that their sources send again.

use super::jobs::answers;
use crate::config::Experiment;
use hopsim_network::error::ConfigError;
use hopsim_network::topology::faults::Retransmit;

/// How sources send again what is lost, if they do: all entries of `faults` that state it say the same.
pub fn plan(experiment: &Experiment) -> Result<Option<Retransmit>, ConfigError> {
    let faults = experiment.faults.iter().enumerate();
    let mut stated = faults.filter_map(|(number, fault)| Some((number, fault.reaction?.retransmit?)));
    let Some((first, retransmit)) = stated.next() else { return Ok(None) };
    let key = |number: usize| format!("faults.{number}.reaction.retransmit");
    if let Some((number, Retransmit { timeout, most })) = stated.find(|(_, other)| *other != retransmit) {
        let reason = "a source sends again what it has lost, whatever has failed";
        return Err(ConfigError::new(key(number), reason)
            .value(format!("{{ timeout = {timeout}, most = {most} }}"))
            .valid(format!("as in faults.{first}, or no such key")));
    }
    if answers(experiment) {
        let reason =
            "the room for a reply is given back when it leaves its node, and may not be there a second time";
        return Err(ConfigError::new(key(first), reason).valid("no such key, or jobs without request_reply"));
    }
    Ok(Some(retransmit))
}
