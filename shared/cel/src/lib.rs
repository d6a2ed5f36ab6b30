//! Expressions in CEL, the Common Expression Language, over a JSON input.
//!
//! The input is hostile and the expression careless, so time and memory are bounded by counting: every operation costs steps, every
//! value costs bytes, and what may nest is limited before anything recurses over it. The crate `cel` parses; its evaluator copies
//! values deeply and counts nothing, so that expressions are evaluated here.

mod evaluation;
mod functions;
mod limits;
mod operations;
mod patterns;
mod syntax;
#[cfg(test)]
mod tests;
mod times;
mod values;

use limits::shortened;

/// Whether an expression can be evaluated: it parses, and knows every name and function it uses. Err says what is wrong and where.
pub fn check(expression: &str) -> Result<(), String> {
    syntax::parse(expression).map(drop).map_err(|text| shortened(&text))
}

/// Evaluates an expression over `input`, which it sees as the variable `input`. Err is a text for the model that says what went wrong.
pub fn evaluate(expression: &str, input: &serde_json::Value) -> Result<serde_json::Value, String> {
    let root = syntax::parse(expression).map_err(|text| shortened(&text))?;
    evaluation::evaluate(&root, input).map_err(|fault| shortened(&fault.text()))
}
