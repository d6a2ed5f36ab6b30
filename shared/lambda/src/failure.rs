//! Names for failed invocations. The names are stable, because alarms, dashboards and people search
//! for them.

use lambda_runtime::Diagnostic;
use smartspace_domain::Error;

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Failure {
    /// The kind of failure. CloudWatch shows it with the prefix `Smartspace.`.
    pub name: &'static str,
    /// The cause. It contains no secret.
    pub message: String,
}

impl Failure {
    /// The secret or a setting that the function needs can't be read or used.
    pub fn not_configured(message: impl ToString) -> Self {
        Self { name: "NotConfigured", message: message.to_string() }
    }

    /// The error for a job, which is then retried.
    pub fn into_retry(self) -> Error {
        Error::Retry(self.message)
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        let name = match error {
            Error::Retry(_) => "Retry",
            Error::Unavailable(_) => "Unavailable",
            Error::Internal(_) => "Internal",
            _ => "Refused",
        };
        Self { name, message: error.to_string() }
    }
}

impl From<Failure> for Diagnostic {
    fn from(failure: Failure) -> Self {
        Self { error_type: format!("Smartspace.{}", failure.name), error_message: failure.message }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_a_failure_depends_on_its_kind_alone() {
        let named = |error| Diagnostic::from(Failure::from(error)).error_type;
        let names = [
            Error::Retry("a".into()),
            Error::Unavailable("b".into()),
            Error::Internal("c".into()),
            Error::NotFound("d".into()),
        ];
        assert_eq!(
            names.map(named),
            [
                "Smartspace.Retry",
                "Smartspace.Unavailable",
                "Smartspace.Internal",
                "Smartspace.Refused"
            ]
        );
        assert_eq!(
            Diagnostic::from(Failure::not_configured("no secret")).error_type,
            "Smartspace.NotConfigured"
        );
    }
}
