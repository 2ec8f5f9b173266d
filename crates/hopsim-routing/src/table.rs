//! Routing by a table of one's own: see [`Config`].

use super::minimal::Minimal;
use super::multipath::DrawnBy;
use super::on_paths::OnPaths;
use super::path_table::{GivenPath, PathTable};
use super::{Paths, Safety, vcs};
use hopsim_network::by_class::ByClass;
use hopsim_network::error::ConfigError;
use hopsim_network::topology::{PortClass, Topology};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Packets take the paths, and the VCs, of a table: routing that somebody else has computed, on any topology of routers.
///
/// The table says either, for routers and destinations, the port and the VC by which packets go on (`hops`), or whole paths between routers with
/// nodes (`paths`), of which there may be several for the same two. Every packet then draws one of those in the router of its source (`by =
/// "packet"`), or all packets from one node to another draw the same (`by = "flow"`).
///
/// Ports are numbered as everywhere: in a graph those of nodes come first, then one for each link of the router in the order of the links. VCs are
/// numbered by class of links. A link has as many as the table uses by default.
///
/// No deadlock: it is looked for channels, which are links with a VC, behind which packets could wait for each other in a circle, and a table that
/// has such is refused with the circle, unless `vcs.allow_deadlock` of the routers accepts it. Paths end, and pass no router twice: no livelock.
///
/// Source: Dally and Seitz, IEEE Trans. Computers 36 (1987), the graph of channels.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "TableRouting")]
pub struct Config {
    /// Router, destination router, port and VC.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hops: Vec<[u32; 4]>,
    /// Whole paths.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub paths: Vec<TablePath>,
    /// A file with either instead, relative to the directory of the experiment: comma-separated values with the columns `router`,
    /// `destination`, `port` and `vc`, or `source`, `destination`, `ports` and `vcs`, the last two with spaces between the numbers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// Who draws, where there are several paths between two routers.
    #[serde(default)]
    pub by: DrawnBy,
    /// With `by = "flow"`: what flows draw from; default 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
}

/// A path between two routers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TablePath {
    /// The routers of source and destination, in this direction.
    pub between: [u32; 2],
    /// The port of every router on the path but the last.
    pub ports: Vec<u32>,
    /// The VC of every link.
    pub vcs: Vec<u32>,
}

/// What a file says.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Routes {
    /// See [`Config::hops`].
    #[serde(default)]
    pub hops: Vec<[u32; 4]>,
    /// See [`Config::paths`].
    #[serde(default)]
    pub paths: Vec<TablePath>,
}

impl Config {
    /// See [`super::RoutingConfig::paths`].
    pub fn paths(&self, topology: &Topology) -> Result<Paths, ConfigError> {
        self.by.check(self.seed)?;
        if let Topology::Ideal(_) = topology {
            return Err(ConfigError::new("", "an ideal network has no routers").valid("no such key"));
        }
        let (table, classes, mut vcs) = (self.table(topology)?, topology.ports(), ByClass::default());
        for (from, to, number) in table.all() {
            for (port, vc) in table.links(from, to, number) {
                if let PortClass::Link(class) = classes[usize::from(port)] {
                    vcs[usize::from(class)] = (vc + 1).max(vcs[usize::from(class)]);
                }
            }
        }
        Ok(Paths { hops: table.longest(), safety: Safety::Given { table: Arc::new(table), vcs } })
    }

    /// Replaces the file by what it holds, as `read` gives it.
    pub fn load(&mut self, read: impl Fn(&str) -> Result<Routes, String>) -> Result<(), ConfigError> {
        let Some(file) = &self.file else { return Ok(()) };
        let refuse = |reason| ConfigError::new("file", reason).value(format!("{file:?}"));
        if !self.hops.is_empty() || !self.paths.is_empty() {
            return Err(refuse("the table is given twice".into()).valid("one of file, hops and paths"));
        }
        let Routes { hops, paths } = read(file).map_err(refuse)?;
        (self.hops, self.paths, self.file) = (hops, paths, None);
        Ok(())
    }

    fn table(&self, topology: &Topology) -> Result<PathTable, ConfigError> {
        let refuse = |reason: &str| ConfigError::new("", reason).valid("one of hops, paths and file");
        let wires = Wires(topology);
        let all = match (self.hops.is_empty(), self.paths.is_empty()) {
            (true, true) => return Err(refuse("the table has no rows")),
            (false, false) => return Err(refuse("the table is given twice")),
            (false, true) => wires.follow_all(&self.hops)?,
            (true, false) => wires.sort(&self.paths)?,
        };
        Ok(PathTable::given(topology.routers_with_nodes(), all.iter().map(Vec::as_slice)))
    }

    /// The mechanism over the minimal paths of `base`.
    pub fn build(&self, base: Minimal) -> Table {
        let table = self.table(base.topology()).unwrap_or_else(|_| unreachable!("it has been checked"));
        OnPaths::new(Arc::new(table), self.by.draw(self.seed), base)
    }
}

/// The paths of a table.
pub type Table = OnPaths;

/// Most paths from a router to another one: packets remember the number of theirs in 16 bits.
const MOST_PATHS: usize = 1 << 16;

/// What tables are held against.
struct Wires<'t>(&'t Topology);

/// The paths of every two routers with nodes, by source and then destination.
type AllPaths = Vec<Vec<GivenPath>>;

impl Wires<'_> {
    fn router(&self, number: u32, key: &str) -> Result<(), ConfigError> {
        let routers = self.0.routers();
        if number < routers {
            return Ok(());
        }
        let refused = ConfigError::new(key, "there is no such router").value(number);
        Err(refused.valid(format!("0 … {}", routers - 1)))
    }

    fn end(&self, number: u32, key: &str) -> Result<(), ConfigError> {
        let routers = self.0.routers_with_nodes();
        if number < routers {
            return Ok(());
        }
        let refused =
            ConfigError::new(key, "the router has no nodes, or there is none of this number").value(number);
        Err(refused.valid(format!("0 … {}", routers - 1)))
    }

    /// The router behind a port.
    fn next(&self, at: u32, port: u32, key: &str) -> Result<u32, ConfigError> {
        let end =
            if (port as usize) < self.0.ports().len() { self.0.neighbour(at, port as usize) } else { None };
        end.map(|(next, _)| next).ok_or_else(|| {
            let links: Vec<String> = (0..self.0.ports().len())
                .filter(|&port| self.0.neighbour(at, port).is_some())
                .map(|port| port.to_string())
                .collect();
            ConfigError::new(key, format!("router {at} has no link at this port"))
                .value(port)
                .valid(links.join(", "))
        })
    }

    fn vc(number: u32, key: &str) -> Result<u8, ConfigError> {
        if number < vcs::MOST {
            return Ok(number as u8);
        }
        let refused = ConfigError::new(key, "a link has at most 16 VCs").value(number);
        Err(refused.valid(format!("0 … {}", vcs::MOST - 1)))
    }

    /// The paths of a table of next hops.
    fn follow_all(&self, rows: &[[u32; 4]]) -> Result<AllPaths, ConfigError> {
        let mut table = BTreeMap::new();
        for (number, &[router, destination, port, vc]) in rows.iter().enumerate() {
            let key = |column: u32| format!("hops.{number}.{column}");
            self.router(router, &key(0))?;
            self.end(destination, &key(1))?;
            let next = self.next(router, port, &key(2))?;
            let vc = Self::vc(vc, &key(3))?;
            if let Some((_, _, first)) =
                table.insert((router, destination), (next, (port as u16, vc), number))
            {
                let reason = format!("router {router} and destination {destination} are in row {first}, too");
                return Err(ConfigError::new(format!("hops.{number}"), reason).valid("one row for the two"));
            }
        }
        let all = 0..self.0.routers_with_nodes();
        let mut paths = Vec::new();
        for (from, to) in all.clone().flat_map(|from| all.clone().map(move |to| (from, to))) {
            let (mut path, mut passed, mut at) = (GivenPath::new(), Vec::new(), from);
            while at != to {
                let is_back = passed.contains(&at);
                passed.push(at);
                let way = passed.iter().map(ToString::to_string).collect::<Vec<_>>().join(" → ");
                let refuse = |reason: String| ConfigError::new("hops", reason);
                if is_back {
                    let reason =
                        format!("packets from router {from} to router {to} go round in a circle: {way}");
                    return Err(refuse(reason).valid("ports that lead to the destination"));
                }
                let Some(&(next, link, _)) = table.get(&(at, to)) else {
                    let reason = format!(
                        "router {at} has no port for router {to}, and packets from router {from} come there: {way}"
                    );
                    return Err(refuse(reason).valid(format!("a row [{at}, {to}, port, VC]")));
                };
                path.push(link);
                at = next;
            }
            paths.push(if from == to { Vec::new() } else { vec![path] });
        }
        Ok(paths)
    }

    /// Whole paths, by their ends.
    fn sort(&self, rows: &[TablePath]) -> Result<AllPaths, ConfigError> {
        let routers = self.0.routers_with_nodes();
        let mut paths: AllPaths = vec![Vec::new(); (routers * routers) as usize];
        for (number, row) in rows.iter().enumerate() {
            let [from, to] = row.between;
            let path = self.follow(row, &format!("paths.{number}"))?;
            let of_pair = &mut paths[(from * routers + to) as usize];
            if of_pair.len() == MOST_PATHS {
                let reason = format!("router {from} has {MOST_PATHS} paths to router {to} already");
                return Err(ConfigError::new(format!("paths.{number}"), reason)
                    .valid(format!("at most {MOST_PATHS} paths between two routers")));
            }
            of_pair.push(path);
        }
        let lacks = |&(pair, paths): &(usize, &Vec<GivenPath>)| {
            paths.is_empty() && pair / routers as usize != pair % routers as usize
        };
        match paths.iter().enumerate().find(lacks) {
            None => Ok(paths),
            Some((pair, _)) => {
                let (from, to) = (pair / routers as usize, pair % routers as usize);
                let reason = format!("there is no path from router {from} to router {to}");
                Err(ConfigError::new("paths", reason)
                    .valid("one for every two routers with nodes, in either direction"))
            }
        }
    }

    fn follow(&self, row: &TablePath, key: &str) -> Result<GivenPath, ConfigError> {
        let [from, to] = row.between;
        self.end(from, &format!("{key}.between.0"))?;
        self.end(to, &format!("{key}.between.1"))?;
        if row.ports.len() != row.vcs.len() {
            let reason = format!("the path has {} links", row.ports.len());
            return Err(ConfigError::new(format!("{key}.vcs"), reason)
                .value(format!("{} numbers", row.vcs.len()))
                .valid("a VC for every port"));
        }
        let (mut path, mut passed, mut at) = (GivenPath::new(), Vec::new(), from);
        for (number, (&port, &vc)) in row.ports.iter().zip(&row.vcs).enumerate() {
            passed.push(at);
            let vc = Self::vc(vc, &format!("{key}.vcs.{number}"))?;
            at = self.next(at, port, &format!("{key}.ports.{number}"))?;
            if passed.contains(&at) {
                let reason = format!("the path comes to router {at} twice");
                return Err(ConfigError::new(format!("{key}.ports"), reason)
                    .valid("a path that passes no router twice"));
            }
            path.push((port as u16, vc));
        }
        if at == to && from != to {
            return Ok(path);
        }
        let reason = format!("the path from router {from} to router {to} leads to router {at}");
        Err(ConfigError::new(format!("{key}.ports"), reason)
            .valid("ports that lead from the one router to the other, another one"))
    }
}
