//! SQS batches. Each record is an independent job: only a job that fails or panics is delivered
//! again.

use std::{panic::AssertUnwindSafe, sync::Arc, time::Duration};

use aws_lambda_events::event::sqs::{SqsBatchResponse, SqsEvent, SqsMessage};
use aws_sdk_sqs::Client;
use futures::{
    FutureExt,
    future::{join_all, try_join_all},
};
use lambda_runtime::{Error, LambdaEvent, service_fn};
use smartspace_domain::jobs::Job;
use smartspace_ports::{
    envelope::{self, Label},
    queues::{LocalJob, ReceivedJob, SqsJob},
    trace,
};
use tokio::time::Instant;
use tracing::{Instrument, Span, field::Empty};

use crate::invocation::{self, Gateway};

/// The delay before the first retry of a job. It is long enough that a worker that found another
/// worker's lease in force finds the lease expired, if that worker is dead.
const FIRST_RETRY: Duration = Duration::from_secs(8);

/// How many times longer a job waits that cannot be read. A later version may have queued it during
/// an upgrade, so it stays in the queue for 16 minutes before it becomes a dead letter.
const UNREADABLE_WAITS: u32 = 8;

/// The queue whose jobs a worker hides from others while it handles them.
#[derive(Clone, Debug)]
pub struct Queue {
    pub client: Client,
    /// The URL of the queue.
    pub url: String,
}

/// How the body of a record is read: as the jobs that it asks for.
pub type Reader<J> = fn(&str) -> Result<Vec<J>, String>;

/// Serves a queue forever. With `queue`, a handler can hide its job from other workers.
pub async fn serve<J: Job, F, Fut>(queue: Option<Queue>, handle: F) -> Result<(), Error>
where
    F: Fn(J, Arc<dyn ReceivedJob>) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = smartspace_domain::Result<()>> + Send,
{
    serve_reading(job_of, queue, handle).await
}

/// The one job of a record that the product itself has queued.
pub(crate) fn job_of<J: Job>(body: &str) -> Result<Vec<J>, String> {
    envelope::open(body).map(|job| vec![job]).map_err(|error| error.to_string())
}

/// Like [`serve`], for a queue that others send to, too.
pub async fn serve_reading<J: Job, F, Fut>(
    read: Reader<J>,
    queue: Option<Queue>,
    handle: F,
) -> Result<(), Error>
where
    F: Fn(J, Arc<dyn ReceivedJob>) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = smartspace_domain::Result<()>> + Send,
{
    let shared = Arc::new((handle, queue));
    lambda_runtime::run_concurrent(service_fn(move |event: LambdaEvent<SqsEvent>| {
        let shared = Arc::clone(&shared);
        let span = invocation::span(&event.context, Gateway::default());
        let work = async move {
            let (handle, queue) = &*shared;
            let left = event
                .context
                .deadline()
                .duration_since(std::time::SystemTime::now())
                .unwrap_or_default();
            Ok::<_, Error>(
                batch(event.payload, read, queue.as_ref(), Instant::now() + left, handle).await,
            )
        };
        work.instrument(span)
    }))
    .await
}

/// Handles the records of a batch concurrently. The response names the records to deliver again.
async fn batch<J: Job, F, Fut>(
    event: SqsEvent,
    read: Reader<J>,
    queue: Option<&Queue>,
    ends_at: Instant,
    handle: &F,
) -> SqsBatchResponse
where
    F: Fn(J, Arc<dyn ReceivedJob>) -> Fut,
    Fut: Future<Output = smartspace_domain::Result<()>>,
{
    let failed = join_all(event.records.into_iter().map(async |record| {
        let id = record.message_id.clone().unwrap_or_default();
        (!done(record, read, queue, ends_at, handle).await).then_some(id)
    }));
    let mut response = SqsBatchResponse::default();
    for id in failed.await.into_iter().flatten() {
        response.add_failure(id);
    }
    response
}

/// Handles a record and returns whether its job is done. Log lines of the job name its run, space
/// and agent, and jobs that it queues belong to its trace.
async fn done<J: Job, F, Fut>(
    record: SqsMessage,
    read: Reader<J>,
    queue: Option<&Queue>,
    ends_at: Instant,
    handle: &F,
) -> bool
where
    F: Fn(J, Arc<dyn ReceivedJob>) -> Fut,
    Fut: Future<Output = smartspace_domain::Result<()>>,
{
    let label = Label::of(record.body.as_deref().unwrap_or_default());
    let trace = label.trace();
    let span = tracing::info_span!(
        "job",
        trace_id = trace.trace_id(),
        job = Empty,
        run = Empty,
        space = Empty,
        agent = Empty
    );
    label_span(&span, &label);
    trace::within(trace, work(record, read, queue, ends_at, handle)).instrument(span).await
}

fn label_span(span: &Span, label: &Label) {
    for (name, value) in [
        ("job", &label.job),
        ("run", &label.run_id),
        ("space", &label.space_id),
        ("agent", &label.agent_id),
    ] {
        if let Some(value) = value {
            span.record(name, value);
        }
    }
}

async fn work<J: Job, F, Fut>(
    record: SqsMessage,
    read: Reader<J>,
    queue: Option<&Queue>,
    ends_at: Instant,
    handle: &F,
) -> bool
where
    F: Fn(J, Arc<dyn ReceivedJob>) -> Fut,
    Fut: Future<Output = smartspace_domain::Result<()>>,
{
    let times_received = times_received(&record);
    let retry_delay = retry_delay(times_received);
    let job: Arc<dyn ReceivedJob> = match (queue, record.receipt_handle) {
        (Some(queue), Some(receipt)) => Arc::new(SqsJob {
            client: queue.client.clone(),
            url: queue.url.clone(),
            receipt,
            ends_at,
            is_repeated: times_received > 1,
        }),
        _ => Arc::new(LocalJob),
    };
    let jobs = match read(record.body.as_deref().unwrap_or_default()) {
        Ok(jobs) => jobs,
        Err(error) => {
            // It may be a job of a later version. It is delivered again to a worker that can read
            // it, or becomes a dead letter.
            tracing::error!(event = "unreadable_job", %error, "a job could not be read");
            job.hide(retry_delay * UNREADABLE_WAITS).await;
            return false;
        }
    };
    let all = try_join_all(jobs.into_iter().map(|task| handle(task, Arc::clone(&job))));
    let done = AssertUnwindSafe(all).catch_unwind().await.map(|done| done.map(drop));
    if !matches!(done, Ok(Ok(()))) {
        // Otherwise the retry would wait for the queue's visibility timeout, which is as long as an
        // invocation may take.
        job.hide(retry_delay).await;
    }
    match done {
        Ok(Ok(())) => true,
        Ok(Err(error)) => {
            tracing::warn!(event = "job_failed", %error, "a job failed and is retried");
            false
        }
        Err(_) => {
            tracing::error!(event = "job_panicked", "a job's handler panicked; the job is retried");
            false
        }
    }
}

/// How often a job was delivered, including this time.
fn times_received(record: &SqsMessage) -> u32 {
    let count = record.attributes.get("ApproximateReceiveCount");
    count.and_then(|count| count.parse().ok()).unwrap_or(1)
}

/// The delay before the next retry. It doubles with each delivery.
fn retry_delay(received: u32) -> Duration {
    FIRST_RETRY * 2_u32.pow(received.clamp(1, 6) - 1)
}

#[cfg(test)]
mod tests {
    use smartspace_domain::{
        Error as DomainError,
        jobs::{BroadcastJob, MessageRef, RunJob, RunRef, TriggerJob},
    };

    use super::*;

    /// The space of the sample job that is made to panic.
    const DEPLOYMENTS: &str = "spc_01KHRMMJH0000000000000000J";

    fn sample<T: serde::de::DeserializeOwned>(text: &str) -> T {
        serde_json::from_str(text).unwrap()
    }

    #[tokio::test]
    async fn only_records_that_fail_panic_or_are_unreadable_are_retried() {
        let event: SqsEvent = sample(include_str!("../../../events/run/batch.json"));
        assert_eq!(event.records.len(), 4);
        let response = batch(event, job_of, None, Instant::now(), &|job: RunJob, _| async move {
            match job {
                RunJob::Summarize { .. } => Err(DomainError::Retry("not now".into())),
                RunJob::Run {
                    run: RunRef { place: Some(MessageRef { space_id, .. }), .. },
                    ..
                } if space_id.to_string() == DEPLOYMENTS => {
                    panic!("on purpose")
                }
                RunJob::Run { .. } => Ok(()),
            }
        });
        let failed: Vec<_> = response
            .await
            .batch_item_failures
            .into_iter()
            .map(|failure| failure.item_identifier)
            .collect();
        assert_eq!(failed, ["asks", "sums-up", "unreadable"]);
    }

    #[tokio::test]
    async fn the_sample_events_of_the_other_queues_are_read() {
        let event: SqsEvent = sample(include_str!("../../../events/broadcast/event.json"));
        let response =
            batch(event, job_of, None, Instant::now(), &|_: BroadcastJob, _| async { Ok(()) })
                .await;
        assert_eq!(response.batch_item_failures.len(), 0);
        let event: SqsEvent =
            sample(include_str!("../../../events/trigger/fire-plan-scheduled.json"));
        let response =
            batch(event, job_of, None, Instant::now(), &|_: TriggerJob, _| async { Ok(()) }).await;
        assert_eq!(response.batch_item_failures.len(), 0);
    }
}
