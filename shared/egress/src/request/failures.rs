//! What went wrong with a request, in words for the model and for operators: never an address, which may hold a secret.

use std::{error::Error, io, iter::successors};

use crate::{SendError, guard::Refused};

/// How long the words of others may be, in characters.
const LONGEST_CAUSE: usize = 200;

/// Why a try failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Failure {
    /// What the caller gets.
    pub(crate) error: SendError,
    /// Whether another try may go better.
    pub(crate) is_passing: bool,
}

impl Failure {
    pub(crate) fn passing(error: SendError) -> Self {
        Self { error, is_passing: true }
    }

    pub(crate) fn lasting(error: SendError) -> Self {
        Self { error, is_passing: false }
    }

    /// A request to `host` that was not answered.
    pub(crate) fn of_request(error: &reqwest::Error, host: &str) -> Self {
        if let Some(refused) = causes(error).find_map(|cause| cause.downcast_ref::<Refused>()) {
            let is_passing = matches!(refused, Refused::NotFound(_));
            return Self { error: SendError::NotSent(refused.to_string()), is_passing };
        }
        let cause = cause(error);
        match () {
            () if error.is_builder() => Self::lasting(SendError::NotSent(format!("the request could not be made: {cause}"))),
            () if error.is_connect() => Self::passing(SendError::NotSent(format!("{host} could not be reached: {cause}"))),
            () => Self::passing(SendError::Unknown(format!("the connection to {host} broke before the answer came: {cause}"))),
        }
    }

    /// An answer that broke off.
    pub(crate) fn of_body(error: &reqwest::Error) -> Self {
        Self::passing(SendError::Unknown(format!("the answer could not be read to its end: {}", cause(error))))
    }

    /// The same, of a request of which a part may have reached a server before.
    pub(crate) fn after_something_was_sent(self) -> Self {
        let (SendError::NotSent(text) | SendError::Unknown(text)) = self.error;
        Self { error: SendError::Unknown(text), ..self }
    }
}

/// The innermost cause of an error: what is around it says in many words that there is a cause.
pub(crate) fn cause(error: &(dyn Error + 'static)) -> String {
    let text = match causes(error).last() {
        Some(cause) => match cause.downcast_ref::<io::Error>() {
            // Without the number that the operating system has for it.
            Some(error) if error.get_ref().is_none() => error.kind().to_string(),
            _ => cause.to_string(),
        },
        None => error.to_string(),
    };
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).take(LONGEST_CAUSE).collect()
}

fn causes<'a>(error: &'a (dyn Error + 'static)) -> impl Iterator<Item = &'a (dyn Error + 'static)> {
    successors(error.source(), |&cause| cause.source())
}
