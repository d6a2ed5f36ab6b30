//! Who may do what, in one place. `api` and `socket` ask here; nothing else decides it.

use serde::{Deserialize, Serialize};

use crate::{Error, Result, ids::EntityId, spaces::Role};

/// Who asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Caller {
    /// The admin key: everything.
    Operator,
    /// A person or an agent, for itself.
    Entity(EntityId),
}

/// What is asked for in a space.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SpaceAction {
    /// Read messages, members, runs; follow live.
    Read,
    /// Say something.
    Post,
    /// Change or delete it, add or remove members.
    Govern,
}

impl Caller {
    /// Whether this caller, with its `role` in the space (none for a stranger), may do it.
    /// A stranger is told that there is no such space.
    pub fn may_in_space(self, action: SpaceAction, role: Option<Role>) -> Result<()> {
        match (self, role, action) {
            (Self::Operator, _, _) | (Self::Entity(_), Some(_), SpaceAction::Read | SpaceAction::Post) => Ok(()),
            (Self::Entity(_), Some(Role::Owner), SpaceAction::Govern) => Ok(()),
            (Self::Entity(_), Some(Role::Member), SpaceAction::Govern) => {
                Err(Error::Forbidden("only an owner of the space may do this".into()))
            }
            (Self::Entity(_), None, _) => Err(Error::NotFound("there is no such space".into())),
        }
    }

    /// In whose name this caller speaks, given the `senderId` that it sent.
    pub fn speaks_as(self, sender_id: Option<EntityId>) -> Result<EntityId> {
        match (self, sender_id) {
            (Self::Operator, Some(sender)) => Ok(sender),
            (Self::Operator, None) => Err(Error::invalid("/senderId", "required with the admin key: the member in whose name to speak")),
            (Self::Entity(own), None) => Ok(own),
            (Self::Entity(own), Some(sender)) if sender == own => Ok(own),
            (Self::Entity(_), Some(_)) => Err(Error::Forbidden("only the operator may speak in another's name".into())),
        }
    }

    /// Whether this is the operator.
    pub fn must_be_operator(self) -> Result<()> {
        match self {
            Self::Operator => Ok(()),
            Self::Entity(_) => Err(Error::Forbidden("only the operator may do this".into())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Time;
    use SpaceAction::{Govern, Post, Read};

    #[test]
    fn what_each_caller_may_do_in_a_space() {
        let me = Caller::Entity(EntityId::new(Time::from_millis(1), 1));
        for action in [Read, Post, Govern] {
            assert_eq!(Caller::Operator.may_in_space(action, None), Ok(()));
            assert_eq!(me.may_in_space(action, Some(Role::Owner)), Ok(()));
            assert!(matches!(me.may_in_space(action, None), Err(Error::NotFound(_))));
        }
        assert_eq!(me.may_in_space(Read, Some(Role::Member)), Ok(()));
        assert_eq!(me.may_in_space(Post, Some(Role::Member)), Ok(()));
        assert!(matches!(me.may_in_space(Govern, Some(Role::Member)), Err(Error::Forbidden(_))));
    }

    #[test]
    fn nobody_speaks_in_anothers_name_but_the_operator() {
        let [own, other] = [1, 2].map(|number| EntityId::new(Time::from_millis(1), number));
        assert_eq!(Caller::Operator.speaks_as(Some(own)), Ok(own));
        assert!(Caller::Operator.speaks_as(None).is_err());
        assert_eq!(Caller::Entity(own).speaks_as(None), Ok(own));
        assert_eq!(Caller::Entity(own).speaks_as(Some(own)), Ok(own));
        assert!(matches!(Caller::Entity(own).speaks_as(Some(other)), Err(Error::Forbidden(_))));
    }
}
