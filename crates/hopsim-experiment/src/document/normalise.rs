//! Short forms: a choice with parameters may be written as its bare name, `routing = "minimal"`, and traffic
//! patterns by the names of the papers, `"ADV+1"`. Both become the table they stand for.

use super::schema::{Schema, Shape};
use hopsim_traffic::pattern;
use serde_json::{Map, Value};

/// Replaces all short forms below `value`; what fits no schema is left as it is.
pub fn normalise(schema: Schema, value: &mut Value) {
    match (schema.shape(), value) {
        (Shape::Choice(choice), value @ Value::String(_)) => {
            let Some(text) = value.as_str() else { return };
            if choice.names.contains(&text) {
                return;
            }
            if choice.table(text).is_some_and(Schema::is_table) {
                *value = Value::Object(Map::from_iter([(text.to_owned(), Value::Object(Map::new()))]));
            } else if let Some(table) = long_form(schema.name, text) {
                *value = table;
            }
        }
        (Shape::Table { .. } | Shape::Choice(_), Value::Object(fields)) => {
            for (key, field) in fields.iter_mut() {
                if let Some(child) = schema.child(key) {
                    normalise(child, field);
                }
            }
        }
        (Shape::List(items), Value::Array(values)) => values.iter_mut().for_each(|v| normalise(items, v)),
        _ => {}
    }
}

/// The table behind a short name of the choice defined as `definition`.
fn long_form(definition: &str, text: &str) -> Option<Value> {
    match definition {
        "PatternConfig" => serde_json::to_value(pattern::PatternConfig::from_short_name(text)?).ok(),
        _ => None,
    }
}

/// The short names of the choice defined as `definition`, for messages.
pub fn short_names(definition: &str) -> Option<&'static str> {
    (definition == "PatternConfig").then_some(pattern::SHORT_NAMES)
}
