//! The means of the summary: what they are called, and which jobs have them.

use crate::plan::Plan;

/// A mean over the packets, or the nodes and cycles, of some jobs. Each has an interval over the batches. How each is computed:
/// see `measure/columns.rs`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mean {
    /// `accepted_load`.
    AcceptedLoad,
    /// `generated_load`.
    GeneratedLoad,
    /// `injected_load`.
    InjectedLoad,
    /// `packet_latency_mean`.
    PacketLatency,
    /// `injection_latency_mean`.
    InjectionLatency,
    /// `network_latency_mean`.
    NetworkLatency,
    /// `base_latency_mean`.
    BaseLatency,
    /// `misrouting_latency_mean`.
    MisroutingLatency,
    /// `misrouted_fraction`.
    Misrouted,
    /// `misrouted_at_injection_fraction` and the like, by where.
    MisroutedAt(usize),
    /// `misrouted_over_local_fraction` and the like, by the classes of the links of nonminimal hops: a bit each, less one.
    MisroutedOver(usize),
    /// `hops_mean`.
    Hops,
    /// `local_queue_latency_mean` and the like, by class of links.
    QueueLatency(usize),
    /// `local_hops_mean` and the like, by class of links.
    ClassHops(usize),
    /// `request_accepted_load`.
    RequestAcceptedLoad,
    /// `reply_accepted_load`.
    ReplyAcceptedLoad,
    /// `request_latency_mean`.
    RequestLatency,
    /// `reply_latency_mean`.
    ReplyLatency,
    /// `response_latency_mean`.
    ResponseLatency,
}

/// Where packets are misrouted.
const PLACES: [&str; 4] =
    ["at_injection", "in_source_group", "in_intermediate_group", "in_destination_group"];

impl Mean {
    /// The name in the summary; `classes` are the names of the classes of links.
    pub fn name(self, classes: &[&str]) -> String {
        let name = match self {
            Self::AcceptedLoad => "accepted_load",
            Self::GeneratedLoad => "generated_load",
            Self::InjectedLoad => "injected_load",
            Self::PacketLatency => "packet_latency_mean",
            Self::InjectionLatency => "injection_latency_mean",
            Self::NetworkLatency => "network_latency_mean",
            Self::BaseLatency => "base_latency_mean",
            Self::MisroutingLatency => "misrouting_latency_mean",
            Self::Misrouted => "misrouted_fraction",
            Self::MisroutedAt(place) => return format!("misrouted_{}_fraction", PLACES[place]),
            Self::MisroutedOver(set) => {
                return format!("misrouted_over_{}_fraction", united(classes, set + 1));
            }
            Self::Hops => "hops_mean",
            Self::QueueLatency(class) => return format!("{}_queue_latency_mean", classes[class]),
            Self::ClassHops(class) => return format!("{}_hops_mean", classes[class]),
            Self::RequestAcceptedLoad => "request_accepted_load",
            Self::ReplyAcceptedLoad => "reply_accepted_load",
            Self::RequestLatency => "request_latency_mean",
            Self::ReplyLatency => "reply_latency_mean",
            Self::ResponseLatency => "response_latency_mean",
        };
        name.into()
    }
}

/// The names of the classes in `set`, which has a bit for each.
fn united(classes: &[&str], set: usize) -> String {
    let members = classes.iter().enumerate().filter(|(class, _)| set >> class & 1 == 1);
    members.map(|(_, &name)| name).collect::<Vec<_>>().join("_and_")
}

/// The means that some jobs of a plan have together, in the order of the summary.
pub fn means(plan: &Plan, jobs: &[usize]) -> Vec<Mean> {
    let classes = 0..plan.system.network.link_classes.len();
    let mut all = vec![
        Mean::AcceptedLoad,
        Mean::GeneratedLoad,
        Mean::InjectedLoad,
        Mean::PacketLatency,
        Mean::InjectionLatency,
        Mean::NetworkLatency,
        Mean::BaseLatency,
        Mean::MisroutingLatency,
        Mean::Misrouted,
    ];
    all.extend((0..PLACES.len()).map(Mean::MisroutedAt));
    all.extend((0..(1 << classes.len()) - 1).map(Mean::MisroutedOver));
    all.push(Mean::Hops);
    all.extend(classes.clone().map(Mean::QueueLatency));
    all.extend(classes.map(Mean::ClassHops));
    if jobs.iter().any(|&job| plan.system.jobs[job].request_reply()) {
        all.extend([
            Mean::RequestAcceptedLoad,
            Mean::ReplyAcceptedLoad,
            Mean::RequestLatency,
            Mean::ReplyLatency,
            Mean::ResponseLatency,
        ]);
    }
    all
}
