//! The time that no network can undercut.

use super::{Ejection, Ideal, Latency, Network};
use crate::collectives::Choices;
use crate::error::ProgramError;
use crate::graph::Clock;
use crate::host::Cycle;
use crate::host::rules::Rules;
use crate::program::Program;
use crate::units::Fraction;
use std::sync::Arc;

/// The time of a program on processors as fast as those it was recorded on, without overheads and on a network without latency,
/// over which messages take no time \[ns\]: computations and what waits for what alone. Roots of broadcasts send to all others
/// themselves, and those of reductions receive from all. From 2³² ns on it is rounded down to µs, from there on to ms. None for a
/// table whose times are in cycles. Refuses a program that does not come to its end even so.
pub fn least_time(program: &Program) -> Result<Option<u64>, ProgramError> {
    let tick = match program.clock() {
        Clock::Nanoseconds => Fraction::ONE,
        Clock::Picoseconds => Fraction { numerator: 1, denominator: 1_000 },
        Clock::Cycles => return Ok(None),
    };
    let mut unit = 1;
    loop {
        let rate = tick.times(Fraction { numerator: 1, denominator: unit });
        match run(program, rate) {
            Ok(time) => return Ok(Some(u64::from(time) * unit)),
            // What takes longer than a clock of 32 bits can tell does not end by it either.
            Err(_) if unit < 1_000_000_000 => unit *= 1_000,
            Err(error) => return Err(error),
        }
    }
}

/// The cycle in which the program ends, of so many cycles to what its computations are counted in.
fn run(program: &Program, rate: Option<Fraction>) -> Result<Cycle, ProgramError> {
    let mut collectives = Choices::default();
    let from_root = [("bcast", "fsin"), ("reduce", "fsin")];
    from_root.into_iter().try_for_each(|(kind, algorithm)| collectives.set(kind, algorithm)).ok();
    let rules = Arc::new(Rules { cycles_per_nanosecond: rate, collectives, ..Rules::default() });
    let network =
        Network { latency: Latency::Constant(0), cycles_per_phit: 0, ejection: Ejection::Unlimited };
    let hosts = (0..program.ranks()).map(|rank| program.host(rank, &rules)).collect();
    let mut ideal = Ideal::new(network, hosts, 0);
    // A computation that takes longer ends in the last cycle, which does not count.
    ideal.advance(Cycle::MAX - 1, |_, _| ());
    let hosts = ideal.hosts();
    let Some(waiting) = hosts.iter().find(|host| !host.is_done()) else {
        return Ok(hosts.iter().map(|host| host.figures().finish).max().unwrap_or(0));
    };
    let count = hosts.iter().filter(|host| !host.is_done()).count();
    let reason = format!(
        "the program does not come to its end: {count} of {} ranks wait for ever, the first one here",
        hosts.len()
    );
    let line = waiting
        .operations()
        .first()
        .and_then(|operation| program.line(waiting.rank(), operation.label.record));
    Err(ProgramError { line, ..ProgramError::new(reason).rank(waiting.rank()) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::Format;

    fn time(text: &str) -> Result<Option<u64>, String> {
        let contents =
            Format::of(text.as_bytes()).read(text.as_bytes()).map_err(|error| error.to_string())?;
        least_time(&contents.program()).map_err(|error| error.to_string())
    }

    const HEAD: &str = "mpt 1\nname x\nranks 3\ncomm 0 3 0 1 2\n";

    #[test]
    fn only_computations_on_the_longest_path_count() {
        let message =
            "rank 0 2\nc 100\ns 1 0 999999 0\nrank 1 3\nc 70\nr 0 0 999999 0\nc 5\nrank 2 1\nc 60\nend\n";
        assert_eq!(time(&format!("{HEAD}{message}")), Ok(Some(105)));
        // The second rank has what the root sends before the third one comes; the root of a reduction waits for all.
        let bcast = "rank 0 2\nc 10\ng bcast 0 0 8 0\nrank 1 2\ng bcast 0 0 0 8\nc 5\nrank 2 2\nc 12\ng bcast 0 0 0 8\nend\n";
        assert_eq!(time(&format!("{HEAD}{bcast}")), Ok(Some(15)));
        let barrier =
            bcast.replace("bcast 0 0 8 0", "barrier 0 -1 0 0").replace("bcast 0 0 0 8", "barrier 0 -1 0 0");
        assert_eq!(time(&format!("{HEAD}{barrier}")), Ok(Some(17)));
        assert_eq!(time("time_ns,source,destination,bytes\n12.5,0,1,8\n7,1,1,8\n"), Ok(Some(12)));
        assert_eq!(time("time_cycles,source,destination,bytes\n12,0,1,8\n"), Ok(None));
    }

    #[test]
    fn long_times_are_in_coarser_units() {
        let text = "num_ranks 1\nrank 0 {\na: calc 4000000000\nb: calc 4000001999\nb requires a\n}\n";
        assert_eq!(time(text), Ok(Some(8_000_001_000)));
    }

    #[test]
    fn a_program_that_waits_for_itself_is_refused() {
        let text =
            format!("{HEAD}rank 0 2\nr 1 0 8 0\ns 1 0 8 0\nrank 1 2\nr 0 0 8 0\ns 0 0 8 0\nrank 2 0\nend\n");
        let message = "line 6: rank 0: the program does not come to its end: 2 of 3 ranks wait for ever, the first one here";
        assert_eq!(time(&text), Err(message.into()));
    }
}
