//! Exports the traces of ended runs, from what is stored of them. Nothing waits for it: a run that
//! has ended queues a job, and a collector that does not answer gets the trace later or never.

mod content;
mod names;
mod spans;

use std::{sync::Arc, time::Duration};

use smartspace_domain::{Error, Result, ids::RunId, jobs::TriggerJob, long_steps};
use smartspace_ports::{
    otlp::{ExportError, OtlpSettings, TraceExporter},
    trace::TraceParent,
};
use smartspace_store::runs::steps;
use tokio::sync::Semaphore;

use self::spans::{Exported, request};
use crate::Triggers;

/// When a failed export is tried again.
const TRIED_AGAIN: [Duration; 4] = [
    Duration::from_secs(10),
    Duration::from_mins(1),
    Duration::from_mins(5),
    Duration::from_mins(14),
];
/// How many exports a process makes at once. They share a queue with work that people wait for.
const AT_ONCE: usize = 2;
/// When an export is tried again that was not made, because others were.
const AFTER_OTHERS: Duration = Duration::from_secs(2);
/// The most bytes of the steps of a trace. X-Ray takes 5 MB.
const STEPS_BYTES: usize = 3 * 1024 * 1024;

/// Where the traces of ended runs go.
#[derive(Clone)]
pub struct Traces {
    exporter: Arc<dyn TraceExporter>,
    service: Arc<str>,
    has_content: bool,
    permits: Arc<Semaphore>,
}

impl std::fmt::Debug for Traces {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Traces").finish_non_exhaustive()
    }
}

impl Traces {
    /// Traces go to `exporter`, and are named and filled as in these settings.
    pub fn new(exporter: Arc<dyn TraceExporter>, settings: &OtlpSettings) -> Self {
        Self {
            exporter,
            service: settings.service.as_str().into(),
            has_content: settings.has_content,
            permits: Arc::new(Semaphore::new(AT_ONCE)),
        }
    }
}

impl Triggers {
    /// Exports the trace of a run. An export that fails for now is tried again a few times.
    pub(crate) async fn export_trace(&self, run: RunId, failed: u32) -> Result<()> {
        let Some(traces) = &self.traces else { return Ok(()) };
        let Ok(_permit) = traces.permits.try_acquire() else {
            self.export_later(run, failed, AFTER_OTHERS).await;
            return Ok(());
        };
        let text = match self.trace_of(run, traces).await {
            Ok(Some(text)) => text,
            // The run has been deleted.
            Ok(None) | Err(Error::NotFound(_)) => return Ok(()),
            Err(error) => return Err(error),
        };
        let Err(ExportError { text: error, may_pass }) = traces.exporter.export(text).await else {
            return Ok(());
        };
        match TRIED_AGAIN.get(failed as usize).filter(|_| may_pass) {
            Some(wait) => {
                tracing::info!(%run, error, ?wait, "a trace was not exported; it is tried again");
                self.export_later(run, failed + 1, *wait).await;
            }
            None => {
                tracing::warn!(event = "trace_not_exported", %run, error, "a trace is given up");
            }
        }
        Ok(())
    }

    async fn export_later(&self, run: RunId, failed: u32, wait: Duration) {
        let again = TriggerJob::ExportTrace { run_id: run, failed };
        self.pipeline.alarms.set(self.pipeline.now() + wait, again).await;
    }

    /// The trace of a run. `None` if it has none.
    async fn trace_of(&self, run: RunId, traces: &Traces) -> Result<Option<String>> {
        let store = &self.pipeline.store;
        let record = store.runs().record(run).await?;
        let Some(trace) = record.trace.as_deref().and_then(TraceParent::read) else {
            return Ok(None);
        };
        let (shown, progress, agent) = futures::join!(
            store.runs().get(&record),
            store.steps().progress(run),
            store.entities().get(record.agent_id),
        );
        let run = shown?;
        let steps = long_steps::shown(steps::view(progress?, &run, "")?, STEPS_BYTES);
        let agent = match agent {
            Ok(agent) => Some(agent),
            // It was removed.
            Err(Error::NotFound(_)) => None,
            Err(error) => return Err(error),
        };
        let exported = Exported {
            run: &run,
            space: record.paying_space().or(record.active_space_id),
            steps: &steps,
            agent: agent.as_ref(),
            trace: &trace,
            has_content: traces.has_content,
        };
        Ok(Some(request(&traces.service, &exported).to_string()))
    }
}
