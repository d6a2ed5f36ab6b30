//! The same for what an agent keeps.

use std::collections::{BTreeMap, BTreeSet};

use smartspace_domain::{Error, goals::GoalChange};
use smartspace_store::{
    goals::SetGoal,
    kept::{self, ByCall},
    pages::Ask,
};

use super::*;

/// An agent, one of whose runs is claimed, on a table that fails once `plan` says so.
struct Working {
    store: Store,
    agent: EntityId,
    run: RunRecord,
    lease: LeaseId,
    writes: Arc<AtomicUsize>,
    plan: Arc<Mutex<Option<(usize, Fault)>>>,
}

impl Working {
    async fn agent() -> Self {
        let (writes, plan) = (Arc::new(AtomicUsize::new(0)), Arc::new(Mutex::new(None)));
        let faulty = Faulty { table: EmbeddedTable::in_memory().unwrap(), writes: Arc::clone(&writes), plan: Arc::clone(&plan) };
        let client = client_on(faulty);
        schema::create_table(&client, NAME).await.unwrap();
        let store = Store::new(client, NAME, None, Arc::new(|| 4));
        let (person, agent, space) = (EntityId::new(at(0), 1), EntityId::new(at(0), 2), SpaceId::new(at(0), 3));
        let model = json!({"model": {"provider": "scripted", "name": "m"}});
        let human = store.create_entity(person, read(json!({"type": "human", "name": "Husam"})), None, at(0)).await.unwrap();
        let bot: EntitySettings = read(json!({"type": "agent", "name": "Ada", "agent": model}));
        let bot = store.create_entity(agent, bot, None, at(0)).await.unwrap();
        store.create_space(space, read(json!({"name": "Team"})), None, at(0)).await.unwrap();
        for member in [&human, &bot] {
            store.join(space, member, Role::Member, at(0)).await.unwrap();
        }
        let question = NewMessage {
            id: MessageId::new(at(1), 5),
            space,
            sender: person,
            content: Content::Text("Well?".into()),
            by: By::Door { key: None, depth: 0 },
        };
        let asked = store.append(&question, at(1)).await.unwrap().message;
        let lease = LeaseId::new(7);
        let run = asked.dispatch.unwrap()[0].run_id.unwrap();
        let Claim::Ours { run, .. } = store.claim(run, &lease, at(2)).await.unwrap() else { panic!("nobody else claims it") };
        writes.store(0, Ordering::Relaxed);
        Self { store, agent, run: *run, lease, writes, plan }
    }

    /// In the name of the run's `index`-th call.
    fn call<T>(&self, index: u32, output: fn(&[T]) -> serde_json::Value) -> kept::By<T> {
        let call = CallRecord {
            call_id: CallId::of(self.run.id, 0, index),
            step: 0,
            index,
            name: "a tool".into(),
            output: serde_json::Value::Null,
            status: CallStatus::Completed,
            started_at: at(3),
            finished_at: at(3),
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
        };
        kept::By::Run(Box::new(ByCall { run: self.run.id, lease: self.lease.clone(), call, output }))
    }

    /// All that is kept by now.
    async fn kept(&self) -> String {
        let ask = Ask::default();
        let (memories, goals) = (self.store.memories(self.agent, &ask).await.unwrap(), self.store.goals(self.agent, &ask).await.unwrap());
        format!("{memories:#?} {goals:#?} {:#?}", self.store.progress(self.run.id).await.unwrap().calls)
    }
}

fn memories(set: &[(&str, &str)]) -> BTreeMap<String, String> {
    set.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect()
}

fn only(key: &str) -> BTreeSet<String> {
    BTreeSet::from([key.to_owned()])
}

fn request<T>(number: u128) -> kept::By<T> {
    kept::By::Request(LeaseId::new(number))
}

fn goal(id: &str, description: Option<&str>) -> SetGoal {
    let change = GoalChange { description: description.map(str::to_owned), priority: Some(1), ..GoalChange::default() };
    SetGoal { id: id.into(), change, pointer: String::new() }
}

/// A run and the operator set and delete memories and goals. What each was told, and what is kept; and how many writes it took.
async fn way_of_a_memory(fault: Option<(usize, Fault)>) -> (String, usize) {
    let working = Box::pin(Working::agent()).await;
    *working.plan.lock().unwrap() = fault;
    let (store, agent) = (&working.store, working.agent);
    let (set, more) = (memories(&[("city", "Oslo"), ("boss", "Sara")]), memories(&[("city", "Bergen")]));
    let told = (
        store.set_memories(agent, &set, &working.call(0, |made| json!(made)), at(4)).await,
        store.set_memories(agent, &more, &request(1), at(5)).await,
        store.delete_memories(agent, &only("boss"), &working.call(1, |made| json!(made))).await,
        store.set_goals(agent, &[goal("q4", Some("Report"))], &request(2), at(6)).await,
        store.set_goals(agent, &[goal("q4", None), goal("q5", Some("Rest"))], &working.call(2, |made| json!(made)), at(7)).await,
        store.delete_goals(agent, &only("q4"), &request(3)).await.map(|_| "deleted"),
        store.delete_goals(agent, &only("q4"), &working.call(3, |made| json!(made))).await,
    );
    (format!("{told:#?} {}", working.kept().await), working.writes.load(Ordering::Relaxed))
}

#[tokio::test(start_paused = true)]
async fn what_an_agent_keeps_is_the_same_whichever_write_goes_wrong() {
    let (expected, writes) = ends_the_same(way_of_a_memory).await;
    assert!(expected.contains("Bergen") && !expected.contains("Err(") && writes == 7, "{writes}: {expected}");
}

#[tokio::test(start_paused = true)]
async fn a_call_is_done_once_and_a_run_that_has_ended_sets_nothing() {
    let working = Box::pin(Working::agent()).await;
    let (store, agent) = (&working.store, working.agent);
    let mine = memories(&[("city", "Oslo")]);
    let by = |index| working.call(index, |made| json!(made));
    store.set_memories(agent, &mine, &by(0), at(4)).await.unwrap();
    store.set_memories(agent, &memories(&[("city", "Bergen")]), &request(1), at(5)).await.unwrap();
    let before = working.kept().await;
    assert!(before.contains("Bergen"), "{before}");
    // As after a lost answer, where somebody else was faster than the repeat.
    store.set_memories(agent, &mine, &by(0), at(6)).await.unwrap();
    assert_eq!(working.kept().await, before);

    store.cancel(&working.run, EndReason::Cancel, &LeaseId::new(9), at(7)).await.unwrap();
    for index in [0, 1] {
        assert_eq!(store.set_memories(agent, &mine, &by(index), at(8)).await.unwrap_err(), Error::LeaseLost);
    }
    let goal = [goal("q4", Some("Report"))];
    assert_eq!(store.set_goals(agent, &goal, &working.call(2, |made| json!(made)), at(8)).await.unwrap_err(), Error::LeaseLost);
    assert_eq!(working.kept().await, before);

    let record = store.entity_record(agent).await.unwrap();
    store.retire_entity(&record, at(9)).await.unwrap();
    assert!(matches!(store.set_memories(agent, &mine, &request(2), at(9)).await, Err(Error::NotFound(_))));
    assert_eq!(working.kept().await, before);
}
