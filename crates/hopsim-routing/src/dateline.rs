//! Datelines in the rings of a torus, against deadlock: see [`Config`].

use hopsim_network::topology::cube::Cube;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The VCs of every link are in two classes: the lower half of them is class 0, the upper half class 1, which has one more if their
/// number is odd. So there are two VCs at least. A hop may use any VC of its class, and takes the one with most credits, or in a virtual-channel router any that is free. The dateline of
/// a ring lies, for packets towards larger coordinates, on the link from the last router to router 0, and for those towards smaller
/// ones on the link from router 0 to the last router. `class` says which class a hop has.
///
/// No deadlock, with packets and buffers of any length: in neither class does a ring of buffers close, as no packet crosses a dateline in
/// class 0, and none that is in class 1 goes on as far as the place where packets enter that class. Dimensions follow each other in
/// increasing order. No livelock: the paths are those of `minimal`, the only routing that has datelines.
///
/// Unlike a bubble, datelines keep no room free, but a class has only half of the VCs. They load them unevenly: at uniform traffic
/// few packets are in class 1 with `crossing`.
///
/// Source: Dally and Towles, Principles and Practices of Interconnection Networks (2004), §14.2.3; Dally and Seitz, IEEE Trans. Comput. 36
/// (1987).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(rename = "Dateline")]
pub struct Config {
    /// When a packet gets the class of its VCs.
    pub class: ClassRule,
}

/// When a packet gets the class of its VCs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ClassRule {
    /// At the crossing: a packet enters every dimension in class 0, and the hop over the dateline and all hops behind it in that
    /// dimension have class 1.
    #[default]
    Crossing,
    /// With the dimension: all hops of a packet in a dimension have class 1 if the coordinate at which it enters the dimension
    /// is greater than that of its destination, and class 0 otherwise. Towards larger coordinates class 1 is for packets that will cross
    /// the dateline, towards smaller ones for those that will not. This is the rule of `dim_order` of BookSim 2 on a torus.
    Dimension,
}

/// The datelines of a network.
#[derive(Clone, Copy, Debug)]
pub struct Dateline {
    rule: ClassRule,
    /// VCs of a link -- constant.
    count: u8,
    /// The first VC of class 1 -- constant.
    upper: u8,
}

impl Dateline {
    /// The datelines of a network whose links have `count` VCs.
    pub fn new(config: Config, count: u8) -> Self {
        Self { rule: config.class, count, upper: count / 2 }
    }

    /// When a packet gets its class.
    pub fn rule(self) -> ClassRule {
        self.rule
    }

    /// The first VC of the class that a VC is of.
    #[inline]
    pub fn first(self, vc: u8) -> u8 {
        if vc < self.upper { 0 } else { self.upper }
    }

    /// The highest VC that a hop from router `at` over a link port may use, on the way to router `to`. `from` is the VC in which the
    /// packet has come, if it has come in the same dimension.
    pub fn highest(self, cube: &Cube, (at, port, to): (u32, usize, u32), from: Option<u8>) -> u8 {
        let (dimension, plus) = cube.direction(port);
        let here = cube.coordinate(at, dimension);
        let stays = from.is_some_and(|vc| vc >= self.upper);
        let is_upper = match self.rule {
            ClassRule::Crossing => stays || here == if plus { cube.sides()[dimension] - 1 } else { 0 },
            ClassRule::Dimension if from.is_some() => stays,
            ClassRule::Dimension => here > cube.coordinate(to, dimension),
        };
        if is_upper { self.count - 1 } else { self.upper - 1 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hopsim_network::topology::Interconnect as _;
    use hopsim_network::topology::cube::{RingConfig, Tie};

    /// The classes of the hops from one router of a ring of eight to another, with two VCs.
    fn classes(class: ClassRule, from: u32, to: u32) -> Vec<u8> {
        let ring = Cube::ring(&RingConfig { routers: 8, nodes_per_router: 1, tie: Tie::Plus }).unwrap();
        let dateline = Dateline::new(Config { class }, 2);
        let (mut at, mut classes) = (from, Vec::new());
        while at != to {
            let port = ring.first_port(at, to, 0);
            classes.push(dateline.highest(&ring, (at, port, to), classes.last().copied()));
            at = ring.neighbour(at, port).unwrap().0;
        }
        classes
    }

    #[test]
    fn the_hop_over_the_dateline_and_those_behind_it_have_class_1() {
        use ClassRule::Crossing;
        assert_eq!(classes(Crossing, 1, 4), [0, 0, 0]);
        assert_eq!(classes(Crossing, 6, 1), [0, 1, 1]);
        assert_eq!(classes(Crossing, 7, 2), [1, 1, 1]);
        assert_eq!(classes(Crossing, 5, 2), [0, 0, 0], "down, not across");
        assert_eq!(classes(Crossing, 1, 6), [0, 1, 1], "down, across from router 0 to 7");
    }

    #[test]
    fn with_the_dimension_all_hops_have_the_class_of_the_first() {
        use ClassRule::Dimension;
        assert_eq!(classes(Dimension, 1, 4), [0, 0, 0]);
        assert_eq!(classes(Dimension, 6, 1), [1, 1, 1]);
        assert_eq!(classes(Dimension, 5, 2), [1, 1, 1], "down, not across");
        assert_eq!(classes(Dimension, 1, 6), [0, 0, 0], "down, across");
    }

    #[test]
    fn of_an_odd_number_of_vcs_the_upper_class_has_one_more() {
        let dateline = Dateline::new(Config::default(), 5);
        assert_eq!([0, 1, 2, 3, 4].map(|vc| dateline.first(vc)), [0, 0, 2, 2, 2]);
        let ring = Cube::ring(&RingConfig { routers: 4, nodes_per_router: 1, tie: Tie::Plus }).unwrap();
        let plus = ring.port(0, true);
        assert_eq!(dateline.highest(&ring, (0, plus, 1), None), 1);
        assert_eq!(dateline.highest(&ring, (3, plus, 0), None), 4);
        assert_eq!(dateline.highest(&ring, (0, plus, 1), Some(3)), 4);
    }
}
