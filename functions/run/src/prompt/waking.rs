//! Writes whom a message of the agent wakes in a space.

use smartspace_domain::{
    entities::EntityType,
    spaces::{SpaceSettings, TriggerPolicy},
};
use smartspace_store::spaces::SpaceOverview;

/// The sentence for an agent that has no active space.
pub(crate) const UNKNOWN_YET: &str = "enter_space says whom a message wakes there.";

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
    match settings.trigger_policy {
        TriggerPolicy::All => {
            "Your message wakes the other agents here; write @Name to ask one of them."
        }
        TriggerPolicy::Mention | TriggerPolicy::Admin => {
            "Your message wakes an agent only if you write @Name."
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

#[cfg(test)]
mod tests {
    use serde_json::json;
    use smartspace_domain::{Time, ids::EntityId, messages::Sender};
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
            },
            about: None,
        };
        let members: Vec<_> = kinds.iter().zip(1..).map(member).collect();
        let count = members.len();
        let overview = SpaceOverview { name: "Ops".into(), members, count, admin: None };
        write_waking(&serde_json::from_value(all).unwrap(), Some(&overview))
    }

    #[test]
    fn each_policy_has_its_sentence() {
        use EntityType::{Agent, Human};
        let admin = EntityId::new(Time::from_millis(1), 1);
        let [all, mention, router] =
            ["all", "mention", "router"].map(|policy| json!({"triggerPolicy": policy}));
        let no_admin = json!({"triggerPolicy": "admin"});
        let with_admin = json!({"triggerPolicy": "admin", "adminAgentId": admin});
        let three = [Human, Agent, Agent];
        let named = "Your message wakes an agent only if you write @Name.";
        assert_eq!(
            said(&all, &three),
            "Your message wakes the other agents here; write @Name to ask one of them."
        );
        assert_eq!([&mention, &no_admin, &with_admin].map(|it| said(it, &three)), [named; 3]);
        assert_eq!(
            said(&router, &three),
            "A router chooses whom your message wakes; @Name wakes that agent."
        );
        let pair = [Agent, Agent];
        let other = "Your message wakes the other agent.";
        assert_eq!([&all, &mention, &router, &no_admin].map(|it| said(it, &pair)), [other; 4]);
        assert_eq!(said(&with_admin, &pair), named);
        assert_eq!(said(&mention, &[Human, Agent]), named);
    }
}
