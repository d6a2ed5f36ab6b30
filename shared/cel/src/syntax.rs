//! Parses an expression.
//!
//! `depth` first checks that it does not nest too deeply, because the parser of the crate `cel`
//! recurses. Then the parsed expression becomes a [`Node`], in which every name and function is
//! known.

pub(crate) mod depth;
mod reader;

use std::rc::Rc;

use cel::parser::pratt_parser::PrattParser;

use self::{depth::levels, reader::Reader};
use super::{functions::Function, limits::DEEPEST_EXPRESSION, values::Value};

const TOO_DEEP: &str = "the expression is nested too deeply; simplify it";

/// An expression whose names and functions are all known.
#[derive(Debug)]
pub(crate) enum Node {
    Constant(Value),
    /// A value that the expression is evaluated over, by its index.
    Input(usize),
    /// The variable of a macro, counted from the outermost macro.
    Variable(usize),
    Field(Box<Node>, Rc<str>),
    /// `has(…)`: whether the field exists.
    HasField(Box<Node>, Rc<str>),
    List(Vec<Node>),
    Map(Vec<(Node, Node)>),
    And(Box<[Node; 2]>),
    Or(Box<[Node; 2]>),
    /// The condition, and the two values that it chooses from.
    Conditional(Box<[Node; 3]>),
    Unary(Function, Box<Node>),
    Binary(Function, Box<[Node; 2]>),
    Macro(Macro, Box<Node>),
}

/// A macro, which goes over the items of a list or the keys of a map.
#[derive(Debug)]
pub(crate) enum Macro {
    All(Box<Node>),
    Exists(Box<Node>),
    ExistsOne(Box<Node>),
    /// `map` and `filter`: an optional predicate, and the value of each item that fulfils it.
    Map(Option<Box<Node>>, Box<Node>),
}

/// Parses an expression that may use the names `inputs`.
///
/// # Errors
/// What is wrong, and where.
pub(crate) fn parse(expression: &str, inputs: &[&str]) -> Result<Node, String> {
    if levels(expression)? > DEEPEST_EXPRESSION {
        return Err(TOO_DEEP.to_owned());
    }
    // The library's parser is not known to panic, but a panic must not end the process.
    let parsed = std::panic::catch_unwind(|| PrattParser::new().parse(expression))
        .map_err(|_| unreadable())?;
    let parsed = parsed.map_err(|errors| {
        // Errors without a position only say that there are more errors.
        let error = errors.errors.iter().find(|error| error.pos.0 > 0).or(errors.errors.first());
        error.map_or_else(unreadable, |error| {
            let (line, column) = error.pos;
            let offset = offset(expression, line as usize, column as usize);
            at(expression, offset, &plain(&error.msg))
        })
    })?;
    Reader::new(inputs).node(&parsed)
}

fn unreadable() -> String {
    "the expression can't be parsed".to_owned()
}

/// A message of the library's parser in plain words.
fn plain(message: &str) -> String {
    let message = message.trim_start_matches("Syntax error: ");
    let mismatch = message.strip_prefix("mismatched input ");
    match mismatch.and_then(|mismatch| mismatch.rsplit_once(" expecting ")) {
        Some(("<EOF>" | "'<EOF>'", _)) => "the expression ends too early".to_owned(),
        Some((got, "<EOF>")) => format!("unexpected {got} after the expression"),
        Some((got, expected)) => format!("expected {expected}, got {got}"),
        None => message.to_owned(),
    }
}

/// A text with a position in the expression.
fn at(expression: &str, offset: usize, text: &str) -> String {
    let before = expression.get(..offset).unwrap_or(expression);
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().map_or(0, |line| line.chars().count()) + 1;
    format!("line {line}, column {column}: {text}")
}

/// The offset in bytes of a line and a column. Both are counted from one, the column in bytes.
fn offset(expression: &str, line: usize, column: usize) -> usize {
    expression.split_inclusive('\n').take(line.saturating_sub(1)).map(str::len).sum::<usize>()
        + column.saturating_sub(1)
}
