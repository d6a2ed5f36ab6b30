//! Faults in the writes of forms, and of runs that end or delegate to other runs.

use smartspace_domain::{ids::RunId, messages::Sender, tools::AnswerBy, triggers::Delegation};
use smartspace_store::{
    messages::append::{Appended, NewCard, NewForm},
    runs::{
        cards::OpenCall,
        delegations::HandOn,
        endings::ByWorker,
        forms::{FormRecord, Resolution, Resolved},
    },
};

use super::*;

/// A space with the policy `admin`, a person and two agents. The admin agent has three runs, of
/// which the first is claimed.
pub(super) struct Studio {
    pub(super) store: Store,
    pub(super) person: EntityId,
    pub(super) admin: EntityId,
    other: EntityId,
    pub(super) space: SpaceId,
    pub(super) runs: Vec<RunRecord>,
    pub(super) lease: LeaseId,
    faulty: FaultyStore,
}

impl Studio {
    /// Creates the scene, and then fails one write as planned.
    pub(super) async fn with_fault(fault: Option<(usize, Fault)>) -> Self {
        let faulty = FaultyStore::new().await;
        let store = faulty.store.clone();
        let [person, admin, other] = [1, 2, 4].map(|number| EntityId::new(at(0), number));
        let space = SpaceId::new(at(0), 3);
        let model = json!({"model": {"provider": "scripted", "name": "m"}});
        let settings = json!({"name": "Studio", "triggerPolicy": "admin", "adminAgentId": admin});
        store.spaces().create(space, read(settings), None, at(0)).await.unwrap();
        let husam = json!({"type": "human", "name": "Husam"});
        let agents = ["Router", "Designer"]
            .map(|name| json!({"type": "agent", "name": name, "agent": model}));
        for (id, settings) in
            [person, admin, other].into_iter().zip([husam].into_iter().chain(agents))
        {
            let member = store.entities().create(id, read(settings), None, at(0)).await.unwrap();
            store.members().join(space, &member, Role::Member, at(0)).await.unwrap();
        }
        let mut runs = Vec::new();
        for number in 5..8 {
            let question = posted(number, space, person, &format!("question {number}"), 1);
            let message = store.messages().append(&question, at(1)).await.unwrap().message;
            let run = message.dispatch.unwrap().iter().find_map(|agent| agent.run_id).unwrap();
            runs.push(store.runs().record(run).await.unwrap());
        }
        let lease = LeaseId::new(7);
        runs[0] = claim(&store, runs[0].id, &lease, 2).await;
        faulty.fail(fault);
        Self { store, person, admin, other, space, runs, lease, faulty }
    }

    /// A call of the first run.
    pub(super) fn call(&self, index: u32, status: CallStatus) -> CallRecord {
        CallRecord {
            status,
            active_space: Some(self.space),
            ..call_record(self.runs[0].id, index, 3)
        }
    }

    /// Shows a form of the first run.
    async fn ask(&self, index: u32) -> FormRecord {
        let run = self.runs[0].id;
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
        self.store.forms().get(run, CallId::of(run, 0, index)).await.unwrap().unwrap()
    }

    /// Shows the card of a call of the first run.
    pub(super) async fn show(&self, card: NewCard, call: CallRecord) -> Appended {
        let store = &self.store;
        let run = &self.runs[0];
        let origin =
            Origin { trigger: store.triggers().of(run).await.unwrap(), tools_used: Vec::new() };
        let id = MessageId::of_call(call.call_id);
        let stream = StreamId::of(call.call_id, 1);
        let by = ByRun {
            run: run.id,
            lease: self.lease_of(run.id).await,
            depth: 1,
            origin,
            stream,
            call,
        };
        let content = Content::Card(Box::new(card));
        let new = NewMessage {
            id,
            space: self.space,
            sender: self.admin,
            content,
            by: MessageSource::Run(Box::new(by)),
        };
        store.messages().append(&new, at(4)).await.unwrap()
    }

    async fn lease_of(&self, run: RunId) -> LeaseId {
        self.store.runs().record(run).await.unwrap().lease.unwrap()
    }

    pub(super) async fn resolve(
        &self,
        open: &OpenCall,
        status: CallStatus,
        output: serde_json::Value,
        token: u128,
    ) -> Resolved {
        let by = (status == CallStatus::Completed).then_some(self.person);
        let resolution =
            Resolution { status, output, by, label: "someone".into(), token: LeaseId::new(token) };
        self.store.forms().resolve(open, &resolution, at(10)).await.unwrap()
    }

    /// The messages and runs so far, and the number of writes.
    pub(super) async fn outcome(&self) -> (String, usize) {
        let store = &self.store;
        let messages = store.messages().list(self.space, Range::After(0), 100).await.unwrap();
        let mut stored = vec![format!("{messages:#?}")];
        for run in &self.runs {
            let calls = store.steps().progress(run.id).await.unwrap().calls;
            let open = store.forms().open(run.id).await.unwrap();
            let run = store.runs().record(run.id).await.unwrap();
            stored.push(format!("{run:#?} {calls:#?} {open:#?}"));
        }
        for agent in [self.admin, self.other] {
            let active = store.agent_state().context(agent).await.unwrap().active;
            stored.push(format!("{active:#?}"));
        }
        (stored.join("\n"), self.faulty.writes())
    }
}

/// A run shows two forms and waits. One is answered and one expires. The run resumes, shows a third
/// form, and is canceled.
async fn path_of_a_form(fault: Option<(usize, Fault)>) -> (String, usize) {
    let studio = Box::pin(Studio::with_fault(fault)).await;
    pause_and_resolve_two_forms(&studio).await;

    let store = &studio.store;
    let run = &studio.runs[0];
    let lease = LeaseId::new(9);
    let claim = store.runs().claim(run.id, &lease, at(70)).await.unwrap();
    let Claim::Ours { run: resumed, first: false, resumed: true } = &claim else {
        panic!("{claim:?}")
    };
    assert_eq!((resumed.attempt, resumed.waited_ms), (1, 65_000));
    let paused = store.runs().pause(run.id, &lease, at(80), at(71)).await.unwrap();
    assert!(!paused, "a run without open forms was paused");
    let third = studio.ask(2).await;
    let canceled =
        store.runs().cancel(run, EndReason::Cancel, &LeaseId::new(31), at(72)).await.unwrap();
    assert_eq!(canceled.open_calls, Some(1));
    let answered = studio.resolve(&third.call, CallStatus::Completed, json!(5), 24).await;
    assert!(matches!(answered, Resolved::RunOver));
    let error = json!({"error": "canceled"});
    let closed = studio.resolve(&third.call, CallStatus::Canceled, error, 25).await;
    assert_eq!(closed, Resolved::Now);
    // If the answer to the first attempt was lost, the second one succeeds as well.
    assert!(store.forms().calls_closed(run.id).await.unwrap());
    let ended = store.runs().record(run.id).await.unwrap();
    assert_eq!((ended.open_calls, &ended.due, ended.due_at), (Some(0), &None, None));
    studio.outcome().await
}

async fn pause_and_resolve_two_forms(studio: &Studio) {
    let store = &studio.store;
    let run = &studio.runs[0];
    let first = studio.ask(0).await;
    let second = studio.ask(1).await;
    assert!(store.runs().pause(run.id, &studio.lease, at(60), at(5)).await.unwrap());
    let claim = store.runs().claim(run.id, &LeaseId::new(8), at(6)).await.unwrap();
    let Claim::Waiting(waiting) = claim else { panic!("{claim:?}") };
    let answered = studio.resolve(&first.call, CallStatus::Completed, json!(3), 21).await;
    assert_eq!(answered, Resolved::Now);
    let again = studio.resolve(&first.call, CallStatus::Completed, json!(4), 22).await;
    assert!(matches!(again, Resolved::Before(call) if call.output == json!(3)));
    // A form was answered since `waiting` was read, so the run is due at once.
    store.runs().keep_waiting(&waiting, at(61)).await.unwrap();
    let waiting = store.runs().record(run.id).await.unwrap();
    assert_eq!((waiting.due_at, waiting.open_calls), (Some(at(10)), Some(1)));
    store.runs().keep_waiting(&waiting, at(61)).await.unwrap();
    let error = json!({"error": "expired"});
    let expired = studio.resolve(&second.call, CallStatus::Expired, error, 23).await;
    assert_eq!(expired, Resolved::Now);
}

/// A run stops a second one, absorbs a third, and delegates its trigger.
async fn path_of_own_runs(fault: Option<(usize, Fault)>) -> (String, usize) {
    let studio = Box::pin(Studio::with_fault(fault)).await;
    let store = &studio.store;
    let lease = &studio.lease;
    let [run, second, third] = &studio.runs[..] else { panic!("three runs") };
    let results = [0, 1, 2].map(|index| studio.call(index, CallStatus::Completed));
    let by = |call: usize| ByWorker { run: run.id, lease, result: &results[call] };
    assert!(
        store.runs().end_own(second, EndReason::StopRun, &by(0), at(4)).await.unwrap().is_some()
    );
    assert!(
        store.runs().end_own(third, EndReason::Absorbed, &by(1), at(5)).await.unwrap().is_some()
    );
    let again = store.runs().end_own(third, EndReason::Absorbed, &by(2), at(5)).await.unwrap_err();
    assert!(again.to_string().contains("had ended already"), "{again}");
    let sender = Sender {
        id: studio.admin,
        name: "Router".into(),
        kind: smartspace_domain::entities::EntityType::Agent,
    };
    let delegation = Delegation { by: sender, note: Some("Soon.".into()) };
    let call =
        CallRecord { ends: Some(EndReason::Delegated), ..studio.call(3, CallStatus::Completed) };
    let hand_on =
        HandOn { from: run, lease, to: studio.other, delegation: delegation.clone(), call };
    let handed_on = store.runs().hand_on(&hand_on, at(7)).await.unwrap();
    assert_eq!(store.runs().delegation(&handed_on).await.unwrap(), Some(delegation));
    studio.outcome().await
}

#[tokio::test(start_paused = true)]
async fn forms_and_own_runs_survive_a_fault_of_any_write() {
    let (form, writes) = assert_same_outcome(path_of_a_form).await;
    assert!(form.contains("Expired") && writes >= 11, "{writes}: {form}");
    let (own, more) = assert_same_outcome(path_of_own_runs).await;
    assert!(own.contains("Absorbed") && own.contains("Delegated") && more >= 4, "{more}: {own}");
}

#[tokio::test(start_paused = true)]
async fn a_run_that_was_ended_cannot_end_other_runs() {
    let studio = Box::pin(Studio::with_fault(None)).await;
    let store = &studio.store;
    let [one, other, third] = &studio.runs[..] else { panic!("three runs") };
    let lease = LeaseId::new(8);
    let other = claim(store, other.id, &lease, 3).await;
    let result = studio.call(0, CallStatus::Completed);
    let by_one = ByWorker { run: one.id, lease: &studio.lease, result: &result };
    store.runs().end_own(&other, EndReason::Absorbed, &by_one, at(4)).await.unwrap();
    let by = ByWorker { run: other.id, lease: &lease, result: &result };
    for run in [one, third] {
        let refused = store.runs().end_own(run, EndReason::Absorbed, &by, at(4)).await.unwrap_err();
        assert_eq!(refused, smartspace_domain::Error::LeaseLost);
        assert!(store.runs().record(run.id).await.unwrap().status.is_active());
    }
}
