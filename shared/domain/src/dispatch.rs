//! Whom a message wakes. Decided once, in the transaction that keeps the message, and kept with it.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::{
    agents::{Budget, ConcurrencyMode},
    entities::EntityType,
    ids::{EntityId, RunId},
    mentions,
    shares::{Cause, Half, Minute},
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
    /// Runs a minute.
    #[serde(default = "Gate::default_runs")]
    pub runs_per_minute: u32,
}

impl Gate {
    /// What an agent of before has.
    fn default_runs() -> u32 {
        Budget::of_agent().runs_per_minute
    }
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
    /// Its runs of this minute, as far as they are known.
    pub minute: Option<&'a Minute>,
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

impl Said<'_> {
    /// Who causes what it wakes.
    pub fn cause(&self) -> Cause {
        Cause::member(self.sender, self.sender_kind == EntityType::Human)
    }
}

/// Whom a message wakes, and what that takes of the runs of a minute.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Decided {
    /// What became of each agent.
    pub dispatch: Vec<Dispatch>,
    /// Who was woken, and from which half of its minute its run is taken.
    pub taken: Vec<(EntityId, Half)>,
}

/// Decides for each agent but the sender whether `said` wakes it. `run_of` names the run of a woken agent; the space's runs are counted in `minute`.
///
/// The policy `router` answers as `all` does where nobody is named: its router is not asked here.
pub fn decide(
    space: &SpaceSettings,
    members: &[Listener<'_>],
    said: Said<'_>,
    minute: &mut Minute,
    run_of: impl Fn(EntityId) -> RunId,
) -> Decided {
    let cause = said.cause();
    let agents = || members.iter().filter(|member| member.gate.is_some());
    let mentions = mentions::find(said.text, agents().map(|agent| agent.name));
    let someone_named = mentions.all || !mentions.named.is_empty();
    let pair = members.len() == 2;
    let mut decided = Decided::default();
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
            let own = agent.minute.map_or(Some(Half::Rest), |own| own.room_of_agent(gate.runs_per_minute, &cause));
            let room = minute.room_in_space(space.budget.runs_per_minute, &cause).zip(own);
            if let Some((half, own)) = room {
                minute.count(half, &cause);
                decided.taken.push((agent.id, own));
            }
            room.is_none().then_some(Reason::Rate)
        };
        let source = match (named, pair) {
            (true, _) => Source::Mention,
            (false, true) => Source::Auto,
            (false, false) => Source::Broadcast,
        };
        decided.dispatch.push(match reason {
            Some(_) => Dispatch { agent_id: agent.id, run_id: None, source: None, reason },
            None => Dispatch { agent_id: agent.id, run_id: Some(run_of(agent.id)), source: Some(source), reason: None },
        });
    }
    decided
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
        let gate = Gate { paused: false, max_chain_depth: 5, mode: ConcurrencyMode::Parallel, max_runs: 5, runs_per_minute: 60 };
        let paused = Gate { paused: true, ..gate.clone() };
        let members = [
            Listener { id: entity(1), name: "Husam", gate: None, minute: None },
            Listener { id: entity(2), name: "Ada", gate: Some(&gate), minute: None },
            Listener { id: entity(3), name: "Bob", gate: Some(&gate), minute: None },
            Listener { id: entity(4), name: "Eve", gate: Some(&paused), minute: None },
        ];
        let kind = if sender == 1 { EntityType::Human } else { EntityType::Agent };
        let said = Said { sender: entity(sender), sender_kind: kind, text, chain_depth };
        let message = MessageId::new(Time::from_millis(1), 9);
        let decided =
            decide(space, &members, said, &mut Minute::default(), |agent| RunId::of_message(agent, message, Time::from_millis(2)));
        let words = decided.dispatch.iter().map(|decision| {
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

        let gate = Gate { paused: false, max_chain_depth: 5, mode: ConcurrencyMode::Parallel, max_runs: 5, runs_per_minute: 60 };
        let pair = [
            Listener { id: entity(1), name: "Husam", gate: None, minute: None },
            Listener { id: entity(2), name: "Ada", gate: Some(&gate), minute: None },
        ];
        let said = Said { sender: entity(1), sender_kind: EntityType::Human, text: "hi", chain_depth: 0 };
        let run = RunId::new(Time::from_millis(1), 1);
        for policy in [TriggerPolicy::All, TriggerPolicy::Mention] {
            let expected = Dispatch { agent_id: entity(2), run_id: Some(run), source: Some(Source::Auto), reason: None };
            assert_eq!(decide(&space(policy), &pair, said, &mut Minute::default(), |_| run).dispatch, [expected]);
        }
    }

    #[test]
    fn what_is_over_the_budget_of_the_space_or_of_the_agent_wakes_nobody() {
        let of_space = |runs| SpaceSettings { budget: Budget { runs_per_minute: runs, ..Budget::of_space() }, ..space(TriggerPolicy::All) };
        let gate = |runs| Gate { paused: false, max_chain_depth: 5, mode: ConcurrencyMode::Parallel, max_runs: 5, runs_per_minute: runs };
        let said = Said { sender: entity(1), sender_kind: EntityType::Human, text: "hi", chain_depth: 0 };
        let run = RunId::new(Time::from_millis(1), 1);
        let woken = |space_runs, agent_runs, known: &Minute, minute: &mut Minute| {
            let gate = gate(agent_runs);
            let members = [2, 3, 4].map(|it| Listener { id: entity(it), name: "Ada", gate: Some(&gate), minute: Some(known) });
            let decided = decide(&of_space(space_runs), &members, said, minute, |_| run);
            assert_eq!(decided.taken.len(), decided.dispatch.iter().filter(|it| it.run_id.is_some()).count());
            let refused = decided.dispatch.iter().filter(|it| it.reason == Some(Reason::Rate)).count();
            (decided.taken.len(), refused)
        };
        let (none, mut minute) = (Minute::default(), Minute::default());
        assert_eq!([(); 3].map(|()| woken(8, 60, &none, &mut minute)), [(3, 0), (1, 2), (0, 3)], "half of each half of eight");
        let mut used = Minute::default();
        let cause = said.cause();
        while let Some(half) = used.room_of_agent(4, &cause) {
            used.count(half, &cause);
        }
        assert_eq!(woken(120, 4, &used, &mut Minute::default()), (0, 3));
        assert_eq!(woken(120, 60, &used, &mut Minute::default()), (3, 0));
    }
}
