//! Members of spaces as they are stored.

use serde::{Deserialize, Serialize};
use smartspace_domain::{
    Time,
    access::Membership,
    agents::default_chain_depth,
    entities::{Entity, EntityType},
    ids::{EntityId, InviteId, SpaceId},
    messages::{Sender, excerpt},
    spaces::{Member, Role},
};

use crate::table::{keys, write::Write};

/// The longest [`MemberRecord::about`], in characters.
const ABOUT_CHARS: usize = 100;

/// A member, as it is stored.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct MemberRecord {
    pub entity_id: EntityId,
    pub name: String,
    /// Person or agent.
    pub kind: EntityType,
    /// The work of an agent: the first 100 characters of its description. `None` for a person, and
    /// for an agent without a description.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub about: Option<String>,
    /// The chain depth from which on no message triggers an agent, if it is not the default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chain_limit: Option<u32>,
    pub role: Role,
    /// For an agent: the last message that its completed runs have read.
    pub cursor: u64,
    /// The last message that it has marked as read.
    pub read_seq: u64,
    /// For an agent: when a run last completed that had read new messages here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_run_at: Option<Time>,
    /// When it joined.
    pub joined_at: Time,
    /// Since when it has been an owner without a break. `None` for all others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owner_since: Option<Time>,
    /// The invite by which a guest came. `None` for all others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub guest_by: Option<InviteId>,
    /// Index of an entity's spaces.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub g2pk: Option<String>,
    /// Index of an entity's spaces.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub g2sk: Option<String>,
}

impl MemberRecord {
    /// The description of an agent that the members of its spaces see.
    pub fn about(entity: &Entity) -> Option<String> {
        let description = entity.agent.as_ref()?.description.trim();
        let (about, _) = excerpt(description, ABOUT_CHARS);
        (!about.is_empty()).then(|| about.to_owned())
    }

    /// The chain depth from which on no message triggers an agent, if it is not the default.
    pub(crate) fn chain_limit(entity: &Entity) -> Option<u32> {
        let limit = entity.agent.as_ref()?.max_chain_depth;
        (limit != default_chain_depth()).then_some(limit)
    }

    /// Whether the record has the current name, description and limit of its entity.
    pub fn describes(&self, entity: &Entity) -> bool {
        self.name == entity.name
            && self.about == Self::about(entity)
            && self.chain_limit == Self::chain_limit(entity)
    }

    /// Whether an entity's spaces show another name, description or limit after a change.
    pub fn shows_change(before: &Entity, after: &Entity) -> bool {
        before.name != after.name
            || Self::about(before) != Self::about(after)
            || Self::chain_limit(before) != Self::chain_limit(after)
    }

    /// The record with the current name, description and limit of its entity.
    #[must_use]
    pub(crate) fn described(self, entity: &Entity) -> Self {
        Self {
            name: entity.name.clone(),
            about: Self::about(entity),
            chain_limit: Self::chain_limit(entity),
            ..self
        }
    }

    /// The record with another role.
    #[must_use]
    pub(crate) fn in_role(self, role: Role, now: Time) -> Self {
        let owner_since = (role == Role::Owner).then(|| self.owner_since.unwrap_or(now));
        Self { role, owner_since, ..self }
    }

    /// The member as a sender of messages.
    pub fn sender(&self) -> Sender {
        Sender {
            id: self.entity_id,
            name: self.name.clone(),
            kind: self.kind,
            guest: self.guest_by.is_some(),
        }
    }

    /// The role, the kind and whether it is a guest: what permissions depend on.
    pub fn membership(&self) -> Membership {
        Membership { role: self.role, kind: self.kind, guest: self.guest_by.is_some() }
    }

    /// The member, as the API shows it. An agent has read what its completed runs have.
    pub fn view(&self) -> Member {
        let Self { entity_id: id, kind, role, cursor, read_seq, joined_at, .. } = *self;
        let read_seq = if kind == EntityType::Agent { cursor.max(read_seq) } else { read_seq };
        let guest = self.guest_by.is_some();
        Member { id, name: self.name.clone(), kind, role, read_seq, joined_at, guest }
    }
}

/// The check of a transaction that an entity is a member of a space.
pub(crate) fn is_member(space: SpaceId, entity: EntityId) -> Write {
    Write::check(keys::member(space, entity)).when("attribute_exists(PK)")
}
