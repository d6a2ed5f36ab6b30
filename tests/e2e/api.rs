//! Tests for all routes: the `OpenAPI` description, bad input, hostile JSON.

pub(crate) mod bad_input;
pub(crate) mod description;
pub(crate) mod hostile_json;
