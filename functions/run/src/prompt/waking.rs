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
