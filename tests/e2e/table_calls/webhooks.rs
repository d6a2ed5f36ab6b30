//! How much of an agent is read before the signature of a webhook is verified.

use serde_json::json;
use smartspace_domain::{Error, access::Caller, agents::Webhook, entities::Entity, ids::EntityId};
use smartspace_store::entities::revisions::Made;

use super::{
    at,
    counted::{Cost, CountedStore},
    read,
};

/// The unit in which the table counts reads.
const READ_UNIT: usize = 4 * 1024;

fn settings(webhooks: usize) -> serde_json::Value {
    let webhook = json!({"scheme": "github", "secrets": ["GITHUB_SECRET"]});
    let webhooks: serde_json::Map<_, _> =
        (0..webhooks).map(|number| (format!("hook-{number}"), webhook.clone())).collect();
    json!({"type": "agent", "name": "Ada", "agent": {
        "model": {"provider": "scripted", "name": "m"},
        "instructions": "x".repeat(32 * 1024),
        "webhooks": webhooks,
    }})
}

async fn agent(counted: &CountedStore, number: u128, webhooks: usize) -> Entity {
    let id = EntityId::new(at(0), number);
    let entities = counted.store.entities();
    entities.create(id, read(settings(webhooks)), None, at(0)).await.unwrap()
}

async fn webhook_of(
    counted: &CountedStore,
    agent: EntityId,
    service: &str,
) -> (Result<Option<Webhook>, Error>, Cost) {
    let entities = counted.store.entities();
    counted.cost_of(entities.webhook(agent, service)).await
}

#[tokio::test]
async fn a_webhook_is_found_in_one_small_read() {
    let counted = CountedStore::new().await;
    let agent = agent(&counted, 1, 20).await;
    let unknown = EntityId::new(at(0), 9);
    for (id, service) in [(agent.id, "hook-7"), (agent.id, "other"), (unknown, "hook-7")] {
        let (found, cost) = webhook_of(&counted, id, service).await;
        assert!(cost.calls == 1 && cost.bytes < READ_UNIT, "{cost:?}");
        let is_known = found.is_ok_and(|webhook| webhook.is_some());
        assert_eq!(is_known, (id, service) == (agent.id, "hook-7"));
    }
}

#[tokio::test]
async fn a_webhook_follows_each_change_of_its_agent() {
    let counted = CountedStore::new().await;
    let agent = agent(&counted, 1, 2).await;
    let entities = counted.store.entities();
    let made = Made::by_api(Caller::Operator);
    let record = entities.record(agent.id).await.unwrap();
    entities.change(&record, read(settings(1)), &made, at(1)).await.unwrap();
    assert!(webhook_of(&counted, agent.id, "hook-0").await.0.unwrap().is_some());
    assert!(webhook_of(&counted, agent.id, "hook-1").await.0.unwrap().is_none());
    // More webhooks than the small item holds are read from the agent.
    let record = entities.record(agent.id).await.unwrap();
    entities.change(&record, read(settings(200)), &made, at(2)).await.unwrap();
    assert!(webhook_of(&counted, agent.id, "hook-199").await.0.unwrap().is_some());
    let record = entities.record(agent.id).await.unwrap();
    entities.change(&record, read(settings(2)), &made, at(3)).await.unwrap();
    let record = entities.record(agent.id).await.unwrap();
    entities.retire(&record, at(4)).await.unwrap();
    let (found, cost) = webhook_of(&counted, agent.id, "hook-0").await;
    assert_eq!((found, cost.calls), (Ok(None), 1));
}
