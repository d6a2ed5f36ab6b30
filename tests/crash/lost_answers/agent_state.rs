//! Faults in the writes of agent state: memories and goals.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::json;
use smartspace_domain::{
    Error,
    entities::EntitySettings,
    goals::GoalChange,
    ids::{EntityId, LeaseId, SpaceId},
    memories::{MemoryKey, MemoryValue},
    runs::EndReason,
    spaces::Role,
};
use smartspace_store::{
    Store,
    agents::{
        goals::SetGoal,
        state::{self, ByCall},
    },
    runs::RunRecord,
    table::pages::PageRequest,
};

use crate::crash::lost_answers::{
    at, call_record, claim,
    faults::{Fault, FaultyStore, assert_same_outcome},
    posted, read,
};

/// An agent with a claimed run.
struct ClaimedRun {
    faulty: FaultyStore,
    agent: EntityId,
    run: RunRecord,
    lease: LeaseId,
}

impl ClaimedRun {
    /// Creates the scene, and then fails one write as planned.
    async fn with_fault(fault: Option<(usize, Fault)>) -> Self {
        let faulty = FaultyStore::new().await;
        let store = &faulty.store;
        let person = EntityId::new(at(0), 1);
        let agent = EntityId::new(at(0), 2);
        let space = SpaceId::new(at(0), 3);
        let model = json!({"model": {"provider": "scripted", "name": "m"}});
        let human = store
            .entities()
            .create(person, read(json!({"type": "human", "name": "Husam"})), None, at(0))
            .await
            .unwrap();
        let bot: EntitySettings = read(json!({"type": "agent", "name": "Ada", "agent": model}));
        let bot = store.entities().create(agent, bot, None, at(0)).await.unwrap();
        store.spaces().create(space, read(json!({"name": "Team"})), None, at(0)).await.unwrap();
        for member in [&human, &bot] {
            store.members().join(space, member, Role::Member, at(0)).await.unwrap();
        }
        let question = posted(5, space, person, "Well?", 1);
        let message = store.messages().append(&question, at(1)).await.unwrap().message;
        let lease = LeaseId::new(7);
        let run = message.dispatch.unwrap()[0].run_id.unwrap();
        let run = claim(store, run, &lease, 2).await;
        faulty.fail(fault);
        Self { faulty, agent, run, lease }
    }

    fn store(&self) -> &Store {
        &self.faulty.store
    }

    /// A change by a tool call of the run.
    fn by_call<T>(&self, index: u32, output: fn(&[T]) -> serde_json::Value) -> state::ChangedBy<T> {
        let call = call_record(self.run.id, index, 3);
        state::ChangedBy::Run(Box::new(ByCall {
            run: self.run.id,
            lease: self.lease.clone(),
            call,
            output,
        }))
    }

    /// The memories, goals and calls so far.
    async fn stored(&self) -> String {
        let request = PageRequest::default();
        let memories = self.store().memories().list(self.agent, &request).await.unwrap();
        let goals = self.store().goals().list(self.agent, &request).await.unwrap();
        let calls = self.store().steps().progress(self.run.id).await.unwrap().calls;
        format!("{memories:#?} {goals:#?} {calls:#?}")
    }
}

fn memories(set: &[(&str, &str)]) -> BTreeMap<MemoryKey, MemoryValue> {
    set.iter().map(|(key, value)| (key.parse().unwrap(), value.parse().unwrap())).collect()
}

fn only(key: &str) -> BTreeSet<MemoryKey> {
    BTreeSet::from([key.parse().unwrap()])
}

/// A change by a request of the operator.
fn by_request<T>(number: u128) -> state::ChangedBy<T> {
    state::ChangedBy::Request(LeaseId::new(number))
}

fn goal(id: &str, description: Option<&str>) -> SetGoal {
    let change = GoalChange {
        description: description.map(str::to_owned),
        priority: Some(1),
        ..GoalChange::default()
    };
    SetGoal { id: id.into(), change, pointer: String::new() }
}

/// A run and the operator set and delete memories and goals. Returns the results with the contents
/// of the table, and the number of writes.
async fn path_of_agent_state(fault: Option<(usize, Fault)>) -> (String, usize) {
    let scene = Box::pin(ClaimedRun::with_fault(fault)).await;
    let agent = scene.agent;
    let memory_store = scene.store().memories();
    let goal_store = scene.store().goals();
    let set = memories(&[("city", "Oslo"), ("boss", "Sara")]);
    let more = memories(&[("city", "Bergen")]);
    let both = [goal("q4", None), goal("q5", Some("Rest"))];
    let results = (
        memory_store.set(agent, &set, &scene.by_call(0, |keys| json!(keys)), at(4)).await,
        memory_store.set(agent, &more, &by_request(1), at(5)).await,
        memory_store.delete(agent, &only("boss"), &scene.by_call(1, |keys| json!(keys))).await,
        goal_store.set(agent, &[goal("q4", Some("Report"))], &by_request(2), at(6)).await,
        goal_store.set(agent, &both, &scene.by_call(2, |goals| json!(goals)), at(7)).await,
        goal_store.delete(agent, &only("q4"), &by_request(3)).await.map(|_| "deleted"),
        goal_store.delete(agent, &only("q4"), &scene.by_call(3, |ids| json!(ids))).await,
    );
    (format!("{results:#?} {}", scene.stored().await), scene.faulty.writes())
}

#[tokio::test(start_paused = true)]
async fn agent_state_survives_a_fault_of_any_write() {
    let (expected, writes) = assert_same_outcome(path_of_agent_state).await;
    assert!(
        expected.contains("Bergen") && !expected.contains("Err(") && writes == 7,
        "{writes}: {expected}"
    );
}

#[tokio::test(start_paused = true)]
async fn a_call_takes_effect_once_and_an_ended_run_changes_nothing() {
    let scene = Box::pin(ClaimedRun::with_fault(None)).await;
    let store = scene.store();
    let agent = scene.agent;
    let mine = memories(&[("city", "Oslo")]);
    let other = memories(&[("city", "Bergen")]);
    let by_call = |index| scene.by_call(index, |keys| json!(keys));
    store.memories().set(agent, &mine, &by_call(0), at(4)).await.unwrap();
    store.memories().set(agent, &other, &by_request(1), at(5)).await.unwrap();
    let before = scene.stored().await;
    assert!(before.contains("Bergen"), "{before}");
    // A repeat after a lost answer, with a change of the operator in between.
    store.memories().set(agent, &mine, &by_call(0), at(6)).await.unwrap();
    assert_eq!(scene.stored().await, before);

    store.runs().cancel(&scene.run, EndReason::Cancel, &LeaseId::new(9), at(7)).await.unwrap();
    for index in [0, 1] {
        let refused = store.memories().set(agent, &mine, &by_call(index), at(8)).await;
        assert_eq!(refused.unwrap_err(), Error::LeaseLost);
    }
    let goal = [goal("q4", Some("Report"))];
    let by_last_call = scene.by_call(2, |goals| json!(goals));
    let refused = store.goals().set(agent, &goal, &by_last_call, at(8)).await;
    assert_eq!(refused.unwrap_err(), Error::LeaseLost);
    assert_eq!(scene.stored().await, before);

    let record = store.entities().record(agent).await.unwrap();
    store.entities().retire(&record, at(9)).await.unwrap();
    let retired = store.memories().set(agent, &mine, &by_request(2), at(9)).await;
    assert!(matches!(retired, Err(Error::NotFound(_))));
    assert_eq!(scene.stored().await, before);
}
