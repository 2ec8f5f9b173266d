//! Links that are out of order: what changes in the middle of a run, and which forwarding tables are written when.

use super::clock::{Clock, Time, in_words};
use super::path;
use super::wiring::Network;
use crate::config::Experiment;
use crate::config::infiniband::Forwarding;
use hopsim_infiniband::faults::{Change, Faults, What};
use hopsim_infiniband::forwarding::Tables;
use hopsim_infiniband::time::Ticks;
use hopsim_network::error::ConfigError;
use hopsim_network::topology::faults::{Fault, LinkEnd, Missing};
use hopsim_network::topology::period::Period;
use std::collections::BTreeSet;
use std::sync::Arc;

/// Refuses faults of which a fabric cannot know, and fills in what others do not say.
pub fn resolve(experiment: &mut Experiment, how: &Forwarding) -> Result<(), ConfigError> {
    if experiment.faults.is_empty() {
        return Ok(());
    }
    if let Some(number) = experiment.faults.iter().position(Fault::drops) {
        let reason = "forwarding tables of an InfiniBand fabric lead to every node";
        return Err(ConfigError::new(format!("faults.{number}.unreachable"), reason)
            .value("\"drop\"")
            .valid("refuse, or no such key"));
    }
    if let Some(number) = experiment.faults.iter().position(|fault| fault.slowdown.is_some()) {
        let reason = "links of an InfiniBand fabric keep their speed";
        return Err(ConfigError::new(format!("faults.{number}.slowdown"), reason)
            .valid("no such key; router.infiniband.links says how fast each is"));
    }
    if let Forwarding::File(_) | Forwarding::Tables(_) = how {
        let reason = "the tables that are given know of no links that are out of order";
        return Err(ConfigError::new(path("forwarding"), reason)
            .valid("minimal, min_hop or up_down, or no such key as faults"));
    }
    if *how == Forwarding::Ecmp {
        let reason = "flows choose among the ways over all links, also those that are out of order";
        return Err(ConfigError::new(path("forwarding"), reason)
            .value("\"ecmp\"")
            .valid("minimal, min_hop or up_down, or no such key as faults"));
    }
    let timed = experiment.faults.iter().any(|fault| fault.time.is_some());
    if let Some(number) = experiment.jobs.iter().position(|job| timed && job.program.is_some()) {
        let reason = "a program waits for its messages, and where links fail in the middle of a run packets may be lost";
        let key = format!("jobs.{number}.program");
        return Err(ConfigError::new(key, reason).valid("other jobs, or no such key as faults.0.time"));
    }
    for fault in experiment.faults.iter_mut().filter(|fault| fault.time.is_some()) {
        fault.reaction.get_or_insert_default();
    }
    Ok(())
}

/// The times of an entry that fails in the middle of the run, as a document says them.
pub struct FaultTimes {
    /// The number of the entry.
    number: usize,
    at: Time,
    until: Option<Time>,
    detection: Time,
    reroute: Time,
    write: Time,
}

/// Reads the times.
pub fn read(experiment: &Experiment, clock: &mut Clock) -> Result<Vec<FaultTimes>, ConfigError> {
    let timed = experiment.faults.iter().enumerate();
    let timed = timed.filter_map(|(number, fault)| Some((number, fault.time.as_ref()?)));
    timed
        .map(|(number, times)| {
            let mut read = |text: &str, key| clock.time(text, &format!("faults.{number}.time.{key}"));
            Ok(FaultTimes {
                number,
                at: read(&times.at, "at")?,
                until: times.until.as_ref().map(|until| read(until, "until")).transpose()?,
                detection: read(&times.detection, "detection")?,
                reroute: read(&times.reroute, "reroute")?,
                write: read(&times.table_write, "table_write")?,
            })
        })
        .collect()
}

/// Links that are out of order for a part of the run.
struct Outage {
    /// When they are, in ticks; with the time until the tables begin to be written.
    period: Period,
    write: Ticks,
    drops: bool,
    missing: Missing,
}

impl Outage {
    fn new(times: &FaultTimes, experiment: &Experiment, clock: &Clock) -> Result<Self, ConfigError> {
        let fault = &experiment.faults[times.number];
        let text = |key: &str| format!("faults.{}.time{key}", times.number);
        let (at, detection) = (clock.ticks(&times.at)?, clock.ticks(&times.detection)?);
        let until = times.until.as_ref().map(|until| clock.ticks(until)).transpose()?;
        let written = fault.time.clone().unwrap_or_default();
        if at == 0 && until.is_none() {
            let reason = "links that are out of order from the beginning to the end have no times";
            return Err(ConfigError::new(text(""), reason).valid("no such key, or at or until in it"));
        }
        if until.is_some_and(|until| until <= at) {
            let reason = format!("links are repaired after they have failed, at {}", written.at);
            return Err(ConfigError::new(text(".until"), reason)
                .value(format!("{:?}", written.until.unwrap_or_default()))
                .valid("a later time, or no such key: never"));
        }
        let delay = detection + clock.ticks(&times.reroute)?;
        let write = clock.ticks(&times.write)?;
        let drops = fault.reaction.unwrap_or_default().packets.are_lost();
        let period = Period { at, until, detection, delay };
        Ok(Self { period, write, drops, missing: Missing::default() })
    }
}

/// The outages of a run that ends at `end`.
struct Outages<'n> {
    all: Vec<Outage>,
    network: &'n Network,
    ticks_per_ns: u64,
}

/// What changes in the fabric, and the forwarding tables of the beginning.
pub fn build(
    experiment: &Experiment,
    times: &[FaultTimes],
    network: &Network,
    (how, clock, end): (&Forwarding, &Clock, Ticks),
) -> Result<Option<(Faults, Arc<Tables>)>, ConfigError> {
    if times.is_empty() {
        return Ok(None);
    }
    let mut all = Vec::new();
    for (times, missing) in times.iter().zip(network.missing()) {
        let outage = Outage::new(times, experiment, clock)?;
        let late = [("at", Some(outage.period.at)), ("until", outage.period.until)];
        if let Some((key, _)) = late.into_iter().find(|(_, time)| time.is_some_and(|time| time >= end)) {
            let written = experiment.faults[times.number].time.clone().unwrap_or_default();
            let value = if key == "at" { written.at } else { written.until.unwrap_or_default() };
            let reason = "the run has ended before";
            return Err(ConfigError::new(format!("faults.{}.time.{key}", times.number), reason)
                .value(format!("{value:?}"))
                .valid("a time before the end of the window, or no such key"));
        }
        all.push(Outage { missing: missing.clone(), ..outage });
    }
    let outages = Outages { all, network, ticks_per_ns: clock.ticks_per_ns() };
    let mut changes = outages.link_changes();
    let (mut tables, written) = outages.tables(how)?;
    let first = tables.remove(0);
    changes.extend(written);
    changes.sort_by_key(|change| (change.at, rank(change.what)));
    Ok(Some((Faults { changes, tables }, first)))
}

/// The order of what changes at an instant.
fn rank(what: What) -> u8 {
    match what {
        What::Repaired { .. } => 0,
        What::Fails { .. } => 1,
        What::Detected { .. } => 2,
        What::Table { .. } => 3,
    }
}

impl Outages<'_> {
    fn times(&self) -> BTreeSet<Ticks> {
        self.all.iter().flat_map(|outage| outage.period.changes()).chain([0]).collect()
    }

    /// What is missing by those outages of which `counts` says so.
    fn missing(&self, counts: impl Fn(&Outage) -> bool) -> Missing {
        let mut all = Missing::default();
        self.all.iter().filter(|outage| counts(outage)).for_each(|outage| all.add(&outage.missing));
        all
    }

    /// Links that fail, are known to have failed and are repaired.
    fn link_changes(&self) -> Vec<Change> {
        let mut changes = Vec::new();
        let mut before = [Missing::default(), Missing::default()];
        let port = self.network.ports();
        for at in self.times() {
            let [out, known] = [Period::is_on, Period::is_detected]
                .map(|is: fn(&Period, Ticks) -> bool| self.missing(|outage| is(&outage.period, at)));
            let dropped = self.missing(|outage| outage.period.at == at && outage.drops);
            let more = |less: &Missing, more: &Missing| -> Vec<LinkEnd> {
                more.links.difference(&less.links).copied().collect()
            };
            let change = |what| Change { at, what };
            changes.extend(
                more(&out, &before[0]).iter().map(|link| change(What::Repaired { port: port(*link) })),
            );
            changes.extend(
                more(&before[0], &out).iter().map(|link| {
                    change(What::Fails { port: port(*link), drops: dropped.links.contains(link) })
                }),
            );
            let detected = more(&before[1], &known);
            changes.extend(detected.iter().map(|link| change(What::Detected { port: port(*link) })));
            before = [out, known];
        }
        changes
    }

    /// All tables, first those of the beginning, and when which are written to which switches.
    fn tables(&self, how: &Forwarding) -> Result<(Vec<Arc<Tables>>, Vec<Change>), ConfigError> {
        let mut all: Vec<(Missing, Arc<Tables>)> = Vec::new();
        let (mut writes, mut free, mut current) = (Vec::new(), 0, 0);
        for time in self.times() {
            let left = self.missing(|outage| outage.period.is_in_tables(time));
            let known = all.iter().position(|(known, _)| *known == left);
            let number = known.unwrap_or(all.len());
            if known.is_none() {
                let tables = self.network.tables_without(how, &left);
                all.push((left, tables.map_err(|error| after(error, &in_words(time, self.ticks_per_ns)))?));
            }
            if time > 0 && number != current {
                let changes = |outage: &&Outage| {
                    let Period { at, until, delay, .. } = outage.period;
                    at + delay == time || until.map(|until| until + delay) == Some(time)
                };
                let write = self.all.iter().filter(changes).map(|outage| outage.write).max().unwrap_or(0);
                let tables = [&*all[current].1, &*all[number].1];
                let mut at = time.max(free);
                for switch in self.network.changed(tables) {
                    writes.push(Change { at, what: What::Table { switch, tables: number as u32 } });
                    at += write;
                }
                free = at;
            }
            current = number;
        }
        Ok((all.into_iter().map(|(_, tables)| tables).collect(), writes))
    }
}

/// An error in what is left of a fabric at some time.
fn after(error: ConfigError, time: &str) -> ConfigError {
    ConfigError { reason: format!("{} (in the tables of {time})", error.reason), ..error }
}
