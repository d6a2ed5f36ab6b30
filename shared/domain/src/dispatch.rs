//! Whom a message wakes. Decided once, in the transaction that keeps the message, and kept with it.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::{
    agents::ConcurrencyMode,
    entities::EntityType,
    ids::{EntityId, RunId},
    mentions,
    spaces::{SpaceSettings, TriggerPolicy},
};

/// Why an agent was woken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum Source {
    /// Another agent handed it on.
    Delegated,
    /// It was named.
    Mention,
    /// There are only two in the space.
    Auto,
    /// The router chose it.
    Router,
    /// Everyone was woken.
    Broadcast,
}

impl Source {
    /// As the API and prompts write it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Delegated => "delegated",
            Self::Mention => "mention",
            Self::Auto => "auto",
            Self::Router => "router",
            Self::Broadcast => "broadcast",
        }
    }
}

/// Why an agent was not woken; of several the first that fits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Reason {
    /// It, or the space, is paused.
    Paused,
    /// Too many agents' messages since a person's.
    ChainDepth,
    /// The space's policy did not ask for it.
    Policy,
    /// Too many runs a minute.
    Rate,
    /// The day's budget is used.
    Budget,
}

/// What became of one agent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Dispatch {
    /// The agent.
    pub agent_id: EntityId,
    /// Its run, where it was woken.
    #[schema(required)]
    pub run_id: Option<RunId>,
    /// Why it was woken.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<Source>,
    /// Why it was not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<Reason>,
}

/// What of an agent's configuration a dispatch reads: small, since it is read for every message.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Gate {
    /// A paused agent is not woken.
    pub paused: bool,
    /// Messages of this depth or more do not wake it.
    pub max_chain_depth: u32,
    /// What a trigger does while a run is active.
    pub mode: ConcurrencyMode,
    /// Active runs at most.
    pub max_runs: u32,
}

/// A member of the space, as a dispatch sees it. `gate` is set for agents.
#[derive(Clone, Copy, Debug)]
pub struct Listener<'a> {
    /// Who.
    pub id: EntityId,
    /// Its name, for mentions.
    pub name: &'a str,
    /// Its gate; people have none.
    pub gate: Option<&'a Gate>,
}

/// The message that is to be dispatched.
#[derive(Clone, Copy, Debug)]
pub struct Said<'a> {
    /// Who said it.
    pub sender: EntityId,
    /// Person or agent.
    pub sender_kind: EntityType,
    /// What.
    pub text: &'a str,
    /// At which depth.
    pub chain_depth: u32,
}

/// Decides for each agent but the sender whether `said` wakes it. `run_of` names the run of a woken agent.
///
/// The policy `router` answers as `all` does where nobody is named: its router is not asked here.
pub fn decide(space: &SpaceSettings, members: &[Listener<'_>], said: Said<'_>, run_of: impl Fn(EntityId) -> RunId) -> Vec<Dispatch> {
    let agents = || members.iter().filter(|member| member.gate.is_some());
    let mentions = mentions::find(said.text, agents().map(|agent| agent.name));
    let someone_named = mentions.all || !mentions.named.is_empty();
    let pair = members.len() == 2;
    let mut decisions = Vec::new();
    for (index, agent) in agents().enumerate() {
        let Some(gate) = agent.gate else { continue };
        if agent.id == said.sender {
            continue;
        }
        let named = mentions.includes(index);
        let asked = match space.trigger_policy {
            TriggerPolicy::All => true,
            TriggerPolicy::Mention => named || pair,
            TriggerPolicy::Router => named || !someone_named,
            TriggerPolicy::Admin if said.sender_kind == EntityType::Human => space.admin_agent_id == Some(agent.id),
            TriggerPolicy::Admin => named,
        };
        let reason = if space.paused || gate.paused {
            Some(Reason::Paused)
        } else if said.chain_depth >= space.max_chain_depth.min(gate.max_chain_depth) {
            Some(Reason::ChainDepth)
        } else if !asked {
            Some(Reason::Policy)
        } else {
            None
        };
        let source = match (named, pair) {
            (true, _) => Source::Mention,
            (false, true) => Source::Auto,
            (false, false) => Source::Broadcast,
        };
        decisions.push(match reason {
            Some(_) => Dispatch { agent_id: agent.id, run_id: None, source: None, reason },
            None => Dispatch { agent_id: agent.id, run_id: Some(run_of(agent.id)), source: Some(source), reason: None },
        });
    }
    decisions
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Time, agents::Budget, ids::MessageId};

    fn entity(number: u128) -> EntityId {
        EntityId::new(Time::from_millis(1), number)
    }

    fn space(policy: TriggerPolicy) -> SpaceSettings {
        SpaceSettings {
            name: "s".into(),
            trigger_policy: policy,
            admin_agent_id: Some(entity(3)),
            router: None,
            max_chain_depth: 2,
            paused: false,
            budget: Budget::of_space(),
        }
    }

    /// Person 1, agents 2 (Ada), 3 (Bob), 4 (Eve, paused): what `sender` causes, as `number:source` or `number!reason`.
    fn decided(space: &SpaceSettings, sender: u128, text: &str, chain_depth: u32) -> String {
        let gate = Gate { paused: false, max_chain_depth: 5, mode: ConcurrencyMode::Parallel, max_runs: 5 };
        let paused = Gate { paused: true, ..gate.clone() };
        let members = [
            Listener { id: entity(1), name: "Husam", gate: None },
            Listener { id: entity(2), name: "Ada", gate: Some(&gate) },
            Listener { id: entity(3), name: "Bob", gate: Some(&gate) },
            Listener { id: entity(4), name: "Eve", gate: Some(&paused) },
        ];
        let kind = if sender == 1 { EntityType::Human } else { EntityType::Agent };
        let said = Said { sender: entity(sender), sender_kind: kind, text, chain_depth };
        let message = MessageId::new(Time::from_millis(1), 9);
        let decisions = decide(space, &members, said, |agent| RunId::of_message(agent, message, Time::from_millis(2)));
        let words = decisions.iter().map(|decision| {
            let number = (1..=4).find(|&number| entity(number) == decision.agent_id).unwrap();
            assert_eq!(decision.run_id, decision.source.map(|_| RunId::of_message(decision.agent_id, message, Time::from_millis(2))));
            match (decision.source, decision.reason) {
                (Some(source), None) => format!("{number}:{}", source.as_str()),
                (None, Some(reason)) => format!("{number}!{reason:?}"),
                other => panic!("{other:?}"),
            }
        });
        words.collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn each_policy_wakes_whom_it_says() {
        use TriggerPolicy::{Admin, All, Mention, Router};
        let table = [
            (All, 1, "hi", 0, "2:broadcast 3:broadcast 4!Paused"),
            (All, 1, "hi @bob", 0, "2:broadcast 3:mention 4!Paused"),
            (All, 2, "hi", 1, "3:broadcast 4!Paused"),
            (All, 2, "hi", 2, "3!ChainDepth 4!Paused"),
            (Mention, 1, "hi", 0, "2!Policy 3!Policy 4!Paused"),
            (Mention, 1, "@all", 0, "2:mention 3:mention 4!Paused"),
            (Mention, 2, "@bob @ada", 1, "3:mention 4!Paused"),
            (Router, 1, "@ada", 0, "2:mention 3!Policy 4!Paused"),
            (Router, 1, "hi", 0, "2:broadcast 3:broadcast 4!Paused"),
            (Admin, 1, "@ada", 0, "2!Policy 3:broadcast 4!Paused"),
            (Admin, 3, "@ada", 1, "2:mention 4!Paused"),
            (Admin, 3, "done", 1, "2!Policy 4!Paused"),
        ];
        for (policy, sender, text, depth, expected) in table {
            assert_eq!(decided(&space(policy), sender, text, depth), expected, "{policy:?} {sender} {text:?} {depth}");
        }
    }

    #[test]
    fn a_paused_space_wakes_nobody_and_a_pair_needs_no_name() {
        let paused = SpaceSettings { paused: true, ..space(TriggerPolicy::All) };
        assert_eq!(decided(&paused, 1, "@all", 0), "2!Paused 3!Paused 4!Paused");

        let gate = Gate { paused: false, max_chain_depth: 5, mode: ConcurrencyMode::Parallel, max_runs: 5 };
        let pair = [Listener { id: entity(1), name: "Husam", gate: None }, Listener { id: entity(2), name: "Ada", gate: Some(&gate) }];
        let said = Said { sender: entity(1), sender_kind: EntityType::Human, text: "hi", chain_depth: 0 };
        let run = RunId::new(Time::from_millis(1), 1);
        for policy in [TriggerPolicy::All, TriggerPolicy::Mention] {
            let expected = Dispatch { agent_id: entity(2), run_id: Some(run), source: Some(Source::Auto), reason: None };
            assert_eq!(decide(&space(policy), &pair, said, |_| run), [expected]);
        }
    }
}
