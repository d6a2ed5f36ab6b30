//! Approvals: rules of an agent that say which of its calls people decide, and their decisions.
//!
//! An agent's configuration lists its rules. A call that a rule stops waits on a card until people
//! have decided, or until the time of the rule is over.

mod allowances;
mod checks;
mod decisions;
mod stored_rule;
#[cfg(test)]
mod tests;
mod verdict;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::{
    ToSchema,
    openapi::schema::{Array, ArrayBuilder, ObjectBuilder, Type},
};

pub(crate) use self::checks::check_rules;
pub use self::{
    allowances::{NewAllowance, no_such_allowance},
    decisions::{expired_output, result_schema},
    verdict::{CheckedCall, Named, Verdict, may_ask, names, verdict},
};
use crate::{
    Time,
    durations::WrittenDuration,
    ids::{AllowanceId, EntityId, SpaceId},
    stored::{self, tolerant},
};

/// The `ui` of a card that shows a call which waits for approval.
pub const APPROVAL: &str = "approval";

/// A rule: calls of these tools wait for people, or are refused.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ApprovalRule {
    /// 1 to 20 names of tools, or patterns with `*`.
    #[schema(schema_with = tool_names)]
    pub tools: Vec<String>,
    /// What the rule does.
    #[serde(default)]
    #[schema(default = RuleAction::default)]
    pub action: RuleAction,
    /// A CEL expression over `input`, `tool`, `agent` and `space`: the rule counts if it is true.
    /// An error counts as true. The default is always.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(min_length = 1, max_length = 2048)]
    pub when: Option<String>,
    /// Who may decide: always people, and never guests.
    #[serde(default)]
    #[schema(default = Approvers::default)]
    pub by: Approvers,
    /// How many different people have to approve.
    #[serde(default = "one")]
    #[schema(default = one, minimum = 1, maximum = 10)]
    pub quorum: u32,
    /// How long a call waits, at most 7 days.
    #[serde(default = "a_day")]
    #[schema(default = a_day)]
    pub expires_after: WrittenDuration,
    /// What happens when nobody has decided in time.
    #[serde(default)]
    #[schema(default = OnExpire::default)]
    pub on_expire: OnExpire,
}

fn tool_names() -> Array {
    let name =
        ObjectBuilder::new().schema_type(Type::String).pattern(Some("^[A-Za-z0-9_*-]{1,128}$"));
    ArrayBuilder::new()
        .description(Some("1 to 20 names of tools, or patterns with `*`."))
        .items(name)
        .min_items(Some(1))
        .max_items(Some(20))
        .build()
}

fn one() -> u32 {
    1
}

fn a_day() -> WrittenDuration {
    // The text is a constant that fits the grammar, so the fallback is never reached.
    "1 day".parse().unwrap_or_else(|_| unreachable!("\"1 day\" is a duration"))
}

/// What a rule does with a call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum RuleAction {
    /// People decide.
    #[default]
    Ask,
    /// The call is refused.
    Deny,
}

/// Who may decide a call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(untagged, expecting = "expected members, owners, or a list of ids")]
pub enum Approvers {
    /// People of the space that shows the card.
    Group(ApproverGroup),
    /// 1 to 100 people by their ids. Those that are not members cannot see the card.
    Entities(Vec<EntityId>),
}

impl Default for Approvers {
    fn default() -> Self {
        Self::Group(ApproverGroup::Members)
    }
}

/// A group of people who may decide a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum ApproverGroup {
    /// People who are members of the space, but no guests.
    Members,
    /// People who own the space.
    Owners,
}

/// What happens to a call when its time is over.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum OnExpire {
    /// The call counts as declined, and the run goes on.
    #[default]
    Decline,
    /// The run ends.
    End,
}

/// The approvals of a call, as its card shows them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Approval {
    /// Who may decide.
    pub by: Approvers,
    /// How many people have to approve.
    pub needed: u32,
    /// How far the decision is.
    pub state: ApprovalState,
    /// How often people have edited the input. Absent if nobody has.
    #[serde(default, skip_serializing_if = "stored::is_default")]
    pub input_revision: u32,
    /// The decisions so far, in their order. An edit ends earlier approvals, which are left out.
    pub decisions: Vec<MadeDecision>,
}

/// How far the decision of a call is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase", remote = "Self")]
pub enum ApprovalState {
    /// It waits for people.
    Open,
    /// Enough people approved: the call is made.
    Approved,
    /// Somebody declined it, answered in its place, or ended the run.
    Declined,
    /// Nobody decided in time.
    Expired,
}

tolerant!(ApprovalState);

/// A decision of a person.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct MadeDecision {
    /// Who decided.
    pub by: EntityId,
    /// The name at that time.
    pub name: String,
    /// What was decided.
    pub action: DecisionAction,
    /// When.
    pub at: Time,
    /// True if the operator decided in the person's name.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub by_operator: bool,
    /// True if it made an allowance.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub remembers: bool,
}

/// What a person decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum DecisionAction {
    /// The call may be made.
    Approve,
    /// The call may be made with another input.
    Edit,
    /// The call is not made. Its result is a text of the person.
    Respond,
    /// The call is not made.
    Decline,
    /// The call is not made, and the run ends.
    End,
}

/// A decision, as a request holds it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Decision {
    /// What is decided.
    pub action: DecisionAction,
    /// With `edit`: the new input.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input: Option<Value>,
    /// With `respond`: the result for the model. With `decline`: the reason. At most 1,000
    /// characters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(max_length = 1000)]
    pub text: Option<String>,
    /// With `approve`: later calls that fit are made without asking.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remember: Option<Remember>,
    /// With `approve` or `edit`: the `inputRevision` of the card that the person has seen. If
    /// somebody has edited the input since, the answer is 409. Without it, the decision counts for
    /// the input as it is now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input_revision: Option<u32>,
}

/// Which later calls of the tool are made without asking.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Remember {
    /// Where.
    #[serde(rename = "in")]
    pub place: RememberIn,
    /// A CEL expression, as in a rule. The default is every call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(min_length = 1, max_length = 2048)]
    pub when: Option<String>,
    /// For how long. The default is until it is deleted.
    #[serde(default, rename = "for", skip_serializing_if = "Option::is_none")]
    pub length: Option<WrittenDuration>,
}

/// Where an allowance counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum RememberIn {
    /// In the space of the card.
    Space,
    /// In all spaces. Only the operator may say so.
    Everywhere,
}

/// A remembered approval: calls of one tool of one agent that are made without asking.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Allowance {
    /// Its id.
    pub id: AllowanceId,
    /// The agent.
    pub agent_id: EntityId,
    /// The name of the tool.
    pub tool: String,
    /// The space in which it counts; null if it counts everywhere.
    #[schema(required)]
    pub space_id: Option<SpaceId>,
    /// A CEL expression; null if it counts for every call.
    #[schema(required)]
    pub when: Option<String>,
    /// The rule under which it was made. It is void when the agent's first rule that would ask is
    /// another one.
    pub rule: ApprovalRule,
    /// What the tool was then. The allowance is void when the tool is changed.
    #[serde(skip)]
    pub tool_fingerprint: String,
    /// Who made it.
    pub created_by: EntityId,
    /// The maker's name at that time.
    pub created_by_name: String,
    /// When it was made.
    pub created_at: Time,
    /// When it ends; null if it stays until it is deleted.
    #[schema(required)]
    pub expires_at: Option<Time>,
}

/// How many approvals a call has after a decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ApprovalCount {
    /// How many people have approved the call as it is now.
    pub given: u32,
    /// How many have to.
    pub needed: u32,
}
