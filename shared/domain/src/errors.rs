//! The one error of the domain. Its kinds are what a caller can act on; no kind knows of HTTP.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// What the domain's functions answer.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Something that could not be done, sorted by what can be done about it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// Not readable at all; send it in another form.
    #[error("{0}")]
    Malformed(String),
    /// Readable, but not valid; each fault says where and what was expected.
    #[error("{}", faults_text(.0))]
    Invalid(Vec<Fault>),
    /// Over a limit of size.
    #[error("{0}")]
    TooLarge(String),
    /// It did not come in time.
    #[error("{0}")]
    TooSlow(String),
    /// It is not known who asks.
    #[error("{0}")]
    Unauthenticated(String),
    /// Who asks may not do this.
    #[error("{0}")]
    Forbidden(String),
    /// There is no such thing, or who asks may not know of it.
    #[error("{0}")]
    NotFound(String),
    /// What is there does not allow it; read it again.
    #[error("{0}")]
    Conflict(String),
    /// Too often; again once `wait` is over.
    #[error("{text}")]
    TooMany {
        /// What there was too much of.
        text: String,
        /// How long to wait.
        wait: Duration,
    },
    /// The run belongs to another worker now, or has ended: stop, write nothing more.
    #[error("the run was canceled, has ended, or was taken over")]
    LeaseLost,
    /// Not known to be kept; repeat it with the same key.
    #[error("{0}")]
    Retry(String),
    /// Something that this needs is not there; it was not done, and may be done later.
    #[error("{0}")]
    Unavailable(String),
    /// A fault of ours; the text is for the operator, never for a caller.
    #[error("{0}")]
    Internal(String),
}

impl Error {
    /// One fault at `pointer` (a JSON pointer; "" is the whole).
    pub fn invalid(pointer: impl Into<String>, detail: impl Into<String>) -> Self {
        Self::Invalid(vec![Fault::new(pointer, detail)])
    }

    /// Whether the same call may succeed later.
    pub fn is_passing(&self) -> bool {
        matches!(self, Self::Retry(_) | Self::Internal(_))
    }
}

/// One thing that is wrong with an input.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Fault {
    /// JSON pointer to the place.
    pub pointer: String,
    /// What was expected there.
    pub detail: String,
}

impl Fault {
    /// A fault at `pointer`.
    pub fn new(pointer: impl Into<String>, detail: impl Into<String>) -> Self {
        Self { pointer: pointer.into(), detail: detail.into() }
    }
}

fn faults_text(faults: &[Fault]) -> String {
    let texts = faults
        .iter()
        .map(|fault| if fault.pointer.is_empty() { fault.detail.clone() } else { format!("{}: {}", fault.pointer, fault.detail) });
    texts.collect::<Vec<_>>().join("; ")
}

/// Collects faults while a configuration is checked as a whole.
#[derive(Debug, Default)]
pub struct Faults {
    faults: Vec<Fault>,
    at: Vec<String>,
}

impl Faults {
    /// Notes `detail` at `field` unless `fine`.
    pub fn check(&mut self, fine: bool, field: &str, detail: impl Into<String>) {
        if !fine {
            let mut pointer = String::new();
            for part in self.at.iter().map(String::as_str).chain(Some(field).filter(|field| !field.is_empty())) {
                pointer.push('/');
                pointer.push_str(&part.replace('~', "~0").replace('/', "~1"));
            }
            self.faults.push(Fault { pointer, detail: detail.into() });
        }
    }

    /// Notes a number outside of `range`.
    pub fn check_range<N: PartialOrd + std::fmt::Display>(&mut self, value: &N, range: std::ops::RangeInclusive<N>, field: &str) {
        let detail = format!("expected {} to {}, got {value}", range.start(), range.end());
        self.check(range.contains(value), field, detail);
    }

    /// Checks what stands below `field`.
    pub fn within(&mut self, field: impl ToString, check: impl FnOnce(&mut Self)) {
        self.at.push(field.to_string());
        check(self);
        self.at.pop();
    }

    /// All faults as one error, or nothing.
    pub fn done(self) -> Result<()> {
        if self.faults.is_empty() { Ok(()) } else { Err(Error::Invalid(self.faults)) }
    }
}
