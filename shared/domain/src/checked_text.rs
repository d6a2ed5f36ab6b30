//! Types of texts that follow a rule. A value of such a type has passed the rule, so the functions
//! that take one need not check it again.
//!
//! Forms that are read from the table keep plain strings: a rule that gets stricter must not make
//! stored items unreadable.

use std::borrow::Cow;

use crate::Error;

/// A text that does not follow the rule of its type: what was expected, and often what was found.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct InvalidText(Cow<'static, str>);

impl InvalidText {
    pub(crate) fn new(detail: impl Into<Cow<'static, str>>) -> Self {
        Self(detail.into())
    }

    /// An error with this fault at the JSON pointer `pointer`.
    pub fn at(self, pointer: impl Into<String>) -> Error {
        Error::invalid(pointer, self.0)
    }
}

/// Defines a type of texts. Its rule is the function `check` that the type has besides.
macro_rules! checked_text {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(
            Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize,
        )]
        #[serde(try_from = "String", into = "String")]
        pub struct $name(String);

        impl $name {
            /// The text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl TryFrom<String> for $name {
            type Error = $crate::InvalidText;

            fn try_from(text: String) -> Result<Self, Self::Error> {
                Self::check(&text).map(|()| Self(text))
            }
        }

        impl std::str::FromStr for $name {
            type Err = $crate::InvalidText;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                text.to_owned().try_into()
            }
        }

        impl AsRef<str> for $name {
            fn as_ref(&self) -> &str {
                &self.0
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl From<$name> for String {
            fn from(text: $name) -> Self {
                text.0
            }
        }
    };
}

pub(crate) use checked_text;
