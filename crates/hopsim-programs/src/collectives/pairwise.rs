//! Every pair exchanges what it has for each other, one pair after the other.

use super::{Call, Kind, Part, Step};

/// Round i − 1 for i = 1 … p − 1: exchanges with r xor i if p is a power of two, else sends to r + i and receives from r − i. A
/// pair of alltoallv without bytes in a direction sends nothing in it.
pub(super) fn round(call: &Call, round: u32) -> Option<Step> {
    if round >= call.members - 1 {
        return None;
    }
    let (to, from) = partners(call, round + 1);
    match (call.kind, call.each) {
        (Kind::Alltoall, _) => Some(Step::both((to, call.bytes), (from, call.bytes))),
        (Kind::Alltoallv, Some((sent, received))) => {
            Some(Step { receive: part(received, from), send: part(sent, to), reduces: false })
        }
        _ => None,
    }
}

fn partners(call: &Call, distance: u32) -> (u32, u32) {
    if call.members.is_power_of_two() {
        (call.place ^ distance, call.place ^ distance)
    } else {
        (call.after(distance), call.before(distance))
    }
}

fn part(bytes: &[u64], member: u32) -> Option<Part> {
    let bytes = bytes.get(member as usize).copied().unwrap_or(0);
    (bytes > 0).then_some(Part { member, bytes })
}
