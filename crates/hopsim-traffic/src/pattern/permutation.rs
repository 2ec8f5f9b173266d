//! Fixed permutations: see [`Config`].

use super::Site;
use hopsim_network::error::ConfigError;
use hopsim_network::topology::cube::Cube;
use hopsim_network::topology::{Interconnect, Topology};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Every node sends all its packets to one other node, the image of its number; a node that is its own image sends
/// nothing. The numbers are those of the job's nodes, from 0 in ascending order, of b bits where there are 2^b of them.
///
/// Source: Dally and Towles, Principles and Practices of Interconnection Networks (2004), §3.2.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "PermutationPattern")]
pub enum Config {
    /// Perfect shuffle: the bits rotated to the left. 2^b nodes.
    Shuffle,
    /// The bits in reverse order. 2^b nodes.
    BitReversal,
    /// The upper half of the bits and the lower one swapped; in a square mesh node (x, y) sends to (y, x). 2^b nodes, b even.
    Transpose,
    /// All bits inverted. 2^b nodes.
    BitComplement,
    /// In every dimension of k routers ⌈k/2⌉ − 1 routers ahead, all the way round in the same direction. A mesh, torus or
    /// ring, and a job on all of it.
    Tornado,
    /// In every dimension the next router. A mesh, torus or ring, and a job on all of it.
    Neighbour,
}

impl Config {
    /// The name in the document.
    pub fn name(self) -> &'static str {
        match self {
            Self::Shuffle => "shuffle",
            Self::BitReversal => "bit_reversal",
            Self::Transpose => "transpose",
            Self::BitComplement => "bit_complement",
            Self::Tornado => "tornado",
            Self::Neighbour => "neighbour",
        }
    }
}

/// A permutation.
#[derive(Clone, Debug)]
pub struct Permutation {
    /// Destination by source node, which may be its own number -- constant.
    to: Vec<u32>,
    /// Whether a node that is its own image sends to itself -- constant.
    to_itself: bool,
}

impl Permutation {
    /// Checks whether the job's nodes can be permuted so.
    pub fn new(config: Config, site: &Site<'_>) -> Result<Self, ConfigError> {
        let image = match config {
            Config::Tornado | Config::Neighbour => image_on_cube(config, site)?,
            _ => image_of_bits(config, site)?,
        };
        Ok(Self::of_images(image, site))
    }

    /// Checks the destinations of the job's nodes that are listed.
    pub fn listed(list: &[u32], site: &Site<'_>) -> Result<Self, ConfigError> {
        let count = site.nodes.len();
        if list.len() != count {
            let reason = format!("lists {} destinations, and the job has {count} nodes", list.len());
            return Err(ConfigError::new("", reason).valid("a destination for each node of the job"));
        }
        if let Some(place) = list.iter().position(|&number| number as usize >= count) {
            return Err(ConfigError::new(place.to_string(), "is no node of the job")
                .value(list[place])
                .valid(format!("0 … {}", count - 1)));
        }
        Ok(Self::of_images(|number| list[number as usize], site))
    }

    fn of_images(image: impl Fn(u32) -> u32, site: &Site<'_>) -> Self {
        let mut to = vec![0; site.nodes.last().map_or(0, |&last| last as usize + 1)];
        for (number, &node) in site.nodes.iter().enumerate() {
            to[node as usize] = site.nodes[image(number as u32) as usize];
        }
        Self { to, to_itself: site.to_itself }
    }

    /// The partner of `from`.
    #[inline]
    pub fn destination(&self, from: u32) -> u32 {
        self.to[from as usize]
    }

    /// Whether a node sends nothing.
    pub fn is_silent(&self, node: u32) -> bool {
        !self.to_itself && self.to[node as usize] == node
    }
}

type Image<'a> = Box<dyn Fn(u32) -> u32 + 'a>;

fn image_of_bits<'a>(config: Config, site: &Site<'_>) -> Result<Image<'a>, ConfigError> {
    let count = site.nodes.len() as u32;
    let name = config.name();
    if !count.is_power_of_two() || count < 2 {
        let reason = format!("{name} permutes the bits of a node's number, and the job has {count} nodes");
        return Err(ConfigError::new("", reason).valid("a job of 2^b nodes; tornado or neighbour for others"));
    }
    let bits = count.ilog2();
    if config == Config::Transpose && bits % 2 == 1 {
        let reason = format!("transpose swaps the halves of a node's number, and that has {bits} bits");
        return Err(ConfigError::new("", reason).valid("a job of 4^b nodes"));
    }
    let rotated = move |number: u32, by: u32| (number << by | number >> (bits - by)) & (count - 1);
    Ok(match config {
        Config::BitReversal => Box::new(move |number: u32| number.reverse_bits() >> (32 - bits)),
        Config::Transpose => Box::new(move |number| rotated(number, bits / 2)),
        Config::BitComplement => Box::new(move |number| !number & (count - 1)),
        _ => Box::new(move |number| rotated(number, 1)),
    })
}

fn image_on_cube<'a>(config: Config, site: &Site<'a>) -> Result<Image<'a>, ConfigError> {
    let name = config.name();
    let Topology::Cube(cube) = site.topology else {
        return Err(ConfigError::new("", format!("{name} goes along dimensions"))
            .valid("topology.mesh, torus or ring"));
    };
    if site.nodes.len() as u32 != site.topology.nodes() {
        return Err(ConfigError::new("", format!("{name} needs all nodes of the network"))
            .valid("a job on all nodes"));
    }
    let ahead = move |side: u32| if config == Config::Tornado { side.div_ceil(2) - 1 } else { 1 };
    Ok(Box::new(move |node| moved(cube, node, ahead)))
}

/// The node so many routers ahead in every dimension.
fn moved(cube: &Cube, node: u32, ahead: impl Fn(u32) -> u32) -> u32 {
    let per_router = cube.nodes_per_router();
    let (router, terminal) = (node / per_router, node % per_router);
    let mut stride = 1;
    let mut image = 0;
    for (dimension, &side) in cube.sides().iter().enumerate() {
        image += (cube.coordinate(router, dimension) + ahead(side)) % side * stride;
        stride *= side;
    }
    image * per_router + terminal
}

#[cfg(test)]
mod tests {
    use super::*;
    use hopsim_network::topology::TopologyConfig;
    use hopsim_network::topology::cube::MeshConfig;

    fn images(config: Config, sides: &[u32]) -> Vec<u32> {
        let config_of_mesh = MeshConfig { sides: sides.to_vec(), nodes_per_router: 1 };
        let topology = TopologyConfig::Mesh(config_of_mesh).build().unwrap();
        let nodes: Vec<u32> = (0..topology.nodes()).collect();
        let site = Site { topology: &topology, nodes: &nodes, seed: 1, job: 0, to_itself: false };
        let permutation = Permutation::new(config, &site).unwrap();
        nodes.iter().map(|&node| permutation.destination(node)).collect()
    }

    #[test]
    fn listed_destinations_are_numbers_in_the_job() {
        let topology =
            TopologyConfig::Mesh(MeshConfig { sides: vec![8], nodes_per_router: 1 }).build().unwrap();
        let nodes = [1, 4, 6];
        let site = Site { topology: &topology, nodes: &nodes, seed: 1, job: 0, to_itself: false };
        let listed = Permutation::listed(&[2, 1, 2], &site).unwrap();
        assert_eq!(nodes.map(|node| listed.destination(node)), [6, 4, 6]);
        assert_eq!(nodes.map(|node| listed.is_silent(node)), [false, true, true]);
        let refused = |list: &[u32]| Permutation::listed(list, &site).unwrap_err().to_string();
        assert!(refused(&[0, 1]).contains("lists 2 destinations, and the job has 3 nodes"));
        assert!(refused(&[0, 3, 0]).contains("1 = 3: is no node of the job; valid: 0 … 2"));
    }

    #[test]
    fn images_are_those_of_the_definitions() {
        assert_eq!(images(Config::Shuffle, &[4, 2]), [0, 2, 4, 6, 1, 3, 5, 7]);
        assert_eq!(images(Config::BitReversal, &[4, 2]), [0, 4, 2, 6, 1, 5, 3, 7]);
        assert_eq!(images(Config::BitComplement, &[2, 2]), [3, 2, 1, 0]);
        assert_eq!(images(Config::Neighbour, &[3, 2]), [4, 5, 3, 1, 2, 0]);
        assert_eq!(images(Config::Tornado, &[5]), [2, 3, 4, 0, 1]);
        let transposed = images(Config::Transpose, &[8, 8]);
        assert!((0..64).all(|node: u32| transposed[node as usize] == node % 8 * 8 + node / 8));
    }

    #[test]
    fn every_pattern_is_a_permutation() {
        let bits = [Config::Shuffle, Config::BitReversal, Config::Transpose, Config::BitComplement];
        for config in bits.into_iter().chain([Config::Tornado, Config::Neighbour]) {
            let mut images = images(config, &[4, 4]);
            images.sort_unstable();
            assert_eq!(images, (0..16).collect::<Vec<_>>(), "{config:?}");
        }
    }
}
