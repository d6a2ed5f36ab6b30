//! Queues. They deliver a job at least once, in no guaranteed order.

use std::time::Duration;

use async_trait::async_trait;
use smartspace_domain::jobs::Job;
use tokio::time::Instant;

/// A queue did not accept jobs. Their work is due in the table, so `sweep` finds it.
#[derive(Clone, Debug, thiserror::Error)]
#[error("the queue did not take a job: {0}")]
pub struct QueueError(pub String);

/// A queue of jobs of one kind.
#[async_trait]
pub trait Queue<J: Job>: Send + Sync {
    /// Queues all of `jobs`. After an error, some of them may be queued.
    async fn send(&self, jobs: Vec<J>) -> Result<(), QueueError>;
}

/// A job that a worker has received from a queue and not finished.
#[async_trait]
pub trait ReceivedJob: Send + Sync {
    /// Hides the job from other workers for `time`.
    async fn hide(&self, time: Duration);

    /// When the invocation that handles the job is ended from outside. `None` if there is no limit.
    fn ends_at(&self) -> Option<Instant> {
        None
    }

    /// Whether the job was received before.
    fn is_repeated(&self) -> bool {
        false
    }
}

/// A job of a queue in the same process. No other worker can receive it, so there is nothing to
/// hide.
#[derive(Clone, Copy, Debug, Default)]
pub struct LocalJob;

#[async_trait]
impl ReceivedJob for LocalJob {
    async fn hide(&self, _time: Duration) {}
}

/// The most entries of a batch of SQS.
const BATCH_ENTRIES: usize = 10;
/// The most bytes of a batch of SQS, which is 1 MiB, without some room for attributes.
const BATCH_BYTES: usize = 1_000_000;

/// Splits the bodies of jobs into batches that SQS accepts, in their order. A body that is too long
/// by itself is a batch of its own, so that its refusal concerns no other.
pub fn batches<T>(entries: Vec<T>, bytes: impl Fn(&T) -> usize) -> Vec<Vec<T>> {
    let mut batches: Vec<Vec<T>> = Vec::new();
    let mut used = 0;
    for entry in entries {
        let more = bytes(&entry);
        match batches.last_mut() {
            Some(batch) if batch.len() < BATCH_ENTRIES && used + more <= BATCH_BYTES => {
                batch.push(entry);
                used += more;
            }
            _ => {
                batches.push(vec![entry]);
                used = more;
            }
        }
    }
    batches
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn batches_have_ten_entries_and_a_million_bytes_at_most() {
        let sizes = |bytes: &[usize]| {
            let batches = batches(bytes.to_vec(), |bytes| *bytes);
            batches.iter().map(Vec::len).collect::<Vec<_>>()
        };
        assert_eq!(sizes(&[]), [0; 0]);
        assert_eq!(sizes(&[1; 25]), [10, 10, 5]);
        assert_eq!(sizes(&[64 * 1024; 12]), [10, 2]);
        assert_eq!(sizes(&[240_000; 9]), [4, 4, 1]);
        assert_eq!(sizes(&[10, 2_000_000, 10, 10]), [1, 1, 2]);
    }
}

#[cfg(feature = "aws")]
pub use sqs::{SqsJob, SqsQueue};

#[cfg(feature = "aws")]
mod sqs {
    use std::marker::PhantomData;

    use aws_sdk_sqs::{Client, types::SendMessageBatchRequestEntry};

    use super::{Duration, Instant, Job, Queue, QueueError, ReceivedJob, async_trait, batches};
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
            // A job or a batch that fails does not stop the others.
            let mut outcome = Ok(());
            let mut sealed = Vec::with_capacity(jobs.len());
            for job in jobs {
                match seal(&job) {
                    Ok(body) => sealed.push((job.group(), body)),
                    Err(error) => outcome = Err(QueueError(error.to_string())),
                }
            }
            for batch in batches(sealed, |(group, body)| group.len() + body.len()) {
                outcome = outcome.and(self.send_batch(batch).await);
            }
            outcome
        }
    }

    impl<J: Job> SqsQueue<J> {
        async fn send_batch(&self, batch: Vec<(String, String)>) -> Result<(), QueueError> {
            let count = batch.len();
            let mut entries = Vec::with_capacity(count);
            for (index, (group, body)) in batch.into_iter().enumerate() {
                let entry = SendMessageBatchRequestEntry::builder()
                    .id(index.to_string())
                    .message_body(body)
                    .message_group_id(group);
                entries.push(entry.build().map_err(|error| QueueError(error.to_string()))?);
            }
            let sent = self
                .client
                .send_message_batch()
                .queue_url(&self.url)
                .set_entries(Some(entries))
                .send()
                .await;
            let answer = sent.map_err(|error| {
                QueueError(aws_sdk_sqs::error::DisplayErrorContext(error).to_string())
            })?;
            match answer.failed().first() {
                Some(failed) => Err(QueueError(format!(
                    "{} of {} refused: {}",
                    answer.failed().len(),
                    count,
                    failed.code()
                ))),
                None => Ok(()),
            }
        }
    }

    /// A job from SQS.
    #[derive(Clone, Debug)]
    pub struct SqsJob {
        /// The SQS client.
        pub client: Client,
        /// The URL of the queue.
        pub url: String,
        /// The receipt handle, which identifies what was received.
        pub receipt: String,
        /// When the invocation ends.
        pub ends_at: Instant,
        /// Whether the job was received before.
        pub is_repeated: bool,
    }

    #[async_trait]
    impl ReceivedJob for SqsJob {
        async fn hide(&self, time: Duration) {
            let seconds = i32::try_from(time.as_secs()).unwrap_or(i32::MAX);
            let change = self
                .client
                .change_message_visibility()
                .queue_url(&self.url)
                .receipt_handle(&self.receipt)
                .visibility_timeout(seconds);
            if let Err(error) = change.send().await {
                let error = aws_sdk_sqs::error::DisplayErrorContext(error);
                tracing::warn!(%error, "a job's visibility timeout could not be set");
            }
        }

        fn ends_at(&self) -> Option<Instant> {
            Some(self.ends_at)
        }

        fn is_repeated(&self) -> bool {
            self.is_repeated
        }
    }
}
