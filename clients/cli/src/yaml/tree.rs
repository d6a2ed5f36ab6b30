//! A value and where it stands.

use std::sync::Arc;

use serde_json::{Map, Number, Value};

use crate::faults::Origin;

/// A value of a file.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Node {
    pub(crate) origin: Origin,
    pub(crate) kind: NodeKind,
}

/// What a value is.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum NodeKind {
    Null,
    Bool(bool),
    Number(Number),
    Text(String),
    List(Vec<Node>),
    /// Names in the file's order, each with its line.
    Map(Vec<(String, usize, Node)>),
}

impl Node {
    /// As JSON.
    pub(crate) fn to_value(&self) -> Value {
        match &self.kind {
            NodeKind::Null => Value::Null,
            NodeKind::Bool(value) => Value::Bool(*value),
            NodeKind::Number(number) => Value::Number(number.clone()),
            NodeKind::Text(text) => Value::String(text.clone()),
            NodeKind::List(items) => items.iter().map(Self::to_value).collect(),
            NodeKind::Map(_) => Value::Object(self.to_map()),
        }
    }

    /// As a JSON object, empty if it is something else.
    pub(crate) fn to_map(&self) -> Map<String, Value> {
        let fields = self.fields().iter();
        fields.map(|(name, _, value)| (name.clone(), value.to_value())).collect()
    }

    /// The names and values of a map; nothing of other values.
    pub(crate) fn fields(&self) -> &[(String, usize, Node)] {
        if let NodeKind::Map(fields) = &self.kind { fields } else { &[] }
    }

    /// The value of a name in a map.
    pub(crate) fn get(&self, name: &str) -> Option<&Node> {
        self.fields().iter().find(|(own, ..)| own == name).map(|(.., value)| value)
    }

    /// The same, to be changed.
    pub(crate) fn get_mut(&mut self, name: &str) -> Option<&mut Node> {
        let NodeKind::Map(fields) = &mut self.kind else { return None };
        fields.iter_mut().find(|(own, ..)| own == name).map(|(.., value)| value)
    }

    /// Takes a name out of a map.
    pub(crate) fn take(&mut self, name: &str) -> Option<Node> {
        let NodeKind::Map(fields) = &mut self.kind else { return None };
        let index = fields.iter().position(|(own, ..)| own == name)?;
        Some(fields.remove(index).2)
    }

    /// The text, if it is one.
    pub(crate) fn text(&self) -> Option<&str> {
        if let NodeKind::Text(text) = &self.kind { Some(text) } else { None }
    }

    /// What it is, for an error.
    pub(crate) fn kind_name(&self) -> &'static str {
        match self.kind {
            NodeKind::Null => "nothing",
            NodeKind::Bool(_) => "true or false",
            NodeKind::Number(_) => "a number",
            NodeKind::Text(_) => "a text",
            NodeKind::List(_) => "a list",
            NodeKind::Map(_) => "a map",
        }
    }

    /// Where the value at a JSON pointer stands, or the deepest one on the way there. A name
    /// stands where its line begins, which may be above its value.
    pub(crate) fn origin_of(&self, pointer: &str) -> Origin {
        let (mut node, mut origin) = (self, self.origin.clone());
        for part in pointer.split('/').skip(1) {
            let name = part.replace("~1", "/").replace("~0", "~");
            match &node.kind {
                NodeKind::List(items) => {
                    let item = name.parse::<usize>().ok().and_then(|index| items.get(index));
                    let Some(item) = item else { break };
                    (node, origin) = (item, item.origin.clone());
                }
                NodeKind::Map(fields) => {
                    let field = fields.iter().find(|(own, ..)| *own == name);
                    let Some((_, line, value)) = field else { break };
                    origin = Origin { file: Arc::clone(&value.origin.file), line: *line };
                    node = value;
                }
                _ => break,
            }
        }
        origin
    }
}
