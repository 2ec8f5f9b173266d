//! What a document says of keys that its sweep varies: no point has it, and nobody would see a mistake in it.

use super::draft::Draft;
use super::schema::Schema;
use super::sweep::{Key, Sweep};
use super::{Files, check as shape, path, plan};
use hopsim_network::error::ConfigError;

/// Refuses a document with a sweep that would not be valid without the sweep in something that it states. What only the sweep
/// states may be missing, and so may what follows from that.
pub fn check(draft: &Draft<'_>, sweep: &Sweep, files: &impl Files) -> Result<(), ConfigError> {
    if sweep.is_empty() {
        return Ok(());
    }
    shape::check_stated(Schema::root(), &mut Vec::new(), &draft.root)
        .map_err(|error| draft.located(error))?;
    if !sweep.keys().any(|key| replaces(draft, key)) {
        return Ok(());
    }
    // Points tell of everything else.
    match plan(draft, files) {
        Err(error) if is_replaced(draft, sweep, &error) => Err(draft.located(error)),
        _ => Ok(()),
    }
}

/// Whether the document states what the key sets.
fn replaces(draft: &Draft<'_>, key: &Key) -> bool {
    draft.states(&key.path) || (sets_load(key) && draft.states_job_load())
}

fn sets_load(key: &Key) -> bool {
    super::sweep::is_load(&key.path)
}

/// Whether an error is about something that the document states and the sweep replaces, or that a table lacks which the sweep
/// replaces as a whole.
fn is_replaced(draft: &Draft<'_>, sweep: &Sweep, error: &ConfigError) -> bool {
    let Ok(at) = path::parse(&error.path) else { return false };
    if let Some((_, table)) = at.split_last().filter(|_| error.reason == shape::MISSING) {
        return draft.states(table) && sweep.keys().any(|key| table.starts_with(&key.path));
    }
    let meets = |key: &Key| {
        at.starts_with(&key.path)
            || key.path.starts_with(&at)
            || (sets_load(key) && super::sweep::is_job_load(&at))
    };
    draft.states(&at) && sweep.keys().any(meets)
}
