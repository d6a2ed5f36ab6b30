//! Items of the kinds that the simulation does not write.

use std::{sync::Arc, time::Duration};

use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use smartspace_domain::{
    Time,
    access::Caller,
    agents::{ConcurrencyMode, ForkChanges},
    idempotency::IdempotencyKey,
    ids::{CallId, ConnectionId, EntityId, LeaseId, LineId, MessageId, PlanId, RunId, SpaceId},
    messages::Emoji,
    runs::{Usage, UsageByModel},
    spaces::Role,
    steps::CallStatus,
};
use smartspace_embedded_table::{EmbeddedTable, NAME};
use smartspace_simulation::storage::scan;
use smartspace_store::{
    Store,
    agents::{goals::SetGoal, state::ChangedBy},
    connections::{Ticket, presence::Heartbeat},
    idempotency::PostKey,
    messages::{
        append::{Content, MessageSource, NewMessage},
        changing::{MessageChange, NewState},
        reactions::NewReaction,
    },
    runs::{
        ActiveCause, ActiveRecord, RunRecord, TriggeredBy,
        claims::Claim,
        prompts::PromptRecord,
        steps::{AwaitedInput, CallRecord, Marks},
    },
    search::Built,
    spaces::{
        stops::{NewStop, Stopping},
        summaries::{SummaryClaim, SummaryRecord},
    },
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

/// All items after a goal, a summary, a fork, a connection that the server closed, a message to
/// many agents and a person, from one with an external id and a page, a large block, and stops.
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
    join(&store, space, EntityId::new(at(0), 3), json!({"type": "human", "name": "Omar"})).await;
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
    let page = read(json!({
        "tools": [{"name": "set_color", "description": "Sets it.", "inputSchema": {}}],
        "context": "tab: Roses",
    }));
    let hello = NewMessage {
        id: MessageId::new(at(2), 3),
        space,
        sender: person,
        content: Content::Text("Hello @Omar, @all.".parse().unwrap()),
        files: Vec::new(),
        reply_to: None,
        by: MessageSource::External { key: None, depth: 0, page: Some(Box::new(page)) },
    };
    store.messages().append(&hello, at(2)).await.unwrap();
    react_and_pin(&store, space, person).await;
    summarize(&store, space, agent).await;
    close(&store, space, person).await;
    Box::pin(build_block(&store, person)).await;
    stop_all(&store, space, hello.id).await;
    let keep_runs = Some(Duration::from_hours(24));
    fork(&Store::new(table.client(), NAME, keep_runs, Arc::new(|| 4)), agent).await;
    scan(&table)
}

/// Builds a block that is too large for one item, in a space of its own, after an edit.
async fn build_block(store: &Store, person: EntityId) {
    let space = SpaceId::new(at(0), 4);
    store.spaces().create(space, read(json!({"name": "Talk"})), None, at(0)).await.unwrap();
    let entity = store.entities().any_record(person).await.unwrap().unwrap().entity;
    store.members().join(space, &entity, Role::Member, at(0)).await.unwrap();
    let mut state = 1_u64;
    let mut word = move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        format!("w{:016x}", state.rotate_right(29))
    };
    for number in 0..100 {
        let words: Vec<_> = (0..700).map(|_| word()).collect();
        let now = at(100 + number);
        let message = NewMessage {
            id: MessageId::new(now, 3),
            space,
            sender: person,
            content: Content::Text(words.join(" ").parse().unwrap()),
            files: Vec::new(),
            reply_to: None,
            by: MessageSource::External { key: None, depth: 0, page: None },
        };
        store.messages().append(&message, now).await.unwrap();
    }
    let to = NewState::Edited { editor: person, text: "Shorter.", rev: None };
    let change = MessageChange { space, seq: 7, to, by: None };
    store.messages().change(&change, at(300)).await.unwrap();
    assert!(store.blocks().claim_building(space, at(300)).await.unwrap());
    let draft = store.blocks().draft(space, 0).await.unwrap().unwrap();
    assert_eq!(store.blocks().store(draft).await.unwrap(), Built::Now);
}

/// Stops the chain of the first message of a space, and then everything in it.
async fn stop_all(store: &Store, space: SpaceId, first: MessageId) {
    let chain = Stopping::Chain { chain: first.into(), seq: 1 };
    for (number, what) in [(1, chain), (2, Stopping::Space)] {
        let id = LineId::new(at(301), number);
        let new = NewStop { space, what, by: Caller::Operator, id };
        store.spaces().stop(&new, |_| Ok(()), at(301)).await.unwrap();
    }
}

/// Reacts to the first message of a space, and pins it.
async fn react_and_pin(store: &Store, space: SpaceId, person: EntityId) {
    let emoji = Emoji::of("👍").unwrap();
    let new = NewReaction { space, seq: 1, entity: person, emoji, on: true };
    let reacted = store.messages().react(&new, at(2)).await.unwrap();
    let rev = reacted.state.reactions_rev;
    store.spaces().note_reactions(space, 1, rev, at(2)).await.unwrap();
    let member = store.members().get(space, person).await.unwrap().unwrap();
    store.spaces().pin(space, 1, Some(&member.sender()), at(2)).await.unwrap();
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
    wait_for_input(store, &run, &lease).await;
}

/// Writes a call that waits for an input of people.
async fn wait_for_input(store: &Store, run: &RunRecord, lease: &LeaseId) {
    let awaits = AwaitedInput {
        form: 100,
        asked: "name".into(),
        requests: json!({"name": {"method": "elicitation/create"}}),
        answers: json!({}),
        state: Some("opaque".into()),
    };
    let call = CallRecord {
        status: CallStatus::Pending,
        is_external: true,
        awaits: Some(Box::new(awaits)),
        ..CallRecord::completed(CallId::of(run.id, 0, 0), 0, 0, "docs__ask".into(), at(9))
    };
    store.steps().store_call(run, lease, &call, None, at(9)).await.unwrap();
}

/// Writes a summary, and claims the next one.
async fn summarize(store: &Store, space: SpaceId, agent: EntityId) {
    let summaries = store.summaries();
    let until = at(3) + Duration::from_mins(5);
    let by = LeaseId::new(5);
    let claim = SummaryClaim { agent, token: &by, to: 1, until };
    assert!(summaries.claim(space, None, &claim, at(3)).await.unwrap());
    let summary = SummaryRecord {
        from: 1,
        to: 1,
        text: "Sara greeted all.".into(),
        agent_id: agent,
        updated_at: at(4),
        edited: Vec::new(),
        claimed_until: None,
        claimed_to: None,
        by: by.clone(),
    };
    assert!(summaries.store(space, &summary).await.unwrap());
    let next = LeaseId::new(6);
    let claim = SummaryClaim { agent, token: &next, to: 2, until };
    assert!(summaries.claim(space, Some(&summary), &claim, at(5)).await.unwrap());
}
