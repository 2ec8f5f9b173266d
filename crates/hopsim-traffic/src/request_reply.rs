//! Request-reply traffic: see [`Config`].

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Every packet of the pattern is a request; when its destination begins to absorb it, it sends a reply of the same
/// length to the requester. `load` counts both: requests are generated at half of it.
///
/// Rule: the lower half of the injection VCs, ⌊n/2⌋, is for requests, the rest for replies. A request is granted its
/// ejection port only if there is room for its reply in the injection buffer it would use, which then stays reserved:
/// a node that cannot send its replies takes no more requests. Replies are always taken, and they have VCs of their own
/// all the way (`router.cioq.vcs`: twice as many as the routing needs, the second half for replies; with FlexVC
/// those of `router.cioq.vcs.reply`), so that they never wait for requests: no protocol deadlock. Packets of jobs without
/// request-reply use the request VCs.
///
/// Fairness figures (`router_injection_…`, `node_injection_…`) count requests only.
///
/// Source: Fuentes' thesis (2017), chapter 5 (request-reply traffic); FOGSim's reactive traffic, `UN_RCTV`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "RequestReply")]
pub struct Config {
    /// Most requests of a node without their reply \[1 …\]; default: no limit. A request beyond it waits in the source
    /// queue; it is dropped if that is full.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub outstanding: Option<u32>,
}
