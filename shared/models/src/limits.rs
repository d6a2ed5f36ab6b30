//! Time limits of an answer: how long a model may be silent, and how long the answer may take.

use std::{cmp::min, future::Future, time::Duration};

use futures::{StreamExt, stream};
use smartspace_domain::runs::FailureCode;
use tokio::time::{Instant, timeout_at};

use crate::port::{Model, ModelError, Piece, Pieces, Request, TOTAL_LIMIT};

/// Time limits of one answer. Without them a provider that hangs would block a run forever.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// How long the provider may send nothing. The first such period starts with the request.
    pub silence: Duration,
    /// How long the whole answer may take.
    pub total: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self { silence: Duration::from_mins(1), total: TOTAL_LIMIT }
    }
}

impl Limits {
    /// Asks `model`. The answer ends within the limits, with [`Piece::Finished`] or with an error.
    ///
    /// An empty text is a sign of life of the provider: it ends a silence and is not passed on.
    pub async fn ask(&self, model: &dyn Model, request: &Request) -> Result<Pieces, ModelError> {
        self.ask_after(*self, model, request).await
    }

    /// Like [`Self::ask`], for a server that queues requests: it may be silent before its answer
    /// begins.
    pub async fn ask_queueing(
        &self,
        model: &dyn Model,
        request: &Request,
    ) -> Result<Pieces, ModelError> {
        self.ask_after(Self { silence: self.total, ..*self }, model, request).await
    }

    /// `before` are the limits until the answer begins.
    async fn ask_after(
        &self,
        before: Self,
        model: &dyn Model,
        request: &Request,
    ) -> Result<Pieces, ModelError> {
        let limits = *self;
        let end = from_now(limits.total);
        let answer = before.within(end, model.ask(request)).await??;
        // The end of the answer drops its stream. This closes the connection, so that the provider
        // stops generating.
        let limited = stream::unfold(Some(answer), move |answer| async move {
            let mut answer = answer?;
            loop {
                return match limits.within(end, answer.next()).await {
                    Ok(Some(Ok(Piece::Text(text)))) if text.is_empty() => continue,
                    Ok(Some(Ok(piece @ Piece::Finished { .. }))) => Some((Ok(piece), None)),
                    Ok(Some(Ok(piece))) => Some((Ok(piece), Some(answer))),
                    Ok(Some(Err(error))) | Err(error) => Some((Err(error), None)),
                    Ok(None) => {
                        Some((Err(broken("the answer ended before it was complete")), None))
                    }
                };
            }
        });
        Ok(limited.boxed())
    }

    async fn within<T>(
        &self,
        end: Instant,
        wait: impl Future<Output = T>,
    ) -> Result<T, ModelError> {
        let quiet = from_now(self.silence);
        let too_long = || broken(format!("the answer took longer than {:?}", self.total));
        // `timeout_at` polls the work first, so it never times out work that is always ready.
        if Instant::now() >= end {
            return Err(too_long());
        }
        let silent = || broken(format!("the model sent nothing for {:?}", self.silence));
        timeout_at(min(quiet, end), wait)
            .await
            .map_err(|_| if quiet < end { silent() } else { too_long() })
    }
}

fn broken(message: impl Into<String>) -> ModelError {
    ModelError::new(FailureCode::BrokenStream, message)
}

fn from_now(duration: Duration) -> Instant {
    const FAR: Duration = Duration::from_hours(30 * 365 * 24);
    Instant::now() + min(duration, FAR)
}

#[cfg(test)]
mod tests {
    use async_trait::async_trait;
    use smartspace_domain::{runs::Usage, steps::FinishReason};
    use tokio::time::sleep;

    use super::*;
    use crate::samples;

    /// Answers after `headers` seconds. Each piece follows the one before after its own delay.
    struct Slow {
        headers: u64,
        pieces: Vec<(u64, Result<Piece, ModelError>)>,
    }

    #[async_trait]
    impl Model for Slow {
        async fn ask(&self, _: &Request) -> Result<Pieces, ModelError> {
            sleep(Duration::from_secs(self.headers)).await;
            let pieces = stream::iter(self.pieces.clone()).then(|(seconds, piece)| async move {
                sleep(Duration::from_secs(seconds)).await;
                piece
            });
            Ok(pieces.boxed())
        }
    }

    async fn answer_of(
        headers: u64,
        pieces: Vec<(u64, Result<Piece, ModelError>)>,
    ) -> (Vec<Result<Piece, ModelError>>, Duration) {
        let began = Instant::now();
        let answer =
            match Limits::default().ask(&Slow { headers, pieces }, &samples::request()).await {
                Ok(pieces) => pieces.collect().await,
                Err(error) => vec![Err(error)],
            };
        (answer, began.elapsed())
    }

    fn text(text: &str) -> Piece {
        Piece::Text(text.to_owned())
    }

    fn finished() -> Piece {
        Piece::Finished { reason: FinishReason::Stop, usage: Usage::default() }
    }

    #[tokio::test(start_paused = true)]
    async fn a_slow_answer_within_the_limits_is_complete() {
        let (answer, took) =
            answer_of(59, vec![(59, Ok(text("a"))), (59, Ok(text("b"))), (59, Ok(finished()))])
                .await;
        assert_eq!(
            (answer, took.as_secs()),
            (vec![Ok(text("a")), Ok(text("b")), Ok(finished())], 236)
        );
    }

    #[tokio::test(start_paused = true)]
    async fn silence_before_the_first_piece_times_out() {
        let silent = || Err(broken("the model sent nothing for 60s"));
        let (answer, took) = answer_of(61, vec![]).await;
        assert_eq!((answer, took.as_secs()), (vec![silent()], 60));
        let (answer, took) = answer_of(10, vec![(61, Ok(text("late")))]).await;
        assert_eq!((answer, took.as_secs()), (vec![silent()], 70));
    }

    #[tokio::test(start_paused = true)]
    async fn silence_in_the_middle_times_out() {
        let (answer, took) = answer_of(0, vec![(1, Ok(text("a"))), (61, Ok(text("late")))]).await;
        assert_eq!(
            (answer, took.as_secs()),
            (vec![Ok(text("a")), Err(broken("the model sent nothing for 60s"))], 61)
        );
    }

    #[tokio::test(start_paused = true)]
    async fn a_sign_of_life_ends_a_silence_and_is_not_passed_on() {
        let (answer, took) = answer_of(
            0,
            vec![(50, Ok(text(""))), (50, Ok(text(""))), (50, Ok(text("a"))), (0, Ok(finished()))],
        )
        .await;
        assert_eq!((answer, took.as_secs()), (vec![Ok(text("a")), Ok(finished())], 150));
    }

    #[tokio::test(start_paused = true)]
    async fn an_endless_answer_times_out() {
        let (answer, took) = answer_of(0, (0..100).map(|_| (50, Ok(text("")))).collect()).await;
        assert_eq!(
            (answer, took.as_secs()),
            (vec![Err(broken("the answer took longer than 600s"))], 600)
        );
    }

    #[tokio::test(start_paused = true)]
    async fn no_piece_follows_the_end_or_an_error() {
        let error = || ModelError::new(FailureCode::Overloaded, "no");
        assert_eq!(
            answer_of(0, vec![(0, Ok(finished())), (0, Ok(text("a")))]).await.0,
            [Ok(finished())]
        );
        assert_eq!(
            answer_of(0, vec![(0, Err(error())), (0, Ok(text("a")))]).await.0,
            [Err(error())]
        );
        assert_eq!(
            answer_of(0, vec![(0, Ok(text("a")))]).await.0,
            [Ok(text("a")), Err(broken("the answer ended before it was complete"))]
        );
    }
}
