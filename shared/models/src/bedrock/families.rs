//! What the models of each maker take. Bedrock gives them one language, but not one grammar.

/// Models alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Family {
    pub(super) caching: Caching,
    /// Whether the model's own words may stand beside its calls.
    pub(super) speaks_beside_calls: bool,
    /// Whether words may stand behind results.
    pub(super) hears_behind_results: bool,
}

/// How what comes again is kept; four marks at most are taken, and a model that keeps nothing refuses them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Caching {
    /// Not by marks.
    Unmarked,
    /// It finds what was kept also some blocks before a mark. Any block may be marked.
    LooksBack,
    /// It finds what was kept only where a mark stands again. Texts may be marked, results may not.
    AtMarks,
}

const CLAUDE: Family = Family { caching: Caching::LooksBack, speaks_beside_calls: true, hears_behind_results: true };
const OLD_CLAUDE: Family = Family { caching: Caching::Unmarked, ..CLAUDE };
const NOVA: Family = Family { caching: Caching::AtMarks, speaks_beside_calls: true, hears_behind_results: false };
/// What every model takes.
const OTHER: Family = Family { caching: Caching::Unmarked, speaks_beside_calls: false, hears_behind_results: false };

/// By how names begin; the first that fits.
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
    /// Of a model's id, of an inference profile's (`us.`, `global.`, … before the model's), or of the ARN of either.
    pub(super) fn of(model: &str) -> Self {
        let name = model.rsplit('/').next().unwrap_or(model);
        let behind_place = name.split_once('.').map_or("", |(_, name)| name);
        let fits = |(beginning, _): &&(&str, Self)| [name, behind_place].iter().any(|name| name.starts_with(beginning));
        FAMILIES.iter().find(fits).map_or(OTHER, |(_, family)| *family)
    }
}

impl Caching {
    /// Whether marks are taken.
    pub(super) fn is_marked(self) -> bool {
        self != Self::Unmarked
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_says_the_family_wherever_it_runs() {
        for (family, names) in [
            (
                CLAUDE,
                vec![
                    "anthropic.claude-sonnet-4-5-20250929-v1:0",
                    "us.anthropic.claude-sonnet-4-5-20250929-v1:0",
                    "global.anthropic.claude-opus-4-6-v1",
                    "us-gov.anthropic.claude-3-7-sonnet-20250219-v1:0",
                    "us.anthropic.claude-3-5-haiku-20241022-v1:0",
                    "arn:aws:bedrock:us-east-1:123456789012:inference-profile/eu.anthropic.claude-haiku-4-5-20251001-v1:0",
                ],
            ),
            (
                OLD_CLAUDE,
                vec!["anthropic.claude-3-5-sonnet-20241022-v2:0", "eu.anthropic.claude-3-haiku-20240307-v1:0", "anthropic.claude-v2:1"],
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
