//! Who may do what, in one place. `api` and `socket` say what is attempted and where the caller stands; nothing else decides it.

use serde::{Deserialize, Serialize};

use crate::{
    Error, Result,
    entities::{Entity, EntityType},
    forms::no_such_form,
    ids::{EntityId, SpaceId},
    spaces::Role,
    tools::{AnswerBy, AnswerGroup},
};

/// Who asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Caller {
    /// The admin key: everything.
    Operator,
    /// A person or an agent, for itself.
    Entity(EntityId),
}

/// Who besides the operator may know something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KnownBy {
    /// The members of a space.
    Members(SpaceId),
    /// Nobody.
    Operator,
}

/// What is asked for in a space.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SpaceAction {
    /// Read messages, members, runs; follow live.
    Read,
    /// Say something.
    Post,
    /// End a run that the space woke.
    Cancel,
    /// Leave it oneself.
    Leave,
    /// Change or delete it, add or remove members.
    Govern,
}

/// Where a member stands in a space.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// What it may do.
    pub role: Role,
    /// Person or agent.
    pub kind: EntityType,
}

/// What is asked for with an entity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntityAction {
    /// See it.
    Read,
    /// Change its name.
    Rename,
    /// Change anything else of it, or retire it.
    Change,
}

/// What an entity that asks has to do with the one it asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Acquaintance {
    /// It is the same.
    Itself,
    /// They share a space.
    SharesSpace,
    /// Nothing.
    Stranger,
}

impl Caller {
    /// Whether this caller, with its `place` in the space (none for a stranger), may do it.
    /// A stranger is told that there is no such space.
    pub fn may_in_space(self, action: SpaceAction, place: Option<Place>) -> Result<()> {
        if self == Self::Operator {
            return Ok(());
        }
        let Some(Place { role, kind }) = place else { return Err(Error::NotFound("there is no such space".into())) };
        match action {
            SpaceAction::Read | SpaceAction::Post | SpaceAction::Leave => Ok(()),
            SpaceAction::Cancel if kind == EntityType::Human => Ok(()),
            SpaceAction::Cancel => Err(Error::Forbidden("only people may cancel a run".into())),
            SpaceAction::Govern if role == Role::Owner => Ok(()),
            SpaceAction::Govern => Err(Error::Forbidden("only an owner of the space may do this".into())),
        }
    }

    /// Whether this caller may do it with an entity. A stranger is told that there is no such entity.
    pub fn may_with_entity(self, action: EntityAction, acquaintance: Acquaintance) -> Result<()> {
        match (self, action, acquaintance) {
            (Self::Operator, _, _) => Ok(()),
            (_, _, Acquaintance::Stranger) => Err(Error::NotFound("there is no such entity".into())),
            (_, EntityAction::Read, _) | (_, EntityAction::Rename, Acquaintance::Itself) => Ok(()),
            (_, EntityAction::Rename, _) => Err(Error::Forbidden("only itself and the operator may change its name".into())),
            (_, EntityAction::Change, _) => Err(Error::Forbidden("only the operator may do this".into())),
        }
    }

    /// Whether this caller, who governs a space, may bring `entity` into it. People come in by whoever knows their id; an agent costs its
    /// operator money, who says with `open` that any owner may bring it in.
    pub fn may_bring_in(self, entity: &Entity) -> Result<()> {
        match (self, &entity.agent) {
            (Self::Entity(_), Some(agent)) if !agent.open => {
                Err(Error::Forbidden(format!("the agent {} is not open: only the operator adds it to spaces", entity.id)))
            }
            _ => Ok(()),
        }
    }

    /// Whether this caller, with its `place` in the space that shows a form (none for a stranger), may answer it.
    /// A stranger is told that there is no such form.
    pub fn may_answer(self, by: &AnswerBy, place: Option<Place>) -> Result<()> {
        let Self::Entity(entity) = self else { return Ok(()) };
        let Some(Place { kind, .. }) = place else { return Err(no_such_form()) };
        match by {
            AnswerBy::Group(AnswerGroup::Anyone) => Ok(()),
            AnswerBy::Group(AnswerGroup::Humans) if kind == EntityType::Human => Ok(()),
            AnswerBy::Group(AnswerGroup::Humans) => Err(Error::Forbidden("only people may answer this form".into())),
            AnswerBy::Entities(named) if named.contains(&entity) => Ok(()),
            AnswerBy::Entities(_) => Err(Error::Forbidden("this form is for others to answer".into())),
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

    /// Its name where keys of callers must not meet.
    pub fn label(self) -> String {
        match self {
            Self::Operator => "operator".to_owned(),
            Self::Entity(entity) => entity.to_string(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Time;

    /// As the API answers it.
    fn status(answer: Result<()>) -> u16 {
        answer.map_or_else(|error| crate::problems::Problem::of(&error).status, |()| 200)
    }

    fn me() -> Caller {
        Caller::Entity(EntityId::new(Time::from_millis(1), 1))
    }

    #[test]
    fn what_each_caller_may_do_in_a_space() {
        use SpaceAction::{Cancel, Govern, Leave, Post, Read};
        let place = |role, kind| Some(Place { role, kind });
        let [person, agent] = [EntityType::Human, EntityType::Agent];
        let places = [None, place(Role::Member, person), place(Role::Member, agent), place(Role::Owner, person), place(Role::Owner, agent)];
        //                 stranger, member, agent, owner, an agent that is owner
        let table = [
            (Read, [404, 200, 200, 200, 200]),
            (Post, [404, 200, 200, 200, 200]),
            (Leave, [404, 200, 200, 200, 200]),
            (Cancel, [404, 200, 403, 200, 403]),
            (Govern, [404, 403, 403, 200, 200]),
        ];
        for (action, expected) in table {
            assert_eq!(places.map(|place| status(me().may_in_space(action, place))), expected, "{action:?}");
            assert_eq!(places.map(|place| status(Caller::Operator.may_in_space(action, place))), [200; 5], "{action:?}");
        }
    }

    #[test]
    fn who_may_answer_a_form() {
        let place = |kind| Some(Place { role: Role::Member, kind });
        let places = [None, place(EntityType::Human), place(EntityType::Agent)];
        let Caller::Entity(own) = me() else { unreachable!() };
        let other = EntityId::new(Time::from_millis(1), 9);
        let table = [
            (AnswerBy::Group(AnswerGroup::Humans), [404, 200, 403]),
            (AnswerBy::Group(AnswerGroup::Anyone), [404, 200, 200]),
            (AnswerBy::Entities(vec![other, own]), [404, 200, 200]),
            (AnswerBy::Entities(vec![other]), [404, 403, 403]),
        ];
        for (by, expected) in table {
            assert_eq!(places.map(|place| status(me().may_answer(&by, place))), expected, "{by:?}");
            assert_eq!(places.map(|place| status(Caller::Operator.may_answer(&by, place))), [200; 3], "{by:?}");
        }
    }

    #[test]
    fn what_each_caller_may_do_with_an_entity() {
        use Acquaintance::{Itself, SharesSpace, Stranger};
        let table =
            [(EntityAction::Read, [200, 200, 404]), (EntityAction::Rename, [200, 403, 404]), (EntityAction::Change, [403, 403, 404])];
        for (action, expected) in table {
            let told = |caller: Caller| [Itself, SharesSpace, Stranger].map(|it| status(caller.may_with_entity(action, it)));
            assert_eq!((told(me()), told(Caller::Operator)), (expected, [200; 3]), "{action:?}");
        }
    }

    #[test]
    fn owners_bring_in_people_and_open_agents() {
        let entity = |agent: Option<bool>| {
            let agent = agent.map(|open| serde_json::json!({"model": {"provider": "scripted", "name": "demo"}, "open": open}));
            let agent = agent.map(|agent| serde_json::from_value(agent).unwrap());
            let (id, created_at) = (EntityId::new(Time::from_millis(1), 2), Time::from_millis(1));
            let kind = if agent.is_some() { EntityType::Agent } else { EntityType::Human };
            Entity { id, kind, name: "Ada".into(), external_id: None, created_at, agent }
        };
        let all = [None, Some(false), Some(true)].map(entity);
        assert_eq!(all.each_ref().map(|it| status(me().may_bring_in(it))), [200, 403, 200]);
        assert_eq!(all.each_ref().map(|it| status(Caller::Operator.may_bring_in(it))), [200; 3]);
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
