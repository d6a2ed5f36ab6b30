//! Checks the constants of an expression: a pattern, a time zone or another text that its function
//! never takes is refused before the expression is used.

use super::{
    evaluation::Evaluation,
    functions::Function,
    limits::Fault,
    syntax::{Macro, Node},
    times,
    values::Value,
};

/// Calls the functions of an expression that have a constant text, with this text.
///
/// # Errors
/// The first one that fails. All of them together may take what one evaluation may.
pub(crate) fn check(root: &Node) -> Result<(), Fault> {
    Constants { evaluation: Evaluation::over(Vec::new()) }.check(root).map_err(
        |fault| match fault {
            Fault::Error(text) => Fault::Error(text),
            Fault::Limit(_) => Fault::Limit(
                "the constants of the expression take too long; use fewer or simpler patterns",
            ),
        },
    )
}

struct Constants {
    evaluation: Evaluation,
}

impl Constants {
    fn check(&mut self, node: &Node) -> Result<(), Fault> {
        match node {
            Node::Constant(_) | Node::Input(_) | Node::Variable(_) => Ok(()),
            Node::Field(of, _) | Node::HasField(of, _) => self.check(of),
            Node::List(items) => self.check_all(items),
            Node::Map(entries) => entries
                .iter()
                .flat_map(|(key, value)| [key, value])
                .try_for_each(|node| self.check(node)),
            Node::And(operands) | Node::Or(operands) => self.check_all(&operands[..]),
            Node::Conditional(operands) => self.check_all(&operands[..]),
            Node::Unary(function, operand) => {
                self.check(operand)?;
                self.conversion(*function, operand)
            }
            Node::Binary(function, operands) => {
                self.check_all(&operands[..])?;
                self.argument(*function, &operands[1])
            }
            Node::Macro(kind, over) => {
                self.check(over)?;
                match kind {
                    Macro::All(part) | Macro::Exists(part) | Macro::ExistsOne(part) => {
                        self.check(part)
                    }
                    Macro::Map(predicate, item) => {
                        predicate.as_deref().map_or(Ok(()), |node| self.check(node))?;
                        self.check(item)
                    }
                }
            }
        }
    }

    fn check_all(&mut self, nodes: &[Node]) -> Result<(), Fault> {
        nodes.iter().try_for_each(|node| self.check(node))
    }

    /// Converts a constant text.
    fn conversion(&mut self, function: Function, operand: &Node) -> Result<(), Fault> {
        let converts = matches!(
            function,
            Function::Timestamp
                | Function::Duration
                | Function::Int
                | Function::Uint
                | Function::Double
                | Function::Bool
        );
        match operand {
            Node::Constant(text @ Value::String(_)) if converts => {
                self.call(function, std::slice::from_ref(text))
            }
            _ => Ok(()),
        }
    }

    /// Uses a constant text as a pattern or as a time zone.
    fn argument(&mut self, function: Function, argument: &Node) -> Result<(), Fault> {
        let Node::Constant(text @ Value::String(_)) = argument else { return Ok(()) };
        match function {
            Function::Matches => self.call(function, &[Value::string(""), text.clone()]),
            Function::GetFullYear
            | Function::GetMonth
            | Function::GetDate
            | Function::GetDayOfMonth
            | Function::GetDayOfWeek
            | Function::GetDayOfYear
            | Function::GetHours
            | Function::GetMinutes
            | Function::GetSeconds
            | Function::GetMilliseconds => {
                self.call(function, &[times::timestamp_of_seconds(0)?, text.clone()])
            }
            _ => Ok(()),
        }
    }

    fn call(&mut self, function: Function, operands: &[Value]) -> Result<(), Fault> {
        self.evaluation.call(function, operands).map(drop)
    }
}
