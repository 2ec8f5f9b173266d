//! Parameters that cannot be: the whole message.

use hopsim_programs::collectives::Kind;
use hopsim_programs::generators::collective::{CollectiveParameters, CollectiveProgram};
use hopsim_programs::generators::stencil::{Neighbours, StencilParameters, StencilProgram};
use hopsim_programs::generators::training::{TrainingParameters, TrainingProgram};

const COLLECTIVE: CollectiveParameters =
    CollectiveParameters { ranks: 8, kind: Kind::Bcast, bytes: 8, root: None, repeat: 1, compute: 0 };

const STENCIL: StencilParameters = StencilParameters {
    sides: Vec::new(),
    periodic: true,
    bytes: 8,
    compute: 0,
    iterations: 1,
    neighbours: Neighbours::Faces,
    overlap: true,
};

const TRAINING: TrainingParameters = TrainingParameters {
    data: 2,
    tensor: 2,
    pipeline: 4,
    layers: 8,
    activation: 8,
    gradient: 8,
    forward: 1,
    backward: 1,
    micro_batches: 1,
    overlap: true,
};

#[test]
fn repeated_collectives_say_what_is_wrong() {
    let refused = |parameters| CollectiveProgram::new(parameters).unwrap_err().to_string();
    assert_eq!(
        refused(CollectiveParameters { ranks: 0, ..COLLECTIVE }),
        "ranks = 0: it is too small; valid: 1 to 16777216"
    );
    assert_eq!(
        refused(CollectiveParameters { repeat: 0, ..COLLECTIVE }),
        "repeat = 0: it is too small; valid: 1 to 1073741824"
    );
    assert_eq!(
        refused(CollectiveParameters { repeat: 2_000_000_000, ..COLLECTIVE }),
        "repeat = 2000000000: it is too large; valid: 1 to 1073741824"
    );
    assert_eq!(
        refused(CollectiveParameters { root: Some(8), ..COLLECTIVE }),
        "root = 8: it is too large; valid: 0 to 7"
    );
    assert_eq!(
        refused(CollectiveParameters { kind: Kind::Scan, root: Some(0), ..COLLECTIVE }),
        "root = 0: scan has no root; valid: leave it out"
    );
    assert_eq!(
        refused(CollectiveParameters { kind: Kind::Barrier, ..COLLECTIVE }),
        "bytes = 8: a barrier carries no bytes; valid: 0"
    );
    assert_eq!(
        refused(CollectiveParameters { kind: Kind::Alltoallv, ..COLLECTIVE }),
        "kind = alltoallv: all pairs of ranks exchange the same number of bytes; valid: alltoall, which sends the same \
         messages if its algorithm is pairwise"
    );
}

#[test]
fn stencils_say_what_is_wrong() {
    let refused = |parameters| StencilProgram::new(parameters).unwrap_err().to_string();
    let sides = |sides: &[u32]| StencilParameters { sides: sides.to_vec(), ..STENCIL };
    assert_eq!(refused(sides(&[])), "sides = []: a grid cannot have 0 dimensions; valid: 1 to 6 sides");
    assert_eq!(
        refused(sides(&[2; 7])),
        "sides = [2, 2, 2, 2, 2, 2, 2]: a grid cannot have 7 dimensions; valid: 1 to 6 sides"
    );
    assert_eq!(
        refused(sides(&[8, 1])),
        "sides = [8, 1]: along a side of less than 2 there are no neighbours; valid: sides of 2 or more"
    );
    assert_eq!(
        refused(sides(&[65_536, 65_536])),
        "sides = [65536, 65536]: there are too many ranks; valid: a product of up to 16777216"
    );
    assert_eq!(
        refused(StencilParameters { iterations: 0, ..sides(&[4]) }),
        "iterations = 0: it is too small; valid: 1 to 357913941"
    );
    assert_eq!(
        refused(StencilParameters { iterations: 1 << 30, ..sides(&[4, 4]) }),
        "iterations = 1073741824: it is too large; valid: 1 to 214748364"
    );
}

#[test]
fn training_says_what_is_wrong() {
    let refused = |parameters| TrainingProgram::new(parameters).unwrap_err().to_string();
    assert_eq!(
        refused(TrainingParameters { tensor: 0, ..TRAINING }),
        "tensor = 0: it is too small; valid: 1 to 4294967295"
    );
    assert_eq!(
        refused(TrainingParameters { layers: 6, ..TRAINING }),
        "layers = 6: 6 layers cannot be shared out evenly among 4 stages; valid: a multiple of 4"
    );
    assert_eq!(
        refused(TrainingParameters { data: 1 << 30, ..TRAINING }),
        "data = 1073741824: 1073741824 x 2 x 4 ranks of data, tensor and pipeline are too many; valid: a product of up to \
         16777216"
    );
    assert_eq!(
        refused(TrainingParameters { micro_batches: 1 << 30, ..TRAINING }),
        "micro_batches = 1073741824: it is too large; valid: 1 to 119304647"
    );
    assert_eq!(
        refused(TrainingParameters { layers: 1 << 31, ..TRAINING }),
        "layers = 2147483648: it is too large; valid: 1 to 1000000"
    );
}
