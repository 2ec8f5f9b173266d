//! What must hold between the ranks of a trace.

use crate::error::ProgramError;
use crate::trace::Trace;

/// See [`Trace::check`].
pub fn check(_trace: &Trace) -> Result<(), ProgramError> {
    Ok(())
}
