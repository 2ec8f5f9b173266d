//! The text of a document: its values, and where in the text each of them stands.

use super::path;
use hopsim_network::error::{ConfigError, Origin};
use serde_json::{Map, Number, Value};
use std::iter;
use std::ops::Range;
use toml_edit::{Document, Item, TableLike, TomlError};

/// A parsed TOML text.
pub struct Source<'a> {
    lines: Lines<'a>,
    document: Document<&'a str>,
}

impl<'a> Source<'a> {
    /// Parses the text.
    pub fn parse(text: &'a str) -> Result<Self, ConfigError> {
        let document = Document::parse(text).map_err(|error| refusal(text, &error))?;
        Ok(Self { lines: Lines::of(text), document })
    }

    /// The values of the whole document.
    pub fn value(&self) -> Result<Value, ConfigError> {
        table(self.document.as_table(), &mut Vec::new())
    }

    /// Line and column of the key at `path`, or of its nearest parent in the text, with the length of the
    /// path that was found. An element of a list stands where its value stands.
    pub fn place(&self, path: &[String]) -> Option<((u32, u32), usize)> {
        let mut found = None;
        let mut node = Node::Table(self.document.as_table());
        for (depth, part) in path.iter().enumerate() {
            let Some((span, next)) = node.child(part) else { break };
            if let Some(span) = span {
                found = Some((self.lines.position(span.start), depth + 1));
            }
            node = next;
        }
        found
    }
}

/// What is wrong with a text that is not TOML, in the words of a user where the parser's lead astray.
fn refusal(text: &str, error: &TomlError) -> ConfigError {
    let start = error.span().map_or(text.len(), |span| span.start);
    let (line, column) = Lines::of(text).position(start);
    let shown = path::show(&Value::from(text.lines().nth(line as usize - 1).unwrap_or("").trim()));
    let rest = text.get(start..).and_then(|rest| rest.lines().next()).unwrap_or("");
    let word = rest.split(|c: char| c.is_whitespace() || ",]}#=".contains(c)).next().unwrap_or("");
    let before = text.get(..start).and_then(|before| before.lines().last()).unwrap_or("").trim_end();
    let is_value = before.ends_with(['=', '[', ',']) && !before.trim_start().starts_with('[');
    let (reason, valid) = match error.message() {
        _ if is_value && word.starts_with(|c: char| c.is_alphabetic()) => {
            ("a string must be quoted", Some(Value::from(word).to_string()))
        }
        _ if is_value && rest.trim().is_empty() => ("the value is missing", None),
        message if message.contains("overflow") => (message, Some("numbers of 64 bits".to_owned())),
        message => (message, None),
    };
    let reason = format!("not TOML: {reason}, in the line {shown}");
    ConfigError { origin: Origin::Text { line, column }, valid, ..ConfigError::new("", reason) }
}

/// A text by lines, in which a place is found without reading all that stands before it.
struct Lines<'a> {
    text: &'a str,
    /// Where each line begins \[bytes\].
    starts: Vec<usize>,
}

impl<'a> Lines<'a> {
    fn of(text: &'a str) -> Self {
        let ends = text.bytes().enumerate().filter(|&(_, byte)| byte == b'\n');
        Self { text, starts: iter::once(0).chain(ends.map(|(end, _)| end + 1)).collect() }
    }

    /// Line and column of a byte, both from 1; columns count characters.
    fn position(&self, byte: usize) -> (u32, u32) {
        let byte = byte.min(self.text.len());
        let line = self.starts.partition_point(|&start| start <= byte);
        let before = &self.text.as_bytes()[self.starts[line - 1]..byte];
        (line as u32, String::from_utf8_lossy(before).chars().count() as u32 + 1)
    }
}

/// Something in the text that may have children.
enum Node<'a> {
    Table(&'a dyn TableLike),
    Tables(&'a toml_edit::ArrayOfTables),
    List(&'a toml_edit::Array),
    Leaf,
}

impl<'a> Node<'a> {
    fn of(item: &'a Item) -> Self {
        match item {
            Item::ArrayOfTables(tables) => Self::Tables(tables),
            Item::Value(value) => Self::of_value(value),
            other => other.as_table_like().map_or(Self::Leaf, Self::Table),
        }
    }

    fn of_value(value: &'a toml_edit::Value) -> Self {
        match value {
            toml_edit::Value::Array(items) => Self::List(items),
            toml_edit::Value::InlineTable(fields) => Self::Table(fields),
            _ => Self::Leaf,
        }
    }

    fn child(&self, part: &str) -> Option<(Option<Range<usize>>, Self)> {
        match self {
            Self::Table(fields) => {
                let (key, item) = fields.get_key_value(part)?;
                Some((key.span(), Self::of(item)))
            }
            Self::Tables(tables) => {
                let table = tables.get(part.parse().ok()?)?;
                Some((table.span(), Self::Table(table)))
            }
            Self::List(items) => {
                let value = items.get(part.parse().ok()?)?;
                Some((value.span(), Self::of_value(value)))
            }
            Self::Leaf => None,
        }
    }
}

/// The value of an override: TOML, or else a bare string.
pub fn override_value(text: &str) -> Result<Value, ConfigError> {
    match text.trim().parse::<toml_edit::Value>() {
        Ok(parsed) => value(&parsed, &mut Vec::new()),
        Err(_) => match beyond(text.trim()) {
            Some(reason) => Err(ConfigError::new("", reason)
                .value(path::show(&Value::from(text.trim())).trim_matches('"'))
                .valid("integers of 64 bits, finite decimal numbers")),
            None => Ok(Value::from(text.trim())),
        },
    }
}

/// Why TOML does not hold a number that is written like one.
fn beyond(text: &str) -> Option<&'static str> {
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text).replace('_', "");
    if !digits.starts_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    let too_long = digits.bytes().all(|b| b.is_ascii_digit()) && digits.parse::<i64>().is_err();
    let infinite = digits.parse::<f64>().is_ok_and(f64::is_infinite);
    let reason = if text.starts_with('-') { "is too small" } else { "is too large" };
    (too_long || infinite).then_some(reason)
}

fn table(fields: &dyn TableLike, path: &mut Vec<String>) -> Result<Value, ConfigError> {
    let mut map = Map::new();
    for (key, item) in fields.iter() {
        path.push(key.to_owned());
        map.insert(key.to_owned(), self::item(item, path)?);
        path.pop();
    }
    Ok(Value::Object(map))
}

fn item(item: &Item, path: &mut Vec<String>) -> Result<Value, ConfigError> {
    match item {
        Item::None => Ok(Value::Null),
        Item::Value(v) => value(v, path),
        Item::Table(fields) => table(fields, path),
        Item::ArrayOfTables(tables) => list(tables.iter(), path, |fields, path| table(fields, path)),
    }
}

fn list<T>(
    items: impl Iterator<Item = T>,
    path: &mut Vec<String>,
    convert: impl Fn(T, &mut Vec<String>) -> Result<Value, ConfigError>,
) -> Result<Value, ConfigError> {
    let mut values = Vec::new();
    for (index, item) in items.enumerate() {
        path.push(index.to_string());
        values.push(convert(item, path)?);
        path.pop();
    }
    Ok(Value::Array(values))
}

fn value(value: &toml_edit::Value, path: &mut Vec<String>) -> Result<Value, ConfigError> {
    match value {
        toml_edit::Value::String(text) => Ok(Value::from(text.value().as_str())),
        toml_edit::Value::Integer(number) => Ok(Value::from(*number.value())),
        toml_edit::Value::Boolean(flag) => Ok(Value::from(*flag.value())),
        toml_edit::Value::Datetime(date) => Ok(Value::from(date.value().to_string())),
        toml_edit::Value::Array(items) => list(items.iter(), path, self::value),
        toml_edit::Value::InlineTable(fields) => table(fields, path),
        toml_edit::Value::Float(number) => {
            let number = *number.value();
            Number::from_f64(number).map(Value::Number).ok_or_else(|| {
                let shown = number.to_string().to_lowercase();
                ConfigError::new(path::display(&*path), "must be a finite number").value(shown)
            })
        }
    }
}
