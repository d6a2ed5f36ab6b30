//! Every write of a message's way, with its answer lost, refused before its effect, or in conflict: what is kept is the same each time.

mod between;
mod due;
mod forms;
mod kept;
mod outside;
mod woken;

use std::sync::{
    Arc, Mutex,
    atomic::{AtomicUsize, Ordering},
};

use aws_smithy_runtime_api::client::{
    http::{HttpClient, HttpConnector, HttpConnectorFuture, HttpConnectorSettings, SharedHttpConnector},
    orchestrator::{HttpRequest, HttpResponse},
    runtime_components::RuntimeComponents,
};
use aws_smithy_types::body::SdkBody;
use serde_json::json;
use smartspace_domain::{
    Time,
    access::{Caller, SpaceAction},
    entities::{Entity, EntitySettings},
    ids::{CallId, EntityId, LeaseId, MessageId, SpaceId, StreamId},
    messages::Origin,
    runs::{EndReason, RunStatus, Usage},
    spaces::{Role, SpaceSettings},
    steps::{CallStatus, FinishReason},
};
use smartspace_pipeline::access::may_in;
use smartspace_store::{
    Store,
    append::{By, ByRun, Content, NewMessage},
    claims::Claim,
    endings::Ending,
    messages::Range,
    posted::PostKey,
    prompts::PromptRecord,
    rosters::Roster,
    runs::RunRecord,
    schema,
    steps::{CallBegun, CallRecord, Marks, StepRecord},
    summaries::SummaryRecord,
};

use crate::embedded_table::{EmbeddedTable, NAME, client_on};

/// What goes wrong with one write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    /// It takes effect, and nobody is told.
    LostAnswer,
    /// It does not take effect.
    Refused,
    /// Another transaction was faster.
    Conflict,
    /// It takes effect, and nobody is told; its repetition meets others at work on all items but the first that refuses it.
    LostAmongOthers,
}

/// The table behind a connector that fails the `at`-th write.
#[derive(Clone, Debug)]
struct Faulty {
    table: EmbeddedTable,
    writes: Arc<AtomicUsize>,
    plan: Arc<Mutex<Option<(usize, Fault)>>>,
}

impl HttpClient for Faulty {
    fn http_connector(&self, _: &HttpConnectorSettings, _: &RuntimeComponents) -> SharedHttpConnector {
        SharedHttpConnector::new(self.clone())
    }
}

impl HttpConnector for Faulty {
    fn call(&self, request: HttpRequest) -> HttpConnectorFuture {
        let target = request.headers().get("x-amz-target").unwrap_or_default().to_owned();
        let transaction = target.ends_with("TransactWriteItems");
        if !transaction && !["PutItem", "UpdateItem", "DeleteItem"].iter().any(|write| target.ends_with(write)) {
            return self.table.call(request);
        }
        let number = self.writes.fetch_add(1, Ordering::Relaxed);
        let plan = *self.plan.lock().unwrap();
        let fault = plan.filter(|(at, _)| *at == number).map(|(_, fault)| fault);
        match fault {
            None if plan.is_some_and(|(at, fault)| fault == Fault::LostAmongOthers && at + 1 == number) => {
                let done = self.table.call(request);
                HttpConnectorFuture::new(async move { Ok(among_others(done.await?)) })
            }
            None => self.table.call(request),
            Some(Fault::LostAnswer | Fault::LostAmongOthers) => {
                let done = self.table.call(request);
                HttpConnectorFuture::new(async move {
                    done.await?;
                    Ok(answer(500, "InternalServerError", json!({})))
                })
            }
            Some(Fault::Conflict) if transaction => {
                let reasons = json!({"CancellationReasons": [{"Code": "TransactionConflict"}, {"Code": "None"}]});
                HttpConnectorFuture::ready(Ok(answer(400, "TransactionCanceledException", reasons)))
            }
            Some(Fault::Refused | Fault::Conflict) => HttpConnectorFuture::ready(Ok(answer(500, "InternalServerError", json!({})))),
        }
    }
}

/// A refusal of several items, of which all but the first are in conflict.
fn among_others(refusal: HttpResponse) -> HttpResponse {
    let mut body: serde_json::Value = serde_json::from_slice(refusal.body().bytes().unwrap()).unwrap();
    let Some(reasons) = body.get_mut("CancellationReasons").and_then(serde_json::Value::as_array_mut) else { return refusal };
    for reason in reasons.iter_mut().filter(|reason| reason["Code"] == "ConditionalCheckFailed").skip(1) {
        *reason = json!({"Code": "TransactionConflict"});
    }
    answer(400, "TransactionCanceledException", body)
}

fn answer(status: u16, kind: &str, mut body: serde_json::Value) -> HttpResponse {
    body["__type"] = format!("com.amazonaws.dynamodb.v20120810#{kind}").into();
    HttpResponse::new(status.try_into().unwrap(), SdkBody::from(body.to_string()))
}

fn at(seconds: i64) -> Time {
    Time::from_millis(1_771_427_220_000 + seconds * 1_000)
}

fn read<T: serde::de::DeserializeOwned>(value: serde_json::Value) -> T {
    serde_json::from_value(value).unwrap()
}

/// A person asks, an agent answers, and another run of it is canceled. What is kept at the end, and how many writes it took.
async fn way_of_a_message(fault: Option<(usize, Fault)>) -> (String, usize) {
    let plan = Arc::new(Mutex::new(fault));
    let faulty = Faulty { table: EmbeddedTable::in_memory().unwrap(), writes: Arc::default(), plan };
    let writes = Arc::clone(&faulty.writes);
    let client = client_on(faulty);
    schema::create_table(&client, NAME).await.unwrap();
    let store = Store::new(client, NAME, None, Arc::new(|| 4));

    let (person, agent, space) = (EntityId::new(at(0), 1), EntityId::new(at(0), 2), SpaceId::new(at(0), 3));
    let human: EntitySettings = read(json!({"type": "human", "name": "Husam", "externalId": "husam"}));
    let model = json!({"model": {"provider": "scripted", "name": "m"}});
    let bot: EntitySettings = read(json!({"type": "agent", "name": "Ada", "agent": model}));
    let settings: SpaceSettings = read(json!({"name": "Team"}));
    let key = |key: &str| PostKey::new("operator", "POST", "/", key, b"body");
    let people = [
        store.create_entity(person, human, Some(&key("person")), at(0)).await.unwrap(),
        store.create_entity(agent, bot, None, at(0)).await.unwrap(),
    ];
    assert_eq!(store.create_space(space, settings, Some(&key("space")), at(0)).await, Ok(space));
    for member in &people {
        store.join(space, member, Role::Member, at(0)).await.unwrap();
    }
    let question = NewMessage {
        id: MessageId::new(at(1), 5),
        space,
        sender: person,
        content: Content::Text("Well?".into()),
        by: By::Door { key: Some(key("question")), depth: 0 },
    };
    let asked = store.append(&question, at(1)).await.unwrap().message;
    let again = store.append(&NewMessage { id: MessageId::new(at(2), 6), ..question }, at(2)).await.unwrap();
    assert_eq!((again.message.id, again.repeated), (asked.id, true), "the same key makes one message");

    let lease = LeaseId::new(7);
    let run_id = asked.dispatch.as_ref().unwrap()[0].run_id.unwrap();
    let Claim::Ours { run, .. } = store.claim(run_id, &lease, at(3)).await.unwrap() else { panic!("nobody else claims it") };
    store.renew(run_id, &lease, true, at(4)).await.unwrap();
    answer_in(&store, &run, &lease, space).await;
    let second = NewMessage {
        id: MessageId::new(at(9), 8),
        space,
        sender: person,
        content: Content::Text("And?".into()),
        by: By::Door { key: None, depth: 0 },
    };
    let second = store.append(&second, at(9)).await.unwrap().message;
    let second = store.run_record(second.dispatch.unwrap()[0].run_id.unwrap()).await.unwrap();
    let canceled = store.cancel(&second, EndReason::Cancel, &LeaseId::new(9), at(10)).await.unwrap();
    assert_eq!(canceled.status, RunStatus::Canceled);

    summarise(&store, space, agent).await;

    let messages = store.messages(space, Range::After(0), 100).await.unwrap();
    let summary = store.summary(space).await.unwrap();
    let (run, progress) = (store.run_record(run_id).await.unwrap(), store.progress(run_id).await.unwrap());
    let active = store.agent_context(agent).await.unwrap().active;
    let cursor = store.member(space, agent).await.unwrap().unwrap().cursor;
    (format!("{messages:#?} {summary:#?} {run:#?} {progress:#?} {active:#?} {cursor}"), writes.load(Ordering::Relaxed))
}

/// A summary is claimed by one, refused to another, and kept.
async fn summarise(store: &Store, space: SpaceId, agent: EntityId) {
    let (mine, other) = (LeaseId::new(71), LeaseId::new(72));
    assert!(store.claim_summary(space, agent, None, &mine, (at(9), at(60))).await.unwrap());
    assert!(!store.claim_summary(space, agent, None, &other, (at(10), at(60))).await.unwrap(), "somebody writes it already");
    let summary = |by: LeaseId| SummaryRecord {
        from: 1,
        to: 2,
        text: "They met.".into(),
        agent_id: agent,
        updated_at: at(11),
        claimed_until: None,
        by,
    };
    assert!(!store.keep_summary(space, &summary(other)).await.unwrap());
    assert!(store.keep_summary(space, &summary(mine)).await.unwrap());
}

/// The agent's run: an answer with one call, the message that it posts, another call, and the end.
async fn answer_in(store: &Store, run: &RunRecord, lease: &LeaseId, space: SpaceId) {
    let calls: Vec<_> = ["send_message", "read_messages"]
        .iter()
        .zip(0..)
        .map(|(name, index)| CallBegun { call_id: CallId::of(run.id, 0, index), name: (*name).into(), input: "{}".into() })
        .collect();
    let step = |index: u32, calls: &[CallBegun]| StepRecord {
        index,
        attempt: 1,
        stream_attempt: 1,
        lease: lease.clone(),
        model: "scripted/m".into(),
        text: "hm".into(),
        calls: calls.to_vec(),
        system_messages: Vec::new(),
        marks: Marks::new(),
        finish_reason: FinishReason::Stop,
        usage: Usage::default(),
        started_at: at(5),
        first_token_at: None,
        finished_at: at(5),
        expires_at: None,
    };
    let call = |begun: &CallBegun, index: u32| CallRecord {
        call_id: begun.call_id,
        step: 0,
        index,
        name: begun.name.clone(),
        output: json!({"success": true}),
        status: CallStatus::Completed,
        started_at: at(6),
        finished_at: at(6),
        ends: None,
        active_space: Some(space),
        marks: Marks::new(),
        page: None,
        said: None,
        answered: None,
        outside: false,
        repeatable: false,
        card: None,
        expires_at: None,
    };
    let prompt = PromptRecord::new(&["You are kind.".into()], &json!({"messages": []}), Marks::from([(space, 1)])).unwrap();
    store.keep_step(run, &step(0, &calls), Some(&prompt), Usage::default(), at(5)).await.unwrap();
    let by = ByRun {
        run: run.id,
        lease: lease.clone(),
        depth: 1,
        origin: Origin { trigger: store.trigger_of(run).await.unwrap(), tools_used: Vec::new() },
        stream: StreamId::of(calls[0].call_id, 1),
        call: call(&calls[0], 0),
    };
    let reply = NewMessage {
        id: MessageId::of_call(calls[0].call_id),
        space,
        sender: run.agent_id,
        content: Content::Text("Well.".into()),
        by: By::Run(Box::new(by)),
    };
    store.append(&reply, at(6)).await.unwrap();
    store.keep_call(run, lease, &call(&calls[1], 1), at(7)).await.unwrap();
    let ending = Ending {
        status: RunStatus::Completed,
        reason: Some(EndReason::Done),
        error: None,
        usage: Usage::default(),
        last_step: Some(step(1, &[])),
        prompt: None,
        marks: Marks::from([(space, 1)]),
    };
    store.finish(run, lease, &ending, at(8)).await.unwrap();
}

/// Whatever goes wrong with whichever write, a way ends as it does where nothing goes wrong: how that is, and how many writes it takes.
async fn ends_the_same(way: impl AsyncFn(Option<(usize, Fault)>) -> (String, usize)) -> (String, usize) {
    let (expected, writes) = Box::pin(way(None)).await;
    for fault in [Fault::LostAnswer, Fault::Refused, Fault::Conflict, Fault::LostAmongOthers] {
        for number in 0..writes {
            let (kept, _) = Box::pin(way(Some((number, fault)))).await;
            assert!(kept == expected, "{fault:?} of write {number}:\n{kept}\ninstead of\n{expected}");
        }
    }
    (expected, writes)
}

#[tokio::test(start_paused = true)]
async fn what_is_kept_is_the_same_whichever_write_goes_wrong() {
    let (expected, writes) = ends_the_same(way_of_a_message).await;
    assert!(expected.contains("Well.") && writes > 10, "{writes}");
}

/// A space, and two people who are not in it yet.
async fn space_and_people(store: &Store) -> (SpaceId, [Entity; 2]) {
    let space = SpaceId::new(at(0), 3);
    store.create_space(space, read(json!({"name": "Team"})), None, at(0)).await.unwrap();
    let person = async |number, name| {
        let settings = read(json!({"type": "human", "name": name}));
        store.create_entity(EntityId::new(at(0), number), settings, None, at(0)).await.unwrap()
    };
    (space, [person(1, "Husam").await, person(2, "Sara").await])
}

/// An owner lets somebody in, gives its ownership away, and leaves. Whether each was told as done, and who is there at the end.
async fn way_of_an_owner(fault: Option<(usize, Fault)>) -> (String, usize) {
    let (writes, plan) = (Arc::new(AtomicUsize::new(0)), Arc::new(Mutex::new(None)));
    let faulty = Faulty { table: EmbeddedTable::in_memory().unwrap(), writes: Arc::clone(&writes), plan: Arc::clone(&plan) };
    let client = client_on(faulty);
    schema::create_table(&client, NAME).await.unwrap();
    let store = Store::new(client, NAME, None, Arc::new(|| 4));
    let (space, [owner, other]) = space_and_people(&store).await;
    let (owner, other) = (&owner, &other);
    store.join(space, owner, Role::Owner, at(0)).await.unwrap();
    writes.store(0, Ordering::Relaxed);
    *plan.lock().unwrap() = fault;

    let caller = Caller::Entity(owner.id);
    let may = |action| move |roster: &Roster| may_in(roster, caller, action);
    let joined = store.join_if(space, other, Some(Role::Owner), at(1), may(SpaceAction::Govern)).await;
    let given = store.join_if(space, owner, Some(Role::Member), at(2), may(SpaceAction::Govern)).await;
    let refused = store.join_if(space, owner, Some(Role::Owner), at(3), may(SpaceAction::Govern)).await;
    let left = store.leave_if(space, owner.id, may(SpaceAction::Leave)).await;
    let again = store.leave_if(space, owner.id, may(SpaceAction::Leave)).await;
    let told = [joined, given, refused, left, again].map(|told| told.map(|member| member.map(|member| (member.entity_id, member.role))));
    let there = store.roster(space).await.unwrap().members.clone();
    (format!("{told:#?} {there:#?}"), writes.load(Ordering::Relaxed))
}

#[tokio::test(start_paused = true)]
async fn who_gives_up_what_allowed_it_is_told_that_it_is_done_also_where_the_answer_was_lost() {
    let (expected, writes) = ends_the_same(way_of_an_owner).await;
    let told = expected.split("MemberRecord").next().unwrap_or_default();
    assert_eq!((told.matches("Some(").count(), told.matches("Forbidden").count(), writes), (3, 1, 3), "{expected}");
}
