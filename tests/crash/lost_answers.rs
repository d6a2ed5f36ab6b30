//! Runs a scenario once for each of its writes, with the answer to the write lost, with the write
//! refused before its effect, and with a conflict. Each time the table must end with the same
//! contents.
//!
//! This file has the path of a message and the members of a space. The other files do the same for
//! the rest of the store, except [`races`]: there another process writes in between.

mod agent_state;
mod due;
mod external_calls;
mod forms;
mod plans_and_deliveries;
mod races;

use std::sync::{
    Arc, Mutex,
    atomic::{AtomicUsize, Ordering},
};

use aws_smithy_runtime_api::client::{
    http::{
        HttpClient, HttpConnector, HttpConnectorFuture, HttpConnectorSettings, SharedHttpConnector,
    },
    orchestrator::{HttpRequest, HttpResponse},
    runtime_components::RuntimeComponents,
};
use aws_smithy_types::body::SdkBody;
use serde_json::json;
use smartspace_domain::{
    Time,
    access::{Caller, SpaceAction},
    entities::{Entity, EntitySettings},
    ids::{CallId, EntityId, LeaseId, MessageId, RunId, SpaceId, StreamId},
    messages::Origin,
    runs::{EndReason, RunStatus, Usage},
    spaces::{Role, SpaceSettings},
    steps::{CallStatus, FinishReason},
};
use smartspace_pipeline::access::may_in;
use smartspace_store::{
    Store,
    idempotency::PostKey,
    messages::{
        Range,
        append::{ByRun, Content, MessageSource, NewMessage},
    },
    runs::{
        RunRecord,
        claims::Claim,
        endings::Ending,
        prompts::PromptRecord,
        steps::{CallBegun, CallRecord, Marks, StepRecord},
    },
    spaces::{rosters::Roster, summaries::SummaryRecord},
    table::schema,
};

use smartspace::embedded_table::{EmbeddedTable, NAME, client_on};

/// What happens to one write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    /// It takes effect, but the answer is lost.
    LostAnswer,
    /// It does not take effect.
    Refused,
    /// It fails because of a concurrent transaction.
    Conflict,
    /// Its answer is lost, and when it is repeated, all items whose condition fails, except the
    /// first one, are also in conflict with another transaction.
    LostAmongOthers,
}

/// A connector to the table that fails one write.
#[derive(Clone, Debug)]
struct FaultyConnector {
    table: EmbeddedTable,
    writes: Arc<AtomicUsize>,
    /// The number of the write that fails, and how.
    plan: Arc<Mutex<Option<(usize, Fault)>>>,
}

impl HttpClient for FaultyConnector {
    fn http_connector(
        &self,
        _: &HttpConnectorSettings,
        _: &RuntimeComponents,
    ) -> SharedHttpConnector {
        SharedHttpConnector::new(self.clone())
    }
}

impl HttpConnector for FaultyConnector {
    fn call(&self, request: HttpRequest) -> HttpConnectorFuture {
        let target = request.headers().get("x-amz-target").unwrap_or_default().to_owned();
        let transaction = target.ends_with("TransactWriteItems");
        if !transaction
            && !["PutItem", "UpdateItem", "DeleteItem"].iter().any(|write| target.ends_with(write))
        {
            return self.table.call(request);
        }
        let number = self.writes.fetch_add(1, Ordering::Relaxed);
        let plan = *self.plan.lock().unwrap();
        let fault = plan.filter(|(at, _)| *at == number).map(|(_, fault)| fault);
        match fault {
            None if plan
                .is_some_and(|(at, fault)| fault == Fault::LostAmongOthers && at + 1 == number) =>
            {
                let done = self.table.call(request);
                HttpConnectorFuture::new(async move { Ok(with_conflicts(done.await?)) })
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
                let reasons = [json!({"Code": "TransactionConflict"}), json!({"Code": "None"})];
                let reasons = json!({"CancellationReasons": reasons});
                HttpConnectorFuture::ready(Ok(answer(400, "TransactionCanceledException", reasons)))
            }
            Some(Fault::Refused | Fault::Conflict) => {
                HttpConnectorFuture::ready(Ok(answer(500, "InternalServerError", json!({}))))
            }
        }
    }
}

/// Turns all failed conditions of a refused transaction except the first one into conflicts.
fn with_conflicts(refusal: HttpResponse) -> HttpResponse {
    let mut body: serde_json::Value =
        serde_json::from_slice(refusal.body().bytes().unwrap()).unwrap();
    let Some(reasons) =
        body.get_mut("CancellationReasons").and_then(serde_json::Value::as_array_mut)
    else {
        return refusal;
    };
    for reason in
        reasons.iter_mut().filter(|reason| reason["Code"] == "ConditionalCheckFailed").skip(1)
    {
        *reason = json!({"Code": "TransactionConflict"});
    }
    answer(400, "TransactionCanceledException", body)
}

fn answer(status: u16, kind: &str, mut body: serde_json::Value) -> HttpResponse {
    body["__type"] = format!("com.amazonaws.dynamodb.v20120810#{kind}").into();
    HttpResponse::new(status.try_into().unwrap(), SdkBody::from(body.to_string()))
}

/// A store on a table of which one write fails.
struct FaultyStore {
    store: Store,
    writes: Arc<AtomicUsize>,
    plan: Arc<Mutex<Option<(usize, Fault)>>>,
}

impl FaultyStore {
    async fn new() -> Self {
        let writes = Arc::new(AtomicUsize::new(0));
        let plan = Arc::new(Mutex::new(None));
        let connector = FaultyConnector {
            table: EmbeddedTable::in_memory().unwrap(),
            writes: Arc::clone(&writes),
            plan: Arc::clone(&plan),
        };
        let client = client_on(connector);
        schema::create_table(&client, NAME).await.unwrap();
        let store = Store::new(client, NAME, None, Arc::new(|| 4));
        Self { store, writes, plan }
    }

    /// Counts writes from now on, and fails one of them.
    fn fail(&self, fault: Option<(usize, Fault)>) {
        self.writes.store(0, Ordering::Relaxed);
        *self.plan.lock().unwrap() = fault;
    }

    /// The number of writes since [`Self::fail`].
    fn writes(&self) -> usize {
        self.writes.load(Ordering::Relaxed)
    }
}

fn at(seconds: i64) -> Time {
    Time::from_millis(1_771_427_220_000 + seconds * 1_000)
}

fn read<T: serde::de::DeserializeOwned>(value: serde_json::Value) -> T {
    serde_json::from_value(value).unwrap()
}

/// A message that a person posts with the API.
fn posted(number: u128, space: SpaceId, sender: EntityId, text: &str, second: i64) -> NewMessage {
    NewMessage {
        id: MessageId::new(at(second), number),
        space,
        sender,
        content: Content::Text(text.parse().unwrap()),
        by: MessageSource::Door { key: None, depth: 0 },
    }
}

/// A completed call of a run's first step.
fn call_record(run: RunId, index: u32, second: i64) -> CallRecord {
    CallRecord {
        call_id: CallId::of(run, 0, index),
        step: 0,
        index,
        name: "a tool".into(),
        output: serde_json::Value::Null,
        status: CallStatus::Completed,
        started_at: at(second),
        finished_at: at(second),
        ends: None,
        active_space: None,
        marks: Marks::new(),
        page: None,
        said: None,
        answered: None,
        outside: false,
        repeatable: false,
        card: None,
        expires_at: None,
    }
}

/// Claims a run that nobody else has claimed.
async fn claim(store: &Store, run: RunId, lease: &LeaseId, second: i64) -> RunRecord {
    match store.runs().claim(run, lease, at(second)).await.unwrap() {
        Claim::Ours { run, .. } => *run,
        other => panic!("{other:?}"),
    }
}

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
    let active = store.entities().agent_context(agent).await.unwrap().active;
    let cursor = store.members().get(space, agent).await.unwrap().unwrap().cursor;
    let stored = format!("{messages:#?} {summary:#?} {run:#?} {progress:#?} {active:#?} {cursor}");
    (stored, faulty.writes())
}

fn post_key(key: &str) -> PostKey {
    PostKey::new("operator", "POST", "/", &key.parse().unwrap(), b"body")
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
        by: MessageSource::Door { key: Some(post_key("question")), depth: 0 },
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
    let message = store.messages().append(&question, at(9)).await.unwrap().message;
    let run = store.runs().record(message.dispatch.unwrap()[0].run_id.unwrap()).await.unwrap();
    let canceled =
        store.runs().cancel(&run, EndReason::Cancel, &LeaseId::new(9), at(10)).await.unwrap();
    assert_eq!(canceled.status, RunStatus::Canceled);
}

/// One worker claims and stores a summary, and another one is refused.
async fn write_summary(store: &Store, space: SpaceId, agent: EntityId) {
    let mine = LeaseId::new(71);
    let other = LeaseId::new(72);
    assert!(store.summaries().claim(space, agent, None, &mine, at(9), at(60)).await.unwrap());
    assert!(
        !store.summaries().claim(space, agent, None, &other, at(10), at(60)).await.unwrap(),
        "two workers write the summary"
    );
    let summary = |by: LeaseId| SummaryRecord {
        from: 1,
        to: 2,
        text: "They met.".into(),
        agent_id: agent,
        updated_at: at(11),
        claimed_until: None,
        by,
    };
    assert!(!store.summaries().store(space, &summary(other)).await.unwrap());
    assert!(store.summaries().store(space, &summary(mine)).await.unwrap());
}

/// A step whose model made these calls.
fn step_record(index: u32, lease: &LeaseId, calls: Vec<CallBegun>) -> StepRecord {
    StepRecord {
        index,
        attempt: 1,
        stream_attempt: 1,
        lease: lease.clone(),
        model: "scripted/m".into(),
        text: "hm".into(),
        calls,
        system_messages: Vec::new(),
        marks: Marks::new(),
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
    store.steps().store_step(run, &step, Some(&prompt), Usage::default(), at(5)).await.unwrap();
    let by = ByRun {
        run: run.id,
        lease: lease.clone(),
        depth: 1,
        origin: Origin { trigger: store.triggers().of(run).await.unwrap(), tools_used: Vec::new() },
        stream: StreamId::of(calls[0].call_id, 1),
        call: result(0),
    };
    let reply = NewMessage {
        id: MessageId::of_call(calls[0].call_id),
        space,
        sender: run.agent_id,
        content: Content::Text("Well.".parse().unwrap()),
        by: MessageSource::Run(Box::new(by)),
    };
    store.messages().append(&reply, at(6)).await.unwrap();
    store.steps().store_call(run, lease, &result(1), at(7)).await.unwrap();
    let ending = Ending {
        status: RunStatus::Completed,
        reason: Some(EndReason::Done),
        error: None,
        usage: Usage::default(),
        last_step: Some(step_record(1, lease, Vec::new())),
        prompt: None,
        marks: Marks::from([(space, 1)]),
    };
    store.runs().finish(run, lease, &ending, at(8)).await.unwrap();
}

/// Runs a scenario without a fault, and once for each fault of each write, and checks that it
/// always ends with the same contents. Returns these and the number of writes.
async fn assert_same_outcome(
    scenario: impl AsyncFn(Option<(usize, Fault)>) -> (String, usize),
) -> (String, usize) {
    let (expected, writes) = Box::pin(scenario(None)).await;
    for fault in [Fault::LostAnswer, Fault::Refused, Fault::Conflict, Fault::LostAmongOthers] {
        for number in 0..writes {
            let (stored, _) = Box::pin(scenario(Some((number, fault)))).await;
            assert!(
                stored == expected,
                "{fault:?} of write {number}:\n{stored}\ninstead of\n{expected}"
            );
        }
    }
    (expected, writes)
}

#[tokio::test(start_paused = true)]
async fn the_path_of_a_message_survives_a_fault_of_any_write() {
    let (expected, writes) = assert_same_outcome(path_of_a_message).await;
    assert!(expected.contains("Well.") && writes > 10, "{writes}");
}

/// Creates a space, and two people who are not members of it yet.
async fn space_and_people(store: &Store) -> (SpaceId, [Entity; 2]) {
    let space = SpaceId::new(at(0), 3);
    store.spaces().create(space, read(json!({"name": "Team"})), None, at(0)).await.unwrap();
    let person = async |number, name| {
        let settings = read(json!({"type": "human", "name": name}));
        store.entities().create(EntityId::new(at(0), number), settings, None, at(0)).await.unwrap()
    };
    (space, [person(1, "Husam").await, person(2, "Sara").await])
}

/// An owner adds a member, gives up the ownership, and leaves. Returns the results of these
/// requests with the members in the end, and the number of writes.
async fn path_of_an_owner(fault: Option<(usize, Fault)>) -> (String, usize) {
    let faulty = FaultyStore::new().await;
    let store = &faulty.store;
    let (space, [owner, other]) = space_and_people(store).await;
    store.members().join(space, &owner, Role::Owner, at(0)).await.unwrap();
    faulty.fail(fault);

    let caller = Caller::Entity(owner.id);
    let may = |action| move |roster: &Roster| may_in(roster, caller, action);
    let joined = store
        .members()
        .join_if(space, &other, Some(Role::Owner), at(1), may(SpaceAction::Govern))
        .await;
    let given = store
        .members()
        .join_if(space, &owner, Some(Role::Member), at(2), may(SpaceAction::Govern))
        .await;
    let refused = store
        .members()
        .join_if(space, &owner, Some(Role::Owner), at(3), may(SpaceAction::Govern))
        .await;
    let left = store.members().leave_if(space, owner.id, may(SpaceAction::Leave)).await;
    let again = store.members().leave_if(space, owner.id, may(SpaceAction::Leave)).await;
    let results = [joined, given, refused, left, again]
        .map(|result| result.map(|member| member.map(|member| (member.entity_id, member.role))));
    let members = store.members().roster(space).await.unwrap().members.clone();
    (format!("{results:#?} {members:#?}"), faulty.writes())
}

#[tokio::test(start_paused = true)]
async fn giving_up_ones_own_permission_survives_a_lost_answer() {
    let (expected, writes) = assert_same_outcome(path_of_an_owner).await;
    let results = expected.split("MemberRecord").next().unwrap_or_default();
    assert_eq!(
        (results.matches("Some(").count(), results.matches("Forbidden").count(), writes),
        (3, 1, 3),
        "{expected}"
    );
}
