//! Items of the kinds that the simulation does not write.

use std::{sync::Arc, time::Duration};

use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use smartspace_domain::{
    Time,
    access::Caller,
    agents::{ConcurrencyMode, ForkChanges},
    idempotency::IdempotencyKey,
    ids::{ConnectionId, EntityId, LeaseId, MessageId, PlanId, RunId, SpaceId},
    runs::{Usage, UsageByModel},
    spaces::Role,
};
use smartspace_embedded_table::{EmbeddedTable, NAME};
use smartspace_simulation::storage::scan;
use smartspace_store::{
    Store,
    agents::{goals::SetGoal, state::ChangedBy},
    connections::{Ticket, presence::Heartbeat},
    idempotency::PostKey,
    messages::append::{Content, MessageSource, NewMessage},
    runs::{
        ActiveCause, ActiveRecord, RunRecord, TriggeredBy, claims::Claim, prompts::PromptRecord,
        steps::Marks,
    },
    spaces::summaries::SummaryRecord,
    table::schema,
};

/// More agents than a message's own item can name.
const AGENTS: u128 = 21;

fn read<T: DeserializeOwned>(value: Value) -> T {
    serde_json::from_value(value).unwrap()
}

fn at(seconds: i64) -> Time {
    Time::from_millis(1_771_427_220_000 + seconds * 1_000)
}

/// All items after a goal, a summary, a fork, a connection that the server closed, and a message to
/// many agents from a person with an external id.
pub(super) async fn items() -> Vec<Value> {
    let table = EmbeddedTable::in_memory().unwrap();
    schema::create_table(&table.client(), NAME).await.unwrap();
    let store = Store::new(table.client(), NAME, None, Arc::new(|| 4));
    let space = SpaceId::new(at(0), 1);
    let person = EntityId::new(at(0), 2);
    let agent = EntityId::new(at(0), 100);
    store.spaces().create(space, read(json!({"name": "Ops"})), None, at(0)).await.unwrap();
    let sara = json!({"type": "human", "name": "Sara", "externalId": "sara@example.com"});
    join(&store, space, person, sara).await;
    for number in 0..AGENTS {
        let name = format!("Agent {number}");
        let config = json!({"model": {"provider": "scripted", "name": "m"}});
        let settings = json!({"type": "agent", "name": name, "agent": config});
        join(&store, space, EntityId::new(at(0), 100 + number), settings).await;
    }
    let change = read(json!({"description": "Ship it.", "dueAt": "2026-03-01T00:00:00.000Z"}));
    let goal = SetGoal { id: "ship".into(), change, pointer: String::new() };
    let by = ChangedBy::Request(LeaseId::new(1));
    store.goals().set(agent, &[goal], &by, at(1)).await.unwrap();
    let hello = NewMessage {
        id: MessageId::new(at(2), 3),
        space,
        sender: person,
        content: Content::Text("Hello, all.".parse().unwrap()),
        files: Vec::new(),
        by: MessageSource::External { key: None, depth: 0 },
    };
    store.messages().append(&hello, at(2)).await.unwrap();
    summarize(&store, space, agent).await;
    close(&store, space, person).await;
    let keep_runs = Some(Duration::from_hours(24));
    fork(&Store::new(table.client(), NAME, keep_runs, Arc::new(|| 4)), agent).await;
    scan(&table)
}

async fn join(store: &Store, space: SpaceId, id: EntityId, settings: Value) {
    let entity = store.entities().create(id, read(settings), None, at(0)).await.unwrap();
    store.members().join(space, &entity, Role::Member, at(0)).await.unwrap();
}

/// Closes a connection that was present in a space.
async fn close(store: &Store, space: SpaceId, person: EntityId) {
    let connections = store.connections();
    let id = ConnectionId("closed".into());
    let ticket = Ticket {
        caller: Caller::Entity(person),
        valid_until: at(60),
        credential_until: None,
        is_protocol: false,
    };
    connections.store_ticket("ticket", ticket).await.unwrap();
    let valid_for = Duration::from_hours(2);
    let connection = connections.connect("ticket", &id, valid_for, at(3)).await.unwrap().unwrap();
    assert!(connections.subscribe(&connection, space, None).await.unwrap());
    let beat = Heartbeat {
        connection: &id,
        space,
        entity: Some(person),
        until: at(78),
        typing_until: Some(at(9)),
    };
    assert!(connections.beat(&beat, at(3)).await.unwrap());
    connections.disconnect_deferring_presence(&id).await.unwrap();
}

/// Forks a run of the agent before its first step, with another model and other instructions.
async fn fork(store: &Store, agent: EntityId) {
    let cause = TriggeredBy::Plan { plan_id: PlanId::new(at(6), 9), scheduled_at: at(6) };
    let run = RunRecord::queued(RunId::new(at(6), 9), agent, cause, 0, at(6));
    let active = ActiveRecord::new(&run, ActiveCause::Plan { plan_name: "Digest".into() });
    store.runs().create(&run, &active, ConcurrencyMode::Parallel, None, at(6)).await.unwrap();
    let lease = LeaseId::new(7);
    let claim = store.runs().claim(&run.to_ref(), &lease, at(6), std::future::ready(None)).await;
    let Ok(Claim::Ours { run, .. }) = claim else { panic!("{claim:?}") };
    let rest = json!({"messages": []});
    let prompt = PromptRecord::new(&["Be brief.".into()], &rest, Marks::new()).unwrap();
    let step = read(json!({
        "index": 0, "attempt": 1, "streamAttempt": 1, "lease": lease, "model": "scripted/m",
        "text": "Well.", "calls": [], "systemMessages": [], "marks": {},
        "finishReason": "stop", "usage": Usage::default(),
        "startedAt": at(6), "finishedAt": at(7),
    }));
    let used = UsageByModel::default();
    store.steps().store_step(&run, &step, Some(&prompt), &used, at(7)).await.unwrap();
    let changes = ForkChanges {
        model: Some(read(json!({"provider": "scripted", "name": "m"}))),
        instructions: Some("Be brief.".into()),
    };
    let key: IdempotencyKey = "fork".parse().unwrap();
    let key = PostKey::new("operator", "POST", "/v1/runs/fork", &key, b"{}");
    let run = store.runs().record(run.id).await.unwrap();
    store.runs().fork(&run, 0, &changes, RunId::new(at(8), 8), &key, at(8)).await.unwrap();
}

/// Writes a summary, and claims the next one.
async fn summarize(store: &Store, space: SpaceId, agent: EntityId) {
    let summaries = store.summaries();
    let until = at(3) + Duration::from_mins(5);
    let by = LeaseId::new(5);
    assert!(summaries.claim(space, agent, None, &by, at(3), until).await.unwrap());
    let summary = SummaryRecord {
        from: 1,
        to: 1,
        text: "Sara greeted all.".into(),
        agent_id: agent,
        updated_at: at(4),
        claimed_until: None,
        by,
    };
    assert!(summaries.store(space, &summary).await.unwrap());
    let next = LeaseId::new(6);
    assert!(summaries.claim(space, agent, Some(&summary), &next, at(5), until).await.unwrap());
}
