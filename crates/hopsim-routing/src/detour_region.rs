//! Which routers a detour may lead through where there are no groups.

use hopsim_network::error::ConfigError;
use hopsim_network::topology::{Interconnect as _, Topology};
use hopsim_random::Stream;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// Which routers a detour may lead through where there are no groups, each equally likely.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DetourRegion {
    /// Any router with nodes.
    #[default]
    Network,
    /// In meshes, tori, rings and HyperX: routers with the coordinate of source and destination in every dimension in which these have
    /// the same, so that detours are in unaligned dimensions alone (Ahn et al., SC 2009).
    Unaligned,
    /// In graphs and families of graphs: routers that a link joins to that of the source, for packets to a router that is farther away, so that the
    /// way is two links longer at most; any router with nodes for the others, whose way over a neighbour could lead back (compact Valiant;
    /// Lakhotia et al., SC 2022).
    Neighbours,
    /// In meshes: routers on shortest paths, so that no packet has a longer way (ROMM; Nesson and Johnsson, SPAA 1995).
    Quadrant,
}

impl DetourRegion {
    /// Refuses a region that a topology does not have.
    pub fn check(self, topology: &Topology) -> Result<(), ConfigError> {
        let is_mesh = matches!(topology, Topology::Cube(cube) if !cube.wraps());
        let (name, reason, valid) = match self {
            Self::Network => return Ok(()),
            Self::Unaligned if sides(topology).is_some() => return Ok(()),
            Self::Quadrant if is_mesh => return Ok(()),
            Self::Neighbours if matches!(topology, Topology::Graph(graph) if graph.routers_with_nodes() == graph.routers()) =>
            {
                return Ok(());
            }
            Self::Unaligned => {
                let reason = "is about dimensions, which the topology does not have";
                ("unaligned", reason, "mesh, torus, ring or hyperx")
            }
            Self::Quadrant => ("quadrant", "is about meshes", "mesh"),
            Self::Neighbours => {
                let reason = "is about routers next to that of the source, and looks for nodes there";
                ("neighbours", reason, "graph or a family of graphs all of whose routers have nodes")
            }
        };
        Err(ConfigError::new("within", reason)
            .value(format!("{name:?}"))
            .valid(format!("network, or topology.{valid}")))
    }

    /// Draws the intermediate router of a packet from one router to another one, which may be one of these: of a grid dimension by dimension
    /// where there is a choice.
    pub fn draw(self, topology: &Topology, ends: (u32, u32), stream: &mut Stream) -> u32 {
        if self == Self::Neighbours && topology.distance(ends.0, ends.1) > 1 {
            let links = neighbours(topology, ends.0).count() as u32;
            let nth = stream.below(links) as usize;
            return neighbours(topology, ends.0).nth(nth).unwrap_or_else(|| unreachable!("of so many"));
        }
        let Some(sides) = self.sides(topology) else {
            return stream.below(topology.routers_with_nodes());
        };
        let (mut via, mut stride) = (0, 1);
        for (dimension, side) in sides.iter().enumerate() {
            let Range { start, end } = self.coordinates(topology, ends, dimension);
            let further = if end - start > 1 { stream.below(end - start) } else { 0 };
            via += (start + further) * stride;
            stride *= side;
        }
        via
    }

    /// Visits all intermediate routers that may be drawn.
    pub fn each(self, topology: &Topology, ends: (u32, u32), visit: impl FnMut(u32)) {
        if self == Self::Neighbours && topology.distance(ends.0, ends.1) > 1 {
            return neighbours(topology, ends.0).for_each(visit);
        }
        let Some(sides) = self.sides(topology) else {
            return (0..topology.routers_with_nodes()).for_each(visit);
        };
        let (mut all, mut stride) = (vec![0], 1);
        for (dimension, side) in sides.iter().enumerate() {
            let coordinates = self.coordinates(topology, ends, dimension);
            all = coordinates.flat_map(|place| all.iter().map(move |via| via + place * stride)).collect();
            stride *= side;
        }
        all.into_iter().for_each(visit);
    }

    /// The sides of the grid in which a region lies.
    fn sides(self, topology: &Topology) -> Option<&[u32]> {
        sides(topology).filter(|_| self != Self::Network)
    }

    /// The coordinates that the intermediate router may have in a dimension.
    fn coordinates(self, topology: &Topology, (at, to): (u32, u32), dimension: usize) -> Range<u32> {
        let coordinate = |router: u32| match topology {
            Topology::Cube(cube) => cube.coordinate(router, dimension),
            Topology::HyperX(hyperx) => hyperx.coordinate(router, dimension),
            _ => unreachable!("the plan refuses other topologies"),
        };
        let (here, there) = (coordinate(at), coordinate(to));
        match self {
            Self::Unaligned if here != there => 0..sides(topology).map_or(0, |sides| sides[dimension]),
            _ => here.min(there)..here.max(there) + 1,
        }
    }
}

/// The routers at the other ends of the links of a router, ports ascending.
fn neighbours(topology: &Topology, router: u32) -> impl Iterator<Item = u32> {
    let ports = topology.nodes_per_router() as usize..topology.ports().len();
    ports.filter_map(move |port| Some(topology.neighbour(router, port)?.0))
}

/// The sides of a grid.
fn sides(topology: &Topology) -> Option<&[u32]> {
    match topology {
        Topology::Cube(cube) => Some(cube.sides()),
        Topology::HyperX(hyperx) => Some(hyperx.sides()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hopsim_network::topology::cube::Cube;
    use hopsim_random::Purpose;
    use std::collections::BTreeSet;

    #[test]
    fn every_router_of_a_region_is_drawn_and_no_other() {
        let mesh = serde_json::from_value(serde_json::json!({ "sides": [4, 3] })).unwrap();
        let mesh = Topology::Cube(Cube::mesh(&mesh).unwrap());
        // From (0, 2) to (2, 1), and to (3, 2).
        for (region, to, expected) in [
            (DetourRegion::Quadrant, 6, vec![4, 5, 6, 8, 9, 10]),
            (DetourRegion::Quadrant, 11, vec![8, 9, 10, 11]),
            (DetourRegion::Unaligned, 6, (0..12).collect()),
            (DetourRegion::Unaligned, 11, vec![8, 9, 10, 11]),
            (DetourRegion::Network, 11, (0..12).collect()),
        ] {
            let mut stream = Stream::new(1, Purpose::Routing, 0);
            let drawn: BTreeSet<u32> = (0..400).map(|_| region.draw(&mesh, (8, to), &mut stream)).collect();
            assert_eq!(drawn.into_iter().collect::<Vec<_>>(), expected, "{region:?} to {to}");
            let mut all = Vec::new();
            region.each(&mesh, (8, to), |via| all.push(via));
            all.sort_unstable();
            assert_eq!(all, expected);
        }
    }
}
