//! Expressions of tools that compute.
use serde_json::Value;
/// Evaluates it.
pub fn evaluate(_expression: &str, _input: &Value) -> Result<Value, String> {
    Err("not yet".into())
}
