//! The same for forms, and for runs of one agent that end each other or hand on what woke them.

use smartspace_domain::{ids::RunId, messages::Sender, tools::AnswerBy, triggers::Delegation};
use smartspace_store::{
    append::{Appended, NewCard, NewForm},
    cards::OpenCall,
    delegations::HandOn,
    endings::ByWorker,
    forms::{FormRecord, Resolution, Resolved},
};

use super::*;

/// A space with the policy `admin`, where the admin agent has three runs, the first of which is claimed; another agent is there, too.
pub(super) struct Governed {
    pub(super) store: Store,
    pub(super) person: EntityId,
    pub(super) admin: EntityId,
    other: EntityId,
    pub(super) space: SpaceId,
    pub(super) runs: Vec<RunRecord>,
    pub(super) lease: LeaseId,
    writes: Arc<AtomicUsize>,
}

impl Governed {
    /// From then on the table fails as `fault` says.
    pub(super) async fn until(fault: Option<(usize, Fault)>) -> Self {
        let (writes, plan) = (Arc::new(AtomicUsize::new(0)), Arc::new(Mutex::new(None)));
        let faulty = Faulty { table: EmbeddedTable::in_memory().unwrap(), writes: Arc::clone(&writes), plan: Arc::clone(&plan) };
        let client = client_on(faulty);
        schema::create_table(&client, NAME).await.unwrap();
        let store = Store::new(client, NAME, None, Arc::new(|| 4));
        let [person, admin, other] = [1, 2, 4].map(|number| EntityId::new(at(0), number));
        let (space, model) = (SpaceId::new(at(0), 3), json!({"model": {"provider": "scripted", "name": "m"}}));
        let settings = json!({"name": "Studio", "triggerPolicy": "admin", "adminAgentId": admin});
        store.create_space(space, read(settings), None, at(0)).await.unwrap();
        let husam = json!({"type": "human", "name": "Husam"});
        let agents = ["Router", "Designer"].map(|name| json!({"type": "agent", "name": name, "agent": model}));
        for (id, settings) in [person, admin, other].into_iter().zip([husam].into_iter().chain(agents)) {
            let member = store.create_entity(id, read(settings), None, at(0)).await.unwrap();
            store.join(space, &member, Role::Member, at(0)).await.unwrap();
        }
        let mut runs = Vec::new();
        for number in 5..8 {
            let content = Content::Text(format!("question {number}"));
            let question =
                NewMessage { id: MessageId::new(at(1), number), space, sender: person, content, by: By::Door { key: None, depth: 0 } };
            let asked = store.append(&question, at(1)).await.unwrap().message;
            let run = asked.dispatch.unwrap().iter().find_map(|dispatch| dispatch.run_id).unwrap();
            runs.push(store.run_record(run).await.unwrap());
        }
        let lease = LeaseId::new(7);
        let Claim::Ours { run, .. } = store.claim(runs[0].id, &lease, at(2)).await.unwrap() else { panic!("nobody else claims it") };
        runs[0] = *run;
        writes.store(0, Ordering::Relaxed);
        *plan.lock().unwrap() = fault;
        Self { store, person, admin, other, space, runs, lease, writes }
    }

    pub(super) fn call(&self, index: u32, status: CallStatus) -> CallRecord {
        CallRecord {
            call_id: CallId::of(self.runs[0].id, 0, index),
            step: 0,
            index,
            name: "a tool".into(),
            output: json!(null),
            status,
            started_at: at(3),
            finished_at: at(3),
            ends: None,
            active_space: Some(self.space),
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

    /// Shows a form that is the run's `index`-th call.
    async fn ask(&self, index: u32) -> FormRecord {
        let (store, run) = (&self.store, &self.runs[0]);
        let call = self.call(index, CallStatus::Pending);
        let form = NewForm {
            ui: "form".into(),
            result_schema: Some(json!({"type": "integer"})),
            answer_by: AnswerBy::default(),
            until: at(60 + i64::from(index)),
        };
        let card = NewCard {
            call_id: call.call_id,
            name: "ask".into(),
            input: json!({"title": "?"}),
            output: None,
            status: CallStatus::Pending,
            asks: Some(form),
        };
        self.show(card, call).await;
        store.form(run.id, CallId::of(run.id, 0, index)).await.unwrap().unwrap()
    }

    /// Shows a call of the first run.
    pub(super) async fn show(&self, card: NewCard, call: CallRecord) -> Appended {
        let (store, run) = (&self.store, &self.runs[0]);
        let origin = Origin { trigger: store.trigger_of(run).await.unwrap(), tools_used: Vec::new() };
        let id = MessageId::of_call(call.call_id);
        let stream = StreamId::of(call.call_id, 1);
        let by = ByRun { run: run.id, lease: self.lease_of(run.id).await, depth: 1, origin, stream, call };
        let content = Content::Card(Box::new(card));
        let new = NewMessage { id, space: self.space, sender: self.admin, content, by: By::Run(Box::new(by)) };
        store.append(&new, at(4)).await.unwrap()
    }

    async fn lease_of(&self, run: RunId) -> LeaseId {
        self.store.run_record(run).await.unwrap().lease.unwrap()
    }

    pub(super) async fn resolve(&self, open: &OpenCall, status: CallStatus, output: serde_json::Value, token: u128) -> Resolved {
        let by = (status == CallStatus::Completed).then_some(self.person);
        let resolution = Resolution { status, output, by, label: "someone".into(), token: LeaseId::new(token) };
        self.store.resolve(open, &resolution, at(10)).await.unwrap()
    }

    /// All that is kept by now, and how many writes it took.
    pub(super) async fn kept(&self) -> (String, usize) {
        let store = &self.store;
        let messages = store.messages(self.space, Range::After(0), 100).await.unwrap();
        let mut kept = vec![format!("{messages:#?}")];
        for run in &self.runs {
            let calls = store.progress(run.id).await.unwrap().calls;
            let (run, open) = (store.run_record(run.id).await.unwrap(), store.open_forms(run.id).await.unwrap());
            kept.push(format!("{run:#?} {calls:#?} {open:#?}"));
        }
        for agent in [self.admin, self.other] {
            kept.push(format!("{:#?}", store.agent_context(agent).await.unwrap().active));
        }
        (kept.join("\n"), self.writes.load(Ordering::Relaxed))
    }
}

/// A run asks twice and waits; one form is answered, one expires; it goes on, asks again, and is canceled.
async fn way_of_a_form(fault: Option<(usize, Fault)>) -> (String, usize) {
    let governed = Box::pin(Governed::until(fault)).await;
    let (store, run) = (&governed.store, &governed.runs[0]);
    let (first, second) = (governed.ask(0).await, governed.ask(1).await);
    assert!(store.pause(run.id, &governed.lease, at(60), at(5)).await.unwrap());
    let Claim::Waiting(waiting) = store.claim(run.id, &LeaseId::new(8), at(6)).await.unwrap() else { panic!("it waits") };
    assert_eq!(governed.resolve(&first.call, CallStatus::Completed, json!(3), 21).await, Resolved::Now);
    assert!(
        matches!(governed.resolve(&first.call, CallStatus::Completed, json!(4), 22).await, Resolved::Before(call) if call.output == json!(3))
    );
    // Somebody answered since it was read: it is to be looked at now.
    store.keep_waiting(&waiting, at(61)).await.unwrap();
    let waiting = store.run_record(run.id).await.unwrap();
    assert_eq!((waiting.due_at, waiting.open_calls), (Some(at(10)), Some(1)));
    store.keep_waiting(&waiting, at(61)).await.unwrap();
    assert_eq!(governed.resolve(&second.call, CallStatus::Expired, json!({"error": "expired"}), 23).await, Resolved::Now);

    let lease = LeaseId::new(9);
    let claim = store.claim(run.id, &lease, at(70)).await.unwrap();
    assert!(matches!(&claim, Claim::Ours { run, first: false, resumed: true } if run.attempt == 1 && run.waited_ms == 65_000), "{claim:?}");
    assert!(!store.pause(run.id, &lease, at(80), at(71)).await.unwrap(), "all is answered");
    let third = governed.ask(2).await;
    let canceled = store.cancel(run, EndReason::Cancel, &LeaseId::new(31), at(72)).await.unwrap();
    assert_eq!(canceled.open_calls, Some(1));
    assert!(matches!(governed.resolve(&third.call, CallStatus::Completed, json!(5), 24).await, Resolved::RunOver));
    assert_eq!(governed.resolve(&third.call, CallStatus::Canceled, json!({"error": "canceled"}), 25).await, Resolved::Now);
    // The answer to a first try that took effect may be lost: then a second one is true as well.
    assert!(store.calls_closed(run.id).await.unwrap());
    let ended = store.run_record(run.id).await.unwrap();
    assert_eq!((ended.open_calls, &ended.due, ended.due_at), (Some(0), &None, None));
    governed.kept().await
}

/// A run stops another, absorbs a third, and hands on what woke it.
async fn way_of_own_runs(fault: Option<(usize, Fault)>) -> (String, usize) {
    let governed = Box::pin(Governed::until(fault)).await;
    let (store, lease) = (&governed.store, &governed.lease);
    let [run, second, third] = &governed.runs[..] else { panic!("three runs") };
    let results = [0, 1, 2].map(|index| governed.call(index, CallStatus::Completed));
    let by = |call: usize| ByWorker { run: run.id, lease, result: &results[call] };
    assert!(store.end_own(second, EndReason::StopRun, &by(0), at(4)).await.unwrap().is_some());
    assert!(store.end_own(third, EndReason::Absorbed, &by(1), at(5)).await.unwrap().is_some());
    let again = store.end_own(third, EndReason::Absorbed, &by(2), at(5)).await.unwrap_err();
    assert!(again.to_string().contains("had ended already"), "{again}");
    let sender = Sender { id: governed.admin, name: "Router".into(), kind: smartspace_domain::entities::EntityType::Agent };
    let delegation = Delegation { by: sender, note: Some("Soon.".into()) };
    let call = CallRecord { ends: Some(EndReason::Delegated), ..governed.call(3, CallStatus::Completed) };
    let hand_on = HandOn { from: run, lease, to: governed.other, delegation: delegation.clone(), call };
    let handed_on = store.hand_on(&hand_on, at(7)).await.unwrap();
    assert_eq!(store.delegation(&handed_on).await.unwrap(), Some(delegation));
    governed.kept().await
}

#[tokio::test(start_paused = true)]
async fn forms_and_own_runs_are_the_same_whichever_write_goes_wrong() {
    let (form, writes) = ends_the_same(way_of_a_form).await;
    assert!(form.contains("Expired") && writes >= 11, "{writes}: {form}");
    let (own, more) = ends_the_same(way_of_own_runs).await;
    assert!(own.contains("Absorbed") && own.contains("Delegated") && more >= 4, "{more}: {own}");
}

#[tokio::test(start_paused = true)]
async fn who_was_ended_ends_nobody() {
    let governed = Box::pin(Governed::until(None)).await;
    let store = &governed.store;
    let [one, other, third] = &governed.runs[..] else { panic!("three runs") };
    let lease = LeaseId::new(8);
    let Claim::Ours { run: other, .. } = store.claim(other.id, &lease, at(3)).await.unwrap() else { panic!("nobody else claims it") };
    let result = governed.call(0, CallStatus::Completed);
    store.end_own(&other, EndReason::Absorbed, &ByWorker { run: one.id, lease: &governed.lease, result: &result }, at(4)).await.unwrap();
    let by = ByWorker { run: other.id, lease: &lease, result: &result };
    for run in [one, third] {
        let refused = store.end_own(run, EndReason::Absorbed, &by, at(4)).await.unwrap_err();
        assert_eq!(refused, smartspace_domain::Error::LeaseLost);
        assert!(store.run_record(run.id).await.unwrap().status.is_active());
    }
}
