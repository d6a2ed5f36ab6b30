//! Expressions in CEL, the Common Expression Language, over a JSON input.
//!
//! The input is hostile and the expression careless, so time and memory are bounded by counting:
//! every operation costs steps, every value costs bytes, and nesting is limited before anything
//! recurses over it. The crate `cel` parses expressions. They are evaluated here, because its
//! evaluator copies values deeply and counts nothing.
//!
//! - `syntax` parses an expression, `functions` lists what it may call
//! - `evaluation` evaluates it, with `operations`, `patterns` and `times`
//! - `values` holds the values, from JSON and to JSON
//! - `limits` holds the limits and the budget

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

/// Checks that an expression can be parsed, and that all of its names and functions are known.
///
/// # Errors
/// What is wrong, and where.
pub fn check(expression: &str) -> Result<(), String> {
    syntax::parse(expression).map(drop).map_err(|text| shortened(&text))
}

/// Evaluates an expression over `input`, which it sees as the variable `input`.
///
/// # Errors
/// What went wrong, as a text for the model.
pub fn evaluate(expression: &str, input: &serde_json::Value) -> Result<serde_json::Value, String> {
    let root = syntax::parse(expression).map_err(|text| shortened(&text))?;
    evaluation::evaluate(&root, input).map_err(|fault| shortened(&fault.text()))
}
