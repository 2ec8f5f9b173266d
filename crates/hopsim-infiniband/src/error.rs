//! What can end a simulation.

use std::fmt;

/// A packet that waits for room that never comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Waiting {
    /// The switch in which the packet is.
    pub switch: u32,
    /// The input port of the packet, counted from the first one of the switch.
    pub input: u32,
    /// The output port of the packet, counted from the first one of the switch.
    pub output: u32,
    /// The virtual lane of the packet.
    pub lane: u8,
    /// The source and the destination of the packet.
    pub hosts: [u32; 2],
}

/// Packets wait for each other in a circle: each for room where the next one is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Deadlock {
    /// The packets of the circle.
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
