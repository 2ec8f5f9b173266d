//! The fields of Chakra's schema that say what is computed and communicated; all others are skipped.

use crate::error::ProgramError;
use prost::Message;

/// `GlobalMetadata`, the first message of a file, of which nothing is used.
#[derive(Clone, PartialEq, Message)]
pub struct Metadata {}

/// A node of the graph: `Node` of the schema.
#[derive(Clone, PartialEq, Message)]
pub struct Node {
    #[prost(uint64, tag = "1")]
    pub id: u64,
    #[prost(string, tag = "2")]
    pub name: String,
    /// The kind of the node, `type`: see the constants of [`kind`].
    #[prost(int32, tag = "3")]
    pub kind: i32,
    #[prost(uint64, repeated, tag = "4")]
    pub ctrl_deps: Vec<u64>,
    #[prost(uint64, repeated, tag = "5")]
    pub data_deps: Vec<u64>,
    #[prost(uint64, tag = "7")]
    pub duration_micros: u64,
    #[prost(message, repeated, tag = "10")]
    pub attr: Vec<Attribute>,
}

/// The kinds of nodes: `NodeType` of the schema.
pub mod kind {
    pub const METADATA: i32 = 1;
    pub const MEM_LOAD: i32 = 2;
    pub const MEM_STORE: i32 = 3;
    pub const COMP: i32 = 4;
    pub const COMM_SEND: i32 = 5;
    pub const COMM_RECV: i32 = 6;
    pub const COMM_COLL: i32 = 7;
}

/// An attribute of a node: `AttributeProto` of the schema.
#[derive(Clone, PartialEq, Message)]
pub struct Attribute {
    #[prost(string, tag = "1")]
    pub name: String,
    #[prost(oneof = "Value", tags = "7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29")]
    pub value: Option<Value>,
}

/// The value of an attribute that is a single whole number, bool or text.
#[derive(Clone, PartialEq, prost::Oneof)]
pub enum Value {
    #[prost(int32, tag = "7")]
    Int32(i32),
    #[prost(int64, tag = "9")]
    Int64(i64),
    #[prost(uint32, tag = "11")]
    Uint32(u32),
    #[prost(uint64, tag = "13")]
    Uint64(u64),
    #[prost(sint32, tag = "15")]
    Sint32(i32),
    #[prost(sint64, tag = "17")]
    Sint64(i64),
    #[prost(fixed32, tag = "19")]
    Fixed32(u32),
    #[prost(fixed64, tag = "21")]
    Fixed64(u64),
    #[prost(sfixed32, tag = "23")]
    Sfixed32(i32),
    #[prost(sfixed64, tag = "25")]
    Sfixed64(i64),
    #[prost(bool, tag = "27")]
    Bool(bool),
    #[prost(string, tag = "29")]
    Text(String),
}

impl Value {
    fn number(&self) -> Option<i128> {
        Some(match *self {
            Self::Int32(number) | Self::Sint32(number) | Self::Sfixed32(number) => number.into(),
            Self::Int64(number) | Self::Sint64(number) | Self::Sfixed64(number) => number.into(),
            Self::Uint32(number) | Self::Fixed32(number) => number.into(),
            Self::Uint64(number) | Self::Fixed64(number) => number.into(),
            Self::Bool(_) | Self::Text(_) => return None,
        })
    }
}

impl Node {
    fn attribute(&self, name: &str) -> Option<&Attribute> {
        self.attr.iter().find(|attribute| attribute.name == name)
    }

    /// The value of an attribute that is a number up to a limit; none if it is not there.
    pub fn number(&self, name: &str, most: u64) -> Result<Option<u64>, ProgramError> {
        let Some(attribute) = self.attribute(name) else { return Ok(None) };
        let number = attribute.value.as_ref().and_then(Value::number);
        let number = number.and_then(|number| u64::try_from(number).ok()).filter(|&number| number <= most);
        let refused = || {
            ProgramError::new(format!(
                "expected a whole number from 0 to {most} as attribute `{name}`, got {}",
                attribute.value.as_ref().map_or("no number".into(), |value| format!("{value:?}"))
            ))
        };
        number.ok_or_else(refused).map(Some)
    }

    /// The value of an attribute that is a number up to a limit, and that must be there.
    pub fn needed(&self, name: &str, most: u64) -> Result<u64, ProgramError> {
        let number = self.number(name, most)?;
        number.ok_or_else(|| ProgramError::new(format!("expected an attribute `{name}`, got none")))
    }

    /// Whether an attribute is there and true.
    pub fn is(&self, name: &str) -> bool {
        self.attribute(name).is_some_and(|attribute| match &attribute.value {
            Some(Value::Bool(is)) => *is,
            Some(value) => value.number().is_some_and(|number| number != 0),
            None => false,
        })
    }

    /// The text of an attribute, if it is there and not empty.
    pub fn text(&self, name: &str) -> Option<&str> {
        match &self.attribute(name)?.value {
            Some(Value::Text(text)) if !text.is_empty() => Some(text),
            _ => None,
        }
    }
}

/// The nodes of a file.
pub fn nodes(mut contents: &[u8]) -> Result<Vec<Node>, ProgramError> {
    message::<Metadata>(&mut contents, 0)?;
    let mut nodes = Vec::new();
    while !contents.is_empty() {
        nodes.push(message(&mut contents, nodes.len() + 1)?);
    }
    Ok(nodes)
}

/// The next message, and the number before it that says its length. Messages are counted from 0, the metadata.
fn message<M: Message + Default>(contents: &mut &[u8], number: usize) -> Result<M, ProgramError> {
    let wrong = |reason: String| {
        ProgramError::new(format!(
            "message {number} of the file {reason}; expected a Chakra execution trace, each message behind its length"
        ))
    };
    let length = prost::decode_length_delimiter(&mut *contents).map_err(|_| wrong("has no length".into()))?;
    if length > contents.len() {
        return Err(wrong(format!("is cut short: it has {} of {length} bytes", contents.len())));
    }
    let (own, rest) = contents.split_at(length);
    *contents = rest;
    M::decode(own).map_err(|error| wrong(format!("cannot be understood: {error}")))
}
