//! Faults in the writes of a message, from the post of a person to the end of the run that it
//! triggers.

use serde_json::json;
use smartspace_domain::{
    entities::EntitySettings,
    ids::{CallId, EntityId, LeaseId, MessageId, RunId, SpaceId, StreamId},
    messages::Origin,
    runs::{EndReason, RunStatus, Usage, UsageByModel},
    spaces::{Role, SpaceSettings},
    steps::{FinishReason, ResponseOrigin},
};
use smartspace_store::{
    Store,
    messages::{
        Range,
        append::{Authority, Content, MessageSource, NewMessage, RunSender},
    },
    runs::{
        RunRecord,
        endings::Ending,
        places::Places,
        prompts::PromptRecord,
        steps::{CallBegun, CallRecord, Marks, StepRecord},
    },
    spaces::summaries::{SummaryClaim, SummaryRecord},
};

use crate::crash::lost_answers::{
    at, call_record, claim,
    faults::{Fault, FaultyStore, assert_same_outcome},
    post_key, posted, read,
};

/// A person asks, an agent answers, and another run of the agent is canceled. Returns the contents
/// of the table and the number of writes.
async fn path_of_a_message(fault: Option<(usize, Fault)>) -> (String, usize) {
    let faulty = FaultyStore::new().await;
    faulty.fail(fault);
    let store = &faulty.store;
    let person = EntityId::new(at(0), 1);
    let agent = EntityId::new(at(0), 2);
    let space = SpaceId::new(at(0), 3);
    create_team(store, person, agent, space).await;
    let run_id = ask_twice_with_one_key(store, space, person).await;

    let lease = LeaseId::new(7);
    let run = claim(store, run_id, &lease, 3).await;
    store.runs().renew(run_id, &lease, true, at(4)).await.unwrap();
    complete_run(store, &run, &lease, space).await;
    cancel_another_run(store, space, person).await;
    write_summary(store, space, agent).await;

    let messages = store.messages().list(space, Range::After(0), 100).await.unwrap();
    let summary = store.summaries().get(space).await.unwrap();
    let run = store.runs().record(run_id).await.unwrap();
    let progress = store.steps().progress(run_id).await.unwrap();
    let active = store.agent_state().active(agent).await.unwrap();
    let cursor = store.members().get(space, agent).await.unwrap().unwrap().cursor;
    let stored = format!("{messages:#?} {summary:#?} {run:#?} {progress:#?} {active:#?} {cursor}");
    (stored, faulty.writes())
}

async fn create_team(store: &Store, person: EntityId, agent: EntityId, space: SpaceId) {
    let human: EntitySettings =
        read(json!({"type": "human", "name": "Husam", "externalId": "husam"}));
    let model = json!({"model": {"provider": "scripted", "name": "m"}});
    let bot: EntitySettings = read(json!({"type": "agent", "name": "Ada", "agent": model}));
    let settings: SpaceSettings = read(json!({"name": "Team"}));
    let members = [
        store.entities().create(person, human, Some(&post_key("person")), at(0)).await.unwrap(),
        store.entities().create(agent, bot, None, at(0)).await.unwrap(),
    ];
    let created = store.spaces().create(space, settings, Some(&post_key("space")), at(0)).await;
    assert_eq!(created, Ok(space));
    for member in &members {
        store.members().join(space, member, Role::Member, at(0)).await.unwrap();
    }
}

/// Posts one message, and again with the same key. Returns the run that it triggers.
async fn ask_twice_with_one_key(store: &Store, space: SpaceId, person: EntityId) -> RunId {
    let question = NewMessage {
        by: MessageSource::External { key: Some(post_key("question")), depth: 0, page: None },
        ..posted(5, space, person, "Well?", 1)
    };
    let first = store.messages().append(&question, at(1)).await.unwrap().message;
    let repeated = NewMessage { id: MessageId::new(at(2), 6), ..question };
    let again = store.messages().append(&repeated, at(2)).await.unwrap();
    assert_eq!((again.message.id, again.repeated), (first.id, true));
    first.dispatch.unwrap()[0].run_id.unwrap()
}

async fn cancel_another_run(store: &Store, space: SpaceId, person: EntityId) {
    let question = posted(8, space, person, "And?", 9);
    let question = NewMessage { reply_to: Some(1), ..question };
    let message = store.messages().append(&question, at(9)).await.unwrap().message;
    let run = store.runs().record(message.dispatch.unwrap()[0].run_id.unwrap()).await.unwrap();
    let canceled =
        store.runs().cancel(&run, EndReason::Cancel, &LeaseId::new(9), at(10)).await.unwrap();
    assert_eq!(canceled.run.status, RunStatus::Canceled);
}

/// One worker claims and stores a summary, and another one is refused.
async fn write_summary(store: &Store, space: SpaceId, agent: EntityId) {
    let mine = LeaseId::new(71);
    let other = LeaseId::new(72);
    let claim = |token| SummaryClaim { agent, token, to: 2, until: at(60) };
    assert!(store.summaries().claim(space, None, &claim(&mine), at(9)).await.unwrap());
    assert!(
        !store.summaries().claim(space, None, &claim(&other), at(10)).await.unwrap(),
        "two workers write the summary"
    );
    let summary = |by: LeaseId| SummaryRecord {
        from: 1,
        to: 2,
        text: "They met.".into(),
        agent_id: agent,
        updated_at: at(11),
        edited: Vec::new(),
        claimed_until: None,
        claimed_to: None,
        by,
    };
    assert!(!store.summaries().store(space, &summary(other)).await.unwrap());
    assert!(store.summaries().store(space, &summary(mine)).await.unwrap());
}

/// A step whose model made these calls.
fn step_record(index: u32, lease: &LeaseId, calls: Vec<CallBegun>) -> StepRecord {
    StepRecord {
        config_revision: None,
        index,
        attempt: 1,
        stream_attempt: 1,
        lease: lease.clone(),
        model: "scripted/m".into(),
        origin: ResponseOrigin::default(),
        text: "hm".into(),
        calls,
        system_messages: Vec::new(),
        places: Places::default(),
        marks: Marks::new(),
        changed: Marks::new(),
        cut_results: 0,
        cut_opaque: 0,
        opaque: None,
        partial: false,
        finish_reason: FinishReason::Stop,
        usage: Usage::default(),
        started_at: at(5),
        first_token_at: None,
        finished_at: at(5),
        expires_at: None,
    }
}

/// The worker's writes: a step with two calls, the message that the first one posts, the second
/// one's result, and the end of the run.
async fn complete_run(store: &Store, run: &RunRecord, lease: &LeaseId, space: SpaceId) {
    let calls: Vec<_> = ["send_message", "read_messages"]
        .iter()
        .zip(0..)
        .map(|(name, index)| CallBegun {
            call_id: CallId::of(run.id, 0, index),
            name: (*name).into(),
            input: "{}".into(),
            provider_id: String::new(),
        })
        .collect();
    let result = |index: u32| CallRecord {
        name: calls[index as usize].name.clone(),
        output: json!({"success": true}),
        active_space: Some(space),
        ..call_record(run.id, index, 6)
    };
    let prompt = PromptRecord::new(
        &["You are kind.".into()],
        &json!({"messages": []}),
        Marks::from([(space, 1)]),
    )
    .unwrap();
    let step = step_record(0, lease, calls.clone());
    let used = UsageByModel::one(&step.model, Usage { input_tokens: 7, ..Usage::default() });
    store.steps().store_step(run, &step, Some(&prompt), &used, at(5)).await.unwrap();
    let by = RunSender {
        run: run.id,
        depth: 1,
        chain: run.chain_id(),
        origin: Origin { trigger: store.triggers().of(run).await.unwrap(), tools_used: Vec::new() },
        stream: StreamId::of(calls[0].call_id, 1),
        is_cut: false,
        authority: Authority::Lease { lease: lease.clone(), call: result(0) },
    };
    let reply = NewMessage {
        id: MessageId::of_call(calls[0].call_id),
        space,
        sender: run.agent_id,
        content: Content::Text("Well.".parse().unwrap()),
        files: Vec::new(),
        reply_to: None,
        by: MessageSource::Run(Box::new(by)),
    };
    store.messages().append(&reply, at(6)).await.unwrap();
    store.steps().store_call(run, lease, &result(1), None, at(7)).await.unwrap();
    let ending = Ending {
        status: RunStatus::Completed,
        reason: Some(EndReason::Done),
        is_silent: false,
        skip_reason: None,
        error: None,
        used,
        last_step: Some(step_record(1, lease, Vec::new())),
        prompt: None,
        marks: Marks::from([(space, 1)]),
        reads: Some([(space, (1, 1))].into()),
    };
    store.runs().finish(run, lease, &ending, at(8)).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn the_path_of_a_message_survives_a_fault_of_any_write() {
    let (expected, writes) = assert_same_outcome(path_of_a_message).await;
    assert!(expected.contains("Well.") && writes > 10, "{writes}");
}
