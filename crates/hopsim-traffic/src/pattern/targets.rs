//! Patterns by group or router: which nodes a packet may be for depends only on the group, or the router, of
//! its source. The adversarial patterns are such; each says which groups or routers are the targets of which,
//! and [`Targets`] does the rest.

use super::Site;
use hopsim_network::error::ConfigError;
use hopsim_random::Stream;

/// A list of nodes for each part of the network (group or router). Each packet goes to a random node of the
/// list of its source's part.
#[derive(Clone, Debug)]
pub struct Targets {
    /// The part of each node of the job, by node.
    part_of: Vec<u32>,
    /// The nodes that a part sends to, by part.
    lists: Vec<Vec<u32>>,
    /// Whether the source is drawn like any other node of its list.
    to_itself: bool,
}

impl Targets {
    /// The lists for a network of so many parts, numbered from 0: `part_of` says in which part a node is,
    /// `targets_of` to which parts a part sends. Refuses a job in which some node would have nobody to send
    /// to.
    pub fn new(
        site: &Site<'_>,
        parts: u32,
        part_of: impl Fn(u32) -> u32,
        targets_of: impl Fn(u32) -> Vec<u32>,
    ) -> Result<Self, ConfigError> {
        let mut members = vec![Vec::new(); parts as usize];
        for &node in site.nodes {
            members[part_of(node) as usize].push(node);
        }
        let list =
            |part| targets_of(part).into_iter().flat_map(|target| members[target as usize].clone()).collect();
        let lists: Vec<Vec<u32>> = (0..parts).map(list).collect();
        let mut part_of_node = vec![0; site.nodes.last().map_or(0, |&last| last as usize + 1)];
        for &node in site.nodes {
            let part = part_of(node);
            part_of_node[node as usize] = part;
            if !lists[part as usize].iter().any(|&other| other != node) {
                return Err(ConfigError::new(
                    "",
                    format!(
                        "node {node} has no destination: the job has no other node where the pattern sends it"
                    ),
                )
                .valid("a job that covers the target groups or routers"));
            }
        }
        Ok(Self { part_of: part_of_node, lists, to_itself: site.to_itself })
    }

    /// The destination of the next packet of node `from`.
    #[inline]
    pub fn destination(&self, from: u32, stream: &mut Stream) -> u32 {
        let list = &self.lists[self.part_of[from as usize] as usize];
        // A part may be a target of itself, and then its list has the source.
        loop {
            let node = list[stream.below(list.len() as u32) as usize];
            if node != from || self.to_itself {
                return node;
            }
        }
    }
}
