//! The answer of a router: which agents it chose, and why.

use std::collections::BTreeMap;

use serde::Deserialize;
use smartspace_domain::{dispatch::Choice, ids::EntityId, json, messages::excerpt};

use crate::router::Question;

/// How much of a reason is stored, in characters.
const REASON_CHARS: usize = 300;
/// How many names an error shows, and how much of each, in characters.
const NAMES: usize = 8;
const NAME_CHARS: usize = 64;
/// How much is stored of what is said of all agents that it left out without a reason.
const SUMMARY_CHARS: usize = 100;

#[derive(Default, Deserialize)]
struct Chosen {
    agents: Vec<Named>,
    #[serde(default)]
    others: Option<Vec<Named>>,
}

/// Some models write a name where an object was asked for.
#[derive(Deserialize)]
#[serde(untagged)]
enum Named {
    Name(String),
    WithReason {
        name: String,
        #[serde(default)]
        reason: Option<String>,
    },
}

impl Named {
    fn name(&self) -> &str {
        match self {
            Self::Name(name) | Self::WithReason { name, .. } => name,
        }
    }
}

impl Question<'_> {
    /// Reads the inputs of `choose`, which some models call once for each agent. Names of others
    /// than the candidates are ignored, but an answer that names only others is wrong.
    pub(super) fn read(&self, inputs: &[String]) -> Result<Choice, String> {
        let wrong =
            "its call of choose can't be read: expected {\"agents\": [{\"name\", \"reason\"}]}";
        let mut chosen = Chosen::default();
        for input in inputs {
            let input = json::parse_written(input).ok();
            let more: Chosen =
                input.and_then(|input| serde_json::from_value(input).ok()).ok_or(wrong)?;
            chosen.agents.extend(more.agents);
            chosen.others.get_or_insert_default().extend(more.others.unwrap_or_default());
        }
        let known = self.known(&chosen.agents);
        if known.is_empty() && !chosen.agents.is_empty() {
            return Err(self.only_others(&chosen.agents));
        }
        let most = self.most;
        let names: Vec<&str> = known.iter().take(most).map(|(_, name, _)| *name).collect();
        let summary = match names.as_slice() {
            [] => "the router chose nobody".to_owned(),
            names => format!("the router chose {}", names.join(", ")),
        };
        let max = self.router.max_agents;
        let too_many = format!("the router chose more agents than {max} (maxAgents)");
        let cut = known.iter().skip(most).map(|(id, name, _)| (*id, *name, too_many.as_str()));
        let others = self.known(chosen.others.as_deref().unwrap_or_default());
        let others = reasons(others.into_iter().chain(cut));
        Ok(Choice {
            asked: self.agents.iter().map(|agent| agent.entity_id).collect(),
            chosen: reasons(known.into_iter().take(most)),
            others,
            summary: excerpt(&summary, SUMMARY_CHARS).0.to_owned(),
        })
    }

    /// The error of an answer that names only others than the candidates.
    fn only_others(&self, named: &[Named]) -> String {
        let quoted = |text: &str| format!("{:?}", excerpt(text, NAME_CHARS).0);
        let named: Vec<_> = named.iter().take(NAMES).map(|one| quoted(one.name())).collect();
        let agents: Vec<_> = self.agents.iter().take(NAMES).map(|it| quoted(&it.name)).collect();
        format!(
            "it chose {}, but expected were nobody or some of {}: \
             the agents that this message may trigger",
            named.join(", "),
            agents.join(", ")
        )
    }

    /// The candidates that an answer names, with their names and its reasons.
    fn known<'a>(&'a self, named: &'a [Named]) -> Vec<(EntityId, &'a str, &'a str)> {
        let mut known: Vec<(EntityId, &str, &str)> = Vec::new();
        for one in named {
            let reason = match one {
                Named::WithReason { reason: Some(reason), .. } => reason,
                _ => "",
            };
            let find = |fits: &dyn Fn(&str) -> bool| self.agents.iter().find(|it| fits(&it.name));
            let agent = find(&|name| name == one.name())
                .or_else(|| find(&|name| folded(name) == folded(one.name())));
            if let Some(agent) = agent
                && known.iter().all(|(id, _, _)| *id != agent.entity_id)
            {
                known.push((agent.entity_id, &agent.name, reason));
            }
        }
        known
    }
}

fn reasons<'a>(
    known: impl IntoIterator<Item = (EntityId, &'a str, &'a str)>,
) -> BTreeMap<EntityId, String> {
    let line = |reason: &str| reason.replace(|char: char| char.is_control(), " ");
    let words = |reason: &str| excerpt(line(reason).trim(), REASON_CHARS).0.to_owned();
    known.into_iter().map(|(id, _, reason)| (id, words(reason))).collect()
}

/// A name however a model writes it.
fn folded(name: &str) -> String {
    name.trim().trim_start_matches('@').to_lowercase()
}
