//! A routing function of one's own, which is given from outside: see [`Config`].

use super::minimal::Minimal;
use super::prospect::Prospect;
use super::view::{Draws, View};
use super::{Decision, Head, Mechanism, Paths, Place, Request, Route, RouteState, Safety, Way};
use hopsim_network::error::ConfigError;
use hopsim_network::network::NONE;
use hopsim_network::topology::{PortClass, Topology};
use hopsim_random::Stream;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::sync::Arc;

/// A function in Python: `hopsim.run(document, routing=function)` asks it for every head, in every attempt, by which output the packet should
/// go on. For an idea that is to be tried out: it is hundreds of times slower than a mechanism of the simulator, and there is no command
/// that runs it.
///
/// The function is given a `hopsim.Head`, with what a router knows: where the packet comes from and goes to, and of every output VC the
/// router behind it, its distance from the destination, its credits, what is outstanding, and whether it could be granted now. It
/// returns one of these outputs, or `None` to ask for nothing in this attempt. A packet that has arrived leaves for its node without being asked.
/// Results are the same at every run if the function depends on nothing but the head, which brings a random number along.
///
/// VCs: a link has one unless the router says more, and which of them a hop has is the function's choice. Whether packets could wait for each
/// other in a circle cannot be told before the run, and is watched for during it. A packet makes at most 16 hops more than four times
/// those of the longest shortest path. In the routers `cioq` and
/// `input_queued`, without links that fail in the middle of the run.
///
/// No parameters. Source: Dally and Towles (2004), §8.3 (routing as a function of what a router knows).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "FunctionRouting")]
pub struct Config {
    #[serde(skip)]
    given: Option<Given>,
}

/// Most hops of a packet.
fn most_hops(topology: &Topology) -> u32 {
    4 * topology.diameter() + 16
}

/// What chooses outputs.
#[derive(Clone)]
pub struct Given(pub Arc<dyn Choose>);

impl fmt::Debug for Given {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a function")
    }
}

impl PartialEq for Given {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

/// A choice that is made outside the simulator.
pub trait Choose: Send + Sync {
    /// The output that a head asks for, one of those it is told of, or none in this attempt.
    fn choose(&self, question: &Question) -> Option<Request>;
}

/// What a head asks.
#[derive(Clone, Debug)]
pub struct Question {
    /// The head.
    pub head: Head,
    /// The node that it goes to.
    pub destination: u32,
    /// The VC in which it waits, none at injection.
    pub vc: Option<u8>,
    /// Links of the shortest path from the router of the head to its destination.
    pub distance: u32,
    /// Length of the packet \[phits\].
    pub length: u32,
    /// Links passed before.
    pub hops: u32,
    /// Whether the packet has made more hops than it may.
    pub is_lost: bool,
    /// Random bits of this attempt.
    pub random: u64,
    /// The output VCs of the links of the router, ports ascending, then VCs.
    pub outputs: Vec<Output>,
}

/// An output VC.
#[derive(Clone, Copy, Debug)]
pub struct Output {
    /// Port and VC.
    pub request: Request,
    /// The router behind the link.
    pub router: u32,
    /// Links of the shortest path from there to the destination.
    pub distance: u32,
    /// Whether the packet could be granted it now.
    pub open: bool,
    /// Free phits of the buffer behind it.
    pub credits: u32,
    /// Phits outstanding, in the output queue, on the link and in the buffer behind it.
    pub occupancy: u32,
}

impl Config {
    /// A configuration with what chooses outputs.
    #[must_use]
    pub fn with(given: Arc<dyn Choose>) -> Self {
        Self { given: Some(Given(given)) }
    }

    /// Refuses a run without a function.
    pub fn check(&self) -> Result<(), ConfigError> {
        if self.given.is_some() {
            return Ok(());
        }
        Err(ConfigError::new("function", "is a function in Python, and this run is given none")
            .valid("hopsim.run(document, routing=function) in Python, or another routing"))
    }

    /// See [`super::RoutingConfig::paths`].
    pub fn paths(&self, topology: &Topology) -> Result<Paths, ConfigError> {
        Ok(Paths { hops: most_hops(topology), safety: Safety::Any { vcs: 1, bubble: false } })
    }

    /// The mechanism, which knows the links of the topology of `base`.
    pub fn build(&self, base: Minimal) -> Function {
        let topology = base.topology();
        let ports = topology.ports();
        let links = |router: u32| {
            let link = |(port, &class): (usize, &PortClass)| {
                let PortClass::Link(class) = class else { return None };
                Some((port, class, topology.neighbour(router, port)?.0))
            };
            ports.iter().enumerate().filter_map(link).collect()
        };
        let links = (0..topology.routers()).map(links).collect();
        Function { given: self.given.clone(), links, most_hops: most_hops(topology), base }
    }
}

/// A function of one's own.
#[derive(Clone, Debug)]
pub struct Function {
    /// There is one in every run.
    given: Option<Given>,
    /// Port, class and the router at the other end of the links of every router, ports ascending -- constant.
    links: Vec<Vec<(usize, u8, u32)>>,
    /// Most hops of a packet -- constant.
    most_hops: u32,
    base: Minimal,
}

impl Function {
    /// Links that a packet in this state has passed.
    fn hops(state: RouteState) -> u32 {
        if state.via == NONE { 0 } else { state.via }
    }

    fn question(&self, state: RouteState, view: &impl View, random: u64) -> Question {
        let (head, hops) = (view.head(), Self::hops(state));
        let output = |&(port, class, router): &(usize, u8, u32)| {
            let distance = self.base.topology().distance(router, head.destination);
            (0..self.base.vcs().used(class)).map(move |vc| {
                let request = Request { port, vc };
                Output {
                    request,
                    router,
                    distance,
                    open: view.open(request),
                    credits: view.credits(request),
                    occupancy: view.occupancy(request),
                }
            })
        };
        let topology = self.base.topology();
        let sequence = &self.base.vcs().sequence;
        let classes = 0..topology.link_classes().len() as u8;
        let mut of_links = classes.filter(|&class| !head.at_injection() && sequence.is_of(head.code, class));
        Question {
            head,
            destination: topology.nodes_of(head.destination).start + u32::from(head.terminal),
            vc: of_links.next().map(|class| sequence.vc(head.code, class)),
            distance: topology.distance(head.router, head.destination),
            length: view.length(),
            hops,
            is_lost: hops >= self.most_hops,
            random,
            outputs: self.links[head.router as usize].iter().flat_map(output).collect(),
        }
    }
}

impl Mechanism for Function {
    fn base(&self) -> &Minimal {
        &self.base
    }

    fn route(&self, head: &Head, _: &mut RouteState, _: impl Fn() -> Stream) -> Route {
        if head.router == head.destination { Route::Arrived } else { Route::Undecided(Prospect::ANEW) }
    }

    /// Whatever the function could say.
    fn each_grant(&self, head: &Head, state: RouteState, visit: &mut impl FnMut(Option<Way>, RouteState)) {
        if head.router == head.destination {
            return visit(None, state);
        }
        for &(port, class, _) in &self.links[head.router as usize] {
            (0..self.base.vcs().used(class))
                .for_each(|vc| visit(Some(Way { port: port as u16, class, vc }), state));
        }
    }

    fn decide(
        &self,
        _: &Prospect,
        state: &mut RouteState,
        view: &impl View,
        draws: &mut impl Draws,
    ) -> Decision {
        let question = self.question(*state, view, draws.attempt().bits());
        let request = self.given.as_ref().and_then(|given| given.0.choose(&question));
        let chosen =
            request.and_then(|request| question.outputs.iter().find(|output| output.request == request));
        let mut after = *state;
        if let Some(output) = chosen {
            after.via = question.hops + 1;
            if output.distance >= question.distance {
                after.misroute(if question.head.at_injection() {
                    Place::Injection
                } else {
                    Place::SourceGroup
                });
            }
        }
        Decision { request: chosen.map(|output| output.request), after }
    }

    fn draws(&self) -> bool {
        true
    }

    fn redecides(&self) -> bool {
        true
    }
}
