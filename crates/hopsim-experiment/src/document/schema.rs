//! The JSON Schema of the document, read as shapes. Everything the document code knows about keys, choices and
//! types comes from here, so that a new mechanism needs no edit in it.

use super::path;
use crate::config::Experiment;
use hopsim_network::topology::TopologyConfig;
use serde_json::{Map, Value};
use std::sync::LazyLock;

/// One node of the schema, references resolved.
#[derive(Clone, Copy, Debug)]
pub struct Schema {
    node: &'static Value,
    /// Name of the definition, empty for an inline node.
    pub name: &'static str,
}

/// What a value may be.
#[derive(Clone, Debug)]
pub enum Shape {
    /// A table with known keys.
    Table {
        /// The keys of the table, each with its schema.
        keys: Vec<(&'static str, Schema)>,
        /// The keys that have no default.
        required: Vec<&'static str>,
    },
    /// One of several names, with or without parameters.
    Choice(Choice),
    /// A list of one kind of values.
    List(Schema),
    /// A whole number.
    Integer(Limits),
    /// A number.
    Number(Limits),
    /// True or false.
    Boolean,
    /// Any text.
    Text,
    /// The first of several shapes that fits.
    Either(Vec<Schema>),
    /// Anything.
    Any,
}

/// The alternatives of a choice.
#[derive(Clone, Debug, Default)]
pub struct Choice {
    /// The alternatives without parameters, written as strings.
    pub names: Vec<&'static str>,
    /// The alternatives with parameters, written as a table of one key.
    pub tables: Vec<(&'static str, Schema)>,
}

/// Least and greatest value, for messages.
#[derive(Clone, Debug)]
pub struct Limits {
    /// Least value.
    pub least: Option<String>,
    /// Greatest value.
    pub most: Option<String>,
    /// Greatest value the type holds.
    pub capacity: u64,
}

/// The schema of the whole document as JSON.
pub fn document() -> &'static Value {
    static DOCUMENT: LazyLock<Value> = LazyLock::new(|| {
        let mut document = schemars::schema_for!(Experiment).to_value();
        add_examples(&mut document);
        document
    });
    &DOCUMENT
}

/// Adds the small networks that families of topologies give as examples of what they are.
fn add_examples(document: &mut Value) {
    for example in TopologyConfig::examples() {
        let name = example.name();
        let Ok(mut written) = serde_json::to_value(&example) else { continue };
        let choices = document["$defs"]["TopologyConfig"]["oneOf"].as_array();
        let parameters = choices.into_iter().flatten().find_map(|choice| choice["properties"].get(name));
        let reference = parameters.and_then(|parameters| parameters["$ref"].as_str());
        let Some(definition) = reference.and_then(|path| path.strip_prefix("#/$defs/")).map(str::to_owned)
        else {
            continue;
        };
        let definition = &mut document["$defs"][definition];
        if !definition["examples"].is_array() {
            definition["examples"] = Value::Array(Vec::new());
        }
        definition["examples"].as_array_mut().into_iter().for_each(|all| all.push(written[name].take()));
    }
}

/// What a reference to nowhere leads to.
static NOTHING: Value = Value::Null;

fn entries(node: &'static Value, key: &str) -> &'static [Value] {
    node.get(key).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

fn properties(node: &'static Value) -> impl Iterator<Item = (&'static str, Schema)> {
    let keys = node.get("properties").and_then(Value::as_object);
    keys.into_iter().flatten().map(|(key, child)| (key.as_str(), Schema::new(child)))
}

impl Schema {
    /// The schema of the whole document.
    pub fn root() -> Self {
        Self::new(document())
    }

    /// Follows references and drops the alternative `null` of optional keys, which TOML does not have.
    fn new(node: &'static Value) -> Self {
        if let Some(name) = node.get("$ref").and_then(Value::as_str).and_then(|r| r.strip_prefix("#/$defs/"))
        {
            let target = Self::new(document().get("$defs").and_then(|d| d.get(name)).unwrap_or(&NOTHING));
            return Self { name, ..target };
        }
        let mut others =
            entries(node, "anyOf").iter().filter(|a| a.get("type") != Some(&Value::from("null")));
        match (others.next(), others.next()) {
            (Some(only), None) => Self::new(only),
            _ => Self { node, name: "" },
        }
    }

    fn kind(self) -> &'static str {
        let is_kind = |kind: &&'static str| *kind != "null";
        match self.node.get("type") {
            Some(Value::String(kind)) => kind,
            Some(Value::Array(kinds)) => kinds.iter().filter_map(Value::as_str).find(is_kind).unwrap_or(""),
            _ => "",
        }
    }

    /// What the value may be.
    pub fn shape(self) -> Shape {
        if self.node.get("oneOf").is_some()
            || self.node.get("const").is_some()
            || self.node.get("enum").is_some()
        {
            return Shape::Choice(self.choice());
        }
        let either = entries(self.node, "anyOf");
        if !either.is_empty() {
            return Shape::Either(either.iter().map(Self::new).collect());
        }
        match self.kind() {
            "object" if self.node.get("additionalProperties") == Some(&Value::Bool(false)) => Shape::Table {
                keys: properties(self.node).collect(),
                required: entries(self.node, "required").iter().filter_map(Value::as_str).collect(),
            },
            "array" => self.node.get("items").map_or(Shape::Any, |items| Shape::List(Self::new(items))),
            "integer" => Shape::Integer(self.limits()),
            "number" => Shape::Number(self.limits()),
            "boolean" => Shape::Boolean,
            "string" => Shape::Text,
            _ => Shape::Any,
        }
    }

    fn choice(self) -> Choice {
        let mut choice = Choice::default();
        let own = std::slice::from_ref(self.node);
        let branches = self.node.get("oneOf").and_then(Value::as_array).map_or(own, Vec::as_slice);
        for branch in branches {
            choice.names.extend(branch.get("const").and_then(Value::as_str));
            choice.names.extend(entries(branch, "enum").iter().filter_map(Value::as_str));
            choice.tables.extend(properties(branch));
        }
        choice
    }

    fn limits(self) -> Limits {
        let plain = |limit: &Value| limit.as_f64().map_or(path::show(limit), |number| number.to_string());
        let limit = |key: &str| self.node.get(key).map(plain);
        let capacity = match self.node.get("format").and_then(Value::as_str) {
            Some("uint8") => u64::from(u8::MAX),
            Some("uint16") => u64::from(u16::MAX),
            Some("uint32") => u64::from(u32::MAX),
            _ => u64::MAX,
        };
        // TOML integers end at 2^63 - 1.
        let most = || (self.kind() == "integer").then(|| capacity.min(i64::MAX as u64).to_string());
        Limits { least: limit("minimum"), most: limit("maximum").or_else(most), capacity }
    }

    /// The schema below `key`.
    pub fn child(self, key: &str) -> Option<Self> {
        let find = |keys: Vec<(&str, Self)>| keys.into_iter().find(|(name, _)| *name == key).map(|(_, s)| s);
        match self.shape() {
            Shape::Table { keys, .. } => find(keys),
            Shape::Choice(choice) => find(choice.tables),
            Shape::List(items) => Some(items),
            _ => None,
        }
    }

    /// The list that stands at `key` when the document gives none.
    pub fn default_list(self, key: &str) -> Option<Value> {
        // A default stands beside the reference, so it is looked up before references are resolved.
        let default = self.node.get("properties")?.get(key)?.get("default")?;
        default.is_array().then(|| default.clone())
    }

    /// Whether a table of this shape may stand empty in a first attempt: its missing keys are then named.
    pub fn is_table(self) -> bool {
        matches!(self.shape(), Shape::Table { .. } | Shape::Choice(_))
    }

    /// Whether values of this kind are ever valid here.
    pub fn takes(self, value: &Value) -> bool {
        match self.shape() {
            Shape::Table { .. } => value.is_object(),
            Shape::Choice(choice) => value.is_string() || (value.is_object() && !choice.tables.is_empty()),
            Shape::List(_) => value.is_array(),
            Shape::Integer(_) | Shape::Number(_) => value.is_number(),
            Shape::Boolean => value.is_boolean(),
            Shape::Text => value.is_string(),
            Shape::Either(schemas) => schemas.iter().any(|s| s.takes(value)),
            Shape::Any => true,
        }
    }

    /// What would be valid, in words.
    pub fn valid(self) -> String {
        match self.shape() {
            Shape::Table { keys, .. } => table(&keys),
            Shape::Choice(choice) => choice.valid(self.name),
            Shape::List(items) => match items.shape() {
                Shape::Integer(_) => format!("a list of integers {}", items.valid()),
                _ => format!("a list of {}", items.valid()),
            },
            Shape::Integer(limits) | Shape::Number(limits) => limits.valid(),
            Shape::Boolean => "true, false".into(),
            Shape::Either(schemas) => schemas.iter().map(|s| s.valid()).collect::<Vec<_>>().join(" or "),
            Shape::Text | Shape::Any => match entries(self.node, "examples").first() {
                Some(example) => format!("text as {example}"),
                None => "any text".into(),
            },
        }
    }

    /// The kind of the value with an article.
    pub fn noun(self) -> String {
        match self.shape() {
            Shape::Table { .. } => "a table".into(),
            Shape::Choice(choice) if choice.tables.is_empty() => "a name".into(),
            Shape::Choice(_) => "a name or a table".into(),
            Shape::List(_) => "a list".into(),
            Shape::Integer(_) => "an integer".into(),
            Shape::Number(_) => "a number".into(),
            Shape::Boolean => "true or false".into(),
            Shape::Either(schemas) => schemas.iter().map(|s| s.noun()).collect::<Vec<_>>().join(" or "),
            Shape::Text | Shape::Any => "a string".into(),
        }
    }
}

/// A table with these keys.
fn table(keys: &[(&str, Schema)]) -> String {
    let shown = keys.iter().take(4).map(|(key, _)| format!("{key} = …")).collect::<Vec<_>>().join(", ");
    if keys.len() > 4 { format!("{{ {shown}, … }}") } else { format!("{{ {shown} }}") }
}

/// Names in a row.
pub fn list<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    let names: Vec<&str> = names.into_iter().collect();
    if names.is_empty() { "none".into() } else { names.join(", ") }
}

impl Choice {
    /// All names.
    pub fn all(&self) -> Vec<&'static str> {
        self.names.iter().copied().chain(self.tables.iter().map(|(name, _)| *name)).collect()
    }

    /// The table of `name`.
    pub fn table(&self, name: &str) -> Option<Schema> {
        self.tables.iter().find(|(key, _)| *key == name).map(|(_, schema)| *schema)
    }

    /// What would be valid, in words; `definition` is the name of the schema.
    pub fn valid(&self, definition: &str) -> String {
        let own = list(self.all());
        super::normalise::short_names(definition).map_or(own.clone(), |short| format!("{own} ({short})"))
    }
}

impl Limits {
    fn valid(&self) -> String {
        match (&self.least, &self.most) {
            (Some(least), Some(most)) => format!("{least} … {most}"),
            (Some(least), None) => format!("at least {least}"),
            (None, Some(most)) => format!("at most {most}"),
            (None, None) => "any number".into(),
        }
    }
}

/// The names of all keys with their paths, list elements numbered 0.
pub fn all_keys() -> Vec<(String, Vec<String>)> {
    let mut found = Vec::new();
    collect(Schema::root(), &mut Vec::new(), &mut found);
    found
}

fn collect(
    schema: Schema,
    above: &mut Vec<(&'static str, &'static str)>,
    found: &mut Vec<(String, Vec<String>)>,
) {
    let children = match schema.shape() {
        Shape::Table { keys, .. } => keys,
        Shape::Choice(choice) => choice.tables,
        Shape::List(items) => vec![("0", items)],
        _ => Vec::new(),
    };
    for (key, child) in children {
        // A pattern inside a mix leads back to the patterns: enter each definition once.
        if !child.name.is_empty() && above.iter().any(|(definition, _)| *definition == child.name) {
            continue;
        }
        above.push((child.name, key));
        found.push((key.to_owned(), above.iter().map(|(_, key)| (*key).to_owned()).collect()));
        collect(child, above, found);
        above.pop();
    }
}

/// The keys of a JSON object.
pub fn keys(map: &Map<String, Value>) -> impl Iterator<Item = &str> {
    map.keys().map(String::as_str)
}
