//! The restrictions of each vendor's models. All models share one API on Bedrock, but not every
//! model accepts every request.

use crate::file_support::first_match;

/// Models with the same restrictions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Family {
    pub(super) caching: Caching,
    /// Whether one turn of the model may contain both text and calls.
    pub(super) text_with_calls: bool,
    /// Whether text may follow tool results in the same turn.
    pub(super) text_after_results: bool,
    /// Whether tool results may contain images, by the API's description of
    /// `ToolResultContentBlock`. Nova's guide allows texts and images there, but no documents.
    pub(super) images_in_results: bool,
    /// Whether a request may force the model to call a tool.
    pub(super) forced_tools: bool,
}

/// How a model caches the prefix of a request. Models accept at most four marks. A model without
/// this kind of cache refuses them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Caching {
    /// The model accepts no marks.
    NoMarks,
    /// The model also finds a prefix that ended some blocks before a mark. Any block may be marked.
    LooksBack,
    /// The model finds a prefix only if it ended exactly at a mark. Only texts may be marked.
    ExactMarks,
}

const CLAUDE: Family = Family {
    caching: Caching::LooksBack,
    text_with_calls: true,
    text_after_results: true,
    images_in_results: true,
    forced_tools: true,
};
const OLD_CLAUDE: Family = Family { caching: Caching::NoMarks, ..CLAUDE };
const NOVA: Family = Family {
    caching: Caching::ExactMarks,
    text_with_calls: true,
    text_after_results: false,
    images_in_results: true,
    forced_tools: true,
};
/// Restrictions under which every model accepts a request.
const OTHER: Family = Family {
    caching: Caching::NoMarks,
    text_with_calls: false,
    text_after_results: false,
    images_in_results: false,
    forced_tools: false,
};

/// Families by the prefix of a model's name.
const FAMILIES: [(&str, Family); 7] = [
    ("anthropic.claude-3-5-haiku", CLAUDE),
    ("anthropic.claude-3-7", CLAUDE),
    ("anthropic.claude-3-", OLD_CLAUDE),
    ("anthropic.claude-v", OLD_CLAUDE),
    ("anthropic.claude-instant", OLD_CLAUDE),
    ("anthropic.claude", CLAUDE),
    ("amazon.nova", NOVA),
];

impl Family {
    pub(super) fn of(model: &str) -> Self {
        first_match(&FAMILIES, model).unwrap_or(OTHER)
    }
}

impl Caching {
    pub(super) fn accepts_marks(self) -> bool {
        self != Self::NoMarks
    }
}

#[cfg(test)]
mod tests;
