//! The worker of one run, from its claim to its end.
//!
//! It renews the lease while it drives the loop.
//! It stops at once when it loses the run: then another worker may already have it.

use std::time::Duration;

use smartspace_domain::{
    Error, Result,
    events::{EventKind, StreamEnd},
    limits::lease,
    runs::{EndReason, FailureCode, Run, RunError, RunStatus},
};
use smartspace_ports::queues::Delivery;
use smartspace_store::runs::{
    RunRecord, Tried,
    endings::Ending,
    steps::{Marks, Progress},
};
use tokio::{
    sync::watch,
    time::{Instant, sleep, sleep_until, timeout, timeout_at},
};

use crate::{
    ClaimKind,
    agent_loop::steps::{AgentLoop, LoopOutcome},
    prompt::reading::Gathered,
    run_context::RunContext,
    tools::toolbox::Toolbox,
};

/// How often a worker checks whether its run was canceled, if no cancel signal comes.
const CHECK_INTERVAL: Duration = Duration::from_secs(2);

/// How long the queue hides a job from other workers: until another one may take over the run, if
/// this one dies.
const JOB_HIDDEN_FOR: Duration =
    Duration::from_secs(1 + lease::LASTS.as_secs() + lease::GRACE.as_secs());

/// How long external calls have to finish when the process stops. The process itself has two
/// seconds.
const EXTERNAL_CALLS_END_WITHIN: Duration = Duration::from_millis(800);

/// Why a worker stops before its run ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum StopReason {
    /// Somebody else ended the run.
    Ended(StreamEnd),
    /// Another worker has the run.
    TakenOver,
    /// The lease was not renewed for so long that another worker may take over at any moment.
    NotRenewed,
    /// The process stops.
    Stopping,
}

/// The worker of one run.
pub(crate) struct Worker {
    pub(crate) context: RunContext,
    pub(crate) tools: Toolbox,
    pub(crate) stopping: watch::Receiver<bool>,
    /// When the claim began. The lease counts from this moment.
    pub(crate) claimed: Instant,
    /// Texts for the model about MCP servers that do not answer.
    pub(crate) trouble: Vec<String>,
}

impl Worker {
    /// Works on the run until it ends, or until the worker loses it.
    pub(crate) async fn work(
        &self,
        gathered: &Gathered,
        progress: Progress,
        claim: ClaimKind,
        delivery: &dyn Delivery,
    ) -> Result<()> {
        let renewed = match self.renew_if_slow().await {
            Ok(renewed) => renewed,
            Err(Error::LeaseLost) => return Ok(()),
            Err(error) => return Err(error),
        };
        let agent_loop = self.agent_loop();
        // The space is notified while the model is asked: the model waits for nobody.
        let announcing = self.announce_begin(claim);
        let driving = async { futures::join!(agent_loop.drive(gathered, progress), announcing).0 };
        let outcome = tokio::select! {
            // In a fixed order, so that the simulation can repeat a history.
            biased;
            outcome = driving => Ok(outcome),
            stop = self.hold(renewed, delivery) => Err(stop),
        };
        let result = match outcome {
            Ok(outcome) => self.conclude(outcome).await,
            Err(stop) => self.stop_early(stop).await,
        };
        self.context.streams.end_all(None);
        self.context.streams.close(self.context.run.id).await;
        result
    }

    /// Renews the lease before the first step if a renewal is already due: it took long to read
    /// what the prompt needs, or the process stood still. Another worker may have the run by now.
    /// Returns when the lease was last renewed.
    async fn renew_if_slow(&self) -> Result<Instant> {
        if self.claimed.elapsed() < lease::RENEWED {
            return Ok(self.claimed);
        }
        let context = &self.context;
        let renewed = Instant::now();
        context.store().runs().renew(context.run.id, &context.lease, false, context.now()).await?;
        Ok(renewed)
    }

    /// Notifies the space that its run has begun, or goes on after people answered.
    /// A run that no space triggered is announced in each space that it enters.
    async fn announce_begin(&self, claim: ClaimKind) {
        let run = &self.context.run;
        match claim {
            ClaimKind::First => {
                self.context.announce(run, None, |run| EventKind::RunStarted { run }).await;
            }
            ClaimKind::Resumed => {
                self.context.announce(run, None, |run| EventKind::RunResumed { run }).await;
            }
            ClaimKind::Again => {}
        }
    }

    /// Stores and announces how the loop ended.
    async fn conclude(&self, outcome: Result<LoopOutcome>) -> Result<()> {
        match outcome {
            Ok(LoopOutcome::Ended(run)) => {
                self.announce_end(&run, None).await;
                Ok(())
            }
            Ok(LoopOutcome::HandedOver(tried)) => self.hand_over(tried).await,
            Ok(LoopOutcome::Paused) => {
                self.announce_pause().await;
                Ok(())
            }
            Ok(LoopOutcome::StepsExpired) => {
                self.fail(
                    "the run waited too long: its stored steps expired; \
                     resuming would repeat work",
                )
                .await
            }
            Err(Error::LeaseLost) => {
                self.stop(self.why_lost().await).await;
                Ok(())
            }
            Err(error @ Error::Retry(_)) => {
                // The last write may have happened or not. The next worker reads what is stored.
                self.context.streams.end_all(Some(StreamEnd::Failed));
                self.give_back().await?;
                Err(error)
            }
            Err(error) => {
                let run = self.context.run.id;
                tracing::error!(
                    event = "run_failed", %run, %error, "an internal error ended a run"
                );
                self.fail("internal error in Smartspace; the server log has the details").await
            }
        }
    }

    /// Stops before the loop has ended.
    async fn stop_early(&self, stop: StopReason) -> Result<()> {
        self.stop(stop).await;
        match stop {
            StopReason::NotRenewed => {
                Err(Error::Retry("the lease could not be renewed in time".into()))
            }
            _ => Ok(()),
        }
    }

    async fn give_back(&self) -> Result<()> {
        let context = &self.context;
        context.store().runs().give_back(context.run.id, &context.lease, context.now()).await
    }

    fn agent_loop(&self) -> AgentLoop<'_> {
        AgentLoop { context: &self.context, tools: &self.tools, trouble: &self.trouble }
    }

    /// Gives the run to a fresh invocation.
    async fn hand_over(&self, tried: Option<Tried>) -> Result<()> {
        let context = &self.context;
        let id = context.run.id;
        tracing::info!(run = %id, ?tried, "handing a run over: the invocation ends");
        context.streams.end_all(None);
        let runs = context.store().runs();
        let now = context.now();
        match tried {
            Some(tried) => runs.give_back_tried(id, &context.lease, &tried).await?,
            None => runs.give_back(id, &context.lease, now).await?,
        }
        match tried.filter(|tried| tried.again_at > now) {
            // A model that needs a pause gets it, and no invocation is paid for waiting.
            Some(tried) => context.pipeline.wake_at(id, tried.again_at).await,
            None => context.pipeline.queue_runs(vec![context.run.job()]).await,
        }
        Ok(())
    }

    /// Fails the run if this worker still has it.
    async fn fail(&self, message: &str) -> Result<()> {
        self.context.streams.end_all(Some(StreamEnd::Failed));
        self.end(Ending {
            status: RunStatus::Failed,
            reason: None,
            error: Some(RunError { code: FailureCode::Internal, message: message.to_owned() }),
            usage: self.context.run.usage,
            last_step: None,
            prompt: None,
            marks: Marks::new(),
        })
        .await
    }

    async fn end(&self, ending: Ending) -> Result<()> {
        let context = &self.context;
        let run = match context.store().runs().record(context.run.id).await {
            Ok(run) if run.lease.as_ref() == Some(&context.lease) => run,
            Ok(_) | Err(Error::NotFound(_)) => return Ok(()),
            Err(error) => return Err(error),
        };
        let ending = Ending { usage: run.usage, ..ending };
        match context.store().runs().finish(&run, &context.lease, &ending, context.now()).await {
            Ok(run) => {
                self.announce_end(&run, ending.error).await;
                Ok(())
            }
            Err(Error::LeaseLost) => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// Notifies the space of how its run ended.
    async fn announce_end(&self, run: &RunRecord, error: Option<RunError>) {
        let error = match (run.status, error) {
            (RunStatus::Failed, None) => {
                self.context.store().runs().get(run).await.ok().and_then(|run| run.error)
            }
            (_, error) => error,
        };
        if run.status == RunStatus::Failed {
            self.context.streams.end_all(Some(StreamEnd::Failed));
            if let Some(RunError { code, message }) = &error {
                let agent = run.agent_id;
                tracing::warn!(
                    event = "run_failed", run = %run.id, %agent, ?code, message, "a run failed"
                );
            }
        }
        let event = |run: Box<Run>| match run.status {
            RunStatus::Failed => EventKind::RunFailed { run },
            RunStatus::Canceled => EventKind::RunCanceled { run, by: None },
            _ => EventKind::RunCompleted { run },
        };
        self.context.announce(run, error, event).await;
        self.context.pipeline.close_calls_now(run).await;
    }

    /// Notifies the space that its run waits for people.
    async fn announce_pause(&self) {
        let id = self.context.run.id;
        match self.context.store().runs().record(id).await {
            Ok(run) if run.status == RunStatus::WaitingTool => {
                self.context.announce(&run, None, |run| EventKind::RunWaitingTool { run }).await;
                if let Some(next) = run.due_at {
                    self.context.pipeline.wake_at(run.id, next).await;
                }
            }
            // Somebody answered already, and the run goes on.
            Ok(_) => {}
            Err(error) => {
                tracing::warn!(run = %id, %error, "the space was not notified that a run waits");
            }
        }
    }

    async fn stop(&self, stop: StopReason) {
        let run = self.context.run.id;
        tracing::info!(%run, ?stop, "stopped working on a run");
        match stop {
            StopReason::Ended(reason) => self.context.streams.end_all(Some(reason)),
            // The next worker streams again, with a higher attempt.
            StopReason::TakenOver | StopReason::NotRenewed => self.context.streams.end_all(None),
            StopReason::Stopping => {
                let _writing = self.context.writing.lock().await;
                if let Err(error) = self.give_back().await {
                    tracing::warn!(%run, %error, "a run was not given back; its lease will expire");
                }
            }
        }
    }

    /// Returns when there is a reason to stop. A renewal waits neither for a check of the run nor
    /// for the queue.
    async fn hold(&self, renewed: Instant, delivery: &dyn Delivery) -> StopReason {
        tokio::select! {
            biased;
            stop = self.keep_renewing(renewed, delivery) => stop,
            stop = self.keep_checking() => stop,
            () = self.process_stops() => StopReason::Stopping,
        }
    }

    /// Returns when the process stops, after external calls under way had their time to finish.
    async fn process_stops(&self) {
        stop_requested(self.stopping.clone()).await;
        let mut external_calls = self.context.external_calls.subscribe();
        let _ =
            timeout(EXTERNAL_CALLS_END_WITHIN, external_calls.wait_for(|calls| *calls == 0)).await;
    }

    /// Renews the lease again and again, and with it the time for which the queue hides the job.
    async fn keep_renewing(&self, mut renewed: Instant, delivery: &dyn Delivery) -> StopReason {
        let mut due_moved = Instant::now();
        let mut next = renewed + lease::RENEWED;
        loop {
            // If the queue does not answer, the next renewal asks it again.
            let _ = timeout_at(next, delivery.hold(JOB_HIDDEN_FOR)).await;
            sleep_until(next).await;
            let move_due = due_moved.elapsed() >= lease::RUNNING_DUE / 2;
            let context = &self.context;
            let renewal = async {
                let _writing = context.writing.lock().await;
                let runs = context.store().runs();
                runs.renew(context.run.id, &context.lease, move_due, context.now()).await
            };
            // The table may also give no answer at all.
            let Ok(result) = timeout_at(renewed + lease::GIVEN_UP, renewal).await else {
                return StopReason::NotRenewed;
            };
            match result {
                Ok(()) => {
                    renewed = Instant::now();
                    if move_due {
                        due_moved = renewed;
                    }
                }
                Err(Error::LeaseLost) => return self.why_lost().await,
                Err(error) => {
                    tracing::warn!(run = %context.run.id, %error, "a lease could not be renewed");
                    if renewed.elapsed() >= lease::GIVEN_UP {
                        return StopReason::NotRenewed;
                    }
                }
            }
            next = Instant::now() + lease::RENEWED;
        }
    }

    /// Checks from time to time, and at each cancel signal, whether the worker still has the run.
    async fn keep_checking(&self) -> StopReason {
        let signal = &self.context.pipeline.cancel_signal;
        let mut heard = signal.heard(self.context.run.id);
        loop {
            tokio::select! {
                biased;
                () = sleep(CHECK_INTERVAL) => {}
                () = &mut heard => heard = signal.heard(self.context.run.id),
            }
            if let Some(stop) = self.check().await {
                return stop;
            }
        }
    }

    /// Returns a reason to stop if the worker no longer has the run.
    async fn check(&self) -> Option<StopReason> {
        match self.context.store().runs().record(self.context.run.id).await {
            Ok(run) if run.lease.as_ref() == Some(&self.context.lease) => None,
            Ok(run) if run.status == RunStatus::Canceled => {
                Some(StopReason::Ended(match run.end_reason {
                    Some(EndReason::Absorbed) => StreamEnd::Absorbed,
                    _ => StreamEnd::Canceled,
                }))
            }
            // This worker has just ended it itself.
            Ok(run) if run.ended_by.as_ref() == Some(&self.context.lease) => None,
            Ok(_) | Err(Error::NotFound(_)) => Some(StopReason::TakenOver),
            // Unknown, but every write checks the lease as well.
            Err(_) => None,
        }
    }

    async fn why_lost(&self) -> StopReason {
        self.check().await.unwrap_or(StopReason::TakenOver)
    }
}

/// Returns when the process is asked to stop.
async fn stop_requested(mut stopping: watch::Receiver<bool>) {
    if stopping.wait_for(|stopping| *stopping).await.is_err() {
        // The sender was dropped: no request can come.
        std::future::pending::<()>().await;
    }
}
