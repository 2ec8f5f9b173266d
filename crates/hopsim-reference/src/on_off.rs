//! On/off flow control: see *On/off flow control* in `docs/model.md`.

use crate::simulator::Simulator;
use crate::state::parts::Input;
use hopsim_network::topology::PortClass;

impl Simulator<'_> {
    /// Lets the buffers of all links say off and on, after the allocation.
    pub(crate) fn say_off_and_on(&mut self) {
        let Some(thresholds) = self.plan.system.router.cioq().and_then(|router| router.on_off) else {
            return;
        };
        for router in 0..self.routers.len() {
            for port in 0..self.routers[router].inputs.len() {
                let input = &self.routers[router].inputs[port];
                let (PortClass::Link(class), Some((peer, back))) = (input.class, input.peer) else {
                    continue;
                };
                let (thresholds, due) = (thresholds[class as usize], self.now + input.latency);
                for vc in 0..input.vcs.len() {
                    let input = &self.routers[router].inputs[port];
                    let free = self.free(input, vc);
                    let word = if input.says_on[vc] { free >= thresholds.off } else { free >= thresholds.on };
                    if word != input.says_on[vc] {
                        self.routers[router].inputs[port].says_on[vc] = word;
                        self.routers[peer].outputs[back].word_wire.push(due, (vc, word));
                    }
                }
            }
        }
    }

    /// Phits of a VC that no packet has taken whose head has arrived and that has not been granted an output.
    fn free(&self, input: &Input, vc: usize) -> u32 {
        let granted = input.leaving().filter(|passage| passage.vc == vc).count();
        let waiting = input.vcs[vc].iter().skip(granted);
        let taken: u32 = waiting.map(|resident| self.packets[resident.packet].length).sum();
        assert!(taken <= input.capacity, "cycle {}: a buffer overflows", self.now);
        input.capacity - taken
    }
}
