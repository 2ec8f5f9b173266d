//! One of two orders of dimensions: `hopsim explain o1turn`.

use super::head::{Goal, Head};
use crate::state::packet::{Choice, Memory};
use crate::state::place::Request;
use hopsim_routing::o1turn::OrderChoice;

pub fn choose(rule: OrderChoice, head: &Head) -> Choice {
    if head.router() == head.destination() {
        return head.eject();
    }
    let settled = head.packet().memory.decreasing;
    let is_decreasing = match rule {
        _ if settled.is_some() => settled == Some(true),
        OrderChoice::Random => is_drawn(head),
        OrderChoice::LessOccupied => {
            let [increasing, decreasing] = [false, true].map(|order| head.port_occupancy(port(head, order)));
            increasing > decreasing || increasing == decreasing && is_drawn(head)
        }
    };
    let memory = Memory { decreasing: Some(is_decreasing), ..head.packet().memory.clone() };
    let choice = head.go(port(head, is_decreasing), goal(is_decreasing), memory, &head.attempt());
    if rule == OrderChoice::LessOccupied && head.at_injection() {
        return Choice { fixed: false, others: Vec::new(), ..choice };
    }
    choice
}

/// The output VCs that a head may use.
pub fn options(rule: OrderChoice, head: &Head) -> Vec<Request> {
    if head.router() == head.destination() {
        return head.ejections();
    }
    let orders = match (rule, head.packet().memory.decreasing) {
        (OrderChoice::Random, None) => vec![is_drawn(head)],
        (OrderChoice::Random, Some(settled)) => vec![settled],
        (OrderChoice::LessOccupied, Some(settled)) if !head.at_injection() => vec![settled],
        (OrderChoice::LessOccupied, _) => vec![false, true],
    };
    orders.into_iter().flat_map(|order| head.all_of(port(head, order), goal(order))).collect()
}

/// Of the ports that bring a packet nearer to its destination that of the lowest dimension, or that of the highest one.
fn port(head: &Head, is_decreasing: bool) -> usize {
    let (ways, ends) = (head.ways(), (head.router(), head.destination()));
    let nearer = match ways.cube() {
        // Where edges are not joined no way is as long as another one.
        Some(cube) => ways.nearer(cube, ends, &vec![false; cube.sides.len()]),
        None => ways.nearer_in_hyperx(ends),
    };
    let found = if is_decreasing { nearer.iter().max() } else { nearer.iter().min() };
    *found.expect("it is not there yet")
}

fn goal(is_decreasing: bool) -> Goal {
    if is_decreasing { Goal::Destination } else { Goal::Increasing }
}

fn is_drawn(head: &Head) -> bool {
    head.draws().below(2) == 1
}
