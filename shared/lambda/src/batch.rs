//! SQS batches: each record is a job of its own. One that fails, or panics, comes again by itself.

use std::{panic::AssertUnwindSafe, sync::Arc, time::Duration};

use aws_lambda_events::event::sqs::{SqsBatchResponse, SqsEvent, SqsMessage};
use aws_sdk_sqs::Client;
use futures::{FutureExt, future::join_all};
use lambda_runtime::{Error, LambdaEvent, service_fn};
use smartspace_domain::jobs::Job;
use smartspace_edges::{
    envelope::{self, Label},
    queues::{Delivery, Held, SqsDelivery},
    trace,
};
use tokio::time::Instant;
use tracing::{Instrument, Span, field::Empty};

/// After how long a job comes again that failed once. A worker that found another's lease in force finds it ended then, if that one is dead.
const AGAIN: Duration = Duration::from_secs(8);

/// How deliveries of a queue are held while they are worked on.
#[derive(Clone, Debug)]
pub struct Queue {
    /// The client.
    pub client: Client,
    /// The queue.
    pub url: String,
}

/// Serves a queue for ever. With `queue` given, a handler can keep its delivery from others.
pub async fn serve<J: Job, F, Fut>(queue: Option<Queue>, handle: F) -> Result<(), Error>
where
    F: Fn(J, Arc<dyn Delivery>) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = smartspace_domain::Result<()>> + Send,
{
    let shared = Arc::new((handle, queue));
    lambda_runtime::run_concurrent(service_fn(move |event: LambdaEvent<SqsEvent>| {
        let shared = Arc::clone(&shared);
        async move {
            let (handle, queue) = &*shared;
            let left = event.context.deadline().duration_since(std::time::SystemTime::now()).unwrap_or_default();
            Ok::<_, Error>(batch(event.payload, queue.as_ref(), Instant::now() + left, handle).await)
        }
    }))
    .await
}

/// Does the records of a batch side by side. The answer names those that are to come again.
async fn batch<J: Job, F, Fut>(event: SqsEvent, queue: Option<&Queue>, ends_at: Instant, handle: &F) -> SqsBatchResponse
where
    F: Fn(J, Arc<dyn Delivery>) -> Fut,
    Fut: Future<Output = smartspace_domain::Result<()>>,
{
    let failed = join_all(event.records.into_iter().map(async |record| {
        let id = record.message_id.clone().unwrap_or_default();
        (!done(record, queue, ends_at, handle).await).then_some(id)
    }));
    let mut response = SqsBatchResponse::default();
    for id in failed.await.into_iter().flatten() {
        response.add_failure(id);
    }
    response
}

/// Whether a record's job was done. What is logged meanwhile says whom it is about, and what it queues belongs to its trace.
async fn done<J: Job, F, Fut>(record: SqsMessage, queue: Option<&Queue>, ends_at: Instant, handle: &F) -> bool
where
    F: Fn(J, Arc<dyn Delivery>) -> Fut,
    Fut: Future<Output = smartspace_domain::Result<()>>,
{
    let label = Label::of(record.body.as_deref().unwrap_or_default());
    let trace = label.trace();
    let span = tracing::info_span!("job", trace_id = trace.trace_id(), job = Empty, run = Empty, space = Empty, agent = Empty);
    label_span(&span, &label);
    trace::within(trace, work(record, queue, ends_at, handle)).instrument(span).await
}

fn label_span(span: &Span, label: &Label) {
    for (name, value) in [("job", &label.job), ("run", &label.run_id), ("space", &label.space_id), ("agent", &label.agent_id)] {
        if let Some(value) = value {
            span.record(name, value);
        }
    }
}

async fn work<J: Job, F, Fut>(record: SqsMessage, queue: Option<&Queue>, ends_at: Instant, handle: &F) -> bool
where
    F: Fn(J, Arc<dyn Delivery>) -> Fut,
    Fut: Future<Output = smartspace_domain::Result<()>>,
{
    let again = again_after(&record);
    let delivery: Arc<dyn Delivery> = match (queue, record.receipt_handle) {
        (Some(queue), Some(receipt)) => Arc::new(SqsDelivery { client: queue.client.clone(), url: queue.url.clone(), receipt, ends_at }),
        _ => Arc::new(Held),
    };
    let job: J = match envelope::open(record.body.as_deref().unwrap_or_default()) {
        Ok(job) => job,
        Err(error) => {
            // A later version's job, perhaps: it comes again, to whoever can read it, and else becomes a dead letter.
            tracing::error!(event = "unreadable_job", %error, "a job could not be read");
            delivery.hold(again).await;
            return false;
        }
    };
    let done = AssertUnwindSafe(handle(job, Arc::clone(&delivery))).catch_unwind().await;
    if !matches!(done, Ok(Ok(()))) {
        // Else it would come again only when the queue's own time is over, which is as long as an invocation may take.
        delivery.hold(again).await;
    }
    match done {
        Ok(Ok(())) => true,
        Ok(Err(error)) => {
            tracing::warn!(event = "job_failed", %error, "a job failed and comes again");
            false
        }
        Err(_) => {
            tracing::error!(event = "job_panicked", "a job's handler panicked; it comes again");
            false
        }
    }
}

/// After how long a job that failed comes again: soon, and each time twice as long.
fn again_after(record: &SqsMessage) -> Duration {
    let received = record.attributes.get("ApproximateReceiveCount").and_then(|count| count.parse().ok()).unwrap_or(1_u32);
    AGAIN * 2_u32.pow(received.clamp(1, 6) - 1)
}

#[cfg(test)]
mod tests {
    use smartspace_domain::{
        Error as DomainError,
        jobs::{BroadcastJob, Place, RunJob, TriggerJob},
    };

    use super::*;

    /// The space of the sample that asks.
    const DEPLOYMENTS: &str = "spc_01KHRMMJH0000000000000000J";

    fn sample<T: serde::de::DeserializeOwned>(text: &str) -> T {
        serde_json::from_str(text).unwrap()
    }

    #[tokio::test]
    async fn a_record_that_fails_or_panics_or_can_not_be_read_comes_again_alone() {
        let event: SqsEvent = sample(include_str!("../../../events/run/batch.json"));
        assert_eq!(event.records.len(), 4);
        let response = batch(event, None, Instant::now(), &|job: RunJob, _| async move {
            match job {
                RunJob::Summarize { .. } => Err(DomainError::Retry("not now".into())),
                RunJob::Run { place: Some(Place { space_id, .. }), .. } if space_id.to_string() == DEPLOYMENTS => panic!("on purpose"),
                RunJob::Run { .. } => Ok(()),
            }
        });
        let failed: Vec<_> = response.await.batch_item_failures.into_iter().map(|failure| failure.item_identifier).collect();
        assert_eq!(failed, ["asks", "sums-up", "unreadable"]);
    }

    #[tokio::test]
    async fn the_sample_events_of_the_other_queues_are_read() {
        let event: SqsEvent = sample(include_str!("../../../events/broadcast/event.json"));
        let response = batch(event, None, Instant::now(), &|_: BroadcastJob, _| async { Ok(()) }).await;
        assert_eq!(response.batch_item_failures.len(), 0);
        let event: SqsEvent = sample(include_str!("../../../events/trigger/fire-plan-scheduled.json"));
        let response = batch(event, None, Instant::now(), &|_: TriggerJob, _| async { Ok(()) }).await;
        assert_eq!(response.batch_item_failures.len(), 0);
    }
}
