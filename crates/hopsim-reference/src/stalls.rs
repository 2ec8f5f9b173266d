//! Output VCs without room, for the record stream `link_series`: see *Measurement* in `docs/model.md`.

use crate::simulator::Simulator;
use hopsim_experiment::config::measure::RecordStream;

impl Simulator<'_> {
    /// Counts this cycle for every output VC that has no room for the shortest packet, if somebody asks.
    pub(crate) fn count_stalls(&mut self) {
        let measure = &self.plan.experiment.measure;
        if !measure.streams.contains(&RecordStream::LinkSeries) {
            return;
        }
        let (row, room) = (self.now / measure.interval, self.space(self.plan.system.shortest_packet()));
        for (router, parts) in self.routers.iter().enumerate() {
            for (port, output) in parts.outputs.iter().enumerate().filter(|(_, output)| !output.is_terminal())
            {
                for vc in (0..output.outstanding.len()).filter(|&vc| !output.has_room(vc, room)) {
                    *self.stalls.entry((row, router as u32, port, vc)).or_default() += 1;
                }
            }
        }
    }
}
