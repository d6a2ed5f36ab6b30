//! A run of a remote agent whose worker dies again and again while it sends the webhook.

use std::collections::BTreeMap;

use smartspace_egress::{HttpResponse, Outgoing, SendError, Transport};
use smartspace_ports::secrets::{KnownSecrets, Secret};

use super::*;

/// Takes every webhook and never answers.
#[derive(Default)]
struct Silent(AtomicUsize);

#[async_trait]
impl Transport for Silent {
    async fn send(&self, _request: Outgoing) -> Result<HttpResponse, SendError> {
        self.0.fetch_add(1, Ordering::Relaxed);
        std::future::pending().await
    }
}

async fn remote_run(store: &Store) -> RunRecord {
    let agent = EntityId::new(start(), 1);
    let runtime = json!({
        "type": "webhook",
        "url": "https://agent.example/",
        "secret": "${secret.REMOTE}",
        "timeoutSeconds": 86_400,
    });
    let settings = json!({"type": "agent", "name": "Rem", "agent": {"runtime": runtime}});
    let settings = serde_json::from_value(settings).unwrap();
    store.entities().create(agent, settings, None, start()).await.unwrap();
    let triggered_by =
        TriggeredBy::Plan { plan_id: PlanId::new(start(), 2), scheduled_at: start() };
    let run = RunRecord::queued(RunId::new(start(), 4), agent, triggered_by, 0, start());
    let active = ActiveRecord::new(&run, ActiveCause::Plan { plan_name: "Report".into() });
    store.runs().create(&run, &active, ConcurrencyMode::Parallel, None, start()).await.unwrap();
    run
}

#[tokio::test(start_paused = true)]
async fn a_run_whose_webhook_ends_five_workers_fails_and_frees_its_slot() {
    let scene = Scene::new(empty_store().await);
    let store = &scene.pipeline.store;
    let run = remote_run(store).await;
    let secret = Secret::new("whsec_dGhlIHJlbW90ZSBhZ2VudA==".into(), None).unwrap();
    let known = KnownSecrets::new(BTreeMap::from([("REMOTE".to_owned(), secret)]));
    let silent = Arc::new(Silent::default());
    let egress = Egress::over(silent.clone(), Arc::new(FixedSecrets(Arc::new(known))));
    let worker = scene.worker_of(Arc::new(SlowModel::default()), egress);
    for sent in 1..=5 {
        let (job, holds) = (run.job(), HeldWrites::default());
        let work = Box::pin(worker.handle(&job, &holds));
        let died = tokio::time::timeout(Duration::from_secs(1), work).await;
        assert!(died.is_err(), "the worker of webhook {sent} waits for its answer: {died:?}");
        assert_eq!(silent.0.load(Ordering::Relaxed), sent);
        assert_eq!(store.runs().record(run.id).await.unwrap().status, RunStatus::Running);
        sleep(Duration::from_secs(30)).await;
    }
    assert_eq!(Box::pin(worker.handle(&run.job(), &HeldWrites::default())).await, Ok(()));
    let ended = store.runs().record(run.id).await.unwrap();
    let view = store.runs().get(&ended).await.unwrap();
    assert_eq!(view.error.map(|error| error.code), Some(FailureCode::Attempts));
    assert_eq!((ended.status, silent.0.load(Ordering::Relaxed)), (RunStatus::Failed, 5));
}
