//! The engine against closed forms and the figures of Gran et al. 2011.

mod deadlock;
mod figures;
mod small;
