//! Traffic a second time: who runs where, whom packets go to and when they are generated, from the texts of the document's keys.

mod jobs;
mod patterns;
mod processes;

use crate::documents::Document;
use hopsim_experiment::plan::Plan;
use hopsim_random::Stream;
use serde_json::{Value, json};

/// A plan with these topology and jobs, if they go together.
fn plan_of(topology: &Value, jobs: &Value) -> Result<Plan, String> {
    plan_with(topology, jobs, &json!({}))
}

/// A plan with these topology, jobs and choices, if they go together.
fn plan_with(topology: &Value, jobs: &Value, semantics: &Value) -> Result<Plan, String> {
    let measure = json!({ "warmup": 0, "cycles": 2_000, "seed": 5 });
    let units = json!({ "cycle": "1 ns", "phit": "4 B" });
    Document(json!({
        "units": units, "topology": topology, "jobs": jobs, "semantics": semantics, "measure": measure,
    }))
    .plan()
}

/// Shuffles a list as the random streams do: from the last place down, each is swapped with one up to it.
fn shuffle(list: &mut [u32], stream: &mut Stream) {
    let mut place = list.len();
    while place > 1 {
        let other = stream.below(place as u32) as usize;
        place -= 1;
        (list[place], list[other]) = (list[other], list[place]);
    }
}
