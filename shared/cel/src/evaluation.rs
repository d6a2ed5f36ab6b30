//! Evaluates a parsed expression, and counts what that costs.

mod macros;

use serde_json::Value as Json;

use super::{
    limits::{Budget, Fault, quoted},
    patterns::Patterns,
    syntax::Node,
    values::{Key, Map, Value},
};

/// The bytes of a value in a list, twice its size, because a list grows by doubling.
pub(crate) const ITEM: usize = 2 * size_of::<Value>();
const ENTRY: usize = 2 * size_of::<(Key, Value)>();
/// The bytes of a string, a list or a map besides its contents.
pub(crate) const HOLDER: usize = 64;

/// Evaluates an expression over inputs, in the order of their names.
pub(crate) fn evaluate(root: &Node, inputs: &[&Json]) -> Result<Json, Fault> {
    let inputs = inputs.iter().map(|input| Value::from_json(input)).collect::<Result<_, _>>()?;
    Evaluation::over(inputs).value(root)?.to_json()
}

/// The state of an evaluation.
pub(crate) struct Evaluation {
    inputs: Vec<Value>,
    /// The variables of the macros around the current node, from the outermost.
    variables: Vec<Value>,
    pub(crate) budget: Budget,
    pub(crate) patterns: Patterns,
}

impl Evaluation {
    pub(crate) fn over(inputs: Vec<Value>) -> Self {
        Self { inputs, variables: Vec::new(), budget: Budget::new(), patterns: Patterns::default() }
    }

    fn value(&mut self, node: &Node) -> Result<Value, Fault> {
        self.budget.spend(1)?;
        match node {
            Node::Constant(value) => Ok(value.clone()),
            Node::Input(index) => known(&self.inputs, *index),
            Node::Variable(index) => known(&self.variables, *index),
            Node::Field(of, name) => self.field(of, name),
            Node::HasField(of, name) => self.has_field(of, name).map(Value::Bool),
            Node::List(items) => self.list(items),
            Node::Map(entries) => self.map(entries),
            Node::And(operands) => self.either(operands, false).map(Value::Bool),
            Node::Or(operands) => self.either(operands, true).map(Value::Bool),
            Node::Conditional(operands) => self.chosen(operands),
            Node::Unary(function, operand) => {
                let operand = [self.value(operand)?];
                self.call(*function, &operand)
            }
            Node::Binary(function, operands) => {
                let operands = [self.value(&operands[0])?, self.value(&operands[1])?];
                self.call(*function, &operands)
            }
            Node::Macro(kind, over) => self.each(kind, over),
        }
    }

    fn field(&mut self, of: &Node, name: &str) -> Result<Value, Fault> {
        let of = self.value(of)?;
        let map = self.map_of(&of, name)?;
        match map.field(name) {
            Some(value) => Ok(value.clone()),
            None => self.budget.error(|| missing(map, &quoted(name))),
        }
    }

    fn has_field(&mut self, of: &Node, name: &str) -> Result<bool, Fault> {
        let of = self.value(of)?;
        Ok(self.map_of(&of, name)?.field(name).is_some())
    }

    /// The map that has the field. Spends the steps of finding it.
    fn map_of<'a>(&mut self, value: &'a Value, field: &str) -> Result<&'a Map, Fault> {
        match value {
            Value::Map(map) => {
                self.search(map, field.len())?;
                Ok(map)
            }
            _ => self.budget.error(|| {
                format!(
                    "only a map has fields; {} was looked for in a value of type {}",
                    quoted(field),
                    value.kind()
                )
            }),
        }
    }

    /// Spends the steps of finding a key, whose length is `key`.
    pub(crate) fn search(&mut self, map: &Map, key: usize) -> Result<(), Fault> {
        self.budget.spend(map.entries.len().checked_ilog2().unwrap_or(0) as usize / 2)?;
        self.budget.read(key)
    }

    fn list(&mut self, items: &[Node]) -> Result<Value, Fault> {
        self.budget.allocate(HOLDER + items.len() * ITEM)?;
        let mut values = Vec::with_capacity(items.len());
        for item in items {
            values.push(self.value(item)?);
        }
        Value::list(values)
    }

    fn map(&mut self, entries: &[(Node, Node)]) -> Result<Value, Fault> {
        self.budget.allocate(HOLDER + entries.len() * ENTRY)?;
        let mut values = Vec::with_capacity(entries.len());
        for (key, value) in entries {
            let key = self.value(key)?;
            let Some(key) = key.key().filter(|_| !matches!(key, Value::Double(_))) else {
                return self.budget.error(|| {
                    let kind = key.kind();
                    format!("expected a string, an int, a uint or a bool as a key, got {kind}")
                });
            };
            self.budget.read(8 * key.len())?;
            values.push((key, self.value(value)?));
        }
        Value::map(values)
    }

    fn bool(&mut self, node: &Node) -> Result<bool, Fault> {
        match self.value(node)? {
            Value::Bool(value) => Ok(value),
            value => {
                let kind = value.kind();
                self.budget.error(|| format!("expected a bool as a condition, got {kind}"))
            }
        }
    }

    /// `&&`, which `false` decides, or `||`, which `true` decides. A deciding operand overrides an
    /// error of the other one.
    fn either(&mut self, operands: &[Node; 2], deciding: bool) -> Result<bool, Fault> {
        match self.bool(&operands[0]) {
            Ok(one) if one == deciding => Ok(deciding),
            Ok(_) => self.bool(&operands[1]),
            Err(Fault::Error(text)) => match self.bool(&operands[1]) {
                Ok(other) if other == deciding => Ok(deciding),
                Ok(_) | Err(Fault::Error(_)) => Err(Fault::Error(text)),
                limit @ Err(Fault::Limit(_)) => limit,
            },
            limit @ Err(Fault::Limit(_)) => limit,
        }
    }

    fn chosen(&mut self, operands: &[Node; 3]) -> Result<Value, Fault> {
        let [condition, one, other] = operands;
        let chosen = if self.bool(condition)? { one } else { other };
        self.value(chosen)
    }
}

fn known(values: &[Value], index: usize) -> Result<Value, Fault> {
    values.get(index).cloned().ok_or_else(|| Fault::error("unknown variable"))
}

/// The text of an error about a missing key. It names the first keys that exist.
pub(crate) fn missing(map: &Map, key: &str) -> String {
    let keys: Vec<String> = map.entries.iter().take(5).map(|(key, _)| key.quoted()).collect();
    match keys.as_slice() {
        [] => format!("there is no key {key}; the map is empty"),
        keys => format!(
            "there is no key {key}; the map has {}{}",
            keys.join(", "),
            if map.entries.len() > 5 { ", …" } else { "" }
        ),
    }
}
