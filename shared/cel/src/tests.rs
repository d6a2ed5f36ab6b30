//! Results of expressions, and the limits that hostile ones reach.

mod hostile;
mod results;

use serde_json::Value;

/// Checks an expression over `input`.
fn check(expression: &str) -> Result<(), String> {
    crate::check(expression, &["input"])
}

/// Evaluates an expression over `input`.
fn evaluate(expression: &str, input: &Value) -> Result<Value, String> {
    crate::evaluate(expression, &[("input", input)])
}
