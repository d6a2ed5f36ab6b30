use super::*;
use crate::{Time, ids::SpaceId};

/// The HTTP status of an answer.
fn status(answer: Result<()>) -> u16 {
    match answer {
        Ok(()) => 200,
        Err(Error::Forbidden(_)) => 403,
        Err(Error::NotFound(_)) => 404,
        Err(error) => panic!("expected a refusal, got {error:?}"),
    }
}

fn me() -> Caller {
    Caller::Entity(EntityId::new(Time::from_millis(1), 1))
}

#[test]
fn permissions_in_a_space_depend_on_role_and_kind() {
    use SpaceAction::{Cancel, Govern, Leave, Pin, Post, Read, Retry, Stop};
    let member = |role, kind| Some(Membership { role, kind, guest: false });
    let [person, agent] = [EntityType::Human, EntityType::Agent];
    let memberships = [
        None,
        member(Role::Member, person),
        member(Role::Member, agent),
        member(Role::Owner, person),
        member(Role::Owner, agent),
        Some(Membership { role: Role::Member, kind: person, guest: true }),
        // Nobody makes a guest an owner, but that would change nothing.
        Some(Membership { role: Role::Owner, kind: person, guest: true }),
    ];
    // In the order of `memberships`.
    let table = [
        (Read, [404, 200, 200, 200, 200, 200, 200]),
        (Post, [404, 200, 200, 200, 200, 200, 200]),
        (Pin, [404, 200, 403, 200, 200, 403, 403]),
        (Leave, [404, 200, 200, 200, 200, 403, 403]),
        (Cancel, [404, 200, 403, 200, 403, 403, 403]),
        (Retry, [404, 200, 403, 200, 403, 403, 403]),
        (Stop, [404, 200, 403, 200, 403, 403, 403]),
        (Govern, [404, 403, 403, 200, 200, 403, 403]),
    ];
    for (action, expected) in table {
        assert_eq!(
            memberships.map(|membership| status(me().may_in_space(action, membership))),
            expected,
            "{action:?}"
        );
        assert_eq!(
            memberships.map(|membership| status(Caller::Operator.may_in_space(action, membership))),
            [200; 7],
            "{action:?}"
        );
    }
}

#[test]
fn a_call_is_decided_by_people_whom_its_rule_names_and_by_no_guests() {
    let Caller::Entity(own) = me() else { unreachable!() };
    let other = EntityId::new(Time::from_millis(1), 9);
    let member = |role, kind, guest| Some(Membership { role, kind, guest });
    let memberships = [
        None,
        member(Role::Member, EntityType::Human, false),
        member(Role::Owner, EntityType::Human, false),
        member(Role::Owner, EntityType::Agent, false),
        member(Role::Owner, EntityType::Human, true),
    ];
    let table = [
        (Approvers::Group(ApproverGroup::Members), [404, 200, 200, 403, 403]),
        (Approvers::Group(ApproverGroup::Owners), [404, 403, 200, 403, 403]),
        (Approvers::Entities(vec![other, own]), [404, 200, 200, 403, 403]),
        (Approvers::Entities(vec![other]), [404, 403, 403, 403, 403]),
    ];
    for (by, expected) in table {
        assert_eq!(
            memberships.map(|membership| status(me().may_decide(&by, membership))),
            expected,
            "{by:?}"
        );
    }
}

#[test]
fn a_form_is_answered_by_members_that_answer_by_allows() {
    let member = |kind, guest| Some(Membership { role: Role::Member, kind, guest });
    let memberships = [
        None,
        member(EntityType::Human, false),
        member(EntityType::Agent, false),
        member(EntityType::Human, true),
    ];
    let Caller::Entity(own) = me() else { unreachable!() };
    let other = EntityId::new(Time::from_millis(1), 9);
    let table = [
        (AnswerBy::Group(AnswerGroup::Humans), [404, 200, 403, 200]),
        (AnswerBy::Group(AnswerGroup::Anyone), [404, 200, 200, 403]),
        (AnswerBy::Entities(vec![other, own]), [404, 200, 200, 200]),
        (AnswerBy::Entities(vec![other]), [404, 403, 403, 403]),
    ];
    for (by, expected) in table {
        assert_eq!(
            memberships.map(|membership| status(me().may_answer(&by, membership))),
            expected,
            "{by:?}"
        );
        assert_eq!(
            memberships.map(|membership| status(Caller::Operator.may_answer(&by, membership))),
            [200; 4],
            "{by:?}"
        );
    }
}

#[test]
fn permissions_on_an_entity_depend_on_the_relationship() {
    use Relationship::{Itself, SharesSpace, Stranger};
    let table = [
        (EntityAction::Read, [200, 200, 404]),
        (EntityAction::Rename, [200, 403, 404]),
        (EntityAction::Change, [403, 403, 404]),
    ];
    for (action, expected) in table {
        let statuses = |caller: Caller| {
            [Itself, SharesSpace, Stranger].map(|it| status(caller.may_with_entity(action, it)))
        };
        assert_eq!(statuses(me()), expected, "{action:?}");
        assert_eq!(statuses(Caller::Operator), [200; 3], "{action:?}");
    }
}

#[test]
fn owners_may_add_people_and_open_agents() {
    let entity = |agent: Option<bool>| {
        let agent = agent.map(|open| {
            let model = serde_json::json!({"provider": "scripted", "name": "demo"});
            serde_json::from_value(serde_json::json!({"model": model, "open": open})).unwrap()
        });
        Entity {
            revision: None,
            managed_by: None,
            id: EntityId::new(Time::from_millis(1), 2),
            kind: if agent.is_some() { EntityType::Agent } else { EntityType::Human },
            name: "Ada".into(),
            external_id: None,
            created_at: Time::from_millis(1),
            agent,
            guest_of: None,
        }
    };
    let guest = Entity { guest_of: Some(SpaceId::new(Time::from_millis(1), 1)), ..entity(None) };
    assert_eq!([me(), Caller::Operator].map(|it| status(it.may_bring_in(&guest))), [403; 2]);
    let all = [None, Some(false), Some(true)].map(entity);
    assert_eq!(all.each_ref().map(|it| status(me().may_bring_in(it))), [200, 403, 200]);
    assert_eq!(all.each_ref().map(|it| status(Caller::Operator.may_bring_in(it))), [200; 3]);
}

#[test]
fn only_the_operator_may_act_as_another_entity() {
    let [own, other] = [1, 2].map(|number| EntityId::new(Time::from_millis(1), number));
    assert_eq!(Caller::Operator.speaks_as(Some(own)), Ok(own));
    assert!(Caller::Operator.speaks_as(None).is_err());
    assert_eq!(Caller::Entity(own).speaks_as(None), Ok(own));
    assert_eq!(Caller::Entity(own).speaks_as(Some(own)), Ok(own));
    assert!(matches!(Caller::Entity(own).speaks_as(Some(other)), Err(Error::Forbidden(_))));
}

#[test]
fn members_list_their_own_files_and_sent_ones() {
    let member = |role, guest| Some(Membership { role, kind: EntityType::Human, guest });
    let other = Some(EntityId::new(Time::from_millis(1), 2));
    assert_eq!(Caller::Operator.may_list_files(None), Ok(ListedFiles::All));
    assert_eq!(me().may_list_files(member(Role::Owner, false)), Ok(ListedFiles::All));
    assert!(matches!(me().may_list_files(None), Err(Error::NotFound(_))));
    for guest in [false, true] {
        let listed = me().may_list_files(member(Role::Member, guest)).unwrap();
        let has = [(me().entity(), false), (other, false), (None, false), (other, true)]
            .map(|(uploader, is_sent)| listed.has(uploader, is_sent));
        assert_eq!(has, [true, false, false, true]);
    }
}

#[test]
fn the_refusal_of_a_guest_names_what_guests_may_do_with_files() {
    let guest = Membership { role: Role::Member, kind: EntityType::Human, guest: true };
    assert!(me().may_in_space(SpaceAction::Attach, Some(guest)).is_ok());
    let Caller::Entity(own) = me() else { unreachable!() };
    assert!(me().may_delete_file(Some(own), Some(guest)).is_ok());
    let refused = me().may_in_space(SpaceAction::Leave, Some(guest)).unwrap_err().to_string();
    assert!(refused.contains("upload files, delete their own files"), "{refused}");
}
