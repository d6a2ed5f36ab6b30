//! Rules on the order of the messages of a chat completion.

use crate::models::dialects::{
    received::Received,
    rules::{Rule, found},
};

/// A template that knows one system message, at the beginning.
pub(crate) fn system_only_first(words: &'static str) -> Rule {
    Rule::new("system only first", words, |received| {
        let roles = received.roles();
        found(roles.iter().skip(1).any(|role| *role == "system"), format!("{roles:?}"))
    })
}

/// Two messages in a row must not have the roles `before` and `after`.
pub(crate) fn never_follows(
    before: &'static str,
    after: &'static str,
    words: &'static str,
) -> Rule {
    Rule::new("order of roles", words, move |received| {
        let roles = received.roles();
        found(roles.windows(2).any(|pair| pair == [before, after]), format!("{roles:?}"))
    })
}

/// A template that looks for something to answer.
pub(crate) fn needs_user(words: &'static str) -> Rule {
    Rule::new("needs a user", words, |received| {
        found(!received.roles().contains(&"user"), received.roles().join(" "))
    })
}

/// The model answers a user or a tool, so none of its own messages comes last.
pub(crate) fn never_ends_with_assistant(words: &'static str) -> Rule {
    Rule::new("last role", words, |received: &Received| {
        found(received.roles().last() == Some(&"assistant"), received.roles().join(" "))
    })
}
