//! Programs that are generated: from their parameters to what their ranks do.

use crate::config::program::{
    CollectiveConfig, Equations, Generation, Graph500Config, Neighbours, Signals, StencilConfig,
    TrainingConfig,
};
use hopsim_network::error::ConfigError;
use hopsim_programs::collectives::Kind;
use hopsim_programs::error::Refusal;
use hopsim_programs::generators::collective::{CollectiveParameters, CollectiveProgram};
use hopsim_programs::generators::stencil::{self, StencilParameters, StencilProgram};
use hopsim_programs::generators::training::{TrainingParameters, TrainingProgram};
use hopsim_programs::graph500::random::{DrawPurpose, Source};
use hopsim_programs::graph500::{self, Search};
use hopsim_programs::program::Program;
use hopsim_programs::record::Script;
use hopsim_programs::units::Fraction;
use hopsim_random::{Purpose, Stream};
use std::sync::Arc;

/// A refusal of the program called `name`.
fn refused(name: &str, refusal: Refusal) -> ConfigError {
    let Refusal { key, value, reason, valid } = refusal;
    ConfigError::new(format!("program.{name}.{key}"), reason).value(value).valid(valid)
}

fn script(script: impl Script + 'static) -> Program {
    Program::Script(Arc::new(script))
}

/// A collective operation of so many ranks unless it says how many.
pub fn collective(config: &CollectiveConfig, nodes: u32) -> Result<Program, ConfigError> {
    let CollectiveConfig { ranks, ref kind, bytes, root, repeat, compute } = *config;
    let kind = Kind::from_name(kind).ok_or_else(|| {
        let names: Vec<&str> = Kind::ALL.iter().map(|kind| kind.name()).collect();
        ConfigError::new("program.collective.kind", "there is no such operation")
            .value(format!("{kind:?}"))
            .valid(names.join(", "))
    })?;
    let root = kind.is_rooted().then_some(root);
    let ranks = ranks.unwrap_or(nodes);
    let parameters = CollectiveParameters { ranks, kind, bytes, root, repeat, compute };
    CollectiveProgram::new(parameters).map(script).map_err(|refusal| refused("collective", refusal))
}

/// A stencil.
pub fn stencil(config: &StencilConfig) -> Result<Program, ConfigError> {
    let StencilConfig { ref sides, periodic, bytes, compute, iterations, neighbours, overlap } = *config;
    let neighbours = match neighbours {
        Neighbours::Faces => stencil::Neighbours::Faces,
        Neighbours::All => stencil::Neighbours::All,
    };
    let sides = sides.clone();
    let parameters = StencilParameters { sides, periodic, bytes, compute, iterations, neighbours, overlap };
    StencilProgram::new(parameters).map(script).map_err(|refusal| refused("stencil", refusal))
}

/// A step of training.
pub fn training(config: &TrainingConfig) -> Result<Program, ConfigError> {
    let TrainingConfig { data, tensor, pipeline, layers, activation, gradient, .. } = *config;
    let TrainingConfig { forward, backward, micro_batches, overlap, .. } = *config;
    let parameters = TrainingParameters {
        data,
        tensor,
        pipeline,
        layers,
        activation,
        gradient,
        forward,
        backward,
        micro_batches,
        overlap,
    };
    TrainingProgram::new(parameters).map(script).map_err(|refusal| refused("training", refusal))
}

/// A search of so many ranks unless it says how many, whose numbers are drawn for a job under a seed.
pub fn graph500(config: &Graph500Config, nodes: u32, seed: u64, job: u64) -> Result<Program, ConfigError> {
    let sources = move |purpose: DrawPurpose| -> Source {
        let (purpose, index) = match purpose {
            DrawPurpose::Search => (Purpose::Search, 0),
            DrawPurpose::Graph => (Purpose::SearchGraph, 0),
            DrawPurpose::Volume(rank) => (Purpose::SearchVolume, u64::from(rank)),
            DrawPurpose::Destinations(rank) => (Purpose::SearchDestinations, u64::from(rank)),
        };
        let mut stream = Stream::new(seed, purpose, job << 32 | index);
        Box::new(move || stream.bits())
    };
    let mut search = Search::new(parameters(config, nodes)?, sources).map_err(|e| refused("graph500", e))?;
    for (index, own) in config.query_times.iter().enumerate() {
        let name = format!("graph500.query_times.{index}");
        if own.ranks.numbers().next().is_none() {
            return Err(ConfigError::new(format!("program.{name}.ranks"), "names no rank")
                .valid("at least one, as { list = [0] }"));
        }
        let time = of_query(own.query_time, &name)?;
        search = search.with_query_time(own.ranks.numbers(), time).map_err(|e| refused(&name, e))?;
    }
    Ok(Program::Search(Arc::new(search)))
}

fn parameters(config: &Graph500Config, nodes: u32) -> Result<graph500::Parameters, ConfigError> {
    Ok(graph500::Parameters {
        ranks: config.ranks.unwrap_or(nodes),
        scale: config.scale,
        edgefactor: config.edgefactor,
        coalescing: config.coalescing,
        query_bytes: config.query_bytes,
        query_time: of_query(config.query_time, "graph500")?,
        root_degree: config.root_degree,
        equations: match config.equations {
            Equations::Thesis => Some(graph500::Equations::Thesis),
            Equations::Fogsim => Some(graph500::Equations::Fogsim),
            Equations::Kronecker => None,
        },
        generation: match config.generation {
            Generation::Compute => graph500::Generation::Compute,
            Generation::Link => graph500::Generation::Link,
        },
        signals: match config.signals {
            Signals::Empty => graph500::Signals::Empty,
            Signals::Full => graph500::Signals::Full,
        },
        max_levels: config.max_levels,
    })
}

/// A time of a query as it is written under this name; none if it is 0.
fn of_query(time: f64, name: &str) -> Result<Option<Fraction>, ConfigError> {
    // The shortest decimal that gives this number is the one that was written.
    let exact = Fraction::from_decimal(&format!("{time}"));
    if exact.is_none() && time != 0.0 {
        return Err(ConfigError::new(format!("program.{name}.query_time"), "is not a time of moderate size")
            .value(time)
            .valid("0 or more ns"));
    }
    Ok(exact)
}
