//! Minimal adaptive routing: `hopsim explain adaptive`.

use super::Choice;
use super::head::Head;
use crate::parts::Request;

pub fn choose(head: &Head) -> Option<Choice> {
    let (ways, here, to) = (head.ways(), head.router(), head.destination());
    if here == to {
        return Some(head.eject());
    }
    let vcs = head.simulator.rules.vcs.used[0];
    let after = head.packet().memory.clone();
    let Some(cube) = ways.cube() else {
        if let Some(down) = ways.down(here, to) {
            return Some(head.ask(down));
        }
        let to = roomiest(head, &ways.ups().collect::<Vec<_>>(), 0..vcs)?;
        return Some(Choice { to, after, fixed: false });
    };
    // The ways round are those that the packet has drawn at its source.
    let ties = ways.draw_ties(cube, &mut head.draws_in(head.source()));
    let ports = ways.nearer(cube, (here, to), &ties);
    let escape = Request { port: ports[0], vc: 0 };
    let to = roomiest(head, &ports, 1..vcs).unwrap_or(escape);
    Some(Choice { to, after, fixed: false })
}

/// The VC with most credits of those that can take the packet; of several one that is drawn.
fn roomiest(head: &Head, ports: &[usize], vcs: std::ops::Range<u8>) -> Option<Request> {
    let all = ports.iter().flat_map(|&port| vcs.clone().map(move |vc| Request { port, vc }));
    let open: Vec<Request> = all.filter(|&to| head.open(to)).collect();
    let most = open.iter().map(|&to| head.credits(to)).max()?;
    let best: Vec<Request> = open.into_iter().filter(|&to| head.credits(to) == most).collect();
    let nth = if best.len() > 1 { head.attempt().below(best.len() as u32) } else { 0 };
    Some(best[nth as usize])
}
