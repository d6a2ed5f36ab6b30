//! Spaces and their members.

mod activity;
mod limits;
pub mod owner_limits;
pub mod router;
mod schema;

use serde::{Deserialize, Deserializer, Serialize};
use utoipa::{PartialSchema, ToSchema};

pub use crate::spaces::{
    activity::{EXCERPT_CHARS, LastMessage, Looked, OwnPosition, ShownLast, ShownLooked},
    router::{RouterConfig, RouterModel},
    schema::NewSpace,
};
use crate::{
    Error, Time,
    agents::default_chain_depth,
    budgets::{self, Budget},
    callers::Caller,
    errors::Faults,
    gate::{GateMode, GateSettings},
    identity::EntityType,
    ids::{EntityId, SpaceId},
    managed_by::ManagedBy,
    names::Name,
    stored,
};

/// Which agents a message triggers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum TriggerPolicy {
    /// Every other agent.
    #[default]
    All,
    /// Mentioned agents. In a space of two members the other one.
    Mention,
    /// Mentioned agents. Without a mention those that `gate` and `router` choose.
    Router,
    /// Mentioned agents. Without a mention, for a person's message, the agent with which the person
    /// talked last.
    Partner,
    /// A person's message triggers `adminAgentId` only, an agent's message the mentioned agents. If
    /// the admin agent has left the space, this acts as `mention`.
    Admin,
}

/// By default a question is not left to silence.
pub(crate) fn answers_questions() -> bool {
    true
}

/// The usual limit of auto replies, and the most that an owner can set.
pub(crate) fn default_auto_replies() -> u32 {
    3
}

/// The settings of a space: the document that a merge patch changes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SpaceSettings {
    /// 1 to 128 characters, not only blanks, without control characters and invisible ones.
    #[schema(schema_with = Name::schema)]
    pub name: String,
    /// Which agents a message triggers.
    #[serde(default)]
    #[schema(default = TriggerPolicy::default)]
    pub trigger_policy: TriggerPolicy,
    /// The agent that people's messages trigger. A change to the policy `admin` requires it. Null
    /// after that agent has left the space.
    #[serde(default)]
    pub admin_agent_id: Option<EntityId>,
    /// How a model chooses agents. With `gate.mode: off` the policy `router` needs a model here or
    /// in the deployment.
    #[serde(default)]
    pub router: Option<RouterConfig>,
    /// The gate, which says without a model who would answer.
    #[serde(default)]
    #[schema(default = GateSettings::default)]
    pub gate: GateSettings,
    /// A message with this chain depth or more triggers no agent. An owner can set at most 5.
    #[serde(default = "default_chain_depth", deserialize_with = "limits::read")]
    #[schema(default = default_chain_depth, maximum = 100)]
    pub max_chain_depth: u32,
    /// Whether an agent answers a person's question that names nobody, although no agent would by
    /// itself. Under the policies `mention` and `admin` none does.
    #[serde(default = "answers_questions")]
    #[schema(default = answers_questions)]
    pub answer_questions: bool,
    /// How many runs of an agent messages of agents start that do not name it, until a person, or
    /// a run of a plan or a service, posts. An owner can set at most 3.
    #[serde(default = "default_auto_replies", deserialize_with = "limits::read")]
    #[schema(default = default_auto_replies, maximum = 100)]
    pub max_auto_replies: u32,
    /// In a paused space a message triggers no agent.
    #[serde(default)]
    #[schema(default = false)]
    pub paused: bool,
    /// Limits for the space's runs and costs. An owner can set at most 120 runs a minute, and no
    /// more tokens and dollars than the operator has set.
    #[serde(default = "Budget::of_space", deserialize_with = "budgets::read_of_space")]
    #[schema(default = Budget::of_space)]
    pub budget: Budget,
}

impl SpaceSettings {
    /// Checks the settings and reports all faults at once. `before` are those of a space that
    /// changes: the policy `admin` may stay without an admin agent that has left.
    ///
    /// # Errors
    /// `invalid`, with the pointers of the faults.
    pub fn check(&self, before: Option<&Self>) -> crate::Result<()> {
        let mut faults = Faults::default();
        faults.check_text(Name::check(&self.name), "name");
        faults.check_range(&self.max_chain_depth, 0..=100, "maxChainDepth");
        faults.check_range(&self.max_auto_replies, 0..=100, "maxAutoReplies");
        faults.within("budget", |faults| self.budget.check(faults));
        let has_no_admin = |settings: &Self| {
            settings.trigger_policy == TriggerPolicy::Admin && settings.admin_agent_id.is_none()
        };
        let admin = !has_no_admin(self) || before.is_some_and(has_no_admin);
        faults.check(admin, "adminAgentId", "required with the policy admin");
        if let Some(router) = &self.router {
            faults.within("router", |faults| router.check(faults));
        }
        faults.done()
    }

    /// Whether a question that names nobody is not left to silence.
    pub fn answers_questions(&self) -> bool {
        let is_for_named =
            matches!(self.trigger_policy, TriggerPolicy::Mention | TriggerPolicy::Admin);
        self.answer_questions && !is_for_named
    }

    /// Whether a decision may follow from the last messages of the space, too.
    pub fn decides_by_talk(&self) -> bool {
        self.trigger_policy == TriggerPolicy::Partner || self.has_gate()
    }

    /// Refuses the policy `router` if nothing chooses: neither the space nor the deployment has a
    /// model, and the gate does not decide.
    ///
    /// # Errors
    /// `invalid` at `/router/model`.
    pub fn must_have_router_model(&self, of_deployment: Option<&RouterModel>) -> crate::Result<()> {
        let has_model = self.has_router_model() || of_deployment.is_some();
        if self.trigger_policy != TriggerPolicy::Router || has_model || self.gate_decides() {
            return Ok(());
        }
        let detail = "the policy router needs a model here, or gate.mode on: set one of them, or \
                      choose another triggerPolicy";
        Err(Error::invalid("/router/model", detail))
    }

    /// Whether the operator has set a router model for the space.
    pub fn has_router_model(&self) -> bool {
        self.router.as_ref().is_some_and(|router| router.model.is_some())
    }

    /// Whether the gate decides which agents a message triggers.
    pub fn gate_decides(&self) -> bool {
        self.trigger_policy == TriggerPolicy::Router && self.gate.mode == GateMode::On
    }

    /// Whether messages get scores of the gate.
    pub fn has_gate(&self) -> bool {
        self.gate_decides() || self.gate.mode == GateMode::Shadow
    }
}

/// Adds `members` to the fields that an error expects: they are read apart from the settings.
pub fn naming_members(error: Error) -> Error {
    let Error::Invalid(mut faults) = error else { return error };
    for fault in &mut faults {
        let (first, with_members) = ("expected one of `name`", "expected one of `members`, `name`");
        fault.detail = fault.detail.replace(first, with_members);
    }
    Error::Invalid(faults)
}

/// The settings of a space that every member sees.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ShownSettings {
    /// The name.
    pub name: String,
    /// Which agents a message triggers.
    #[serde(default)]
    pub trigger_policy: TriggerPolicy,
    /// The agent that people's messages trigger with the policy `admin`.
    #[serde(default)]
    pub admin_agent_id: Option<EntityId>,
    /// The gate.
    #[serde(default)]
    pub gate: GateSettings,
    /// A message with this chain depth or more triggers no agent.
    #[serde(default = "default_chain_depth")]
    pub max_chain_depth: u32,
    /// Whether an agent answers a person's question that names nobody.
    #[serde(default = "answers_questions")]
    pub answer_questions: bool,
    /// How many runs of an agent messages of agents start that do not name it, until an outside
    /// cause comes.
    #[serde(default = "default_auto_replies")]
    pub max_auto_replies: u32,
    /// In a paused space a message triggers no agent.
    #[serde(default)]
    pub paused: bool,
}

/// The role of a member.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// An owner may change the space and its members.
    Owner,
    /// A member may read and post.
    #[default]
    Member,
}

/// A member of a space.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Member {
    /// The entity's id.
    pub id: EntityId,
    /// The entity's name.
    pub name: String,
    /// Whether it is a person or an agent.
    #[serde(rename = "type", deserialize_with = "stored::read")]
    pub kind: EntityType,
    /// The member's role.
    #[serde(deserialize_with = "stored::read")]
    pub role: Role,
    /// The `seq` of the last message that the member has read.
    pub read_seq: u64,
    /// When the member joined the space.
    pub joined_at: Time,
    /// Whether the member is a guest, who came by an invite and has no account.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub guest: bool,
}

/// The router of a space, as owners and the operator see it. A space may have none.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ShownRouter(pub Option<RouterConfig>);

/// A space.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Space {
    /// The space's id.
    pub id: SpaceId,
    /// The settings that every member sees.
    #[serde(flatten, deserialize_with = "stored::read")]
    pub settings: ShownSettings,
    /// How the router chooses agents. Absent, as `budget`, unless the reader is an owner or the
    /// operator.
    #[serde(default, deserialize_with = "read_shown", skip_serializing_if = "Option::is_none")]
    pub router: Option<ShownRouter>,
    /// The limits for runs and costs.
    #[serde(default, deserialize_with = "stored::read", skip_serializing_if = "Option::is_none")]
    pub budget: Option<Budget>,
    /// The files that manage the space. Only owners and the operator see it. Absent if none do.
    #[serde(default, deserialize_with = "stored::read", skip_serializing_if = "Option::is_none")]
    pub managed_by: Option<ManagedBy>,
    /// The `seq` of the space's last message.
    pub seq: u64,
    /// How many of its messages are tool cards.
    #[serde(default)]
    pub cards: u64,
    /// The last message, in short. Absent in events.
    #[serde(default, deserialize_with = "read_shown", skip_serializing_if = "Option::is_none")]
    pub last_message: Option<ShownLast>,
    /// When the space was created.
    pub created_at: Time,
    /// The members, people and agents.
    pub members: Vec<Member>,
    /// The `seq` of the pinned messages, in the order in which they were pinned; absent without.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pins: Vec<u64>,
    /// The caller's read position; null for the operator.
    pub me: Option<OwnPosition>,
    /// How far the operator has looked. Absent for all others.
    #[serde(default, deserialize_with = "read_shown", skip_serializing_if = "Option::is_none")]
    pub looked: Option<ShownLooked>,
}

impl Space {
    /// A space with all of its settings, as owners and the operator see it.
    pub fn of(id: SpaceId, settings: SpaceSettings, created_at: Time) -> Self {
        let SpaceSettings {
            name,
            trigger_policy,
            admin_agent_id,
            router,
            gate,
            max_chain_depth,
            answer_questions,
            max_auto_replies,
            paused,
            budget,
        } = settings;
        Self {
            id,
            settings: ShownSettings {
                name,
                trigger_policy,
                admin_agent_id,
                gate,
                max_chain_depth,
                answer_questions,
                max_auto_replies,
                paused,
            },
            router: Some(ShownRouter(router)),
            budget: Some(budget),
            managed_by: None,
            seq: 0,
            cards: 0,
            last_message: None,
            created_at,
            members: Vec::new(),
            pins: Vec::new(),
            me: None,
            looked: None,
        }
    }

    /// All settings of a space, as owners and the operator see it.
    pub fn all_settings(&self) -> SpaceSettings {
        let ShownSettings {
            name,
            trigger_policy,
            admin_agent_id,
            gate,
            max_chain_depth,
            answer_questions,
            max_auto_replies,
            paused,
        } = self.settings.clone();
        let router = self.router.clone().and_then(|shown| shown.0);
        let budget = self.budget.clone().unwrap_or_default();
        SpaceSettings {
            name,
            trigger_policy,
            admin_agent_id,
            router,
            gate,
            max_chain_depth,
            answer_questions,
            max_auto_replies,
            paused,
            budget,
        }
    }

    /// The space without the settings that only owners and the operator see.
    #[must_use]
    pub fn for_members(self) -> Self {
        Self { router: None, budget: None, managed_by: None, ..self }
    }

    /// The space as `caller` sees it: with the caller's read position, if it is a member.
    /// `read_cards` is the number of cards up to that position.
    #[must_use]
    pub fn seen_by(self, caller: Caller, read_cards: u64) -> Self {
        let own = self.members.iter().find(|member| caller == Caller::Entity(member.id));
        let me = own.map(|member| OwnPosition::of(&self, member.read_seq, read_cards));
        let is_owner = own.is_some_and(|member| member.role == Role::Owner);
        let seen = Self { me, ..self };
        match caller {
            Caller::Operator => seen,
            Caller::Entity(_) if is_owner => {
                let managed_by = seen.managed_by.map(ManagedBy::for_owners);
                Self { managed_by, ..seen }
            }
            Caller::Entity(_) => seen.for_members(),
        }
    }
}

/// Reads a field that is not shown to every reader: it may be null, or absent.
fn read_shown<'de, D: Deserializer<'de>, T: Deserialize<'de>>(
    deserializer: D,
) -> Result<Option<T>, D::Error> {
    stored::read(deserializer).map(Some)
}
