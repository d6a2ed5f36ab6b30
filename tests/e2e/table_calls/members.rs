//! Many members join a space at once.

use serde_json::json;
use smartspace_domain::{
    Error,
    entities::Entity,
    ids::{EntityId, SpaceId},
    spaces::Role,
};

use super::{at, counted::CountedStore, read};

async fn entities(counted: &CountedStore, count: u128) -> Vec<Entity> {
    let mut entities = Vec::new();
    for number in 0..count {
        let kind = if number % 2 == 0 { "agent" } else { "human" };
        let mut settings = json!({"type": kind, "name": format!("member {number}")});
        if kind == "agent" {
            settings["agent"] = json!({"model": {"provider": "scripted", "name": "m"}});
        }
        let id = EntityId::new(at(0), number);
        let made = counted.store.entities().create(id, read(settings), None, at(0)).await;
        entities.push(made.unwrap());
    }
    entities
}

#[tokio::test]
async fn five_hundred_members_join_in_a_few_transactions() {
    let counted = CountedStore::new().await;
    let space = SpaceId::new(at(0), 3);
    counted.store.spaces().create(space, read(json!({"name": "All"})), None, at(0)).await.unwrap();
    let entities = entities(&counted, 500).await;
    let first = entities[0].id;
    let role_of = |id| if id == first { Role::Owner } else { Role::Member };
    let members = counted.store.members();
    let joining = members.join_many(space, &entities, role_of, at(1));
    let (joined, cost) = Box::pin(counted.cost_of(joining)).await;
    let joined = joined.unwrap();
    // For each 24 members the roster, the space and one transaction.
    assert_eq!((joined.len(), cost.calls), (500, 63));
    let roster = members.roster(space).await.unwrap();
    assert_eq!(roster.members.len(), 500);
    let owners: Vec<_> =
        roster.members.iter().filter(|member| member.role == Role::Owner).collect();
    assert_eq!(owners.iter().map(|owner| owner.entity_id).collect::<Vec<_>>(), [first]);
    let spaces = counted.store.agent_state().spaces(first).await.unwrap();
    assert_eq!(spaces, [space]);
    let again = Box::pin(members.join_many(space, &entities, role_of, at(2))).await.unwrap();
    assert_eq!(again, []);
}

#[tokio::test]
async fn a_retired_entity_keeps_its_group_out() {
    let counted = CountedStore::new().await;
    let space = SpaceId::new(at(0), 3);
    counted.store.spaces().create(space, read(json!({"name": "All"})), None, at(0)).await.unwrap();
    let entities = entities(&counted, 3).await;
    let record = counted.store.entities().record(entities[1].id).await.unwrap();
    counted.store.entities().retire(&record, at(1)).await.unwrap();
    let members = counted.store.members();
    let joined = Box::pin(members.join_many(space, &entities, |_| Role::Member, at(2))).await;
    let expected = format!("there is no entity {}", entities[1].id);
    assert_eq!(joined, Err(Error::invalid("", expected)));
    assert_eq!(members.roster(space).await.unwrap().members.len(), 0);
}

#[tokio::test]
async fn an_entity_that_has_left_is_not_added_back() {
    let counted = CountedStore::new().await;
    let space = SpaceId::new(at(0), 3);
    counted.store.spaces().create(space, read(json!({"name": "All"})), None, at(0)).await.unwrap();
    let entities = entities(&counted, 3).await;
    let members = counted.store.members();
    Box::pin(members.join_many(space, &entities, |_| Role::Member, at(1))).await.unwrap();
    members.leave(space, entities[1].id, at(1)).await.unwrap();
    let again = Box::pin(members.join_many(space, &entities, |_| Role::Member, at(2))).await;
    assert_eq!(again, Ok(Vec::new()));
    assert!(members.roster(space).await.unwrap().member(entities[1].id).is_none());
}
