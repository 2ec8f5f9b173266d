//! The cut of a network into regions.

use hopsim_cycles::kernel::regions::{Cut, Regions, WHOLE};
use hopsim_experiment::plan::Plan;
use serde_json::json;

#[test]
fn regions_hold_every_router_once_and_groups_whole() {
    let document = json!({
        "topology": { "dragonfly": { "p": 2, "a": 4, "h": 2 } },
        "links": { "local": { "latency": 4 }, "global": { "latency": 23 } },
        "load": 0.6
    });
    let system = Plan::new(&serde_json::from_value(document).unwrap()).unwrap().system;
    let bytes = WHOLE.div_ceil(system.network.routers as usize);
    let regions = Regions::new(&system, (Cut::Fitting, 1), bytes);
    assert_eq!(regions.count(), 9, "a group needs more than a region should have");
    assert_eq!(regions.lookahead(), 23);
    for region in 0..regions.count() {
        let routers = regions.routers(region);
        assert_eq!(routers, 4 * region as u32..4 * region as u32 + 4);
        assert!(routers.clone().all(|router| regions.of(router) == region));
    }
    let regions = Regions::new(&system, (Cut::Fitting, 1), bytes - 1);
    assert_eq!((regions.count(), regions.lookahead()), (1, u32::MAX));
}
