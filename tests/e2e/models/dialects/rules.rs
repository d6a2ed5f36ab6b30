//! What servers refuse, as small rules from which a dialect picks its own.

pub(crate) mod blocks;
pub(crate) mod calls;
pub(crate) mod content;
pub(crate) mod fields;
pub(crate) mod marks;
pub(crate) mod order;

use crate::models::dialects::received::Received;

/// A rule: what it finds in a request, and the words with which the server refuses it.
pub(crate) struct Rule {
    pub(crate) name: &'static str,
    status: u16,
    /// `{}` stands for what was found.
    words: &'static str,
    param: Option<&'static str>,
    find: Box<Find>,
}

type Find = dyn Fn(&Received) -> Option<String> + Send + Sync;

/// A request that was refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Refusal {
    pub(crate) rule: &'static str,
    pub(crate) model: String,
    pub(crate) status: u16,
    pub(crate) words: String,
    pub(crate) param: Option<&'static str>,
    /// The part of the request that breaks the rule.
    pub(crate) found: String,
}

impl Rule {
    pub(crate) fn new(
        name: &'static str,
        words: &'static str,
        find: impl Fn(&Received) -> Option<String> + Send + Sync + 'static,
    ) -> Self {
        Self { name, status: 400, words, param: None, find: Box::new(find) }
    }

    pub(crate) fn status(self, status: u16) -> Self {
        Self { status, ..self }
    }

    /// The field that the refusal names apart from its words.
    pub(crate) fn param(self, param: &'static str) -> Self {
        Self { param: Some(param), ..self }
    }

    pub(crate) fn check(&self, received: &Received) -> Option<Refusal> {
        let found = (self.find)(received)?;
        Some(Refusal {
            rule: self.name,
            model: received.model.clone(),
            status: self.status,
            words: self.words.replace("{}", &found),
            param: self.param,
            found,
        })
    }
}

/// What breaks a rule, if `breaks` holds.
pub(crate) fn found(breaks: bool, what: impl ToString) -> Option<String> {
    breaks.then(|| what.to_string())
}
