//! What can end a simulation.

use std::fmt;

/// A packet that waits for room that never comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Waiting {
    /// The switch in which it is.
    pub switch: u32,
    /// Input port, counted from the first one of the switch.
    pub input: u32,
    /// Output port, likewise.
    pub output: u32,
    /// Its virtual lane.
    pub lane: u8,
    /// Its source and destination.
    pub hosts: [u32; 2],
}

/// Packets wait for each other in a circle: each for room where the next one is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Deadlock {
    /// The circle.
    pub circle: Vec<Waiting>,
}

impl fmt::Display for Deadlock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} packets wait for each other in a circle", self.circle.len())?;
        for Waiting { switch, input, output, lane, hosts: [source, destination] } in &self.circle {
            write!(
                f,
                "\n  switch {switch}: input {input} to output {output}, VL {lane}: from node {source} to node {destination}"
            )?;
        }
        Ok(())
    }
}

impl std::error::Error for Deadlock {}
