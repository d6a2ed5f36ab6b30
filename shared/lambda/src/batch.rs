//! SQS batches: each record is a job of its own. One that fails, or panics, comes again by itself.

use std::panic::AssertUnwindSafe;

use aws_lambda_events::event::sqs::{SqsBatchResponse, SqsEvent, SqsMessage};
use aws_sdk_sqs::Client;
use futures::{FutureExt, future::join_all};
use lambda_runtime::{Error, LambdaEvent, service_fn};
use smartspace_domain::jobs::Job;
use smartspace_edges::queues::{Delivery, Held, SqsDelivery};
use tokio::time::Instant;

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
    F: Fn(J, Box<dyn Delivery>) -> Fut + Send + Sync,
    Fut: Future<Output = smartspace_domain::Result<()>> + Send,
{
    let (handle, queue) = (&handle, &queue);
    lambda_runtime::run(service_fn(async move |event: LambdaEvent<SqsEvent>| {
        let left = event.context.deadline().duration_since(std::time::SystemTime::now()).unwrap_or_default();
        Ok::<_, Error>(batch(event.payload, queue.as_ref(), Instant::now() + left, handle).await)
    }))
    .await
}

/// Does the records of a batch side by side. The answer names those that are to come again.
async fn batch<J: Job, F, Fut>(event: SqsEvent, queue: Option<&Queue>, ends_at: Instant, handle: &F) -> SqsBatchResponse
where
    F: Fn(J, Box<dyn Delivery>) -> Fut,
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

async fn done<J: Job, F, Fut>(record: SqsMessage, queue: Option<&Queue>, ends_at: Instant, handle: &F) -> bool
where
    F: Fn(J, Box<dyn Delivery>) -> Fut,
    Fut: Future<Output = smartspace_domain::Result<()>>,
{
    let job: J = match serde_json::from_str(record.body.as_deref().unwrap_or_default()) {
        Ok(job) => job,
        Err(error) => {
            // A later version's job, perhaps: it comes again, to whoever can read it, and else becomes a dead letter.
            tracing::error!(event = "unreadable_job", %error, "a job could not be read");
            return false;
        }
    };
    let delivery: Box<dyn Delivery> = match (queue, record.receipt_handle) {
        (Some(queue), Some(receipt)) => Box::new(SqsDelivery { client: queue.client.clone(), url: queue.url.clone(), receipt, ends_at }),
        _ => Box::new(Held),
    };
    match AssertUnwindSafe(handle(job, delivery)).catch_unwind().await {
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

/// Serves a schedule for ever: each event is one call of `handle`.
pub async fn serve_schedule<F, Fut>(handle: F) -> Result<(), Error>
where
    F: Fn() -> Fut + Send + Sync,
    Fut: Future<Output = Result<(), Error>> + Send,
{
    let handle = &handle;
    lambda_runtime::run(service_fn(async move |_: LambdaEvent<serde_json::Value>| handle().await)).await
}

#[cfg(test)]
mod tests {
    use smartspace_domain::{
        Error as DomainError,
        jobs::{BroadcastJob, RunJob, TriggerJob},
    };

    use super::*;

    fn sample<T: serde::de::DeserializeOwned>(text: &str) -> T {
        serde_json::from_str(text).unwrap()
    }

    #[tokio::test]
    async fn a_record_that_fails_or_panics_or_can_not_be_read_comes_again_alone() {
        let event: SqsEvent = sample(include_str!("../../../events/sqs-runs.json"));
        assert_eq!(event.records.len(), 5);
        let response = batch(event, None, Instant::now(), &|job: RunJob, _| async move {
            match job {
                RunJob::Summarize { .. } | RunJob::Run { seq: 1, .. } => Ok(()),
                RunJob::Run { seq: 2, .. } => Err(DomainError::Retry("not now".into())),
                RunJob::Run { .. } => panic!("on purpose"),
            }
        });
        let failed: Vec<_> = response.await.batch_item_failures.into_iter().map(|failure| failure.item_identifier).collect();
        assert_eq!(failed, ["fails", "panics", "unreadable"]);
    }

    #[tokio::test]
    async fn the_sample_events_of_the_other_queues_are_read() {
        let event: SqsEvent = sample(include_str!("../../../events/sqs-broadcasts.json"));
        let response = batch(event, None, Instant::now(), &|_: BroadcastJob, _| async { Ok(()) }).await;
        assert_eq!(response.batch_item_failures.len(), 0);
        let event: SqsEvent = sample(include_str!("../../../events/sqs-triggers.json"));
        let response = batch(event, None, Instant::now(), &|_: TriggerJob, _| async { Ok(()) }).await;
        assert_eq!(response.batch_item_failures.len(), 0);
        let _: serde_json::Value = sample(include_str!("../../../events/schedule.json"));
    }
}
