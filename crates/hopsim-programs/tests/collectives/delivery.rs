//! What collectives deliver, run on sets.

use crate::carried::{Held, Message, brought, carried, due, size};
use crate::case::{Case, cases};
use hopsim_programs::collectives::{Algorithm, Kind, Step};
use std::collections::{BTreeMap, VecDeque};

/// Members that take their steps. Sends are buffered.
struct Run<'a> {
    case: &'a Case,
    held: Vec<Held>,
    sent: BTreeMap<(u32, u32), u32>,
    under_way: BTreeMap<(u32, u32), VecDeque<(u64, Held)>>,
}

impl Run<'_> {
    fn send(&mut self, from: u32, step: Step) {
        let Some(part) = step.send else { return };
        let nth = self.sent.entry((from, part.member)).or_default();
        let message = Message { from, to: part.member, nth: *nth };
        *nth += 1;
        let content = carried(self.case, &self.held[from as usize], message);
        let bytes: u64 = content.keys().map(|&block| size(self.case, block)).sum();
        assert_eq!(part.bytes, bytes, "{:?} {message:?}", self.case);
        self.under_way.entry((from, part.member)).or_default().push_back((bytes, content));
    }

    /// Whether the message is there.
    fn receive(&mut self, place: u32, step: Step) -> bool {
        let Some(part) = step.receive else { return true };
        let Some((bytes, content)) =
            self.under_way.get_mut(&(part.member, place)).and_then(VecDeque::pop_front)
        else {
            return false;
        };
        assert_eq!(part.bytes, bytes, "{:?}: {place} receives {part:?}", self.case);
        for (block, set) in content {
            self.take(place, block, set, step.reduces);
        }
        true
    }

    /// An operand must be of members that are not in the sum yet; anything else must not take away what is there.
    fn take(&mut self, place: u32, block: u32, set: u128, reduces: bool) {
        let own = self.held[place as usize].entry(block).or_default();
        if reduces {
            assert!(*own != 0 && *own & set == 0, "{:?}: {place} adds {set:b} to {own:b}", self.case);
        } else if self.case.kind != Kind::Barrier {
            assert!(*own & set == *own, "{:?}: {place} replaces {own:b} by {set:b}", self.case);
        }
        *own |= set;
    }

    fn finish(&mut self) {
        let steps = self.case.steps();
        let mut next = vec![0; steps.len()];
        let mut begun = vec![false; steps.len()];
        let mut moved = true;
        while std::mem::take(&mut moved) {
            for (place, steps) in steps.iter().enumerate() {
                while let Some(&step) = steps.get(next[place]) {
                    if !std::mem::replace(&mut begun[place], true) {
                        self.send(place as u32, step);
                    }
                    if !self.receive(place as u32, step) {
                        break;
                    }
                    (next[place], begun[place], moved) = (next[place] + 1, false, true);
                }
            }
        }
        let ends: Vec<usize> = steps.iter().map(Vec::len).collect();
        assert_eq!(next, ends, "{:?}: steps of members that wait for ever", self.case);
    }
}

fn deliver(case: &Case) {
    let held = (0..case.members).map(|place| brought(case, place)).collect();
    let mut run = Run { case, held, sent: BTreeMap::new(), under_way: BTreeMap::new() };
    run.finish();
    assert!(run.under_way.values().all(VecDeque::is_empty), "{case:?}: messages that nobody receives");
    for (place, held) in run.held.iter().enumerate() {
        for (block, set) in due(case, place as u32) {
            // A pair of alltoallv without bytes has no message.
            if size(case, block) > 0 || case.kind != Kind::Alltoallv {
                assert_eq!(held.get(&block), Some(&set), "{case:?}: block {block} of {place}");
            }
        }
    }
}

#[test]
fn every_collective_delivers_to_each_member_what_it_must() {
    cases(1000).for_each(|case| deliver(&case));
}

#[test]
fn vectors_of_fewer_bytes_than_members_are_delivered_too() {
    for bytes in [0, 3] {
        cases(bytes).filter(|case| case.members <= 17).for_each(|case| deliver(&case));
    }
}

/// Whether all members come to their ends if a send is done only when it is received.
fn ends_without_buffers(case: &Case) -> bool {
    let mut steps: Vec<VecDeque<Step>> = case.steps().into_iter().map(VecDeque::from).collect();
    let mut moved = true;
    while std::mem::take(&mut moved) {
        for place in 0..steps.len() {
            let Some(part) = steps[place].front().and_then(|step| step.send) else { continue };
            let other = part.member as usize;
            let fits = |step: &&mut Step| step.receive.is_some_and(|part| part.member as usize == place);
            if let Some(step) = steps[other].front_mut().filter(fits) {
                step.receive = None;
                steps[place][0].send = None;
                moved = true;
            }
            for steps in &mut steps {
                if steps.front().is_some_and(|step| step.send.is_none() && step.receive.is_none()) {
                    steps.pop_front();
                }
            }
        }
    }
    steps.iter().all(VecDeque::is_empty)
}

#[test]
fn only_exchanges_of_fsin_need_buffers() {
    for case in cases(1000).filter(|case| case.members <= 33) {
        let exchange = case.algorithm == Algorithm::Fsin && !case.kind.is_rooted() && case.members > 1;
        assert_eq!(ends_without_buffers(&case), !exchange, "{case:?}");
    }
}
