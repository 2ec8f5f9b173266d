//! Arbiters: who wins when several ask.

use hopsim_cycles::choices::ArbiterConfig;
use hopsim_random::Stream;

/// A VC or an input port that asks an arbiter.
pub struct Candidate {
    /// The VC (input arbiters) or input port (output arbiters).
    pub index: usize,
    /// Time stamp of the packet; smaller is older.
    pub age: u32,
    /// Class 0 or 1: candidates of class 1 wait for candidates of class 0.
    pub class: usize,
}

/// The state of one arbiter, whatever its kind.
pub struct Arbiter {
    kind: ArbiterConfig,
    stream: Stream,
    /// Position whose turn it is, by class.
    turn: [usize; 2],
    /// When every position was last served.
    served: Vec<u64>,
}

impl Arbiter {
    pub fn new(kind: ArbiterConfig, positions: usize, stream: Stream) -> Self {
        Self { kind, stream, served: vec![0; positions], turn: [0; 2] }
    }

    /// The index of the candidate that wins; `when` numbers cycle and iteration.
    pub fn choose(&self, candidates: &[Candidate], when: u64) -> Option<usize> {
        self.choose_again(candidates, (when, 0))
    }

    /// The index of the candidate that wins when `before` others have won in the same iteration.
    pub fn choose_again(&self, candidates: &[Candidate], (when, before): (u64, u64)) -> Option<usize> {
        let class = candidates.iter().map(|c| c.class).min()?;
        let mut rivals: Vec<&Candidate> = candidates.iter().filter(|c| c.class == class).collect();
        match self.kind {
            ArbiterConfig::RoundRobin(_) => {}
            ArbiterConfig::LeastRecentlyServed(_) => {
                let longest_ago = rivals.iter().map(|c| self.served[c.index]).min()?;
                return rivals.iter().map(|c| c.index).find(|&i| self.served[i] == longest_ago);
            }
            ArbiterConfig::Age(_) => {
                let oldest = rivals.iter().map(|c| c.age).min()?;
                rivals.retain(|c| c.age == oldest);
            }
            ArbiterConfig::Random(_) => {
                let stream = self.stream.at(when);
                let mut stream = if before == 0 { stream } else { stream.at(before) };
                let pick = stream.below(rivals.len() as u32);
                return Some(rivals[pick as usize].index);
            }
        }
        let turn = self.turn[class];
        let in_turn = rivals.iter().find(|c| c.index >= turn).or(rivals.first());
        in_turn.map(|c| c.index)
    }

    /// Notes that `index` has been served as one of `class`.
    pub fn serve(&mut self, (index, class): (usize, usize), when: u64) {
        self.turn[class] = index + 1;
        self.served[index] = when + 1;
    }
}
