//! Compares a document with its schema: keys, kinds of values, names, and that integers fit their type.
//! Ranges and everything that depends on more than one key are left to [`crate::plan::Plan`].

use super::path::{display, show};
use super::schema::{self, Choice, Limits, Schema, Shape};
use crate::config::names::{closest, nearly, plain};
use hopsim_network::error::ConfigError;
use serde_json::{Map, Value};

/// The reason of an error about a key that a table needs and does not have.
pub const MISSING: &str = "is missing";

/// Refuses a value that does not fit the schema. `path` is where the value stands.
pub fn check(schema: Schema, path: &mut Vec<String>, value: &Value) -> Result<(), ConfigError> {
    fits(schema, path, value, Demand::Whole)
}

/// Refuses a value that does not fit the schema in what it states, and no other for what it lacks.
pub fn check_stated(schema: Schema, path: &mut Vec<String>, value: &Value) -> Result<(), ConfigError> {
    fits(schema, path, value, Demand::Stated)
}

/// What a value must have.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Demand {
    /// All keys that have no default.
    Whole,
    /// No keys: others may still be added. Numbers are in their range, which a plan does not see to.
    Stated,
}

fn fits(schema: Schema, path: &mut Vec<String>, value: &Value, demand: Demand) -> Result<(), ConfigError> {
    match (schema.shape(), value) {
        (Shape::Table { keys, required }, Value::Object(fields)) => {
            let names: Vec<&str> = keys.iter().map(|(key, _)| *key).collect();
            if let Some(stranger) = schema::keys(fields).find(|key| !names.contains(key)) {
                path.push(stranger.to_owned());
                let refused = unknown(path, &names, &fields[stranger]);
                return Err(refused.valid(schema::list(names)));
            }
            each(schema, path, fields, demand)?;
            if demand == Demand::Stated { Ok(()) } else { missing(&keys, &required, path, fields) }
        }
        (Shape::Choice(choice), Value::String(name)) => named(schema, &choice, path, name),
        (Shape::Choice(_), Value::Object(fields)) if demand == Demand::Stated && fields.is_empty() => Ok(()),
        (Shape::Choice(choice), Value::Object(fields)) => {
            check_choice(schema, &choice, path, fields)?;
            each(schema, path, fields, demand)
        }
        (Shape::List(items), Value::Array(values)) => {
            for (index, value) in values.iter().enumerate() {
                path.push(index.to_string());
                fits(items, path, value, demand)?;
                path.pop();
            }
            Ok(())
        }
        (Shape::Integer(limits), Value::Number(number)) => {
            let fits = integer(&limits, number).and_then(|()| in_range(&limits, number, demand));
            fits.map_err(|reason| refuse(schema, path, value, reason))
        }
        (Shape::Number(limits), Value::Number(number)) => {
            in_range(&limits, number, demand).map_err(|reason| refuse(schema, path, value, reason))
        }
        (Shape::Either(schemas), _) => match schemas.into_iter().find(|s| s.takes(value)) {
            Some(fitting) => fits(fitting, path, value, demand).map_err(|error| {
                // The other forms of the value would have been valid, too.
                if error.path == display(&*path) { error.valid(schema.valid()) } else { error }
            }),
            None => Err(mismatch(schema, path, value)),
        },
        (Shape::Any, _) | (Shape::Text, Value::String(_)) | (Shape::Boolean, Value::Bool(_)) => Ok(()),
        _ => Err(mismatch(schema, path, value)),
    }
}

fn each(
    schema: Schema,
    path: &mut Vec<String>,
    fields: &Map<String, Value>,
    demand: Demand,
) -> Result<(), ConfigError> {
    for (key, field) in fields {
        if let Some(child) = schema.child(key) {
            path.push(key.clone());
            fits(child, path, field, demand)?;
            path.pop();
        }
    }
    Ok(())
}

fn missing(
    keys: &[(&str, Schema)],
    required: &[&str],
    path: &mut Vec<String>,
    fields: &Map<String, Value>,
) -> Result<(), ConfigError> {
    match keys.iter().find(|(key, _)| required.contains(key) && !fields.contains_key(*key)) {
        None => Ok(()),
        Some((key, schema)) => {
            path.push((*key).to_owned());
            let valid = match schema.shape() {
                Shape::Choice(choice) if path.len() == 1 => {
                    let tables = choice.all().into_iter().map(|name| format!("[{key}.{name}]"));
                    format!("one of the tables {}", tables.collect::<Vec<_>>().join(", "))
                }
                _ => schema.valid(),
            };
            Err(ConfigError::new(display(&*path), MISSING).valid(valid))
        }
    }
}

/// A choice written as a name.
fn named(schema: Schema, choice: &Choice, path: &[String], name: &str) -> Result<(), ConfigError> {
    if choice.names.contains(&name) {
        return Ok(());
    }
    let refused = ConfigError::new(display(path), "no such choice").value(show(&Value::from(name)));
    let Some(table) = choice.table(name) else {
        let meant = within_a_choice(choice, name).or_else(|| closest(name, &choice.all()).map(quoted));
        return Err(refused.suggestion(meant.as_deref()).valid(schema.valid()));
    };
    let reason = format!("`{name}` needs {}", table.noun());
    Err(ConfigError { reason, ..refused }.valid(format!("{{ {name} = … }}, {}", table.valid())))
}

/// How to write a name that belongs to one of the choices: `tornado` is a `permutation`.
fn within_a_choice(choice: &Choice, name: &str) -> Option<String> {
    let has = |outer: &&str| match choice.table(outer).map(Schema::shape) {
        Some(Shape::Choice(inner)) => inner.names.contains(&name),
        _ => false,
    };
    choice.all().into_iter().find(has).map(|outer| format!("`{{ {outer} = {name:?} }}`"))
}

/// A choice written as a table must have one key, which is a name of a choice that has parameters.
fn check_choice(
    schema: Schema,
    choice: &Choice,
    path: &mut Vec<String>,
    fields: &Map<String, Value>,
) -> Result<(), ConfigError> {
    let all = choice.all();
    if let Some(stranger) = schema::keys(fields).find(|key| !all.contains(key)) {
        let refused = unvaried(path, &choice.names, stranger, &fields[stranger]);
        path.push(stranger.to_owned());
        return Err(refused.unwrap_or_else(|| unknown(path, &all, &fields[stranger])).valid(schema.valid()));
    }
    if let Some(plain) = schema::keys(fields).find(|key| choice.table(key).is_none()) {
        let refused = ConfigError::new(display(&*path), format!("`{plain}` has no parameters"));
        return Err(refused.value(show(&Value::Object(fields.clone()))).valid(format!("{plain:?}")));
    }
    match schema::keys(fields).collect::<Vec<_>>()[..] {
        [_] => Ok(()),
        [] => Err(ConfigError::new(display(&*path), "names none of the choices")
            .value("{}")
            .valid(schema.valid())),
        [first, second, ..] => {
            path.push(second.to_owned());
            let reason = format!("a second choice beside `{first}`");
            Err(ConfigError::new(display(&*path), reason).valid(format!("one of {}", schema.valid())))
        }
    }
}

fn integer(limits: &Limits, number: &serde_json::Number) -> Result<(), String> {
    match (number.as_u64(), number.as_i64()) {
        (Some(value), _) if value <= limits.capacity => Ok(()),
        (Some(_), _) => Err("is too large".into()),
        (None, Some(_)) => Err("must not be negative".into()),
        (None, None) => Err("must be an integer, not a decimal number".into()),
    }
}

/// Refuses what is out of the range that the schema states: of a whole document the plan does so, in words of its own.
fn in_range(limits: &Limits, number: &serde_json::Number, demand: Demand) -> Result<(), String> {
    let limit = |text: &Option<String>| text.as_ref().and_then(|text| text.parse::<f64>().ok());
    let Some(value) = number.as_f64().filter(|_| demand == Demand::Stated) else { return Ok(()) };
    let is_low = limit(&limits.least).is_some_and(|least| value < least);
    let is_high = limit(&limits.most).is_some_and(|most| value > most);
    if is_low || is_high { Err("out of range".into()) } else { Ok(()) }
}

fn refuse(schema: Schema, path: &[String], value: &Value, reason: impl Into<String>) -> ConfigError {
    ConfigError::new(display(path), reason).value(show(value)).valid(schema.valid())
}

fn mismatch(schema: Schema, path: &[String], value: &Value) -> ConfigError {
    let refused = refuse(schema, path, value, format!("must be {}, not {}", schema.noun(), noun(value)));
    match (schema.shape(), value) {
        (Shape::List(items), Value::Object(_)) if items.is_table() => {
            let key = path.last().map_or("", String::as_str);
            refused.valid(format!("a list of tables, each under its own [[{key}]]"))
        }
        _ => refused,
    }
}

fn noun(value: &Value) -> &'static str {
    match value {
        Value::Null => "nothing",
        Value::Bool(_) => "true or false",
        Value::Number(number) if number.is_f64() => "a decimal number",
        Value::Number(_) => "an integer",
        Value::String(_) => "a string",
        Value::Array(_) => "a list",
        Value::Object(_) => "a table",
    }
}

fn unknown(path: &[String], names: &[&str], value: &Value) -> ConfigError {
    let refused = ConfigError::new(display(path), "unknown key");
    let refused = if value.is_object() { refused } else { refused.value(show(value)) };
    let name = path.last().map_or("", String::as_str);
    refused.suggestion(closest(name, names).map(quoted).or_else(|| elsewhere(path)).as_deref())
}

/// The answer to a choice that is written as the value of a key, `{ kind = "transpose" }`, if that is what it is.
fn unvaried(path: &[String], names: &[&str], stranger: &str, value: &Value) -> Option<ConfigError> {
    let meant = closest(value.as_str()?, names)?;
    let key = path.last()?;
    let place = format!("{}.{stranger}", display(path));
    let refused = ConfigError::new(place, "unknown key").value(show(value));
    Some(refused.suggestion(Some(&format!("`{key} = \"{meant}\"`"))))
}

/// A name in a message.
pub fn quoted(name: &str) -> String {
    format!("`{name}`")
}

/// Where in the document keys stand that have this or nearly this name: everywhere if the places are few, else the first one
/// below the table that the stranger was found in, and that at the top.
fn elsewhere(path: &[String]) -> Option<String> {
    let (name, table) = path.split_last()?;
    let keys = schema::all_keys();
    let meant = nearly(&plain(name), &keys.iter().map(|(key, _)| key.as_str()).collect::<Vec<_>>())?;
    let all = || keys.iter().filter(|(key, _)| key == meant).map(|(_, place)| place);
    // A document has one topology and one routing: parameters of any come last.
    let is_of_choice =
        |place: &[String]| place.first().is_some_and(|first| first == "topology" || first == "routing");
    let apart = !is_of_choice(path) && all().any(|place| !is_of_choice(place));
    let places = || all().filter(|place| !(apart && is_of_choice(place)));
    if places().count() <= 3 {
        return Some(places().map(|place| quoted(&display(place))).collect::<Vec<_>>().join(" or "));
    }
    // Elements of lists are numbered 0 in the places, but by their own number in the path.
    let same =
        |(own, other): (&String, &String)| own == other || (own.parse::<usize>().is_ok() && other == "0");
    let below = places().find(|place| place.len() > path.len() && table.iter().zip(place.iter()).all(same));
    let below = below.map(|place| quoted(&display(table.iter().chain(&place[table.len()..]))));
    let top = places().find(|place| place.len() == 1).map(|place| quoted(&display(place)));
    let found: Vec<String> = below.into_iter().chain(top).collect();
    (!found.is_empty()).then(|| found.join(" or "))
}
