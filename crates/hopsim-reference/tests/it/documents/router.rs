//! Random routers.

use super::graph::{sharing, vcs_by_hop};
use super::network::{classes, dateline, goes_round_rings};
use super::routing::{reply_vcs_needed, vcs_needed, vcs_of_one_class};
use super::traffic::{answers, longest_packet};
use super::{mostly, one_of};
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Value, json};

fn arbiter() -> impl Strategy<Value = Value> {
    select(vec![
        json!({ "round_robin": {} }),
        json!({ "least_recently_served": {} }),
        json!({ "age": { "timestamp": "generation" } }),
        json!({ "age": { "timestamp": "injection" } }),
        json!({ "age": { "timestamp": "arrival" } }),
        json!({ "random": {} }),
    ])
}

/// What a router is made of, before the packet length and the VCs that the routing needs are known.
#[derive(Clone, Debug)]
pub struct Router {
    cioq: bool,
    /// How packets leave an input-queued router for its nodes.
    consumption: Value,
    /// What has an input of the crossbar, and outputs of the crossbar per port of a `cioq` router.
    crossbar: (Value, u32),
    spare_vcs: [u32; 2],
    /// FlexVC alone knows spare ones for replies.
    spare_reply_vcs: [u32; 2],
    injection_vcs: u32,
    /// Packets that those which enter a ring leave room for.
    bubble: u32,
    /// The datelines of rings instead, where packets go dimension by dimension.
    dateline: Option<Value>,
    /// Room beyond the longest packet \[tenths of a packet\]: local, global, injection, output.
    spare_room: [u32; 4],
    speedup: f64,
    latencies: [u32; 2],
    allocator: Value,
    /// Of FlexVC, if that manages the VCs.
    selection: Option<Value>,
    /// Whether buffers are shared: with the space of a single VC for all, with so many packets reserved for each.
    damq: Option<(bool, [u32; 2])>,
}

/// Inputs of the crossbar, and outputs per port.
fn crossbar() -> impl Strategy<Value = (Value, u32)> {
    let plain = || json!("port");
    let both = vec![(json!("vc"), 1), (json!("vc"), 3), (json!(2), 2), (json!(3), 1), (json!(5), 4)];
    let one = vec![(json!(1), 1), (json!(2), 1), (plain(), 2), (plain(), 2), (plain(), 3)];
    select([vec![(plain(), 1); 6], one, both].concat())
}

pub fn router(common: u32) -> impl Strategy<Value = Router> {
    let room = select(vec![0, 0, 3, 10, 15, 27, 80, 400]);
    let allocator = (mostly(common, 1..=4, &[8]), arbiter(), arbiter(), any::<bool>());
    let allocator = allocator.prop_map(|(iterations, input, output, transit)| {
        json!({
            "iterations": iterations, "input_arbiter": input, "output_arbiter": output,
            "transit_priority": transit,
        })
    });
    let vcs = (
        [mostly(common, 0..=2, &[9]), mostly(common, 0..=2, &[12])],
        [0..=2u32, 0..=2u32],
        mostly(common, 1..=4, &[16]),
    );
    let speedup = select(vec![1.0, 1.3, 1.5, 2.0, 3.0]);
    let latencies = [mostly(common, 0..=5, &[40]), mostly(common, 0..=2, &[70])];
    let sharing = (
        prop::option::weighted(0.3, one_of(&["shortest", "highest", "lowest", "random"])),
        prop::option::weighted(0.3, (prop::bool::weighted(0.2), [0..=2u32, 0..=2u32])),
    );
    (
        (prop::bool::weighted(0.7), one_of(&["serial", "parallel"]), crossbar()),
        (vcs, sharing, (mostly(common.min(5), 1..=1, &[0, 2]), prop::option::weighted(0.5, dateline()))),
        [room.clone(), room.clone(), room.clone(), room],
        speedup,
        latencies,
        allocator,
    )
        .prop_map(
            |(
                (cioq, consumption, crossbar),
                (vcs, sharing, (bubble, dateline)),
                spare_room,
                speedup,
                latencies,
                allocator,
            )| {
                let ((spare_vcs, spare_reply_vcs, injection_vcs), (selection, damq)) = (vcs, sharing);
                Router {
                    cioq,
                    consumption,
                    crossbar,
                    spare_vcs,
                    spare_reply_vcs,
                    injection_vcs,
                    bubble,
                    dateline,
                    spare_room,
                    speedup,
                    latencies,
                    allocator,
                    selection,
                    damq,
                }
            },
        )
}

/// The names of the classes of links of a topology that has two.
fn two_classes(topology: &Value) -> [&'static str; 2] {
    let names = classes(topology);
    [names[0], names[1]]
}

impl Router {
    /// Local and global VCs, and the key of the document.
    fn vcs(&self, document: &Value) -> ([u32; 2], Value) {
        let replies = answers(document);
        let needed = vcs_needed(&document["routing"], self.selection.is_some());
        let apart = match (&self.selection, replies) {
            (_, false) => [0, 0],
            (None, true) => needed,
            (Some(_), true) => {
                let least = reply_vcs_needed(&document["routing"]);
                [0, 1].map(|class| least[class] + self.spare_reply_vcs[class])
            }
        };
        let links = [0, 1].map(|class| (needed[class] + apart[class] + self.spare_vcs[class]).min(16));
        let injection = if replies { self.injection_vcs.max(2) } else { self.injection_vcs };
        let mut vcs = json!({ "local": links[0], "global": links[1], "injection": injection });
        if let Some(selection) = &self.selection {
            vcs["management"] = json!({ "flexvc": { "selection": selection } });
            if replies {
                vcs["reply"] = json!({ "local": apart[0], "global": apart[1] });
            }
        }
        (links, vcs)
    }

    /// The same where all classes of links need as many.
    fn vcs_alike(&self, document: &Value) -> ([u32; 2], Value) {
        let (topology, routing) = (&document["topology"], &document["routing"]);
        let (copies, least_injection) = if answers(document) { (2, 2) } else { (1, 1) };
        let by_hop = vcs_by_hop(topology, routing);
        let needed = by_hop.unwrap_or_else(|| vcs_of_one_class(topology, routing));
        let links = self.spare_vcs.map(|spare| (needed * copies + spare).min(16));
        let injection = self.injection_vcs.max(least_injection);
        let [first, second] = two_classes(topology);
        let mut vcs = json!({ first: links[0], second: links[1], "injection": injection });
        if by_hop.is_some() {
            vcs["discipline"] = json!("by_hop");
        }
        self.share(document, &mut vcs);
        (links, vcs)
    }

    /// Lets hops share VCs where these are by hop.
    fn share(&self, document: &Value, vcs: &mut Value) {
        let (topology, routing) = (&document["topology"], &document["routing"]);
        let sharing = sharing(topology, routing, self.selection.as_ref()).filter(|_| !answers(document));
        if let Some(management) = sharing {
            vcs["management"] = management;
        }
    }

    pub fn build(&self, document: &Value) -> Value {
        let jobs = document["jobs"].as_array().unwrap();
        let longest = jobs.iter().map(longest_packet).max().unwrap();
        if let [class] = classes(&document["topology"]) {
            return self.build_of_one_class(document, (class, longest));
        }
        let (links, vcs) = if document["topology"].get("dragonfly").is_some() {
            self.vcs(document)
        } else {
            self.vcs_alike(document)
        };
        let room = |index: usize| longest + longest * u64::from(self.spare_room[index]) / 10;
        let [first, second] = two_classes(&document["topology"]);
        let mut buffers = json!({ first: room(0), second: room(1), "injection": room(2) });
        if self.cioq
            && first == "local"
            && let Some((crowded, reserve)) = self.damq
        {
            // A port's buffer has the room of all its VCs, or of one; what is reserved must fit.
            let sizes = [0, 1].map(|c| room(c) * if crowded { 1 } else { u64::from(links[c]) });
            let reserves =
                [0, 1].map(|c| u64::from(reserve[c]).min(sizes[c] / longest / u64::from(links[c])));
            (buffers["local"], buffers["global"]) = (json!(sizes[0]), json!(sizes[1]));
            buffers["damq"] = json!({
                "local_reserve": reserves[0], "global_reserve": reserves[1], "allow_deadlock": true,
            });
        }
        self.assemble(document, &vcs, (buffers, room(3)))
    }

    /// The same for a topology with one class of links.
    fn build_of_one_class(&self, document: &Value, (class, longest): (&str, u64)) -> Value {
        let (topology, routing) = (&document["topology"], &document["routing"]);
        let room = |index: usize| longest + longest * u64::from(self.spare_room[index]) / 10;
        // The bubble, and what packets leave free in adaptive VCs when they enter the network.
        let restriction = document["nic"]["control"]["lbr"]["packets"].as_u64().unwrap_or(0);
        let rings = goes_round_rings(topology, routing);
        let dateline = self.dateline.as_ref().filter(|_| rings && routing.get("minimal").is_some());
        let has_bubble = rings && dateline.is_none();
        let least = restriction.max(u64::from(if has_bubble { self.bubble } else { 0 }));
        let (copies, least_injection) = if answers(document) { (2, 2) } else { (1, 1) };
        let by_hop = vcs_by_hop(topology, routing);
        let needed = by_hop
            .unwrap_or_else(|| if dateline.is_some() { 2 } else { vcs_of_one_class(topology, routing) });
        let vcs = needed * copies + self.spare_vcs[0];
        // Half of them are for each direction.
        let directed = document["nic"]["injection_vc"] == "direction";
        let injection = if directed { self.injection_vcs.next_multiple_of(2) } else { self.injection_vcs };
        let mut vcs = json!({ class: vcs.min(16), "injection": injection.max(least_injection) });
        if let Some(dateline) = dateline {
            vcs["rings"] = dateline.clone();
        }
        if by_hop.is_some() {
            vcs["discipline"] = json!("by_hop");
        }
        self.share(document, &mut vcs);
        if has_bubble {
            (vcs["bubble"], vcs["allow_deadlock"]) = (json!(self.bubble), json!(self.bubble == 0));
        }
        let buffers = json!({ class: room(0) + least * longest, "injection": room(2) });
        self.assemble(document, &vcs, (buffers, room(3)))
    }

    fn assemble(&self, document: &Value, vcs: &Value, (mut buffers, output): (Value, u64)) -> Value {
        let mut router = json!({
            "vcs": vcs, "crossbar_latency": self.latencies[0], "pipeline_latency": self.latencies[1],
            "allocator": self.allocator,
        });
        if self.cioq {
            buffers["output"] = json!(output);
            router["speedup"] = json!(self.speedup);
            router["crossbar_outputs"] = json!(self.crossbar.1);
        } else if !answers(document) {
            // A node takes requests one at a time.
            router["consumption"] = self.consumption.clone();
        }
        router["crossbar_inputs"] = self.crossbar.0.clone();
        router["buffers"] = buffers;
        json!({ if self.cioq { "cioq" } else { "input_queued" }: router })
    }
}
