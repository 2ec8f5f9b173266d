//! Dotted paths, and values as they would stand in the document.

use hopsim_network::error::ConfigError;
use serde_json::Value;
use std::fmt::Write;

/// Longest value shown in a message \[characters\].
const SHOWN: usize = 60;

/// The parts of a dotted path such as `jobs.0.traffic.packet_length`; parts may be quoted.
pub fn parse(text: &str) -> Result<Vec<String>, ConfigError> {
    let keys = toml_edit::Key::parse(text.trim()).map_err(|_| {
        ConfigError::new(shorten(text), "is not a dotted path")
            .valid("keys joined by dots, elements of a list by number from 0: jobs.0.traffic.packet_length")
    })?;
    Ok(keys.into_iter().map(|key| key.get().to_owned()).collect())
}

/// A path as text, parts quoted where TOML needs it.
pub fn display(parts: impl IntoIterator<Item = impl AsRef<str>>) -> String {
    let quoted = |part: &str| {
        let bare =
            !part.is_empty() && part.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-');
        if bare { part.to_owned() } else { Value::from(part).to_string() }
    };
    parts.into_iter().map(|part| quoted(part.as_ref())).collect::<Vec<_>>().join(".")
}

fn shorten(text: &str) -> String {
    if text.chars().count() <= SHOWN {
        return text.to_owned();
    }
    text.chars().take(SHOWN - 1).chain(['…']).collect()
}

/// A value as TOML on one line, cut when it is long.
pub fn show(value: &Value) -> String {
    let mut text = String::new();
    write_value(value, &mut text);
    shorten(&text)
}

fn write_value(value: &Value, text: &mut String) {
    match value {
        // Enough to be cut: a long list is not written to its end.
        _ if text.len() > 4 * SHOWN => {}
        Value::Array(items) => {
            text.push('[');
            for (index, item) in items.iter().enumerate().take(SHOWN) {
                text.push_str(if index > 0 { ", " } else { "" });
                write_value(item, text);
            }
            text.push(']');
        }
        Value::Object(fields) if fields.is_empty() => text.push_str("{}"),
        Value::Object(fields) => {
            for (index, (key, field)) in fields.iter().enumerate().take(SHOWN) {
                let _ = write!(text, "{}{} = ", if index > 0 { ", " } else { "{ " }, display([key]));
                write_value(field, text);
            }
            text.push_str(" }");
        }
        other => {
            let _ = write!(text, "{other}");
        }
    }
}
