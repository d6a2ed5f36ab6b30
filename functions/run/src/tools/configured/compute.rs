//! Tools of the type `compute`: a call evaluates an expression.

use serde_json::Value;

use crate::tools::{calling::Outcome, output::bounded};

/// The largest input of an expression, in bytes of JSON. It bounds the time and the memory that an
/// evaluation takes.
const MAX_INPUT_BYTES: usize = 64 * 1024;

/// Evaluates the expression with the input.
pub(super) fn evaluate(expression: &str, input: &Value) -> Outcome {
    if input.to_string().len() > MAX_INPUT_BYTES {
        return Outcome::error(format!(
            "the input is too long to compute with; expected at most {MAX_INPUT_BYTES} bytes"
        ));
    }
    match smartspace_cel::evaluate(expression, &[("input", input)]) {
        Ok(output) => Outcome::completed(bounded(output)),
        Err(error) => Outcome::error(error),
    }
}
