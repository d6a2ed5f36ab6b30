//! Spaces and who is in them.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::{
    Time,
    access::Caller,
    agents::{Budget, FallbackModel, check_model_name, default_chain_depth},
    entities::{EntityType, check_name},
    errors::{Faults, Result},
    ids::{EntityId, SpaceId},
    schemas,
};

/// Whom a message wakes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum TriggerPolicy {
    /// Every other agent.
    #[default]
    All,
    /// Those named; in a space of two the other one.
    Mention,
    /// Those named, else whom a router chooses.
    Router,
    /// The admin agent, who delegates.
    Admin,
}

/// The model that chooses whom a message wakes, and what it is told.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct RouterConfig {
    /// The model.
    pub model: FallbackModel,
    /// What it is told besides.
    #[serde(default)]
    pub instructions: Option<String>,
}

/// What can be set of a space: what a merge patch is applied to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SpaceSettings {
    /// 1 to 128 characters.
    #[schema(schema_with = schemas::name)]
    pub name: String,
    /// Whom a message wakes.
    #[serde(default)]
    #[schema(default = TriggerPolicy::default)]
    pub trigger_policy: TriggerPolicy,
    /// With the policy `admin`: the agent that is woken.
    #[serde(default)]
    pub admin_agent_id: Option<EntityId>,
    /// With the policy `router`: who chooses.
    #[serde(default)]
    pub router: Option<RouterConfig>,
    /// Messages of this depth or more wake nobody.
    #[serde(default = "default_chain_depth")]
    #[schema(default = default_chain_depth, maximum = 100)]
    pub max_chain_depth: u32,
    /// In a paused space nobody is woken.
    #[serde(default)]
    #[schema(default = false)]
    pub paused: bool,
    /// What it may spend.
    #[serde(default = "Budget::of_space")]
    #[schema(default = Budget::of_space)]
    pub budget: Budget,
}

impl SpaceSettings {
    /// Everything that is wrong with it, at once.
    pub fn check(&self) -> Result<()> {
        let mut faults = Faults::default();
        check_name(&mut faults, &self.name);
        faults.check_range(&self.max_chain_depth, 0..=100, "maxChainDepth");
        faults.within("budget", |faults| self.budget.check(faults));
        let admin = self.trigger_policy != TriggerPolicy::Admin || self.admin_agent_id.is_some();
        faults.check(admin, "adminAgentId", "required with the policy admin");
        let router = self.trigger_policy != TriggerPolicy::Router || self.router.is_some();
        faults.check(router, "router", "required with the policy router");
        if let Some(router) = &self.router {
            faults.within("router", |faults| faults.within("model", |faults| check_model_name(&router.model.name, faults)));
        }
        faults.done()
    }
}

/// What a member may do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// May change the space and its members.
    Owner,
    /// May read and write.
    #[default]
    Member,
}

/// A member of a space, as the API shows it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Member {
    /// The entity.
    pub id: EntityId,
    /// Its name.
    pub name: String,
    /// Person or agent.
    #[serde(rename = "type")]
    pub kind: EntityType,
    /// What it may do.
    pub role: Role,
    /// How far it has read.
    pub read_seq: u64,
    /// Since when it is here.
    pub joined_at: Time,
}

/// A space, as the API shows it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Space {
    /// Its id.
    pub id: SpaceId,
    /// What can be set of it.
    #[serde(flatten)]
    pub settings: SpaceSettings,
    /// The number of its last message.
    pub seq: u64,
    /// When it was made.
    pub created_at: Time,
    /// Who is in it.
    pub members: Vec<Member>,
    /// The caller's own place in it; null for the operator.
    pub me: Option<Me>,
}

impl Space {
    /// As a caller sees it: with its own place, where it has one.
    #[must_use]
    pub fn seen_by(self, caller: Caller) -> Self {
        let own = self.members.iter().find(|member| caller == Caller::Entity(member.id));
        let me = own.map(|Member { read_seq, .. }| Me { read_seq: *read_seq, unread: self.seq.saturating_sub(*read_seq) });
        Self { me, ..self }
    }
}

/// A caller's own place in a space.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Me {
    /// How far it has read.
    pub read_seq: u64,
    /// How many messages came since.
    pub unread: u64,
}
