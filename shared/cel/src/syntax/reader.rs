//! Turns the output of the library's parser into nodes. Every name and function must be known.

use cel::common::ast::{
    CallExpr, ComprehensionExpr, EntryExpr, Expr, IdedEntryExpr, IdedExpr, LiteralValue, operators,
};

use super::{Macro, Node, unreadable};
use crate::{functions, limits::quoted, values::Value};

/// The names of types. They are values.
const TYPES: [&str; 10] =
    ["bool", "bytes", "double", "int", "list", "map", "null_type", "string", "type", "uint"];

/// Turns the output of the library's parser into nodes.
pub(super) struct Reader<'a> {
    /// The names of the values that the expression is evaluated over.
    inputs: &'a [&'a str],
    /// The variables of the macros around the current expression.
    variables: Vec<String>,
}

impl<'a> Reader<'a> {
    pub(super) fn new(inputs: &'a [&'a str]) -> Self {
        Self { inputs, variables: Vec::new() }
    }

    fn boxed(&mut self, expression: &IdedExpr) -> Result<Box<Node>, String> {
        self.node(expression).map(Box::new)
    }

    pub(super) fn node(&mut self, expression: &IdedExpr) -> Result<Node, String> {
        match &expression.expr {
            Expr::Literal(literal) => Ok(Node::Constant(constant(literal))),
            Expr::Ident(name) => self.name(name),
            Expr::Select(select) => {
                let operand = self.boxed(&select.operand)?;
                let name = select.field.as_str().into();
                Ok(if select.test {
                    Node::HasField(operand, name)
                } else {
                    Node::Field(operand, name)
                })
            }
            Expr::List(list) => list
                .elements
                .iter()
                .map(|item| self.node(item))
                .collect::<Result<_, _>>()
                .map(Node::List),
            Expr::Map(map) => map
                .entries
                .iter()
                .map(|entry| self.entry(entry))
                .collect::<Result<_, _>>()
                .map(Node::Map),
            Expr::Call(call) => self.call(call),
            Expr::Comprehension(comprehension) => self.comprehension(comprehension),
            Expr::Struct(message) => Err(format!(
                "{} {{…}}: messages are not supported; write a map as {{'key': value}}",
                message.type_name
            )),
            Expr::Unspecified => Err(unreadable()),
        }
    }

    fn name(&self, name: &str) -> Result<Node, String> {
        if let Some(index) = self.variables.iter().rposition(|variable| variable == name) {
            return Ok(Node::Variable(index));
        }
        // A name with a leading dot is never the variable of a macro.
        let name = name.strip_prefix('.').unwrap_or(name);
        let kind = || {
            TYPES.iter().find(|&&kind| kind == name).map(|kind| Node::Constant(Value::Type(kind)))
        };
        let input = self.inputs.iter().position(|input| *input == name).map(Node::Input);
        input.or_else(kind).ok_or_else(|| {
            let inputs: Vec<_> = self.inputs.iter().map(|input| format!("'{input}'")).collect();
            format!(
                "unknown name {}; an expression can use {} and the variables of macros",
                quoted(name),
                inputs.join(", ")
            )
        })
    }

    fn entry(&mut self, entry: &IdedEntryExpr) -> Result<(Node, Node), String> {
        match &entry.expr {
            EntryExpr::MapEntry(entry) => Ok((self.node(&entry.key)?, self.node(&entry.value)?)),
            EntryExpr::StructField(field) => {
                Err(format!("{} is not an entry of a map", quoted(&field.field)))
            }
        }
    }

    fn call(&mut self, call: &CallExpr) -> Result<Node, String> {
        match (call.func_name.as_str(), call.args.as_slice()) {
            (operators::CONDITIONAL, [condition, one, other]) => Ok(Node::Conditional(Box::new([
                self.node(condition)?,
                self.node(one)?,
                self.node(other)?,
            ]))),
            (operators::LOGICAL_AND, [one, other]) => {
                Ok(Node::And(Box::new([self.node(one)?, self.node(other)?])))
            }
            (operators::LOGICAL_OR, [one, other]) => {
                Ok(Node::Or(Box::new([self.node(one)?, self.node(other)?])))
            }
            (name, arguments) => {
                let arguments: Vec<&IdedExpr> =
                    call.target.as_deref().into_iter().chain(arguments).collect();
                let name = name.strip_prefix('.').unwrap_or(name);
                let function = functions::find(name, call.target.is_some(), arguments.len())?;
                match arguments.as_slice() {
                    [one] => Ok(Node::Unary(function, self.boxed(one)?)),
                    [one, other] => {
                        Ok(Node::Binary(function, Box::new([self.node(one)?, self.node(other)?])))
                    }
                    _ => Err(format!("{} has too many arguments", quoted(name))),
                }
            }
        }
    }

    /// A macro. The parser has expanded it to a loop, in one of a few forms.
    fn comprehension(&mut self, comprehension: &ComprehensionExpr) -> Result<Node, String> {
        let over = self.boxed(&comprehension.iter_range)?;
        self.variables.push(comprehension.iter_var.clone());
        let kind = self.macro_of(comprehension);
        self.variables.pop();
        Ok(Node::Macro(kind?, over))
    }

    fn macro_of(&mut self, comprehension: &ComprehensionExpr) -> Result<Macro, String> {
        let unknown = || "unknown macro".to_owned();
        let step = call_of(&comprehension.loop_step).ok_or_else(unknown)?;
        match (&comprehension.accu_init.expr, step) {
            (Expr::Literal(LiteralValue::Boolean(_)), (operators::LOGICAL_AND, [_, predicate])) => {
                Ok(Macro::All(self.boxed(predicate)?))
            }
            (Expr::Literal(LiteralValue::Boolean(_)), (operators::LOGICAL_OR, [_, predicate])) => {
                Ok(Macro::Exists(self.boxed(predicate)?))
            }
            (Expr::Literal(LiteralValue::Int(_)), (operators::CONDITIONAL, [predicate, _, _])) => {
                Ok(Macro::ExistsOne(self.boxed(predicate)?))
            }
            (Expr::List(_), (operators::CONDITIONAL, [predicate, step, _])) => {
                let (name, arguments) = call_of(step).ok_or_else(unknown)?;
                let item = appended(name, arguments).ok_or_else(unknown)?;
                Ok(Macro::Map(Some(self.boxed(predicate)?), self.boxed(item)?))
            }
            (Expr::List(_), (name, arguments)) => {
                let item = appended(name, arguments).ok_or_else(unknown)?;
                Ok(Macro::Map(None, self.boxed(item)?))
            }
            _ => Err(unknown()),
        }
    }
}

fn call_of(expression: &IdedExpr) -> Option<(&str, &[IdedExpr])> {
    match &expression.expr {
        Expr::Call(call) => Some((&call.func_name, &call.args)),
        _ => None,
    }
}

/// The item that a step of a loop appends to its list. The step is a call.
fn appended<'a>(name: &str, arguments: &'a [IdedExpr]) -> Option<&'a IdedExpr> {
    match (name, arguments) {
        (operators::ADD, [_, IdedExpr { expr: Expr::List(list), .. }]) => list.elements.first(),
        _ => None,
    }
}

fn constant(literal: &LiteralValue) -> Value {
    match literal {
        LiteralValue::Null => Value::Null,
        LiteralValue::Boolean(value) => Value::Bool(*value.inner()),
        LiteralValue::Int(value) => Value::Int(*value.inner()),
        LiteralValue::UInt(value) => Value::Uint(*value.inner()),
        LiteralValue::Double(value) => Value::Double(*value.inner()),
        LiteralValue::String(value) => Value::string(value.inner()),
        LiteralValue::Bytes(value) => Value::Bytes(value.inner().into()),
    }
}
