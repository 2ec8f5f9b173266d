//! A step of the training of a large language model: data, tensor and pipeline parallelism.
//!
//! The schedule is 1F1B (Narayanan et al. 2021, "Efficient large-scale language model training on GPU clusters using
//! Megatron-LM", SC, section 2.2.1): stage s of p passes p − s − 1 micro-batches forward, then one forward and one backward in
//! turn, and at last backward what is left. Without communication the step takes
//! (micro-batches + p − 1) · (forward + backward) · layers of a stage.
//!
//! - **Forward** of a micro-batch: receives `activation` from the stage before; for every layer computes and sums `activation`
//!   up in the tensor group; sends `activation` to the stage behind.
//! - **Backward**: receives from the stage behind; for every layer, from the last, computes and sums up in the tensor group;
//!   sends to the stage before.
//! - **Gradients**: one all-reduce of `gradient` per layer in the data group, from the last layer. With `overlap` that of a
//!   layer begins after the last backward pass of the layer, on stream 1 and without blocking, and all are waited for at the
//!   end. Without it they come one after the other when all backward passes are over.
//!
//! Sends to other stages do not block; each is waited for before the next one in its direction, and at the end. A group of one
//! rank does not communicate.

use super::{MAX_RANKS, check_repeats, members, product};
use crate::collectives::Kind;
use crate::error::Refusal;
use crate::record::{Bytes, Collective, Communicator, Message, Rank, Record, Records, Script};
use std::collections::VecDeque;
use std::sync::Arc;

/// Sizes and times. The number of ranks is `data` · `tensor` · `pipeline`; rank numbers go along the tensor group first, then
/// along the stages of the pipeline, then along the data group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TrainingParameters {
    /// Ranks of a data group: copies of the model, `[1 or more]`.
    pub data: u32,
    /// Ranks of a tensor group: parts of a layer, `[1 or more]`.
    pub tensor: u32,
    /// Stages of the pipeline, `[1 or more; product of the three up to 2²⁴]`.
    pub pipeline: u32,
    /// Layers of the model, `[a multiple of pipeline; up to 10⁶]`.
    pub layers: u32,
    /// What a layer gives of a micro-batch `[bytes]`.
    pub activation: u64,
    /// The gradients of a layer, the part of one rank `[bytes]`.
    pub gradient: u64,
    /// Computation of a rank for a layer and a micro-batch on the way forward `[ns]`.
    pub forward: u64,
    /// Computation of a rank for a layer and a micro-batch on the way back `[ns]`.
    pub backward: u64,
    /// Micro-batches of a step of every copy of the model, `[1 or more; up to 2³¹ records]`.
    pub micro_batches: u32,
    /// Whether gradients are summed up while earlier layers still compute.
    pub overlap: bool,
}

/// Most layers of a model.
const MAX_LAYERS: u64 = 1_000_000;

/// The program of a step of training.
#[derive(Clone, Debug)]
pub struct TrainingProgram {
    parameters: TrainingParameters,
    communicators: Vec<Arc<[Rank]>>,
}

impl TrainingProgram {
    /// Refuses parameters out of their ranges.
    pub fn new(parameters: TrainingParameters) -> Result<Self, Refusal> {
        let TrainingParameters { data, tensor, pipeline, layers, micro_batches, .. } = parameters;
        let all = u64::from(u32::MAX);
        for (key, value) in [("data", data), ("tensor", tensor), ("pipeline", pipeline)] {
            Refusal::unless_within(key, value, 1..=all)?;
        }
        Refusal::unless_within("layers", layers, 1..=MAX_LAYERS)?;
        if !layers.is_multiple_of(pipeline) {
            let reason = format!("{layers} layers cannot be shared out evenly among {pipeline} stages");
            return Err(Refusal::new("layers", layers, reason, format!("a multiple of {pipeline}")));
        }
        let ranks = product(&[data, tensor, pipeline]).ok_or_else(|| {
            let reason =
                format!("{data} x {tensor} x {pipeline} ranks of data, tensor and pipeline are too many");
            Refusal::new("data", data, reason, format!("a product of up to {MAX_RANKS}"))
        })?;
        let layers = u64::from(layers / pipeline);
        check_repeats("micro_batches", micro_batches, 6 * layers + 6)?;
        let tensor_groups = (0..data * pipeline).map(|group| members(group * tensor, 1, tensor));
        let stride = tensor * pipeline;
        let data_groups = (0..stride).map(|group| members(group, stride, data));
        let communicators = std::iter::once(members(0, 1, ranks)).chain(tensor_groups).chain(data_groups);
        Ok(Self { communicators: communicators.collect(), parameters })
    }

    /// Layers of a stage.
    fn layers(&self) -> u32 {
        self.parameters.layers / self.parameters.pipeline
    }
}

impl Script for TrainingProgram {
    fn communicators(&self) -> &[Arc<[Rank]>] {
        &self.communicators
    }

    fn records(self: Arc<Self>, rank: Rank) -> Box<dyn Records> {
        Box::new(TrainingStep::new(self, rank))
    }
}

/// The two ways through the layers. The number is the tag of messages between stages and the request of sends.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    Forward = 0,
    Backward = 1,
}

/// First request of an all-reduce of gradients.
const GRADIENTS: u32 = 2;

/// The step of one rank.
struct TrainingStep {
    program: Arc<TrainingProgram>,
    rank: Rank,
    stage: u32,
    /// Communicators of the two groups.
    tensor_group: Communicator,
    data_group: Communicator,
    /// The pass that comes next, and how many of its layers are over.
    pass: u32,
    layer: u32,
    /// Layers whose gradients have been summed up or waited for.
    gradients: u32,
    /// Records that come next: what belongs to a layer.
    next: VecDeque<Record>,
    left: u64,
}

impl TrainingStep {
    fn new(program: Arc<TrainingProgram>, rank: Rank) -> Self {
        let TrainingParameters { data, tensor, pipeline, .. } = program.parameters;
        let stage = rank / tensor % pipeline;
        let mut step = Self {
            rank,
            stage,
            tensor_group: 1 + rank / tensor,
            data_group: 1 + data * pipeline + rank % (tensor * pipeline),
            pass: 0,
            layer: 0,
            gradients: 0,
            next: VecDeque::new(),
            left: 0,
            program,
        };
        step.left = step.records();
        step
    }

    /// Number of records of the rank.
    fn records(&self) -> u64 {
        let TrainingParameters { data, tensor, pipeline, micro_batches, overlap, .. } =
            self.program.parameters;
        let (layers, micro_batches) = (u64::from(self.program.layers()), u64::from(micro_batches));
        let passes = 2 * micro_batches * layers * if tensor > 1 { 2 } else { 1 };
        // To and from every stage next to it: a receive, a send and a wait for each micro-batch.
        let others = u64::from(self.stage > 0) + u64::from(self.stage + 1 < pipeline);
        let gradients = match (data > 1, overlap) {
            (false, _) => 0,
            (true, false) => layers,
            (true, true) => 2 * layers,
        };
        passes + 3 * others * micro_batches + gradients
    }

    /// Which way pass number `pass` goes, and which micro-batch it takes.
    fn pass(&self, pass: u32) -> (Way, u32) {
        let TrainingParameters { pipeline, micro_batches, .. } = self.program.parameters;
        let ahead = micro_batches.min(pipeline - self.stage - 1);
        match pass.checked_sub(ahead) {
            None => (Way::Forward, pass),
            Some(turn) if turn / 2 >= micro_batches - ahead => (Way::Backward, pass - micro_batches),
            Some(turn) if turn.is_multiple_of(2) => (Way::Forward, ahead + turn / 2),
            Some(turn) => (Way::Backward, turn / 2),
        }
    }

    /// Makes the next records, if there are any: those of a layer, or what comes after all passes.
    fn make(&mut self) {
        let TrainingParameters { data, micro_batches, .. } = self.program.parameters;
        let layers = self.program.layers();
        if self.pass < 2 * micro_batches {
            let (way, micro_batch) = self.pass(self.pass);
            self.make_layer(way, micro_batch);
            self.layer += 1;
            if self.layer == layers {
                self.send(way, micro_batch);
                (self.pass, self.layer) = (self.pass + 1, 0);
            }
            return;
        }
        if data > 1 && self.gradients < layers {
            let layer = layers - 1 - self.gradients;
            let record = if self.program.parameters.overlap {
                wait(GRADIENTS + layer)
            } else {
                Record::Collective(self.gradient())
            };
            self.next.push_back(record);
            self.gradients += 1;
            return;
        }
        let waits = [Way::Forward, Way::Backward].map(|way| self.to(way).map(|_| wait(way as u32)));
        self.next.extend(waits.into_iter().flatten());
    }

    /// What a rank does for a layer on the way of a micro-batch.
    fn make_layer(&mut self, way: Way, micro_batch: u32) {
        let TrainingParameters {
            data, tensor, activation, forward, backward, micro_batches, overlap, ..
        } = self.program.parameters;
        if self.layer == 0
            && let Some(peer) = self.from(way)
        {
            let message = self.message(peer, way);
            self.next.push_back(Record::Receive { message, any_source: false, request: None });
        }
        let nanoseconds = if way == Way::Forward { forward } else { backward };
        self.next.push_back(Record::Compute { nanoseconds });
        if tensor > 1 {
            self.next.push_back(Record::Collective(allreduce(self.tensor_group, activation)));
        }
        if data > 1 && overlap && way == Way::Backward && micro_batch == micro_batches - 1 {
            let request = GRADIENTS + self.program.layers() - 1 - self.layer;
            self.next.push_back(Record::Begin { collective: Box::new(self.gradient()), request });
        }
    }

    /// What the rank sends after the last layer of a pass.
    fn send(&mut self, way: Way, micro_batch: u32) {
        let Some(peer) = self.to(way) else { return };
        let request = way as u32;
        if micro_batch > 0 {
            self.next.push_back(wait(request));
        }
        let message = self.message(peer, way);
        self.next.push_back(Record::Send { message, request: Some(request) });
    }

    fn message(&self, peer: Rank, way: Way) -> Message {
        let bytes = self.program.parameters.activation;
        Message { peer, tag: way as u32, bytes, communicator: 0 }
    }

    fn gradient(&self) -> Collective {
        allreduce(self.data_group, self.program.parameters.gradient)
    }

    /// The rank of the stage before.
    fn before(&self) -> Option<Rank> {
        (self.stage > 0).then(|| self.rank - self.program.parameters.tensor)
    }

    /// The rank of the stage behind.
    fn behind(&self) -> Option<Rank> {
        let TrainingParameters { tensor, pipeline, .. } = self.program.parameters;
        (self.stage + 1 < pipeline).then(|| self.rank + tensor)
    }

    fn from(&self, way: Way) -> Option<Rank> {
        if way == Way::Forward { self.before() } else { self.behind() }
    }

    fn to(&self, way: Way) -> Option<Rank> {
        if way == Way::Forward { self.behind() } else { self.before() }
    }
}

fn wait(request: u32) -> Record {
    Record::Wait { requests: [request].into_iter().collect() }
}

fn allreduce(communicator: Communicator, bytes: u64) -> Collective {
    Collective { kind: Kind::Allreduce, communicator, root: None, bytes: Bytes::Same(bytes) }
}

impl Records for TrainingStep {
    fn next(&mut self) -> Option<Record> {
        self.left = self.left.checked_sub(1)?;
        if self.next.is_empty() {
            self.make();
        }
        self.next.pop_front()
    }

    fn left(&self) -> u64 {
        self.left
    }
}
