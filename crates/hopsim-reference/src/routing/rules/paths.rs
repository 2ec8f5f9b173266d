//! The longest paths of mechanisms in a dragonfly, a letter per link, and VCs numbered along them.

use hopsim_routing::{RoutingConfig, ugal, valiant};

/// A link of a path: class and VC.
pub type LinkVc = (u8, u8);

/// The longest path of a mechanism in a dragonfly, a letter per link, and the paths by which FlexVC may order the VCs.
pub fn paths(routing: &RoutingConfig) -> (&'static str, &'static [&'static str]) {
    const GROUP: (&str, &[&str]) = ("lglgl", &["lglgl", "lgl"]);
    const ROUTER: (&str, &[&str]) = ("lgllgl", &["lgllgl", "lgl"]);
    match routing {
        RoutingConfig::Valiant(config) if config.intermediate == valiant::Intermediate::Group => GROUP,
        RoutingConfig::Ugal(config) if config.intermediate != Some(ugal::DetourEnd::Router) => GROUP,
        RoutingConfig::Piggyback(config) if config.intermediate == ugal::DetourEnd::Group => GROUP,
        RoutingConfig::Valiant(_)
        | RoutingConfig::Ugal(_)
        | RoutingConfig::Piggyback(_)
        | RoutingConfig::SourceAdaptive(_) => ROUTER,
        RoutingConfig::Olm(_) => GROUP,
        RoutingConfig::Par(_) => ("llgllgl", &["llgllgl", "lgllgl", "lglgl", "lgl"]),
        RoutingConfig::Minimal(_)
        | RoutingConfig::Adaptive(_)
        | RoutingConfig::Ecmp(_)
        | RoutingConfig::KShortestPaths(_)
        | RoutingConfig::FatPaths(_)
        | RoutingConfig::Polarized(_)
        | RoutingConfig::Table(_)
        | RoutingConfig::Function(_)
        | RoutingConfig::O1turn(_)
        | RoutingConfig::UpDown(_)
        | RoutingConfig::Nue(_)
        | RoutingConfig::Fpar(_) => ("lgl", &["lgl"]),
    }
}

/// Local and global links of a path.
pub fn count(path: &str) -> [u8; 2] {
    ['l', 'g'].map(|class| path.chars().filter(|&letter| letter == class).count() as u8)
}

/// The links of a path with a VC for each, those of each class numbered on from `first`.
pub fn number(path: &str, first: [u8; 2]) -> Vec<LinkVc> {
    let mut next = first;
    let step = |letter: char| {
        let class = usize::from(letter == 'g');
        next[class] += 1;
        (class as u8, next[class] - 1)
    };
    path.chars().map(step).collect()
}
