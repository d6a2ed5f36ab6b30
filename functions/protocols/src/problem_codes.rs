//! Names of refusals, for protocols that have codes.

/// The name of an HTTP status.
pub(crate) fn code_of(status: u16) -> &'static str {
    match status {
        400 | 422 => "invalid",
        401 => "unauthorized",
        403 => "forbidden",
        404 => "not_found",
        409 => "conflict",
        413 => "too_large",
        429 => "too_many",
        _ => "unavailable",
    }
}
