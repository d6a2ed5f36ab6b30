//! The same for what is overdue: it is found, queued and given up whichever write goes wrong, and nothing holds up anything else.

use async_trait::async_trait;
use aws_sdk_dynamodb::{Client, types::AttributeValue};
use smartspace_domain::{
    ids::RunId,
    jobs::{Job, RunJob, TriggerJob},
    limits::SWEEPS,
};
use smartspace_edges::{
    alarms::NoAlarms,
    bell::NoBell,
    clock::Clock,
    ids::RandomIds,
    queues::{Queue, QueueError},
};
use smartspace_pipeline::Pipeline;
use smartspace_store::{
    due::{Duty, Swept},
    keys::{self, Key},
};
use smartspace_sweep::Sweep;

use super::{forms::Governed, *};

/// Longer than anything is moved on.
const LATER: i64 = 2 * 60 * 60;

/// All that is overdue then, in a fixed order.
async fn overdue(store: &Store, second: i64) -> Vec<Key> {
    let mut found = Vec::new();
    for part in 0..keys::DUE_PARTS {
        found.extend(store.due_in(part, at(second), 100).await.unwrap());
    }
    found.sort_by(|one, other| (&one.pk, &one.sk).cmp(&(&other.pk, &other.sk)));
    found
}

/// Sweeps over a run until it is given up: what was told, what is kept, and how many writes it took.
async fn way_of_sweeping(fault: Option<(usize, Fault)>) -> (String, usize) {
    let governed = Box::pin(Governed::until(fault)).await;
    let (store, run) = (&governed.store, &governed.runs[1]);
    let mut told = Vec::new();
    for round in 1..=i64::from(SWEEPS) + 1 {
        told.push(store.sweep_one(&keys::run_meta(run.id), at(round * LATER)).await.unwrap());
    }
    let mut expected = vec![Swept::Overdue(Duty::Run(run.job())); SWEEPS as usize];
    expected.push(Swept::GivenUp);
    assert_eq!(told, expected);
    let (kept, writes) = governed.kept().await;
    (format!("{told:#?} {kept}"), writes)
}

#[tokio::test(start_paused = true)]
async fn what_is_overdue_is_acted_on_and_given_up_whichever_write_goes_wrong() {
    let (_, writes) = ends_the_same(way_of_sweeping).await;
    assert_eq!(writes, SWEEPS as usize + 1);
}

#[tokio::test(start_paused = true)]
async fn a_run_that_is_claimed_after_it_was_given_up_is_due_again() {
    let governed = Box::pin(Governed::until(None)).await;
    let (store, run) = (&governed.store, governed.runs[1].id);
    for round in 1..=i64::from(SWEEPS) + 1 {
        store.sweep_one(&keys::run_meta(run), at(round * LATER)).await.unwrap();
    }
    let then = LATER * 20;
    assert!(!overdue(store, then * 2).await.contains(&keys::run_meta(run)), "it was given up");
    let claimed = store.claim(run, &LeaseId::new(8), at(then)).await.unwrap();
    assert!(matches!(claimed, Claim::Ours { .. }), "{claimed:?}");
    assert!(overdue(store, then + LATER).await.contains(&keys::run_meta(run)), "its worker may die");
}

/// What was queued.
#[derive(Debug)]
struct Queued<J>(Mutex<Vec<J>>);

impl<J> Queued<J> {
    fn nothing() -> Arc<Self> {
        Arc::new(Self(Mutex::default()))
    }
}

#[async_trait]
impl<J: Job> Queue<J> for Queued<J> {
    async fn send(&self, jobs: Vec<J>) -> Result<(), QueueError> {
        self.0.lock().unwrap().extend(jobs);
        Ok(())
    }
}

#[derive(Debug)]
struct At(i64);

impl Clock for At {
    fn now(&self) -> Time {
        at(self.0)
    }
}

async fn empty_table() -> (Client, Store) {
    let client = client_on(EmbeddedTable::in_memory().unwrap());
    schema::create_table(&client, NAME).await.unwrap();
    let store = Store::new(client.clone(), NAME, None, Arc::new(|| 4));
    (client, store)
}

/// The product over this table, and the jobs that it queued.
fn pipeline(store: &Store, second: i64) -> (Pipeline, Arc<Queued<RunJob>>, Arc<Queued<TriggerJob>>) {
    let (runs, triggers) = (Queued::nothing(), Queued::nothing());
    let pipeline = Pipeline {
        store: store.clone(),
        runs: runs.clone(),
        broadcasts: Queued::nothing(),
        triggers: triggers.clone(),
        alarms: Arc::new(NoAlarms),
        bell: Arc::new(NoBell),
        clock: Arc::new(At(second)),
        ids: Arc::new(RandomIds),
        is_rate_limited: false,
    };
    (pipeline, runs, triggers)
}

#[tokio::test(start_paused = true)]
async fn an_item_that_nobody_can_read_holds_up_no_other_and_a_time_written_by_hand_is_understood() {
    let (client, store) = empty_table().await;
    // One that does not read, and one whose time has no milliseconds, of each part.
    for number in 0..u128::from(keys::DUE_PARTS) * 4 {
        let run = RunId::new(at(1), number);
        let part = keys::due(run.part_of(keys::DUE_PARTS));
        for key in [keys::run_meta(run), keys::space_meta(SpaceId::new(at(1), number))] {
            let text = |text: &str| AttributeValue::S(text.to_owned());
            let put = client.put_item().table_name(NAME).item("PK", text(&key.pk)).item("SK", text(&key.sk));
            put.item("due", text(&part)).item("dueAt", text("2026-02-18T15:07:00Z")).send().await.unwrap();
        }
    }
    let (pipeline, runs, triggers) = pipeline(&store, LATER);
    let spaces = usize::from(keys::DUE_PARTS) * 4;
    assert_eq!(Sweep { pipeline }.handle().await, Ok(spaces));
    assert_eq!((runs.0.lock().unwrap().len(), triggers.0.lock().unwrap().len()), (0, spaces));
    assert_eq!(overdue(&store, LATER).await, [], "all were moved on");
}

#[tokio::test(start_paused = true)]
async fn a_deleted_space_with_very_many_messages_is_removed_by_several_jobs() {
    let (client, store) = empty_table().await;
    let (space, person) = (SpaceId::new(at(0), 3), EntityId::new(at(0), 1));
    let member = store.create_entity(person, read(json!({"type": "human", "name": "Husam"})), None, at(0)).await.unwrap();
    store.create_space(space, read(json!({"name": "Team"})), None, at(0)).await.unwrap();
    store.join(space, &member, Role::Member, at(0)).await.unwrap();
    let content = Content::Text("Hello".into());
    let hello = NewMessage { id: MessageId::new(at(1), 5), space, sender: person, content, by: By::Door { key: None, depth: 0 } };
    store.append(&hello, at(1)).await.unwrap();
    let all_of_it = async || {
        let asked = client.query().table_name(NAME).key_condition_expression("PK = :pk");
        let asked = asked.expression_attribute_values(":pk", AttributeValue::S(keys::space(space)));
        asked.into_paginator().items().send().collect::<Result<Vec<_>, _>>().await.unwrap()
    };
    let is_message = |item: &&smartspace_store::write::Item| item["SK"].as_s().unwrap().starts_with(keys::MSG);
    let message = all_of_it().await.iter().find(is_message).unwrap().clone();
    for seq in 2..=4_100_u64 {
        let mut copy = message.clone();
        copy.insert("SK".into(), AttributeValue::S(keys::numbered(space, keys::MSG, seq).sk));
        copy.insert("seq".into(), AttributeValue::N(seq.to_string()));
        client.put_item().table_name(NAME).set_item(Some(copy)).send().await.unwrap();
    }
    let (pipeline, _, triggers) = pipeline(&store, LATER);
    pipeline.delete_space(space).await.unwrap();
    let mut left = Vec::new();
    while let Some(job) = { triggers.0.lock().unwrap().pop() } {
        let TriggerJob::SettleSpace { space_id } = job else { panic!("{job:?}") };
        pipeline.settle_space(space_id).await.unwrap();
        left.push(all_of_it().await.len());
        let due = store.due_in(space.part_of(keys::DUE_PARTS), at(LATER), 10).await.unwrap();
        assert_eq!(due, [], "it goes on, and nobody need come back to it");
    }
    assert!(left.len() == 2 && left[0] > 100 && left[1] == 0, "{left:?}");
}
