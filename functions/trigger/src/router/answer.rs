//! The answer of a router: which agents it chose, and why.

use std::collections::BTreeMap;

use serde::Deserialize;
use smartspace_domain::{dispatch::Choice, ids::EntityId, json, messages::excerpt};

use crate::router::Question;

/// How much of a reason is stored, in characters.
const REASON_CHARS: usize = 300;
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

impl Question<'_> {
    /// Reads the inputs of `choose`, which some models call once for each agent. Names of others
    /// than the candidates are ignored, but an answer that names only others is wrong.
    pub(super) fn read(&self, inputs: &[String]) -> Result<Choice, String> {
        let wrong =
            "its call of choose can't be read: expected {\"agents\": [{\"name\", \"reason\"}]}";
        let mut chosen = Chosen::default();
        for input in inputs {
            let input = json::parse(input).ok();
            let more: Chosen =
                input.and_then(|input| serde_json::from_value(input).ok()).ok_or(wrong)?;
            chosen.agents.extend(more.agents);
            chosen.others.get_or_insert_default().extend(more.others.unwrap_or_default());
        }
        let known = self.known(&chosen.agents);
        if known.is_empty() && !chosen.agents.is_empty() {
            return Err("it chose only agents that it can't choose".into());
        }
        let most = self.router.max_agents as usize;
        let names: Vec<&str> = known.iter().take(most).map(|(_, name, _)| *name).collect();
        let summary = match names.as_slice() {
            [] => "the router chose nobody".to_owned(),
            names => format!("the router chose {}", names.join(", ")),
        };
        let others = self.known(chosen.others.as_deref().unwrap_or_default());
        Ok(Choice {
            chosen: reasons(known.into_iter().take(most)),
            others: reasons(others),
            summary: excerpt(&summary, SUMMARY_CHARS).0.to_owned(),
        })
    }

    /// The candidates that an answer names, with their names and its reasons.
    fn known<'a>(&'a self, named: &'a [Named]) -> Vec<(EntityId, &'a str, &'a str)> {
        let mut known: Vec<(EntityId, &str, &str)> = Vec::new();
        for one in named {
            let (name, reason) = match one {
                Named::Name(name) => (name, ""),
                Named::WithReason { name, reason } => (name, reason.as_deref().unwrap_or("")),
            };
            let name = folded(name);
            let agent = self.agents.iter().find(|agent| folded(&agent.name) == name);
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
    let words = |reason: &str| excerpt(reason.trim(), REASON_CHARS).0.to_owned();
    known.into_iter().map(|(id, _, reason)| (id, words(reason))).collect()
}

/// A name however a model writes it.
fn folded(name: &str) -> String {
    name.trim().trim_start_matches('@').to_lowercase()
}
