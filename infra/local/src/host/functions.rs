//! The functions that serve the in-process queues.

use std::sync::Arc;

use smartspace_broadcast::Broadcast;
use smartspace_domain::jobs::{BroadcastJob, RunJob, TriggerJob};
use smartspace_egress::Egress;
use smartspace_models::{Models, Settings, http, limits::Limits, port::Model};
use smartspace_pipeline::Pipeline;
use smartspace_ports::{
    otlp::{OtlpExporter, OtlpSettings},
    queues::LocalJob,
    resolver::SystemResolver,
    secrets::FixedSecrets,
    sockets::Sockets,
};
use smartspace_run::{Callbacks, RunJobHandler, counters::Counted};
use smartspace_trigger::{Triggers, router::Routers, traces::Traces};
use tokio::sync::watch;

use crate::{flags::Flags, in_process_queue::InProcessQueue, in_process_sockets::InProcessSockets};

/// Concurrent runs. A run mostly waits for its model or a tool, and waiting runs must not delay
/// others.
const CONCURRENT_RUNS: usize = 1_000;
const CONCURRENT_BROADCASTS: usize = 64;
const CONCURRENT_TRIGGERS: usize = 16;

pub(super) struct Queues {
    pub(super) runs: Arc<InProcessQueue<RunJob>>,
    pub(super) broadcasts: Arc<InProcessQueue<BroadcastJob>>,
    pub(super) triggers: Arc<InProcessQueue<TriggerJob>>,
}

pub(super) struct Functions {
    runs: Arc<RunJobHandler>,
    broadcast: Broadcast,
    triggers: Triggers,
    working: watch::Sender<usize>,
}

impl Functions {
    pub(super) fn new(
        flags: &Flags,
        pipeline: &Pipeline,
        connections: &Arc<InProcessSockets>,
        secrets: Arc<FixedSecrets>,
        callbacks: Callbacks,
        stopping: watch::Receiver<bool>,
    ) -> Result<Self, String> {
        let settings = Settings {
            providers: flags.providers()?,
            bedrock: bedrock(),
            limits: Limits::default(),
            http: http_client()?,
        };
        let egress = Egress::new(Arc::new(SystemResolver), flags.tool_hosts()?, secrets);
        let sockets: Arc<dyn Sockets> = connections.clone();
        let models = Arc::new(Models::new(settings));
        let prices = flags.prices()?;
        let routers = Routers::new(models.clone(), Arc::clone(&prices), flags.router_model()?);
        let traces = flags.otlp()?.map(|settings| {
            let OtlpSettings { url, has_content, .. } = &settings;
            let to = url.origin().ascii_serialization();
            tracing::info!(to, texts = has_content, "traces of ended runs are exported");
            let exporter = Arc::new(OtlpExporter::new(settings.clone(), None));
            Traces::new(exporter, &settings)
        });
        Ok(Self {
            runs: Arc::new(RunJobHandler::new(
                pipeline.clone(),
                sockets.clone(),
                models,
                egress,
                prices,
                callbacks,
                stopping,
            )),
            broadcast: Broadcast {
                store: pipeline.store.clone(),
                sockets,
                clock: pipeline.clock.clone(),
                queue: pipeline.broadcasts.clone(),
            },
            triggers: Triggers { pipeline: pipeline.clone(), routers, traces },
            working: watch::channel(0).0,
        })
    }

    pub(super) fn deliver(&self, queues: Queues) {
        let function = self.runs.clone();
        let working = self.working.clone();
        tokio::spawn(queues.runs.deliver(CONCURRENT_RUNS, move |job| {
            let function = function.clone();
            let working = Counted::new(working.clone());
            async move {
                let _working = working;
                function.handle(&job, &LocalJob).await
            }
        }));
        let function = self.broadcast.clone();
        tokio::spawn(queues.broadcasts.deliver(CONCURRENT_BROADCASTS, move |job| {
            let function = function.clone();
            async move { function.handle(&job).await }
        }));
        let function = self.triggers.clone();
        tokio::spawn(queues.triggers.deliver(CONCURRENT_TRIGGERS, move |job| {
            let function = function.clone();
            async move { function.handle(&job).await }
        }));
    }

    /// Waits until no worker handles a run.
    pub(super) async fn idle(&self) {
        let mut working = self.working.subscribe();
        let _ = working.wait_for(|working| *working == 0).await;
    }
}

/// The client for servers of models.
pub(super) fn http_client() -> Result<reqwest::Client, String> {
    let client = http::client().build();
    client.map_err(|error| format!("the HTTP client could not be created: {error}"))
}

/// Amazon Bedrock, with credentials from the environment and `~/.aws`, as AWS's own tools read
/// them.
#[cfg(feature = "bedrock")]
fn bedrock() -> Arc<dyn Model> {
    use aws_config::BehaviorVersion;
    use futures::FutureExt;
    use smartspace_models::bedrock::Bedrock;

    Arc::new(Bedrock::lazily(|| aws_config::load_defaults(BehaviorVersion::latest()).boxed()))
}

#[cfg(not(feature = "bedrock"))]
fn bedrock() -> Arc<dyn Model> {
    Arc::new(smartspace_models::no_bedrock::NoBedrock)
}
