//! What is wrong, and in which line of which file.

use std::{fmt, sync::Arc};

/// A line of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Origin {
    /// The path in the folder.
    pub(crate) file: Arc<str>,
    /// Counted from 1. 0 stands for the whole file, or for a folder.
    pub(crate) line: usize,
}

/// Something wrong, or worth a look, in a file.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct FileFault {
    pub(crate) origin: Origin,
    pub(crate) detail: String,
}

impl FileFault {
    pub(crate) fn new(origin: Origin, detail: impl Into<String>) -> Self {
        Self { origin, detail: detail.into() }
    }

    /// A fault of a whole file, or of a folder.
    pub(crate) fn of_file(file: &str, detail: impl Into<String>) -> Self {
        Self::new(Origin { file: Arc::from(file), line: 0 }, detail)
    }
}

impl fmt::Display for FileFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.origin.line {
            0 => write!(f, "{}: {}", self.origin.file, self.detail),
            line => write!(f, "{}:{line}: {}", self.origin.file, self.detail),
        }
    }
}
