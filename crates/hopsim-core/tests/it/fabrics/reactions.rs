//! What sources do about notifications: messages, and which keys a resolved document has.

use super::{VALID, control, starts};
use crate::message_of;
use hopsim_experiment::document;
use hopsim_experiment::plan::AnyPlan;
use hopsim_experiment::plan::programs::no_files;

#[test]
fn reactions() {
    let of = |key: &str, value: &str| control(&format!("reaction{key}"), value);
    for reaction in ["table", "aimd", "{ aimd = { increase = 1, decrease = 0.000001, least = 0.0001 } }"] {
        assert_eq!(of("", reaction), "accepted", "{reaction}");
    }
    let key = "router.infiniband.congestion_control";
    for (name, value, valid) in [
        ("increase", "0", "0.000001 … 1"),
        ("decrease", "1.1", "0.000001 … 1"),
        ("least", "0.00001", "0.0001 … 1"),
    ] {
        let message = of(&format!(".aimd.{name}"), value);
        let expected = format!("{key}.reaction.aimd.{name} = ");
        assert!(message.starts_with(&expected), "{message}");
        assert!(message.ends_with(&format!(" (override): out of range; valid: {valid}")), "{message}");
    }
    assert_eq!(
        of(".aimd.period", "0 us"),
        format!(
            "{key}.reaction.aimd.period = \"0 us\" (override): is not a positive number and a unit; \
             valid: a decimal number above 0 and ps, ns, us, ms, s"
        )
    );
    starts(&of("", "cubic"), &format!("{key}.reaction = \"cubic\": no such choice; "));
}

#[test]
fn another_reaction_has_nothing_of_the_table() {
    let key = "router.infiniband.congestion_control";
    for (name, value) in [
        ("timer", "free"),
        ("ccti_timer", "150"),
        ("ccti_increase", "1"),
        ("ccti_limit", "127"),
        ("ccti_min", "0"),
        ("cct", "simula"),
    ] {
        let written = format!("{key}.{name}={value}");
        assert_eq!(
            message_of(VALID, &[&format!("{key}.reaction=aimd"), &written]),
            format!(
                "{key}.{name} (override): is of the reaction table, and there is another one; valid: no such key"
            )
        );
        assert_eq!(message_of(VALID, &[&format!("{key}.reaction=table"), &written]), "accepted");
    }
    let text = VALID.replacen("congestion_control = {}", "congestion_control.reaction.aimd = {}", 1);
    let point = document::points(&text, &[]).unwrap().remove(0);
    let resolved = document::resolved(&point.experiment).unwrap();
    let control = resolved["router"]["infiniband"]["congestion_control"].as_object().unwrap();
    let keys: Vec<&str> = control.keys().map(String::as_str).filter(|key| key.starts_with("cc")).collect();
    assert!(control.contains_key("level") && keys.is_empty() && !control.contains_key("timer"), "{keys:?}");
    let again = document::from_json(&resolved.to_string()).unwrap();
    assert_eq!(AnyPlan::new(&again, &no_files).unwrap().into_experiment(), point.experiment);
}
