//! Runs that go on with a state from outside.

use hopsim_core::engine::distrusted;
use hopsim_core::error::RunError;
use hopsim_network::interrupt::Interrupted;
use std::panic::{catch_unwind, resume_unwind};

#[test]
fn a_panic_is_the_fault_of_the_state() {
    assert!(matches!(distrusted(|| -> Result<(), _> { panic!("out of bounds") }), Err(RunError::Snapshot)));
    assert_eq!(distrusted(|| Ok(3)).unwrap(), 3);
    assert!(matches!(distrusted(|| -> Result<(), _> { Err(RunError::Cancelled) }), Err(RunError::Cancelled)));
}

#[test]
fn an_interrupt_is_none_of_its_faults() {
    let interrupted = || distrusted(|| -> Result<(), _> { resume_unwind(Box::new(Interrupted)) });
    assert!(catch_unwind(interrupted).unwrap_err().is::<Interrupted>());
}
