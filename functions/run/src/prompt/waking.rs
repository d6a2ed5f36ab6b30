//! Writes whom a message of the agent wakes in a space.

use smartspace_domain::{
    agents::default_chain_depth,
    entities::EntityType,
    ids::EntityId,
    spaces::{SpaceSettings, TriggerPolicy},
};
use smartspace_store::spaces::SpaceOverview;

/// The sentence for an agent that has no active space.
pub(crate) const UNKNOWN_YET: &str = "enter_space says whom a message wakes there.";

/// The sentence for a message that can wake nobody, since its chain is too long.
pub(crate) const CHAIN_ENDS: &str = "This chain ends with your message: it wakes nobody.";

/// Whether no message of a run with this chain depth can wake another agent of a space.
pub(crate) fn chain_ends(
    settings: &SpaceSettings,
    overview: Option<&SpaceOverview>,
    me: EntityId,
    chain_depth: u32,
) -> bool {
    let limit = overview.and_then(|overview| limit_of_others(overview, me)).unwrap_or(u32::MAX);
    chain_depth + 1 >= settings.max_chain_depth.min(limit)
}

/// The highest chain limit of the other agents of a space. `None` if it is not known.
fn limit_of_others(overview: &SpaceOverview, me: EntityId) -> Option<u32> {
    let agents = overview
        .members
        .iter()
        .filter(|member| member.sender.kind == EntityType::Agent && member.sender.id != me);
    let limits = agents.map(|agent| agent.chain_limit.unwrap_or_else(default_chain_depth));
    limits.max().filter(|_| overview.count == overview.members.len())
}

/// The sentence for a space whose only agent is the reader.
const NOBODY: &str = "No other agent is here: your message wakes nobody.";

/// Writes whom a message of an agent wakes in a space, as one sentence.
pub(crate) fn write_waking(
    settings: &SpaceSettings,
    overview: Option<&SpaceOverview>,
) -> &'static str {
    let has_admin =
        settings.trigger_policy == TriggerPolicy::Admin && settings.admin_agent_id.is_some();
    if overview.is_some_and(is_pair_of_agents) && !has_admin {
        return "Your message wakes the other agent.";
    }
    if overview.is_some_and(has_one_agent) {
        return NOBODY;
    }
    match settings.trigger_policy {
        TriggerPolicy::All => {
            "Your message wakes the other agents here; write @Name to ask one of them."
        }
        TriggerPolicy::Mention | TriggerPolicy::Partner | TriggerPolicy::Admin => {
            "Your message wakes an agent only if you write @Name or reply to it."
        }
        TriggerPolicy::Router => {
            "A router chooses whom your message wakes; @Name wakes that agent."
        }
    }
}

fn is_pair_of_agents(overview: &SpaceOverview) -> bool {
    let is_agent = |kind: EntityType| kind == EntityType::Agent;
    overview.count == 2 && overview.members.iter().all(|member| is_agent(member.sender.kind))
}

fn has_one_agent(overview: &SpaceOverview) -> bool {
    let members = &overview.members;
    let agents = members.iter().filter(|member| member.sender.kind == EntityType::Agent);
    overview.count == members.len() && agents.count() == 1
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use smartspace_domain::{Time, messages::Sender};
    use smartspace_store::spaces::OverviewMember;

    use super::*;

    fn said(settings: &serde_json::Value, kinds: &[EntityType]) -> &'static str {
        let mut all = json!({"name": "Ops"});
        all.as_object_mut().unwrap().extend(settings.as_object().unwrap().clone());
        let member = |(kind, number): (&EntityType, u128)| OverviewMember {
            sender: Sender {
                id: EntityId::new(Time::from_millis(1), number),
                name: format!("m{number}"),
                kind: *kind,
                guest: false,
            },
            about: None,
            chain_limit: None,
        };
        let members: Vec<_> = kinds.iter().zip(1..).map(member).collect();
        let count = members.len();
        let overview =
            SpaceOverview { name: "Ops".into(), members, count, admin: None, changed: None };
        write_waking(&serde_json::from_value(all).unwrap(), Some(&overview))
    }

    #[test]
    fn each_policy_has_its_sentence() {
        use EntityType::{Agent, Human};
        let admin = EntityId::new(Time::from_millis(1), 1);
        let [all, mention, partner, router] =
            ["all", "mention", "partner", "router"].map(|policy| json!({"triggerPolicy": policy}));
        let no_admin = json!({"triggerPolicy": "admin"});
        let with_admin = json!({"triggerPolicy": "admin", "adminAgentId": admin});
        let three = [Human, Agent, Agent];
        let named = "Your message wakes an agent only if you write @Name or reply to it.";
        assert_eq!(
            said(&all, &three),
            "Your message wakes the other agents here; write @Name to ask one of them."
        );
        let by_name = [&mention, &partner, &no_admin, &with_admin];
        assert_eq!(by_name.map(|it| said(it, &three)), [named; 4]);
        assert_eq!(
            said(&router, &three),
            "A router chooses whom your message wakes; @Name wakes that agent."
        );
        let pair = [Agent, Agent];
        let other = "Your message wakes the other agent.";
        assert_eq!([&all, &mention, &router, &no_admin].map(|it| said(it, &pair)), [other; 4]);
        assert_eq!(said(&with_admin, &pair), named);
        assert_eq!(
            [&all, &mention, &router].map(|it| said(it, &[Human, Agent, Human])),
            [NOBODY; 3]
        );
    }

    #[test]
    fn a_chain_ends_at_the_limit_of_the_space_and_at_the_highest_of_its_other_agents() {
        let settings: SpaceSettings =
            serde_json::from_value(json!({"name": "Ops", "maxChainDepth": 5})).unwrap();
        let agent = |number, chain_limit| OverviewMember {
            sender: Sender {
                id: EntityId::new(Time::from_millis(1), number),
                name: format!("m{number}"),
                kind: EntityType::Agent,
                guest: false,
            },
            about: None,
            chain_limit,
        };
        let me = agent(1, Some(9)).sender.id;
        let ends = |limits: &[Option<u32>], hidden: usize, depth: u32| {
            let others = limits.iter().zip(2..).map(|(limit, number)| agent(number, *limit));
            let members: Vec<_> = [agent(1, Some(9))].into_iter().chain(others).collect();
            let count = members.len() + hidden;
            let overview =
                SpaceOverview { name: "Ops".into(), members, count, admin: None, changed: None };
            chain_ends(&settings, Some(&overview), me, depth)
        };
        assert_eq!([3, 4].map(|depth| ends(&[None], 0, depth)), [false, true], "the space's");
        assert_eq!([0, 1].map(|depth| ends(&[Some(2), Some(1)], 0, depth)), [false, true]);
        assert!(!ends(&[Some(1), None], 0, 3), "one of them has a higher limit");
        assert!(!ends(&[Some(1)], 1, 3), "an agent that is not named may have a higher limit");
        assert!(!ends(&[], 0, 3) && ends(&[], 0, 4));
    }
}
