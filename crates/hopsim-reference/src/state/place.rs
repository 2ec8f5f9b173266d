//! Names of places: what stands in a router, and what packets ask for.

/// Router, input port and VC.
pub type Place = (usize, usize, usize);

/// A link: the router that it leaves, and by which port.
pub type Link = (usize, usize);

/// Router and output port.
pub type OutputPort = (usize, usize);

/// Router, output port and VC.
pub type OutputVc = (usize, usize, usize);

/// An output port and VC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    pub port: usize,
    pub vc: u8,
}
