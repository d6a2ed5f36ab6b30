//! The one error type of the domain.
//!
//! Its variants differ in what a caller can do about them. `shared/pipeline` maps them to HTTP
//! statuses.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::InvalidText;

/// The result of the domain's functions.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why something could not be done. The variants differ in what a caller can do about it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The input cannot be parsed.
    #[error("{0}")]
    Malformed(String),
    /// The input can be parsed, but is not valid. Each fault says where, and what was expected.
    #[error("{}", faults_text(.0))]
    Invalid(Vec<Fault>),
    /// The sender of a message is not a member of the space.
    #[error("{}", faults_text(&[not_a_member()]))]
    NotAMember,
    /// A size limit is exceeded.
    #[error("{0}")]
    TooLarge(String),
    /// The input did not arrive in time.
    #[error("{0}")]
    TooSlow(String),
    /// The caller is unknown.
    #[error("{0}")]
    Unauthenticated(String),
    /// The caller may not do this.
    #[error("{0}")]
    Forbidden(String),
    /// It does not exist, or the caller may not know of it.
    #[error("{0}")]
    NotFound(String),
    /// The current state does not allow it. Read the state again.
    #[error("{0}")]
    Conflict(String),
    /// Too many calls. Repeat the call after `wait`.
    #[error("{text}")]
    TooMany {
        /// Which limit was reached.
        text: String,
        /// How long to wait.
        wait: Duration,
    },
    /// The files that count together leave no room for another one.
    #[error("{0}")]
    NoRoom(String),
    /// The worker has lost its run: the run has ended, or another worker took it over. The worker
    /// must stop and write nothing more.
    #[error("the run was canceled, has ended, or was taken over")]
    LeaseLost,
    /// It is unknown whether the change was stored. Repeat the call with the same idempotency key.
    #[error("{0}")]
    Retry(String),
    /// Something that the call needs is unavailable. Nothing was done; try again later.
    #[error("{0}")]
    Unavailable(String),
    /// A fault in Smartspace. The text is for the operator's log; a caller never sees it.
    #[error("{0}")]
    Internal(String),
}

impl Error {
    /// An error with one fault at the JSON pointer `pointer`; `""` points to the whole input.
    pub fn invalid(pointer: impl Into<String>, detail: impl Into<String>) -> Self {
        Self::Invalid(vec![Fault::new(pointer, detail)])
    }

    /// The same error, whose faults are within `place` of a larger input.
    #[must_use]
    pub fn within(self, place: &str) -> Self {
        let Self::Invalid(mut faults) = self else { return self };
        for fault in &mut faults {
            fault.pointer.insert_str(0, place);
        }
        Self::Invalid(faults)
    }

    /// The faults of the input, if that is what is wrong.
    pub fn faults(&self) -> Option<Vec<Fault>> {
        match self {
            Self::Invalid(faults) => Some(faults.clone()),
            Self::NotAMember => Some(vec![not_a_member()]),
            _ => None,
        }
    }

    /// Whether the same call may succeed if it is repeated.
    pub fn is_passing(&self) -> bool {
        matches!(self, Self::Retry(_) | Self::Internal(_))
    }
}

/// One thing that is wrong with an input.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Fault {
    /// JSON pointer to the faulty value; empty for the whole input.
    pub pointer: String,
    /// What was expected there, and often what was found.
    pub detail: String,
}

impl Fault {
    /// A fault at the JSON pointer `pointer`.
    pub fn new(pointer: impl Into<String>, detail: impl Into<String>) -> Self {
        Self { pointer: pointer.into(), detail: detail.into() }
    }
}

/// To a caller, a sender that is not a member is a fault of the input.
fn not_a_member() -> Fault {
    Fault::new("/senderId", "expected a member of the space")
}

fn faults_text(faults: &[Fault]) -> String {
    let texts = faults.iter().map(|fault| {
        if fault.pointer.is_empty() {
            fault.detail.clone()
        } else {
            format!("{}: {}", fault.pointer, fault.detail)
        }
    });
    texts.collect::<Vec<_>>().join("; ")
}

/// Collects all faults of a configuration, so that its author learns of them at once.
#[derive(Debug, Default)]
pub struct Faults {
    faults: Vec<Fault>,
    at: Vec<String>,
}

impl Faults {
    /// Adds a fault at `field` unless `fine`.
    pub fn check(&mut self, fine: bool, field: &str, detail: impl Into<String>) {
        if !fine {
            let mut pointer = String::new();
            for part in self
                .at
                .iter()
                .map(String::as_str)
                .chain(Some(field).filter(|field| !field.is_empty()))
            {
                pointer.push('/');
                pointer.push_str(&part.replace('~', "~0").replace('/', "~1"));
            }
            self.faults.push(Fault { pointer, detail: detail.into() });
        }
    }

    /// Adds the fault of a text, if it has one, at `field`.
    pub fn check_text(&mut self, checked: Result<(), InvalidText>, field: &str) {
        if let Err(error) = checked {
            self.check(false, field, error.to_string());
        }
    }

    /// Adds a fault at `field` unless `value` is within `range`.
    pub fn check_range<N: PartialOrd + std::fmt::Display>(
        &mut self,
        value: &N,
        range: std::ops::RangeInclusive<N>,
        field: &str,
    ) {
        let detail = format!("expected {} to {}, got {value}", range.start(), range.end());
        self.check(range.contains(value), field, detail);
    }

    /// Runs `check`, with `field` in front of the pointers of its faults.
    pub fn within(&mut self, field: impl ToString, check: impl FnOnce(&mut Self)) {
        self.at.push(field.to_string());
        check(self);
        self.at.pop();
    }

    /// One error with all faults, or `Ok` if there are none.
    pub fn done(self) -> Result<()> {
        if self.faults.is_empty() { Ok(()) } else { Err(Error::Invalid(self.faults)) }
    }
}
