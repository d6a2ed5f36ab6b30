//! Jobs that a worker gets apart from the rest of the product.
//!
//! - A model takes longer for a summary than a claim lasts. Another worker that gets the same job
//!   meanwhile must not pay for it again.
//! - A process dies between the removal of a member and what follows. Another one finishes it.
//! - A run waits for a form that no longer exists. The worker must not queue it again and again.
//! - Several runs share a job, and one of them panics.
//! - A collector of traces does not answer.
//! - A model refuses to answer.

mod refusals;
mod remote;
mod side_by_side;
mod traces;

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use async_trait::async_trait;
use futures::{StreamExt, stream};
use serde_json::json;
use smartspace_domain::{
    Time,
    access::Caller,
    agents::ConcurrencyMode,
    callbacks::CallbackKey,
    dispatch::Source,
    ids::{ConnectionId, EntityId, MessageId, PlanId, RunId, SpaceId},
    jobs::{Job, RunJob, TriggerJob},
    runs::{FailureCode, RunStatus, Usage},
    spaces::Role,
    steps::FinishReason,
};
use smartspace_egress::{Egress, ToolHosts};
use smartspace_embedded_table::{EmbeddedTable, NAME};
use smartspace_models::port::{Model, ModelError, Piece, Pieces, Request};
use smartspace_pipeline::Pipeline;
use smartspace_ports::{
    alarms::NoAlarms,
    cancel_signal::NoCancelSignal,
    clock::Clock,
    files::MemoryFiles,
    ids::RandomIds,
    queues::{Queue, QueueError, ReceivedJob},
    resolver::SystemResolver,
    secrets::FixedSecrets,
    sockets::{CloseCode, PostError, PostPermits, Sockets},
};
use smartspace_run::{Callbacks, RunJobHandler};
use smartspace_store::{
    Store,
    messages::append::{Content, MessageSource, NewMessage},
    runs::{ActiveCause, ActiveRecord, RunRecord, TriggeredBy},
    table::schema,
};
use smartspace_sweep::Sweep;
use smartspace_trigger::{Triggers, router::Routers};
use tokio::{
    sync::watch,
    time::{Instant, sleep},
};

const CLAIM: Duration = Duration::from_mins(2);

fn start() -> Time {
    Time::from_millis(1_771_427_220_000)
}

struct VirtualClock(Instant);

impl Clock for VirtualClock {
    fn now(&self) -> Time {
        start() + Duration::from_mins(1) + self.0.elapsed()
    }
}

/// Counts the jobs that are queued.
#[derive(Default)]
struct CountingQueue(AtomicUsize);

#[async_trait]
impl<J: Job> Queue<J> for CountingQueue {
    async fn send(&self, jobs: Vec<J>) -> Result<(), QueueError> {
        self.0.fetch_add(jobs.len(), Ordering::Relaxed);
        Ok(())
    }
}

#[derive(Default)]
struct NoSockets(PostPermits);

#[async_trait]
impl Sockets for NoSockets {
    fn post_permits(&self) -> &PostPermits {
        &self.0
    }

    async fn post(&self, _connection: &ConnectionId, _frame: Arc<str>) -> Result<(), PostError> {
        Err(PostError::Gone)
    }

    async fn close(&self, _connection: &ConnectionId, _code: CloseCode) {}

    async fn is_open(&self, _connection: &ConnectionId) -> bool {
        false
    }
}

/// Finds the request too long twice, each time after almost the length of a claim, and then writes
/// the summary.
#[derive(Default)]
struct SlowModel(AtomicUsize);

#[async_trait]
impl Model for SlowModel {
    async fn ask(&self, _request: &Request) -> Result<Pieces, ModelError> {
        let asked = self.0.fetch_add(1, Ordering::Relaxed);
        sleep(CLAIM.saturating_sub(Duration::from_secs(5))).await;
        if asked < 2 {
            return Err(ModelError::new(FailureCode::ContextTooLong, "too long"));
        }
        let finished = Piece::Finished { reason: FinishReason::Stop, usage: Usage::default() };
        Ok(stream::iter([Ok(Piece::Text("They talked.".into())), Ok(finished)]).boxed())
    }

    fn longest_answer(&self) -> Duration {
        CLAIM
    }
}

/// Remembers how often the job was kept from other workers.
#[derive(Default)]
struct HeldWrites(AtomicUsize);

#[async_trait]
impl ReceivedJob for HeldWrites {
    async fn hide(&self, time: Duration) {
        assert_eq!(time, Duration::from_secs(36));
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

async fn empty_store() -> Store {
    let client = EmbeddedTable::in_memory().unwrap().client();
    schema::create_table(&client, NAME).await.unwrap();
    Store::new(client, NAME, None, Arc::new(|| 4)).with_append_limit(None)
}

async fn store_with_history(space: SpaceId, agent: EntityId) -> Store {
    let store = empty_store().await;
    let team = serde_json::from_value(json!({"name": "Team", "paused": true})).unwrap();
    store.spaces().create(space, team, None, start()).await.unwrap();
    let model = json!({"provider": "openai", "name": "m"});
    let settings = json!({"type": "agent", "name": "Ada", "agent": {"model": model}});
    let settings = serde_json::from_value(settings).unwrap();
    let agent = store.entities().create(agent, settings, None, start()).await.unwrap();
    store.members().join(space, &agent, Role::Member, start()).await.unwrap();
    for number in 0..30 {
        let message = NewMessage {
            id: MessageId::new(start(), number),
            space,
            sender: agent.id,
            content: Content::Text(format!("message {number}").parse().unwrap()),
            files: Vec::new(),
            reply_to: None,
            by: MessageSource::External { key: None, depth: 0, page: None },
        };
        store.messages().append(&message, start()).await.unwrap();
    }
    store
}

/// Routers that no message asks.
fn routers() -> Routers {
    Routers::new(Arc::new(SlowModel::default()), Arc::default(), None)
}

struct Scene {
    pipeline: Pipeline,
    /// Runs and broadcasts.
    queued: Arc<CountingQueue>,
    triggers: Arc<CountingQueue>,
    model: Arc<SlowModel>,
    stopping: watch::Sender<bool>,
}

impl Scene {
    fn new(store: Store) -> Self {
        let queued = Arc::new(CountingQueue::default());
        let triggers = Arc::new(CountingQueue::default());
        let pipeline = Pipeline {
            store,
            runs: queued.clone(),
            broadcasts: queued.clone(),
            triggers: triggers.clone(),
            alarms: Arc::new(NoAlarms),
            cancel_signal: Arc::new(NoCancelSignal),
            clock: Arc::new(VirtualClock(Instant::now())),
            files: Arc::new(MemoryFiles::default()),
            ids: Arc::new(RandomIds),
            is_rate_limited: false,
        };
        Self {
            pipeline,
            queued,
            triggers,
            model: Arc::default(),
            stopping: watch::channel(false).0,
        }
    }

    fn worker(&self) -> RunJobHandler {
        self.worker_with(self.model.clone())
    }

    fn worker_with(&self, model: Arc<dyn Model>) -> RunJobHandler {
        let secrets = Arc::new(FixedSecrets::default());
        let egress = Egress::new(Arc::new(SystemResolver), ToolHosts::default(), secrets);
        self.worker_of(model, egress)
    }

    fn worker_of(&self, model: Arc<dyn Model>, egress: Egress) -> RunJobHandler {
        RunJobHandler::new(
            self.pipeline.clone(),
            Arc::new(NoSockets::default()),
            model,
            egress,
            Arc::default(),
            Callbacks {
                key: CallbackKey::of_secret(""),
                api_url: "https://smartspace.example".into(),
            },
            self.stopping.subscribe(),
        )
    }
}

#[tokio::test(start_paused = true)]
async fn a_slow_summary_is_paid_for_once() {
    let space = SpaceId::new(start(), 3);
    let agent = EntityId::new(start(), 1);
    let scene = Scene::new(Box::pin(store_with_history(space, agent)).await);
    let job = RunJob::Summarize { space_id: space, agent_id: agent, to: 30 };
    let first = HeldWrites::default();
    let second = HeldWrites::default();
    let workers = [scene.worker(), scene.worker()];
    let later = async {
        sleep(CLAIM + Duration::from_secs(10)).await;
        workers[1].handle(&job, &second).await
    };
    let results = Box::pin(futures::future::join(workers[0].handle(&job, &first), later)).await;
    assert_eq!(results, (Ok(()), Ok(())));

    assert_eq!(scene.model.0.load(Ordering::Relaxed), 3, "requests of one worker");
    let summary = scene.pipeline.store.summaries().get(space).await.unwrap().unwrap();
    let quarter = 7;
    assert_eq!((summary.text.as_str(), summary.to), ("They talked.", quarter), "halved twice");
    assert!(first.0.load(Ordering::Relaxed) > 30, "the job was hidden all the time");
    assert_eq!(second.0.load(Ordering::Relaxed), 0);
}

#[tokio::test(start_paused = true)]
async fn a_run_that_waits_for_a_lost_form_is_not_queued_again_and_again() {
    let space = SpaceId::new(start(), 3);
    let agent = EntityId::new(start(), 1);
    let scene = Scene::new(Box::pin(store_with_history(space, agent)).await);
    let triggered_by =
        TriggeredBy::Plan { plan_id: PlanId::new(start(), 2), scheduled_at: start() };
    let mut run = RunRecord::queued(RunId::new(start(), 4), agent, triggered_by, 0, start());
    // The run counts an open call whose form has expired in the table.
    run.status = RunStatus::WaitingTool;
    run.open_calls = Some(1);
    let active = ActiveRecord::new(&run, ActiveCause::Plan { plan_name: "Report".into() });
    scene
        .pipeline
        .store
        .runs()
        .create(&run, &active, ConcurrencyMode::Parallel, None, start())
        .await
        .unwrap();
    let worker = scene.worker();
    assert_eq!(Box::pin(worker.handle(&run.job(), &HeldWrites::default())).await, Ok(()));
    assert_eq!(scene.queued.0.load(Ordering::Relaxed), 0);
}

#[tokio::test(start_paused = true)]
async fn what_follows_a_removal_is_finished_by_another_process() {
    let space = SpaceId::new(start(), 3);
    let agent = EntityId::new(start(), 1);
    let scene = Scene::new(Box::pin(store_with_history(space, agent)).await);
    let store = &scene.pipeline.store;
    let triggered_by = TriggeredBy::Message {
        space_id: space,
        seq: 30,
        message_id: MessageId::new(start(), 29),
        source: Source::Broadcast,
        chain: None,
        asks: false,
        is_reply: false,
    };
    let run = RunRecord::queued(RunId::new(start(), 4), agent, triggered_by, 0, start());
    let active = ActiveRecord::new(&run, ActiveCause::Plan { plan_name: "Report".into() });
    store.runs().create(&run, &active, ConcurrencyMode::Parallel, None, start()).await.unwrap();
    // The process dies here.
    let now = scene.pipeline.now();
    let by = Caller::Operator;
    let left = Box::pin(store.members().leave_if(space, agent, by, now, |_| Ok(()))).await;
    assert!(left.unwrap().is_some());
    assert_eq!(store.runs().record(run.id).await.unwrap().status, RunStatus::Queued);

    sleep(Duration::from_mins(1)).await;
    let sweep = Sweep { pipeline: scene.pipeline.clone() };
    Box::pin(sweep.handle()).await.unwrap();
    assert_eq!(scene.triggers.0.load(Ordering::Relaxed), 1);
    let triggers = Triggers { pipeline: scene.pipeline.clone(), routers: routers(), traces: None };
    let job = TriggerJob::SettleEntity { entity_id: agent };
    Box::pin(triggers.handle(&job)).await.unwrap();
    assert_eq!(store.runs().record(run.id).await.unwrap().status, RunStatus::Canceled);
    assert_eq!(store.members().departures(agent).await, Ok(Vec::new()));

    // A later check ends the duty.
    sleep(Duration::from_mins(1)).await;
    Box::pin(triggers.handle(&job)).await.unwrap();
    sleep(Duration::from_hours(1)).await;
    assert_eq!(Box::pin(sweep.handle()).await, Ok(0));
}
