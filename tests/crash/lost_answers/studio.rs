//! The scene of forms, plans and deliveries: a space with a person, two agents and their runs.

use serde_json::json;
use smartspace_domain::{
    approvals::{APPROVAL, ApprovalRule, result_schema},
    entities::EntityType,
    ids::{CallId, EntityId, LeaseId, MessageId, RunId, SpaceId, StreamId},
    messages::{Origin, Sender},
    spaces::Role,
    steps::CallStatus,
    tools::AnswerBy,
};
use smartspace_store::{
    Store,
    messages::{
        Range,
        append::{
            Appended, Authority, Content, MessageSource, NewApproval, NewCard, NewForm, NewMessage,
            RunSender,
        },
    },
    runs::{
        RunRecord,
        approvals::CallApproval,
        cards::OpenCall,
        forms::{FormRecord, Resolution, Resolved},
        steps::CallRecord,
    },
};

use crate::crash::lost_answers::{
    at, call_record, claim,
    faults::{Fault, FaultyStore},
    posted, read,
};

/// A space with the policy `admin`, a person and two agents. The admin agent has three runs, of
/// which the first is claimed.
pub(super) struct Studio {
    pub(super) store: Store,
    pub(super) person: EntityId,
    pub(super) admin: EntityId,
    pub(crate) other: EntityId,
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
        // Each of three questions has a run of its own.
        let model = json!({
            "model": {"provider": "scripted", "name": "m"},
            "concurrency": {"mode": "parallel"},
        });
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
    pub(crate) async fn ask(&self, index: u32) -> FormRecord {
        let form = NewForm {
            ui: "form".into(),
            result_schema: Some(json!({"type": "integer"})),
            answer_by: AnswerBy::default(),
            until: at(60 + i64::from(index)),
            approval: None,
            page_of: None,
        };
        self.show_form(form, self.call(index, CallStatus::Pending)).await
    }

    /// Shows a call of the first run that waits for this many approvals.
    pub(super) async fn ask_approval(&self, index: u32, quorum: u32) -> FormRecord {
        let rule: ApprovalRule = read(json!({"tools": ["ask"], "quorum": quorum}));
        let input_schema = json!({"type": "object"});
        let form = NewForm {
            ui: APPROVAL.into(),
            result_schema: Some(result_schema(&input_schema)),
            answer_by: AnswerBy::default(),
            until: at(60 + i64::from(index)),
            approval: Some(NewApproval { rule: rule.clone(), input_schema }),
            page_of: None,
        };
        let approval = Some(CallApproval::open(rule, String::new()));
        let call = CallRecord { approval, ..self.call(index, CallStatus::Pending) };
        self.show_form(form, call).await
    }

    async fn show_form(&self, form: NewForm, call: CallRecord) -> FormRecord {
        let run = self.runs[0].id;
        let index = call.index;
        let card = NewCard {
            call_id: call.call_id,
            name: "ask".into(),
            title: None,
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
        let by = RunSender {
            run: run.id,
            depth: 1,
            chain: run.chain_id(),
            origin,
            stream,
            is_cut: false,
            authority: Authority::Lease { lease: self.lease_of(run.id).await, call },
        };
        let content = Content::Card(Box::new(card));
        let new = NewMessage {
            id,
            space: self.space,
            sender: self.admin,
            content,
            files: Vec::new(),
            reply_to: None,
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
        let resolution = self.resolution(status, output, token);
        self.store.forms().resolve(open, &resolution, at(10)).await.unwrap()
    }

    pub(super) fn resolution(
        &self,
        status: CallStatus,
        output: serde_json::Value,
        token: u128,
    ) -> Resolution {
        let by = (status == CallStatus::Completed).then(|| Sender {
            id: self.person,
            name: "Husam".into(),
            kind: EntityType::Human,
            guest: false,
        });
        let label = "someone".into();
        Resolution { by, label, ..Resolution::unanswered(status, output, LeaseId::new(token)) }
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
            let active = store.agent_state().active(agent).await.unwrap();
            stored.push(format!("{active:#?}"));
        }
        (stored.join("\n"), self.faulty.writes())
    }
}
