//! Queues: at least once, in no promised order.

use std::time::Duration;

use async_trait::async_trait;
use smartspace_domain::jobs::Job;
use tokio::time::Instant;

/// A queue could not take jobs. What is due in the table is found again without it.
#[derive(Clone, Debug, thiserror::Error)]
#[error("the queue did not take a job: {0}")]
pub struct QueueError(pub String);

/// A queue of jobs of one kind.
#[async_trait]
pub trait Queue<J: Job>: Send + Sync {
    /// Queues all of `jobs`; after an error some may be queued.
    async fn send(&self, jobs: Vec<J>) -> Result<(), QueueError>;
}

/// The delivery of a job that is being worked on.
#[async_trait]
pub trait Delivery: Send + Sync {
    /// Keeps the job from being delivered to another worker for so long.
    async fn hold(&self, time: Duration);

    /// When the invocation that works on it ends, whatever it is doing; none where it may take as long as it likes.
    fn ends_at(&self) -> Option<Instant> {
        None
    }
}

/// A delivery that nobody else can get: of a queue in the same process, or of none.
#[derive(Clone, Copy, Debug, Default)]
pub struct Held;

#[async_trait]
impl Delivery for Held {
    async fn hold(&self, _time: Duration) {}
}

#[cfg(feature = "aws")]
pub use sqs::{SqsDelivery, SqsQueue};

#[cfg(feature = "aws")]
mod sqs {
    use std::marker::PhantomData;

    use aws_sdk_sqs::{Client, types::SendMessageBatchRequestEntry};

    use super::{Delivery, Duration, Instant, Job, Queue, QueueError, async_trait};
    use crate::envelope::seal;

    /// An SQS queue.
    #[derive(Clone, Debug)]
    pub struct SqsQueue<J> {
        client: Client,
        url: String,
        jobs: PhantomData<fn() -> J>,
    }

    impl<J> SqsQueue<J> {
        /// The queue at `url`.
        pub fn new(client: Client, url: String) -> Self {
            Self { client, url, jobs: PhantomData }
        }
    }

    #[async_trait]
    impl<J: Job> Queue<J> for SqsQueue<J> {
        async fn send(&self, jobs: Vec<J>) -> Result<(), QueueError> {
            // SQS takes ten entries and 1 MiB in a batch; a job is under 64 KiB. One that fails holds up no other.
            let mut told = Ok(());
            for batch in jobs.chunks(10) {
                told = told.and(self.send_batch(batch).await);
            }
            told
        }
    }

    impl<J: Job> SqsQueue<J> {
        async fn send_batch(&self, batch: &[J]) -> Result<(), QueueError> {
            let mut entries = Vec::with_capacity(batch.len());
            for (index, job) in batch.iter().enumerate() {
                let body = seal(job).map_err(|error| QueueError(error.to_string()))?;
                let entry = SendMessageBatchRequestEntry::builder().id(index.to_string()).message_body(body).message_group_id(job.group());
                entries.push(entry.build().map_err(|error| QueueError(error.to_string()))?);
            }
            let sent = self.client.send_message_batch().queue_url(&self.url).set_entries(Some(entries)).send().await;
            let answer = sent.map_err(|error| QueueError(aws_sdk_sqs::error::DisplayErrorContext(error).to_string()))?;
            match answer.failed().first() {
                Some(failed) => Err(QueueError(format!("{} of {} refused: {}", answer.failed().len(), batch.len(), failed.code()))),
                None => Ok(()),
            }
        }
    }

    /// A delivery of SQS.
    #[derive(Clone, Debug)]
    pub struct SqsDelivery {
        /// The client.
        pub client: Client,
        /// The queue.
        pub url: String,
        /// Names this delivery.
        pub receipt: String,
        /// When the invocation ends.
        pub ends_at: Instant,
    }

    #[async_trait]
    impl Delivery for SqsDelivery {
        async fn hold(&self, time: Duration) {
            let seconds = i32::try_from(time.as_secs()).unwrap_or(i32::MAX);
            let change =
                self.client.change_message_visibility().queue_url(&self.url).receipt_handle(&self.receipt).visibility_timeout(seconds);
            if let Err(error) = change.send().await {
                tracing::warn!(error = %aws_sdk_sqs::error::DisplayErrorContext(error), "a job's visibility could not be set");
            }
        }

        fn ends_at(&self) -> Option<Instant> {
            Some(self.ends_at)
        }
    }
}
