//! Three runs that one message has woken share a job.

use std::{panic::AssertUnwindSafe, sync::Mutex};

use futures::FutureExt;
use smartspace_domain::jobs::RunRef;

use super::*;

/// Keeps the jobs that are queued.
#[derive(Default)]
struct KeepingQueue(Mutex<Vec<RunJob>>);

#[async_trait]
impl Queue<RunJob> for KeepingQueue {
    async fn send(&self, jobs: Vec<RunJob>) -> Result<(), QueueError> {
        self.0.lock().unwrap().extend(jobs);
        Ok(())
    }
}

/// Ends each run with an answer of one second, but panics at the first question.
#[derive(Default)]
struct PanicsOnce(AtomicUsize);

#[async_trait]
impl Model for PanicsOnce {
    async fn ask(&self, _request: &Request) -> Result<Pieces, ModelError> {
        assert!(self.0.fetch_add(1, Ordering::Relaxed) > 0, "on purpose");
        sleep(Duration::from_secs(1)).await;
        let finished = Piece::Finished { reason: FinishReason::Stop, usage: Usage::default() };
        Ok(stream::iter([Ok(Piece::Text("Nothing to say.".into())), Ok(finished)]).boxed())
    }
}

/// A job that is delivered for the second time.
struct Repeated;

#[async_trait]
impl ReceivedJob for Repeated {
    async fn hide(&self, _time: Duration) {}

    fn is_repeated(&self) -> bool {
        true
    }
}

/// A store with a space of three agents, and a message to them. Returns their runs' job, too.
async fn store_with_three_runs() -> (Store, RunJob, Vec<RunRef>) {
    let store = empty_store().await;
    let space = SpaceId::new(start(), 3);
    let team = serde_json::from_value(json!({"name": "Team"})).unwrap();
    store.spaces().create(space, team, None, start()).await.unwrap();
    let person = EntityId::new(start(), 9);
    let settings = json!({"type": "human", "name": "Kim"});
    let mut settings = vec![(person, settings)];
    for number in 0..3 {
        let model = json!({"provider": "openai", "name": "m"});
        let name = format!("Agent {number}");
        let agent = json!({"type": "agent", "name": name, "agent": {"model": model}});
        settings.push((EntityId::new(start(), number), agent));
    }
    for (id, settings) in settings {
        let settings = serde_json::from_value(settings).unwrap();
        let entity = store.entities().create(id, settings, None, start()).await.unwrap();
        store.members().join(space, &entity, Role::Member, start()).await.unwrap();
    }
    let message = NewMessage {
        id: MessageId::new(start(), 1),
        space,
        sender: person,
        content: Content::Text("Hello".parse().unwrap()),
        files: Vec::new(),
        reply_to: None,
        by: MessageSource::External { key: None, depth: 0, page: None },
    };
    let appended = store.messages().append(&message, start()).await.unwrap();
    let [job] = &RunJob::together(appended.triggered)[..] else { panic!("not one job") };
    let RunJob::Run { run, also } = job else { panic!("{job:?}") };
    let runs: Vec<_> = [run].into_iter().chain(also).copied().collect();
    assert_eq!(runs.len(), 3);
    (store, job.clone(), runs)
}

/// The surroundings of workers, and the queue of their runs.
fn scene(store: Store) -> (Scene, Arc<KeepingQueue>) {
    let mut scene = Scene::new(store);
    let queue = Arc::new(KeepingQueue::default());
    scene.pipeline.runs = queue.clone();
    (scene, queue)
}

#[tokio::test(start_paused = true)]
async fn a_panic_ends_no_other_run_of_the_job() {
    let (store, job, runs) = Box::pin(store_with_three_runs()).await;
    let (scene, queue) = scene(store);
    let worker = scene.worker_with(Arc::new(PanicsOnce::default()));
    let holds = HeldWrites::default();
    assert_eq!(Box::pin(worker.handle(&job, &holds)).await, Ok(()));

    assert_eq!(holds.0.load(Ordering::Relaxed), 1, "three runs of a second hide the job once");
    let store = &scene.pipeline.store;
    let mut ended = Vec::new();
    let mut left = Vec::new();
    for run in &runs {
        match store.runs().record(run.run_id).await.unwrap().status {
            RunStatus::Completed => ended.push(*run),
            _ => left.push(*run),
        }
    }
    assert_eq!((ended.len(), left.len()), (2, 1));
    let again = std::mem::take(&mut *queue.0.lock().unwrap());
    assert_eq!(again, [RunJob::of(left[0])]);

    // Its lease ends.
    sleep(Duration::from_secs(40)).await;
    assert_eq!(Box::pin(worker.handle(&again[0], &holds)).await, Ok(()));
    let last = store.runs().record(left[0].run_id).await.unwrap();
    assert_eq!((last.status, last.attempt), (RunStatus::Completed, 2));
    assert_eq!(queue.0.lock().unwrap().len(), 0);
}

/// Panics at each question.
struct AlwaysPanics;

#[async_trait]
impl Model for AlwaysPanics {
    async fn ask(&self, request: &Request) -> Result<Pieces, ModelError> {
        assert!(request.messages.is_empty(), "on purpose");
        Ok(stream::empty().boxed())
    }
}

#[tokio::test(start_paused = true)]
async fn a_run_that_panics_each_time_fails_with_an_internal_error() {
    let (store, _, runs) = Box::pin(store_with_three_runs()).await;
    let (scene, _) = scene(store);
    let worker = scene.worker_with(Arc::new(AlwaysPanics));
    let holds = HeldWrites::default();
    let runs_of_store = scene.pipeline.store.runs();
    for _ in 0..5 {
        let job = RunJob::of(runs[0]);
        let working = AssertUnwindSafe(worker.handle(&job, &holds));
        assert!(Box::pin(working.catch_unwind()).await.is_err());
        let run = runs_of_store.record(runs[0].run_id).await.unwrap();
        assert_eq!((run.status, run.has_panicked), (RunStatus::Running, true));
        // Its lease ends.
        sleep(Duration::from_secs(40)).await;
    }
    assert_eq!(Box::pin(worker.handle(&RunJob::of(runs[0]), &holds)).await, Ok(()));
    let failed = runs_of_store.record(runs[0].run_id).await.unwrap();
    let error = runs_of_store.get(&failed).await.unwrap().error.unwrap();
    assert_eq!((failed.status, error.code), (RunStatus::Failed, FailureCode::Internal));
    assert!(error.message.contains("panicked"), "{}", error.message);
    assert!(!error.message.contains("on purpose"), "{}", error.message);
}

#[tokio::test(start_paused = true)]
async fn a_job_that_comes_again_is_divided() {
    let (store, job, runs) = Box::pin(store_with_three_runs()).await;
    let (scene, queue) = scene(store);
    let worker = scene.worker_with(Arc::new(PanicsOnce::default()));
    assert_eq!(Box::pin(worker.handle(&job, &Repeated)).await, Ok(()));
    let each: Vec<_> = runs.iter().map(|run| RunJob::of(*run)).collect();
    assert_eq!(*queue.0.lock().unwrap(), each);
    for run in runs {
        let record = scene.pipeline.store.runs().record(run.run_id).await.unwrap();
        assert_eq!((record.status, record.claims), (RunStatus::Queued, 0));
    }
}
