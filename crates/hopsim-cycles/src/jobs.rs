//! Jobs: some nodes, and what they send or run.

use hopsim_network::error::ConfigError;
use hopsim_programs::job::ProgramPlan;
use hopsim_random::{Purpose, Stream, Streams};
use hopsim_traffic::changes::Phase;
use hopsim_traffic::packet_lengths::PacketLengths;
use hopsim_traffic::packet_list::PacketList;
use hopsim_traffic::pattern::{Pattern, PatternConfig, Site, uniform};
use hopsim_traffic::process::{Process, ProcessConfig, Rate, bernoulli};

/// A job without options: some nodes and what they do.
#[derive(Clone, Debug)]
pub enum JobPlan {
    /// A job whose nodes draw packets.
    Traffic(TrafficPlan),
    /// A job whose nodes run a program.
    Program(ProgramPlan),
}

impl JobPlan {
    /// The name of the job in the results.
    pub fn name(&self) -> &str {
        match self {
            Self::Traffic(job) => &job.name,
            Self::Program(job) => &job.name,
        }
    }

    /// The nodes of the job: of traffic ascending, of a program by rank.
    pub fn nodes(&self) -> &[u32] {
        match self {
            Self::Traffic(job) => &job.nodes,
            Self::Program(job) => &job.nodes,
        }
    }

    /// What the nodes of the job draw, unless they run a program.
    pub fn traffic(&self) -> Option<&TrafficPlan> {
        if let Self::Traffic(job) = self { Some(job) } else { None }
    }

    /// What the nodes of the job run, unless they draw packets.
    pub fn program(&self) -> Option<&ProgramPlan> {
        if let Self::Program(job) = self { Some(job) } else { None }
    }

    /// Whether a node of the job may ever send.
    pub fn sends(&self, node: u32) -> bool {
        self.traffic().is_none_or(|job| job.sends(node))
    }

    /// Whether every packet is answered.
    pub fn request_reply(&self) -> bool {
        self.traffic().is_some_and(TrafficPlan::request_reply)
    }

    /// Changes of the traffic: what differs from given cycles on, ascending.
    pub fn changes(&self) -> &[Phase] {
        self.traffic().map_or(&[], |job| &job.changes)
    }

    /// Packets of a node in a burst, if bursts begin together.
    pub fn synchronised(&self) -> Option<u32> {
        self.traffic()?.process.synchronised()
    }

    /// Mean offered load of the cycles `first..end` \[phits/(node·cycle)\]; not a number for a program.
    pub fn offered_load(&self, cycles: (u32, u32)) -> f64 {
        self.traffic().map_or(f64::NAN, |job| job.offered_load(cycles))
    }

    /// Length of the longest packets of the job \[phits\].
    pub fn longest_packet(&self) -> u32 {
        match self {
            Self::Traffic(job) => job.lengths.longest(),
            Self::Program(job) => job.rules.packet_length,
        }
    }

    /// Length of the shortest packets of the job \[phits\].
    pub fn shortest_packet(&self) -> u32 {
        match self {
            Self::Traffic(job) => job.lengths.shortest(),
            Self::Program(job) => job.rules.packets(0).last,
        }
    }
}

/// A job whose nodes draw packets.
#[derive(Clone, Debug)]
pub struct TrafficPlan {
    /// The name of the job in the results.
    pub name: String,
    /// The nodes of the job, ascending.
    pub nodes: Vec<u32>,
    /// To whom the nodes send.
    pub pattern: Pattern,
    /// When the nodes send.
    pub process: Process,
    /// When each of the nodes sends, in the order of `nodes`; empty if all follow `process`.
    pub processes: Vec<Process>,
    /// Offered load, the mean over the nodes \[phits/(node·cycle)\].
    pub load: f64,
    /// How long packets are.
    pub lengths: PacketLengths,
    /// The packets of the job one by one, if they are given: then `pattern` and `process` generate none.
    pub list: Option<Box<PacketList>>,
    /// Cycle in which the traffic begins.
    pub start: u32,
    /// Changes of the traffic: what differs from given cycles on, ascending.
    pub changes: Vec<Phase>,
    /// Most requests of a node without their reply; `None` if nothing is answered.
    pub outstanding: Option<u32>,
}

impl TrafficPlan {
    /// Steady uniform traffic among nodes, of this load \[phits/(node·cycle)\] and of packets of `length` phits, which each node
    /// generates at random times.
    pub fn uniform(site: &Site<'_>, load: f64, length: u32) -> Result<Self, ConfigError> {
        let process = ProcessConfig::Bernoulli(bernoulli::Config { load: Some(load) });
        Ok(Self {
            name: format!("job{}", site.job),
            nodes: site.nodes.to_vec(),
            pattern: PatternConfig::Uniform(uniform::Config::default()).build(site)?,
            process: process.build(Rate { length: length.into(), share: 1.0 })?,
            processes: Vec::new(),
            load,
            lengths: PacketLengths::one(length, Streams::new(site.seed, Purpose::PacketLength)),
            list: None,
            start: 0,
            changes: Vec::new(),
            outstanding: None,
        })
    }

    /// Whether a node of the job ever sends: in some permutations nodes are their own image.
    pub fn sends(&self, node: u32) -> bool {
        if let Some(list) = &self.list {
            return !list.of(node).is_empty();
        }
        let changes = self.changes.iter().map(|phase| &phase.pattern);
        !std::iter::once(&self.pattern).chain(changes).all(|pattern| pattern.is_silent(node))
    }

    /// Cycle in which a node generates its first packet, drawn from `process` unless packets are given; none if it never does.
    pub fn first_at(&self, node: u32, process: &mut Stream) -> Option<u32> {
        if let Some(list) = &self.list {
            return list.packet(node, 0).map(|packet| packet.at);
        }
        self.sends(node).then(|| self.start.saturating_add(self.process_of(node).begin(process) - 1))
    }

    /// Length of the packet of this number among those that a node generates \[phits\].
    #[inline]
    pub fn length(&self, node: u32, number: u32) -> u32 {
        match self.list.as_ref().and_then(|list| list.packet(node, number)) {
            Some(packet) => packet.length,
            None => self.lengths.draw(node, number),
        }
    }

    /// When a node of the job sends.
    pub fn process_of(&self, node: u32) -> &Process {
        let place = if self.processes.is_empty() { None } else { self.nodes.binary_search(&node).ok() };
        place.map_or(&self.process, |place| &self.processes[place])
    }

    /// Whether every packet of the pattern is answered.
    pub fn request_reply(&self) -> bool {
        self.outstanding.is_some()
    }

    /// Mean offered load of the cycles `first..end` \[phits/(node·cycle)\].
    pub fn offered_load(&self, (first, end): (u32, u32)) -> f64 {
        if let Some(list) = &self.list {
            return list.phits(first..end) as f64 / (f64::from(end - first) * self.nodes.len() as f64);
        }
        if self.changes.is_empty() && self.start <= first {
            return self.load;
        }
        let (mut from, mut load, mut sum) = (self.start.clamp(first, end), self.load, 0.0);
        for change in &self.changes {
            let to = change.from.clamp(first, end);
            sum += f64::from(to - from) * load;
            (from, load) = (to, change.load);
        }
        (sum + f64::from(end - from) * load) / f64::from(end - first)
    }
}

/// The job of every one of so many nodes, `u8::MAX` if it is idle.
pub fn job_of(jobs: &[JobPlan], nodes: u32) -> Vec<u8> {
    let mut job_of = vec![u8::MAX; nodes as usize];
    for (job, number) in jobs.iter().zip(0..) {
        job.nodes().iter().for_each(|&node| job_of[node as usize] = number);
    }
    job_of
}
