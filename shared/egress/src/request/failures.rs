//! Errors of a request, as texts for the model and for operators. The texts contain no URL, which
//! may contain a secret.

use crate::{
    SendError,
    causes::{cause, causes},
    guard::Refused,
};

/// Why a try failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Failure {
    /// The error for the caller, if no further try follows.
    pub(crate) error: SendError,
    /// Whether another try may succeed.
    pub(crate) is_transient: bool,
}

impl Failure {
    pub(crate) fn transient(error: SendError) -> Self {
        Self { error, is_transient: true }
    }

    pub(crate) fn permanent(error: SendError) -> Self {
        Self { error, is_transient: false }
    }

    /// For a request to `host` without a response.
    pub(crate) fn of_request(error: &reqwest::Error, host: &str) -> Self {
        if let Some(refused) = causes(error).find_map(|cause| cause.downcast_ref::<Refused>()) {
            return match refused {
                Refused::NotFound(_) => Self::transient(SendError::NotSent(refused.to_string())),
                Refused::Special(name, special) => {
                    // Only a name was resolved, but an entry of the list may have a port.
                    let port = error.url().and_then(reqwest::Url::port_or_known_default);
                    let target = port.map_or_else(|| name.clone(), |port| format!("{name}:{port}"));
                    let refused = Refused::Special(target, special);
                    Self::permanent(SendError::Refused(refused.to_string()))
                }
            };
        }
        let cause = cause(error);
        match () {
            () if error.is_builder() => {
                let text = format!("the request could not be made: {cause}");
                Self::permanent(SendError::NotSent(text))
            }
            () if error.is_connect() => {
                Self::transient(SendError::NotSent(format!("{host} could not be reached: {cause}")))
            }
            () => Self::transient(SendError::Unknown(format!(
                "the connection to {host} broke before the answer came: {cause}"
            ))),
        }
    }

    /// For a response that broke off.
    pub(crate) fn of_body(error: &reqwest::Error) -> Self {
        Self::transient(SendError::Unknown(format!(
            "the answer could not be read to its end: {}",
            cause(error)
        )))
    }

    /// The same failure after an earlier part of the exchange may have reached a server.
    pub(crate) fn after_something_was_sent(self) -> Self {
        let (SendError::Refused(text) | SendError::NotSent(text) | SendError::Unknown(text)) =
            self.error;
        Self { error: SendError::Unknown(text), ..self }
    }
}
