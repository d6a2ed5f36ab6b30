//! The restrictions of each vendor's models. All models share one API on Bedrock, but not every
//! model accepts every request.

/// Models with the same restrictions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Family {
    pub(super) caching: Caching,
    /// Whether one turn of the model may contain both text and calls.
    pub(super) text_with_calls: bool,
    /// Whether text may follow tool results in the same turn.
    pub(super) text_after_results: bool,
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

const CLAUDE: Family =
    Family { caching: Caching::LooksBack, text_with_calls: true, text_after_results: true };
const OLD_CLAUDE: Family = Family { caching: Caching::NoMarks, ..CLAUDE };
const NOVA: Family =
    Family { caching: Caching::ExactMarks, text_with_calls: true, text_after_results: false };
/// Restrictions under which every model accepts a request.
const OTHER: Family =
    Family { caching: Caching::NoMarks, text_with_calls: false, text_after_results: false };

/// Families by the prefix of a model's name. The first matching prefix decides.
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
    /// `model` is the id of a model or of an inference profile (a region such as `us.` or `global.`
    /// before the model's id), or the ARN of either.
    pub(super) fn of(model: &str) -> Self {
        let name = model.rsplit('/').next().unwrap_or(model);
        let name_without_region = name.split_once('.').map_or("", |(_, name)| name);
        let matches = |(prefix, _): &&(&str, Self)| {
            [name, name_without_region].iter().any(|name| name.starts_with(prefix))
        };
        FAMILIES.iter().find(matches).map_or(OTHER, |(_, family)| *family)
    }
}

impl Caching {
    pub(super) fn accepts_marks(self) -> bool {
        self != Self::NoMarks
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_model_name_determines_its_family_with_or_without_a_region() {
        const ARN: &str = "arn:aws:bedrock:us-east-1:123456789012:inference-profile/\
            eu.anthropic.claude-haiku-4-5-20251001-v1:0";
        for (family, names) in [
            (
                CLAUDE,
                vec![
                    "anthropic.claude-sonnet-4-5-20250929-v1:0",
                    "us.anthropic.claude-sonnet-4-5-20250929-v1:0",
                    "global.anthropic.claude-opus-4-6-v1",
                    "us-gov.anthropic.claude-3-7-sonnet-20250219-v1:0",
                    "us.anthropic.claude-3-5-haiku-20241022-v1:0",
                    ARN,
                ],
            ),
            (
                OLD_CLAUDE,
                vec![
                    "anthropic.claude-3-5-sonnet-20241022-v2:0",
                    "eu.anthropic.claude-3-haiku-20240307-v1:0",
                    "anthropic.claude-v2:1",
                ],
            ),
            (
                NOVA,
                vec![
                    "amazon.nova-micro-v1:0",
                    "apac.amazon.nova-pro-v1:0",
                    "arn:aws:bedrock:us-east-1::foundation-model/amazon.nova-2-lite-v1:0",
                ],
            ),
            (
                OTHER,
                vec![
                    "us.meta.llama4-maverick-17b-instruct-v1:0",
                    "openai.gpt-oss-120b-1:0",
                    "amazon.titan-text-express-v1",
                    "arn:aws:bedrock:us-east-1:123456789012:application-inference-profile/abc",
                    "",
                ],
            ),
        ] {
            for name in names {
                assert_eq!(Family::of(name), family, "{name}");
            }
        }
    }
}
