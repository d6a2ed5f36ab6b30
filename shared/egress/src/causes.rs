//! Describes errors of the HTTP client without the URL, which may contain a secret.

use std::{error::Error, io, iter::successors};

/// Limit for the text of a cause, in characters.
const LONGEST_CAUSE: usize = 200;

/// The innermost cause of an error. The outer errors only say that there is a cause.
pub(crate) fn cause(error: &(dyn Error + 'static)) -> String {
    let text = match causes(error).last() {
        Some(cause) => match cause.downcast_ref::<io::Error>() {
            // The kind has no operating system error number, unlike the error itself.
            Some(error) if error.get_ref().is_none() => error.kind().to_string(),
            _ => cause.to_string(),
        },
        None => error.to_string(),
    };
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).take(LONGEST_CAUSE).collect()
}

pub(crate) fn causes<'a>(
    error: &'a (dyn Error + 'static),
) -> impl Iterator<Item = &'a (dyn Error + 'static)> {
    successors(error.source(), |&cause| cause.source())
}
