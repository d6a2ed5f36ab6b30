//! Expressions in CEL, the Common Expression Language, over named JSON values.
//!
//! The input is hostile and the expression careless, so time and memory are bounded by counting:
//! every operation costs steps, every value costs bytes, and nesting is limited before anything
//! recurses over it. The crate `cel` parses expressions. They are evaluated here, because its
//! evaluator copies values deeply and counts nothing.
//!
//! - `syntax` parses an expression, `functions` lists what it may call
//! - `constants` checks the constants of a parsed expression
//! - `evaluation` evaluates it, with `operations`, `patterns` and `times`
//! - `values` holds the values, from JSON and to JSON
//! - `limits` holds the limits and the budget

mod constants;
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

/// A variable that an expression may use, and its value.
pub type Variable<'a> = (&'a str, &'a serde_json::Value);

/// Checks that an expression can be parsed, that all of its names and functions are known, and that
/// its functions take their constant texts.
/// `variables` are the names that it may use.
///
/// # Errors
/// What is wrong, and where.
pub fn check(expression: &str, variables: &[&str]) -> Result<(), String> {
    let root = syntax::parse(expression, variables).map_err(|text| shortened(&text))?;
    constants::check(&root).map_err(|fault| shortened(&fault.text()))
}

/// Evaluates an expression over `variables`, which it sees by their names.
///
/// # Errors
/// What went wrong, as a text for the model.
pub fn evaluate(expression: &str, variables: &[Variable<'_>]) -> Result<serde_json::Value, String> {
    let names: Vec<&str> = variables.iter().map(|(name, _)| *name).collect();
    let root = syntax::parse(expression, &names).map_err(|text| shortened(&text))?;
    let values: Vec<_> = variables.iter().map(|(_, value)| *value).collect();
    evaluation::evaluate(&root, &values).map_err(|fault| shortened(&fault.text()))
}
