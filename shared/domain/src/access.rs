//! All permissions, in one place.
//!
//! Callers of these functions name an action and the caller's membership or relationship. No other
//! code decides what a caller may do.

#[cfg(test)]
mod tests;

use serde::Serialize;
use utoipa::ToSchema;

pub use crate::callers::{Caller, KnownBy};
use crate::{
    Error, Result,
    approvals::{Allowance, ApproverGroup, Approvers, no_such_allowance},
    entities::{Entity, EntityType},
    forms::no_such_form,
    ids::EntityId,
    messages::DeletedBy,
    spaces::Role,
    tools::{AnswerBy, AnswerGroup},
};

/// An action in a space.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SpaceAction {
    /// Read its messages, members and runs, and follow its events.
    Read,
    /// Post a message.
    Post,
    /// Upload a file.
    Attach,
    /// Pin a message, or unpin one.
    Pin,
    /// Cancel a run that the space triggered.
    Cancel,
    /// Repeat a run that the space triggered.
    Retry,
    /// Stop a chain in the space, or everything in it.
    Stop,
    /// Leave the space.
    Leave,
    /// Change or delete the space, add or remove members.
    Govern,
}

/// The membership of an entity in a space.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Membership {
    /// The member's role.
    pub role: Role,
    /// Whether the member is a person or an agent.
    pub kind: EntityType,
    /// Whether the member is a guest.
    pub guest: bool,
}

/// An action on an entity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntityAction {
    /// Read it.
    Read,
    /// Change its name.
    Rename,
    /// Change anything else, or retire it.
    Change,
}

/// What a caller may do, as far as that does not depend on a space.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Capability {
    /// Everything: create and change entities, agents and all spaces, read steps and usage.
    Operate,
    /// Create spaces, which it then owns.
    CreateSpaces,
    /// Cancel runs that its spaces triggered.
    CancelRuns,
    /// Repeat failed and canceled runs that its spaces triggered.
    RetryRuns,
}

/// The files in the list of a space's files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ListedFiles {
    /// All files.
    All,
    /// Those that messages name, and those that this entity has uploaded.
    SentAndOwn(EntityId),
}

impl ListedFiles {
    /// Whether a file of this uploader is in the list.
    pub fn has(self, uploader: Option<EntityId>, is_sent: bool) -> bool {
        match self {
            Self::All => true,
            Self::SentAndOwn(entity) => is_sent || uploader == Some(entity),
        }
    }
}

/// The relationship of the calling entity to the entity that it asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Relationship {
    /// They are the same entity.
    Itself,
    /// Both are members of a space.
    SharesSpace,
    /// Neither of these.
    Stranger,
}

impl Approvers {
    /// Whether a member of the space that shows the card may decide. Only people do, and no guests.
    pub fn may_decide(&self, id: EntityId, membership: Membership) -> bool {
        let is_named = match self {
            Self::Group(ApproverGroup::Members) => true,
            Self::Group(ApproverGroup::Owners) => membership.role == Role::Owner,
            Self::Entities(named) => named.contains(&id),
        };
        is_named && membership.kind == EntityType::Human && !membership.guest
    }
}

impl Caller {
    /// What the caller may do. `entity` is the calling entity, if it is not the operator.
    pub fn capabilities(self, entity: Option<&Entity>) -> Vec<Capability> {
        if entity.is_some_and(|entity| entity.guest_of.is_some()) {
            return Vec::new();
        }
        let kind = entity.map(|entity| entity.kind);
        let mut may = vec![Capability::CreateSpaces];
        if self == Self::Operator {
            may.insert(0, Capability::Operate);
        }
        if self == Self::Operator || kind == Some(EntityType::Human) {
            may.extend([Capability::CancelRuns, Capability::RetryRuns]);
        }
        may
    }

    /// Checks an action in a space. `membership` is `None` unless the caller is a member.
    /// Non-members get [`Error::NotFound`].
    pub fn may_in_space(self, action: SpaceAction, membership: Option<Membership>) -> Result<()> {
        if self == Self::Operator {
            return Ok(());
        }
        let Some(Membership { role, kind, guest }) = membership else {
            return Err(Error::NotFound("there is no such space".into()));
        };
        match action {
            SpaceAction::Read | SpaceAction::Post | SpaceAction::Attach => Ok(()),
            _ if guest => Err(guests_may_not()),
            SpaceAction::Leave => Ok(()),
            SpaceAction::Pin if kind == EntityType::Human || role == Role::Owner => Ok(()),
            SpaceAction::Pin => {
                Err(Error::Forbidden("an agent pins a message only where it is an owner".into()))
            }
            SpaceAction::Cancel | SpaceAction::Retry | SpaceAction::Stop
                if kind == EntityType::Human =>
            {
                Ok(())
            }
            SpaceAction::Stop => {
                Err(Error::Forbidden("only people may stop a chain or a space".into()))
            }
            SpaceAction::Cancel => Err(Error::Forbidden("only people may cancel a run".into())),
            SpaceAction::Retry => Err(Error::Forbidden("only people may repeat a run".into())),
            SpaceAction::Govern if role == Role::Owner => Ok(()),
            SpaceAction::Govern => {
                Err(Error::Forbidden("only an owner of the space may do this".into()))
            }
        }
    }

    /// Checks whether this caller may delete a file that `uploader` has uploaded. `membership` is
    /// its membership in the space of the file. Non-members get [`Error::NotFound`].
    pub fn may_delete_file(
        self,
        uploader: Option<EntityId>,
        membership: Option<Membership>,
    ) -> Result<()> {
        self.may_in_space(SpaceAction::Read, membership)?;
        let is_owner = membership.is_some_and(|it| it.role == Role::Owner);
        match self {
            Self::Operator => Ok(()),
            Self::Entity(entity) if is_owner || uploader == Some(entity) => Ok(()),
            Self::Entity(_) => Err(Error::Forbidden(
                "only the entity that uploaded the file, an owner of the space and the operator \
                 may delete it"
                    .into(),
            )),
        }
    }

    /// Checks whether this caller may delete a message of `sender`, and returns as whom it does so.
    /// `membership` is its membership in the space of the message. Non-members get
    /// [`Error::NotFound`].
    pub fn may_delete_message(
        self,
        sender: EntityId,
        membership: Option<Membership>,
    ) -> Result<DeletedBy> {
        self.may_in_space(SpaceAction::Post, membership)?;
        let is_owner = membership.is_some_and(|it| it.role == Role::Owner);
        match self {
            Self::Operator => Ok(DeletedBy::Operator),
            Self::Entity(entity) if entity == sender => Ok(DeletedBy::Sender),
            Self::Entity(_) if is_owner => Ok(DeletedBy::Owner),
            Self::Entity(_) => Err(Error::Forbidden(
                "only its sender, an owner of the space and the operator may delete a message"
                    .into(),
            )),
        }
    }

    /// Checks whether this caller may delete an allowance. `membership` is its membership in the
    /// space of the allowance. Those that may not read it get [`Error::NotFound`].
    pub fn may_delete_allowance(
        self,
        allowance: &Allowance,
        membership: Option<Membership>,
    ) -> Result<()> {
        match (self, membership) {
            (Self::Operator, _) => Ok(()),
            (Self::Entity(entity), _) if allowance.created_by == entity => Ok(()),
            (_, Some(Membership { guest: true, .. })) => Err(guests_may_not()),
            (_, Some(Membership { role: Role::Owner, kind: EntityType::Human, .. })) => Ok(()),
            (_, Some(_)) => Err(Error::Forbidden(
                "only the person who made the allowance, people who own its space and the \
                 operator may delete it"
                    .into(),
            )),
            (_, None) => Err(no_such_allowance()),
        }
    }

    /// The files of a space that this caller may list. Non-members get [`Error::NotFound`].
    pub fn may_list_files(self, membership: Option<Membership>) -> Result<ListedFiles> {
        self.may_in_space(SpaceAction::Read, membership)?;
        let is_owner = membership.is_some_and(|it| it.role == Role::Owner);
        Ok(match self {
            Self::Entity(entity) if !is_owner => ListedFiles::SentAndOwn(entity),
            Self::Operator | Self::Entity(_) => ListedFiles::All,
        })
    }

    /// Checks an action on an entity. Strangers get [`Error::NotFound`].
    pub fn may_with_entity(self, action: EntityAction, relationship: Relationship) -> Result<()> {
        match (self, action, relationship) {
            (Self::Operator, _, _) => Ok(()),
            (_, _, Relationship::Stranger) => {
                Err(Error::NotFound("there is no such entity".into()))
            }
            (_, EntityAction::Read, _) | (_, EntityAction::Rename, Relationship::Itself) => Ok(()),
            (_, EntityAction::Rename, _) => Err(Error::Forbidden(
                "only the entity itself and the operator may change its name".into(),
            )),
            (_, EntityAction::Change, _) => {
                Err(Error::Forbidden("only the operator may do this".into()))
            }
        }
    }

    /// Checks whether this caller, who may govern a space, may add `entity` to it. An owner may add
    /// any person whose id it knows. An agent costs its operator money, so owners may add it only
    /// if it is `open`.
    pub fn may_bring_in(self, entity: &Entity) -> Result<()> {
        match (self, &entity.agent) {
            _ if entity.guest_of.is_some() => Err(Error::Forbidden(format!(
                "{} is a guest, who may be only in the space that it was invited to",
                entity.id
            ))),
            (Self::Entity(_), Some(agent)) if !agent.open => Err(Error::Forbidden(format!(
                "the agent {} is not open: only the operator may add it to spaces",
                entity.id
            ))),
            _ => Ok(()),
        }
    }

    /// Checks whether this caller may read what an agent says of itself. Any entity may, if the
    /// agent is `open`: it may bring it into its spaces. Others get [`Error::NotFound`].
    pub fn may_see_card_of(self, entity: &Entity) -> Result<()> {
        match &entity.agent {
            Some(agent) if agent.open || self == Self::Operator => Ok(()),
            _ => Err(Error::NotFound("there is no such agent".into())),
        }
    }

    /// Checks whether this caller may answer a form. `membership` is its membership in the space
    /// that shows the form, `None` unless it is a member. Non-members get [`Error::NotFound`].
    pub fn may_answer(self, by: &AnswerBy, membership: Option<Membership>) -> Result<()> {
        let Self::Entity(entity) = self else { return Ok(()) };
        let Some(Membership { kind, guest, .. }) = membership else { return Err(no_such_form()) };
        match by {
            AnswerBy::Group(AnswerGroup::Anyone) if guest => Err(Error::Forbidden(
                "guests may answer forms that name humans or themselves".into(),
            )),
            AnswerBy::Group(AnswerGroup::Anyone) => Ok(()),
            AnswerBy::Group(AnswerGroup::Humans) if kind == EntityType::Human => Ok(()),
            AnswerBy::Group(AnswerGroup::Humans) => {
                Err(Error::Forbidden("only people may answer this form".into()))
            }
            AnswerBy::Entities(named) if named.contains(&entity) => Ok(()),
            AnswerBy::Entities(_) => {
                Err(Error::Forbidden("only the entities in answerBy may answer this form".into()))
            }
        }
    }

    /// Checks whether this caller may decide a call that waits for approval. `membership` is its
    /// membership in the space that shows the card, `None` unless it is a member. Non-members get
    /// [`Error::NotFound`].
    pub fn may_decide(self, by: &Approvers, membership: Option<Membership>) -> Result<()> {
        let Self::Entity(entity) = self else { return Ok(()) };
        let membership = membership.ok_or_else(no_such_form)?;
        if by.may_decide(entity, membership) {
            return Ok(());
        }
        let why = match by {
            _ if membership.kind != EntityType::Human => "only people may decide a call",
            _ if membership.guest => "guests may not decide a call",
            Approvers::Group(_) => "only owners of the space may decide this call",
            Approvers::Entities(_) => "only the people whom the rule names may decide this call",
        };
        Err(Error::Forbidden(why.into()))
    }

    /// The entity that this caller acts as. `sender_id` is the `senderId` of its request.
    pub fn speaks_as(self, sender_id: Option<EntityId>) -> Result<EntityId> {
        match (self, sender_id) {
            (Self::Operator, Some(sender)) => Ok(sender),
            (Self::Operator, None) => Err(Error::invalid(
                "/senderId",
                "required with the admin key: the id of the member to act as",
            )),
            (Self::Entity(own), None) => Ok(own),
            (Self::Entity(own), Some(sender)) if sender == own => Ok(own),
            (Self::Entity(_), Some(_)) => {
                Err(Error::Forbidden("only the operator may act as another entity".into()))
            }
        }
    }

    /// Checks whether this caller may accept an invite for itself.
    pub fn may_accept_invite(self) -> Result<EntityId> {
        match self {
            Self::Entity(entity) => Ok(entity),
            Self::Operator => Err(Error::Forbidden(
                "an invite is accepted by a person; the operator adds members to a space".into(),
            )),
        }
    }

    /// Checks that the caller is the operator.
    pub fn must_be_operator(self) -> Result<()> {
        match self {
            Self::Operator => Ok(()),
            Self::Entity(_) => Err(Error::Forbidden("only the operator may do this".into())),
        }
    }
}

/// What a guest gets that asks for more than a guest may do.
pub fn guests_may_not() -> Error {
    Error::Forbidden(
        "in their own space guests may read, post, edit and delete what they posted, react, mark \
         as read, upload files, delete their own files and answer forms for people; nothing else"
            .into(),
    )
}
