//! A routing function in Python.

use super::errors;
use super::monitor::Shared;
use hopsim_routing::Request;
use hopsim_routing::function::{Choose, Output, Question};
use pyo3::prelude::*;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError};

/// A function that is asked for outputs, and what it has raised.
pub struct Function {
    callable: Py<PyAny>,
    shared: Arc<Shared>,
    raised: Mutex<Option<PyErr>>,
}

/// Router, source, destination, its router, whether a reply; port and VC that it has come by; distance, length, hops, random bits.
type Asked = ((u32, u32, u32, u32, bool), (Option<u16>, Option<u8>), (u32, u32, u32, u64));

/// Port, VC, router, distance; whether open, credits, occupancy.
type Offered = ((usize, u8, u32, u32), (bool, u32, u32));

impl Function {
    /// The function of a run.
    pub fn new(callable: Py<PyAny>, shared: &Arc<Shared>) -> Arc<Self> {
        Arc::new(Self { callable, shared: Arc::clone(shared), raised: Mutex::new(None) })
    }

    /// What the function has raised first.
    pub fn take_error(&self) -> Option<PyErr> {
        self.raised.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Keeps an error, and ends the run.
    fn fail(&self, error: PyErr) {
        self.raised.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
        self.shared.control.cancel.store(true, Ordering::Relaxed);
    }

    fn ask(&self, question: &Question) -> PyResult<Option<Request>> {
        let Question { head, destination, vc, distance, length, hops, random, .. } = *question;
        let asked: Asked = (
            (head.router, head.source, destination, head.destination, head.reply),
            (vc.map(|_| head.input), vc),
            (distance, length, hops, random),
        );
        let offered = |output: &Output| {
            let Output { request, router, distance, open, credits, occupancy } = *output;
            ((request.port, request.vc, router, distance), (open, credits, occupancy))
        };
        let offered: Vec<Offered> = question.outputs.iter().map(offered).collect();
        let number: Option<usize> =
            Python::attach(|py| self.callable.call1(py, (asked, offered))?.extract(py))?;
        Ok(number.and_then(|number| question.outputs.get(number)).map(|output| output.request))
    }
}

impl Choose for Function {
    fn choose(&self, question: &Question) -> Option<Request> {
        if self.shared.control.cancel.load(Ordering::Relaxed) {
            return None;
        }
        let answer = if question.is_lost {
            let (hops, head) = (question.hops, question.head);
            let reason = format!(
                "routing.function: a packet from node {} has made {hops} hops and is in router {}, {} links from its destination",
                head.source, head.router, question.distance
            );
            Err(errors::RunError::new_err(reason))
        } else {
            self.ask(question)
        };
        answer.unwrap_or_else(|error| {
            self.fail(error);
            None
        })
    }
}
