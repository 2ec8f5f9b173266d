//! hopsim for simulators written in C and C++: see `include/hopsim.h`, which says what every function does.
//!
//! No panic crosses the boundary: it becomes [`Status::Internal`], and the simulation it happened in refuses all further calls.
#![expect(clippy::missing_safety_doc, reason = "the header says what may be passed")]

use hopsim_core::engine::Outcome;
use hopsim_core::engine::stepping::{self, StepError, Stepping};
use hopsim_core::error::{ConfigError, RunError};
use hopsim_experiment::document;
use hopsim_experiment::plan::AnyPlan;
use hopsim_experiment::plan::programs::no_files;
use serde_json::json;
use std::cell::RefCell;
use std::collections::VecDeque;
use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;
use std::sync::LazyLock;

/// How a call ended: `hopsim_status` of the header.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// As asked.
    Ok = 0,
    /// The simulation cannot go on: for example a deadlock.
    Stopped = 1,
    /// An argument or the document is wrong, and nothing was done.
    Refused = 2,
    /// A mistake in hopsim.
    Internal = 3,
    /// The caller's [`Watch`] ended the step; another one goes on.
    Interrupted = 4,
}

/// A message that is at its node: `hopsim_message` of the header.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Message {
    /// Number of the message among all that were injected, from 0.
    pub number: u64,
    /// Tag that the message was injected with.
    pub tag: u64,
    /// The node that the message is from.
    pub source: u32,
    /// The node that the message is at.
    pub destination: u32,
    /// Length of the message in phits, without the headers of its packets.
    pub phits: u32,
    /// Cycle in which the message was injected.
    pub injected: u64,
    /// Cycle in which the last phit of the message is at its node.
    pub delivered: u64,
}

/// `hopsim_goes_on` of the header.
pub type GoesOn = extern "C" fn(context: *mut c_void) -> c_int;

/// Whom steps ask whether they go on.
#[derive(Clone, Copy)]
struct Watch {
    goes_on: Option<GoesOn>,
    context: *mut c_void,
}

impl Watch {
    fn goes_on(self) -> bool {
        self.goes_on.is_none_or(|goes_on| goes_on(self.context) != 0)
    }
}

/// `hopsim_simulation` of the header.
pub struct Simulation {
    /// None after a panic.
    stepping: Option<Stepping>,
    /// Messages that are there and that the caller had no room for.
    delivered: VecDeque<Message>,
    /// What was measured, as JSON, once it has been asked for.
    results: Option<CString>,
    watch: Watch,
}

/// Why a call was not done.
struct Failure(Status, String);

impl From<ConfigError> for Failure {
    fn from(error: ConfigError) -> Self {
        Self(Status::Refused, error.to_string())
    }
}

impl From<RunError> for Failure {
    fn from(error: RunError) -> Self {
        let status = if matches!(error, RunError::Cancelled) { Status::Interrupted } else { Status::Stopped };
        Self(status, error.to_string())
    }
}

impl From<StepError> for Failure {
    fn from(error: StepError) -> Self {
        match error {
            StepError::Refused(error) => error.into(),
            StepError::Stopped(error) => error.into(),
        }
    }
}

thread_local! {
    /// Why the last call of this thread that failed did.
    static LAST_ERROR: RefCell<CString> = RefCell::default();
}

/// Text for C: what is behind a zero byte is lost.
fn text(text: String) -> CString {
    let mut bytes = text.into_bytes();
    bytes.truncate(bytes.iter().position(|&byte| byte == 0).unwrap_or(bytes.len()));
    CString::new(bytes).unwrap_or_default()
}

/// Does something, and keeps why it could not.
fn guarded(act: impl FnOnce() -> Result<(), Failure>) -> Status {
    let done = catch_unwind(AssertUnwindSafe(act)).unwrap_or_else(|panic| {
        let told = panic.downcast_ref::<String>().map(String::as_str);
        let told = told.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("a panic");
        Err(Failure(Status::Internal, format!("a mistake in hopsim: {told}")))
    });
    match done {
        Ok(()) => Status::Ok,
        Err(Failure(status, reason)) => {
            // In the last breath of a thread there is nothing left to keep it in.
            let _ = LAST_ERROR.try_with(|last| *last.borrow_mut() = text(reason));
            status
        }
    }
}

/// A refusal of an argument.
fn refused(argument: &str, reason: &str) -> Failure {
    Failure(Status::Refused, format!("{argument}: {reason}"))
}

/// Does something with a simulation, which is lost if that panics.
fn with(
    simulation: Option<&mut Simulation>,
    act: impl FnOnce(&mut Stepping) -> Result<(), Failure>,
) -> Status {
    guarded(|| {
        let simulation = given(simulation)?;
        let mut stepping = simulation.stepping.take().ok_or_else(broken)?;
        let done = act(&mut stepping);
        simulation.stepping = Some(stepping);
        done
    })
}

/// Puts what a simulation is asked into a place of the caller's, which an error names so.
///
/// # Safety
///
/// The simulation is NULL, or `hopsim_new` made it and no other call uses it; the place is NULL, or the caller's to write.
unsafe fn tell<T>(
    simulation: *const Simulation,
    place: *mut T,
    name: &str,
    ask: impl FnOnce(&Stepping) -> Result<T, ConfigError>,
) -> Status {
    // SAFETY: the caller says so.
    let simulation = unsafe { simulation.as_ref() };
    // SAFETY: the caller says so.
    let place = unsafe { place.as_mut() };
    guarded(|| {
        let place = place.ok_or_else(|| refused(name, "is NULL; valid: where to put it"))?;
        *place = ask(stepping_of(simulation)?)?;
        Ok(())
    })
}

/// The simulation itself, to be asked.
fn stepping_of(simulation: Option<&Simulation>) -> Result<&Stepping, Failure> {
    given(simulation)?.stepping.as_ref().ok_or_else(broken)
}

/// A number that a simulation tells; 0 from one that is NULL or broken.
fn told<T: Default>(act: impl FnOnce() -> Result<T, Failure>) -> T {
    let mut number = T::default();
    guarded(|| {
        number = act()?;
        Ok(())
    });
    number
}

/// The simulation behind a pointer from C.
fn given<T>(simulation: Option<T>) -> Result<T, Failure> {
    simulation.ok_or_else(|| refused("simulation", "is NULL; valid: what hopsim_new made"))
}

/// What is left of a simulation that panicked.
fn broken() -> Failure {
    refused("simulation", "was broken by a mistake in hopsim; valid: another one")
}

/// A simulation at cycle 0 of a document, which names no files and has no sweep.
fn begin(document: &str, threads: u32) -> Result<Simulation, Failure> {
    let points = document::points(document, &[])?;
    let [point] = &points[..] else {
        return Err(refused("sweep", &format!("the document has {} points; valid: no sweep", points.len())));
    };
    let stepping = Stepping::new(AnyPlan::new(&point.experiment, &no_files)?, threads as usize)?;
    let watch = Watch { goes_on: None, context: ptr::null_mut() };
    Ok(Simulation { stepping: Some(stepping), delivered: VecDeque::new(), results: None, watch })
}

/// The summary records as JSON.
fn json(outcome: &Outcome) -> CString {
    text(json!({ "summary": outcome.summary, "jobs": outcome.jobs }).to_string())
}

/// See the header.
#[unsafe(no_mangle)]
pub extern "C" fn hopsim_version() -> *const c_char {
    static VERSION: LazyLock<CString> = LazyLock::new(|| text(hopsim_core::VERSION.to_owned()));
    VERSION.as_ptr()
}

/// See the header.
#[unsafe(no_mangle)]
pub extern "C" fn hopsim_last_error() -> *const c_char {
    LAST_ERROR.try_with(|last| last.borrow().as_ptr()).unwrap_or(c"".as_ptr())
}

/// See the header.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hopsim_new(
    document: *const c_char,
    threads: u32,
    simulation: *mut *mut Simulation,
) -> Status {
    // SAFETY: NULL, or the caller's to write.
    let place = unsafe { simulation.as_mut() };
    guarded(|| {
        let place = place.ok_or_else(|| refused("simulation", "is NULL; valid: where to put it"))?;
        *place = ptr::null_mut();
        if threads == 0 {
            return Err(refused("threads", "0 cannot simulate anything; valid: 1 …"));
        }
        if document.is_null() {
            return Err(refused("document", "is NULL; valid: TOML text"));
        }
        // SAFETY: not NULL, and the caller says that it ends with a zero byte.
        let document = unsafe { CStr::from_ptr(document) };
        let document =
            document.to_str().map_err(|_| refused("document", "is not UTF-8; valid: TOML text"))?;
        *place = Box::into_raw(Box::new(begin(document, threads)?));
        Ok(())
    })
}

/// See the header.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hopsim_free(simulation: *mut Simulation) {
    if simulation.is_null() {
        return;
    }
    // SAFETY: `hopsim_new` made it, and the caller does not use it again.
    let simulation = unsafe { Box::from_raw(simulation) };
    guarded(|| {
        drop(simulation);
        Ok(())
    });
}

/// See the header.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hopsim_now(simulation: *const Simulation) -> u64 {
    // SAFETY: NULL, or `hopsim_new` made it and no other call uses it.
    let simulation = unsafe { simulation.as_ref() };
    told(|| Ok(stepping_of(simulation)?.now().into()))
}

/// See the header.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hopsim_in_flight(simulation: *const Simulation) -> usize {
    // SAFETY: NULL, or `hopsim_new` made it and no other call uses it.
    let simulation = unsafe { simulation.as_ref() };
    told(|| Ok(stepping_of(simulation)?.in_flight()))
}

/// See the header.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hopsim_nodes(simulation: *const Simulation, nodes: *mut u32, room: usize) -> usize {
    // SAFETY: NULL, or `hopsim_new` made it and no other call uses it.
    let simulation = unsafe { simulation.as_ref() };
    told(|| {
        let all = stepping_of(simulation)?.nodes();
        let room = if nodes.is_null() { 0 } else { room };
        for (place, &node) in all.iter().take(room).enumerate() {
            // SAFETY: the caller has room for so many, and `place` is below that.
            let place = unsafe { nodes.add(place) };
            // SAFETY: it is the caller's to write.
            unsafe { place.write(node) };
        }
        Ok(all.len())
    })
}

/// See the header.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hopsim_waiting(
    simulation: *const Simulation,
    node: u32,
    messages: *mut usize,
) -> Status {
    // SAFETY: NULL, or `hopsim_new` made it and no other call uses it; and NULL, or the caller's to write.
    unsafe { tell(simulation, messages, "messages", |stepping| stepping.waiting(node)) }
}

/// See the header.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hopsim_cycles(
    simulation: *const Simulation,
    picoseconds: u64,
    cycles: *mut u64,
) -> Status {
    // SAFETY: NULL, or `hopsim_new` made it and no other call uses it; and NULL, or the caller's to write.
    unsafe { tell(simulation, cycles, "cycles", |stepping| stepping.cycles(picoseconds)) }
}

/// See the header.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hopsim_picoseconds(
    simulation: *const Simulation,
    cycle: u64,
    picoseconds: *mut u64,
) -> Status {
    // SAFETY: NULL, or `hopsim_new` made it and no other call uses it; and NULL, or the caller's to write.
    unsafe { tell(simulation, picoseconds, "picoseconds", |stepping| stepping.picoseconds(cycle)) }
}

/// See the header.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hopsim_phits(simulation: *const Simulation, bytes: u64, phits: *mut u32) -> Status {
    // SAFETY: NULL, or `hopsim_new` made it and no other call uses it; and NULL, or the caller's to write.
    unsafe { tell(simulation, phits, "phits", |stepping| stepping.phits(bytes)) }
}

/// See the header.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hopsim_inject(
    simulation: *mut Simulation,
    source: u32,
    destination: u32,
    phits: u32,
    tag: u64,
    number: *mut u64,
) -> Status {
    // SAFETY: NULL, or `hopsim_new` made it and no other call uses it.
    let simulation = unsafe { simulation.as_mut() };
    // SAFETY: NULL, or the caller's to write.
    let place = unsafe { number.as_mut() };
    with(simulation, |stepping| {
        let number = stepping.inject((source, destination), phits, tag)?;
        if let Some(place) = place {
            *place = number;
        }
        Ok(())
    })
}

/// See the header.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hopsim_watch(
    simulation: *mut Simulation,
    goes_on: Option<GoesOn>,
    context: *mut c_void,
) -> Status {
    // SAFETY: NULL, or `hopsim_new` made it and no other call uses it.
    let simulation = unsafe { simulation.as_mut() };
    guarded(|| {
        given(simulation)?.watch = Watch { goes_on, context };
        Ok(())
    })
}

/// See the header.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hopsim_step(simulation: *mut Simulation, cycles: u64) -> Status {
    // SAFETY: NULL, or `hopsim_new` made it and no other call uses it.
    let Some(simulation) = (unsafe { simulation.as_mut() }) else { return with(None, |_| Ok(())) };
    let watch = simulation.watch;
    with(Some(simulation), |stepping| Ok(stepping.step(cycles, &mut || watch.goes_on())?))
}

/// See the header.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hopsim_step_until_delivered(simulation: *mut Simulation, most: u64) -> Status {
    // SAFETY: NULL, or `hopsim_new` made it and no other call uses it.
    let Some(simulation) = (unsafe { simulation.as_mut() }) else { return with(None, |_| Ok(())) };
    let (waits, watch) = (!simulation.delivered.is_empty(), simulation.watch);
    with(Some(simulation), |stepping| {
        // What the caller had no room for is there already.
        let most = if waits { 0 } else { most };
        stepping.step_until_delivered(most, &mut || watch.goes_on())?;
        Ok(())
    })
}

/// See the header.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hopsim_delivered(
    simulation: *mut Simulation,
    messages: *mut Message,
    room: usize,
) -> usize {
    // SAFETY: NULL, or `hopsim_new` made it and no other call uses it.
    let simulation = unsafe { simulation.as_mut() };
    told(|| {
        let simulation = given(simulation)?;
        // What was gathered before a panic is still the caller's.
        let fresh = simulation.stepping.as_mut().map(Stepping::take_delivered).unwrap_or_default();
        simulation.delivered.extend(fresh.into_iter().map(message));
        let room = if messages.is_null() { 0 } else { room };
        let count = room.min(simulation.delivered.len());
        for (place, message) in simulation.delivered.drain(..count).enumerate() {
            // SAFETY: the caller has room for so many, and `place` is below that.
            let place = unsafe { messages.add(place) };
            // SAFETY: it is the caller's to write.
            unsafe { place.write(message) };
        }
        Ok(count)
    })
}

/// A message as C sees it.
fn message(message: stepping::DeliveredMessage) -> Message {
    let stepping::DeliveredMessage { number, tag, source, destination, phits, injected, delivered } = message;
    Message {
        number,
        tag,
        source,
        destination,
        phits,
        injected: injected.into(),
        delivered: delivered.into(),
    }
}

/// See the header.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hopsim_results(simulation: *mut Simulation, results: *mut *const c_char) -> Status {
    // SAFETY: NULL, or `hopsim_new` made it and no other call uses it.
    let Some(simulation) = (unsafe { simulation.as_mut() }) else { return with(None, |_| Ok(())) };
    // SAFETY: NULL, or the caller's to write.
    let place = unsafe { results.as_mut() };
    let mut measured = simulation.results.take();
    let status = if measured.is_some() {
        Status::Ok
    } else {
        with(Some(simulation), |stepping| {
            measured = Some(json(&stepping.results()?));
            Ok(())
        })
    };
    simulation.results = measured;
    if let Some(place) = place {
        *place = simulation.results.as_ref().map_or(ptr::null(), |results| results.as_ptr());
    }
    status
}
