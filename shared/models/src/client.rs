//! The client of one provider: bounds its answers under way, and knows whether the server is the
//! deployment's own.

use std::sync::Arc;

use futures::StreamExt;
use smartspace_domain::runs::FailureCode;
use tokio::sync::Semaphore;

use crate::{
    limits::Limits,
    port::{Drawing, ImageRequest, Model, ModelError, Pieces, Request},
};

pub(crate) struct Client {
    model: Arc<dyn Model>,
    is_own: bool,
    /// A permit for each answer that may still begin.
    slots: Arc<Semaphore>,
}

impl Client {
    /// A client that has at most so many answers under way. `is_own` says that the server is the
    /// deployment's own.
    pub(crate) fn new(model: Arc<dyn Model>, max_concurrent: u32, is_own: bool) -> Self {
        Self { model, is_own, slots: Arc::new(Semaphore::new(max_concurrent as usize)) }
    }

    /// Waits until an answer may begin, then asks. A server of one's own works on few prompts at a
    /// time. It queues the others and sends nothing meanwhile, so the wait is here, outside of the
    /// limits of the answer.
    pub(crate) async fn ask(
        &self,
        limits: Limits,
        request: &Request,
    ) -> Result<Pieces, ModelError> {
        let closed = |_| ModelError::new(FailureCode::Overloaded, "the provider is closed");
        let slot = Arc::clone(&self.slots).acquire_owned().await.map_err(closed)?;
        let answer = if self.is_own {
            limits.ask_queueing(&*self.model, request).await
        } else {
            limits.ask(&*self.model, request).await
        };
        let is_of_own_server = self.is_own;
        let marked = move |error| ModelError { is_of_own_server, ..error };
        let pieces = answer.map_err(marked)?.map(move |piece| {
            // The slot is free again when the answer is dropped.
            let _ = &slot;
            piece.map_err(marked)
        });
        Ok(pieces.boxed())
    }

    /// Whether a further request would wait.
    pub(crate) fn is_full(&self) -> bool {
        self.slots.available_permits() == 0
    }

    pub(crate) async fn draw(&self, request: &ImageRequest) -> Result<Drawing, ModelError> {
        self.model.draw(request).await
    }
}

#[cfg(test)]
mod tests {
    use std::{
        sync::atomic::{AtomicUsize, Ordering::SeqCst},
        time::Duration,
    };

    use async_trait::async_trait;
    use futures::{future::join_all, stream};
    use smartspace_domain::{runs::Usage, steps::FinishReason};
    use tokio::time::{Instant, sleep};

    use super::*;
    use crate::{port::Piece, samples};

    /// A server with one slot: it sends nothing for a minute and a half, then a whole answer.
    #[derive(Default)]
    struct Slow {
        under_way: AtomicUsize,
        most: AtomicUsize,
    }

    #[async_trait]
    impl Model for Slow {
        async fn ask(&self, _: &Request) -> Result<Pieces, ModelError> {
            let under_way = self.under_way.fetch_add(1, SeqCst) + 1;
            self.most.fetch_max(under_way, SeqCst);
            sleep(Duration::from_secs(90)).await;
            self.under_way.fetch_sub(1, SeqCst);
            let piece = Piece::Finished { reason: FinishReason::Stop, usage: Usage::default() };
            Ok(stream::iter([Ok(piece)]).boxed())
        }
    }

    async fn answers(client: &Client, count: usize) -> Vec<bool> {
        let request = samples::request();
        let asked = (0..count).map(async |_| {
            let Ok(pieces) = client.ask(Limits::default(), &request).await else { return false };
            pieces.all(async |piece| piece.is_ok()).await
        });
        join_all(asked).await
    }

    #[tokio::test(start_paused = true)]
    async fn requests_to_an_own_server_wait_for_one_another_and_none_is_lost() {
        let server = Arc::new(Slow::default());
        let client = Client::new(Arc::clone(&server) as Arc<dyn Model>, 1, true);
        let began = Instant::now();
        let is_full_in_between = async {
            sleep(Duration::from_secs(100)).await;
            client.is_full()
        };
        let both = tokio::join!(answers(&client, 5), is_full_in_between);
        assert_eq!(both, (vec![true; 5], true));
        assert!(!client.is_full());
        assert_eq!(server.most.load(SeqCst), 1);
        assert_eq!(began.elapsed().as_secs(), 450);
    }

    #[tokio::test(start_paused = true)]
    async fn silence_of_another_server_is_an_error_that_frees_the_slot() {
        let client = Client::new(Arc::new(Slow::default()), 2, false);
        assert_eq!(answers(&client, 3).await, [false; 3]);
        assert_eq!(client.slots.available_permits(), 2);
    }

    #[tokio::test]
    async fn an_error_says_whether_the_server_is_an_own_one() {
        struct Loading;
        #[async_trait]
        impl Model for Loading {
            async fn ask(&self, _: &Request) -> Result<Pieces, ModelError> {
                Err(ModelError::new(FailureCode::Overloaded, "loading"))
            }
        }
        for is_own in [true, false] {
            let client = Client::new(Arc::new(Loading), 2, is_own);
            let asked = client.ask(Limits::default(), &samples::request()).await;
            assert_eq!(asked.err().map(|error| error.is_of_own_server), Some(is_own));
        }
    }
}
