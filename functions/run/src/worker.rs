//! The worker of one run, from its claim to its end: it holds the lease, drives the loop beside it, and stops at once when the run is not
//! its own any more.

use std::{collections::BTreeSet, sync::Arc, time::Duration};

use smartspace_domain::{
    Error, Result,
    agents::AgentConfig,
    events::{Happening, StreamEnd},
    ids::{LeaseId, SpaceId},
    limits::lease,
    prices::Prices,
    runs::{EndReason, FailureCode, Run, RunError, RunStatus},
    steps::SystemMessage,
    triggers::Trigger,
};
use smartspace_edges::queues::Delivery;
use smartspace_egress::Egress;
use smartspace_models::port::Model;
use smartspace_pipeline::Pipeline;
use smartspace_store::{
    endings::Ending,
    runs::{RunRecord, Tried},
    steps::{CallRecord, Marks, Progress},
};
use tokio::{
    sync::watch,
    time::{Instant, sleep, sleep_until, timeout, timeout_at},
};

use crate::{
    Begun,
    context::reading::Gathered,
    steps::Driven,
    stream::{Air, OpenStreams},
    tools::toolbox::Toolbox,
};

/// How often a worker that nobody rings looks whether its run was canceled.
const LOOKED_AFTER: Duration = Duration::from_secs(2);

/// For how long the queue keeps a job to its worker: until somebody else may take its run over, if the worker dies.
const HELD: Duration = Duration::from_secs(1 + lease::LASTS.as_secs() + lease::GRACE.as_secs());

/// How long calls outside have where the process ends, which has two seconds itself.
const OUTSIDE_ENDS_WITHIN: Duration = Duration::from_millis(800);

/// Why a worker stops before its run ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stop {
    /// The run was ended from outside.
    Ended(StreamEnd),
    /// Another worker has it.
    TakenOver,
    /// The lease could not be renewed for too long: someone may take the run over any moment.
    NotRenewed,
    /// The process ends.
    Stopping,
}

/// Who works on a run.
pub(crate) struct Worker {
    pub(crate) pipeline: Pipeline,
    pub(crate) models: Arc<dyn Model>,
    pub(crate) air: Air,
    pub(crate) stopping: watch::Receiver<bool>,
    pub(crate) run: RunRecord,
    pub(crate) lease: LeaseId,
    /// When the claim began: the lease counts from there.
    pub(crate) claimed: Instant,
    /// When the invocation ends; none where it may take as long as it likes.
    pub(crate) ends_at: Option<Instant>,
    pub(crate) prices: Arc<Prices>,
    pub(crate) config: AgentConfig,
    pub(crate) tools: Toolbox,
    /// The way out for tools.
    pub(crate) egress: Egress,
    /// How many calls are under way outside: what is cut off there is of unknown outcome.
    pub(crate) outside: watch::Sender<usize>,
    /// What the model is told of servers that are away.
    pub(crate) trouble: Vec<String>,
    /// The agent's name.
    pub(crate) name: String,
    /// Its only space, where it has no other: what it shows can't be meant for another one.
    pub(crate) at_home: bool,
    pub(crate) trigger: Trigger,
    /// A run has one writer: its writes go one after the other, the lease's renewal among them.
    pub(crate) writing: tokio::sync::Mutex<()>,
    pub(crate) streams: OpenStreams,
}

impl Worker {
    /// Works on the run until it ends, or until it is not ours any more. How it began is told beside its first step: the model waits for nobody.
    pub(crate) async fn work(&self, gathered: &Gathered, progress: Progress, began: Begun, delivery: &dyn Delivery) -> Result<()> {
        let mut renewed = self.claimed;
        // What a prompt needs may have taken long to read, or the process stood still: then someone else may have the run by now.
        if renewed.elapsed() >= lease::RENEWED {
            renewed = Instant::now();
            match self.pipeline.store.renew(self.run.id, &self.lease, false, self.pipeline.now()).await {
                Ok(()) => {}
                Err(Error::LeaseLost) => return Ok(()),
                Err(error) => return Err(error),
            }
        }
        let telling = async {
            match began {
                // One that no space woke is told of where it enters.
                Begun::First => self.announce(&self.run, None, |run| Happening::RunStarted { run }).await,
                Begun::Resumed => self.announce(&self.run, None, |run| Happening::RunResumed { run }).await,
                Begun::Again => {}
            }
        };
        let driving = async { futures::join!(self.drive(gathered, progress), telling).0 };
        let outcome = tokio::select! {
            // In a fixed order, as everywhere: what happens can be made to happen again.
            biased;
            result = driving => Ok(result),
            stop = self.hold(renewed, delivery) => Err(stop),
        };
        let result = match outcome {
            Ok(Ok(Driven::Ended(run))) => {
                self.tell_end(&run, None).await;
                Ok(())
            }
            Ok(Ok(Driven::HandedOver(tried))) => self.hand_over(tried).await,
            Ok(Ok(Driven::Paused)) => {
                self.tell_pause().await;
                Ok(())
            }
            Ok(Ok(Driven::Forgotten)) => {
                let text = "the run waited for longer than what it did is kept: going on, it would do the same again".to_owned();
                self.fail(RunError { code: FailureCode::Internal, message: text }).await
            }
            Ok(Err(Error::LeaseLost)) => {
                self.stop(self.why_lost().await).await;
                Ok(())
            }
            Ok(Err(error @ Error::Retry(_))) => {
                // Nobody knows whether the last write happened. Whoever goes on reads what is kept.
                self.streams.end_all(Some(StreamEnd::Failed));
                self.pipeline.store.give_back(self.run.id, &self.lease, self.pipeline.now()).await?;
                Err(error)
            }
            Ok(Err(error)) => {
                tracing::error!(event = "run_failed", run = %self.run.id, %error, "a fault of ours ended a run");
                let text = "something went wrong in Smartspace; the log says what".to_owned();
                self.fail(RunError { code: FailureCode::Internal, message: text }).await
            }
            Err(stop) => {
                self.stop(stop).await;
                match stop {
                    Stop::NotRenewed => Err(Error::Retry("the lease could not be renewed in time".into())),
                    _ => Ok(()),
                }
            }
        };
        self.streams.end_all(None);
        self.streams.close(self.run.id).await;
        result
    }

    /// Whether the invocation has time left for something that takes so long.
    pub(crate) fn has_time_for(&self, time: Duration) -> bool {
        self.ends_at.is_none_or(|ends_at| Instant::now() + time <= ends_at)
    }

    /// Tells the space that woke the run, or those that it has entered, what the system said to the model.
    pub(crate) async fn tell(&self, step: u32, said: &[SystemMessage], entered: &BTreeSet<SpaceId>) {
        let spaces: Vec<_> = self.run.space_id().map_or_else(|| entered.iter().copied().collect(), |space| vec![space]);
        for SystemMessage { watcher, text } in said {
            for space in &spaces {
                let (watcher, text) = (watcher.clone(), text.clone());
                self.pipeline.announce(*space, Happening::SystemMessage { run_id: self.run.id, step, watcher, text }).await;
            }
        }
    }

    /// A run that no space woke has entered one: it shows there from now on.
    pub(crate) async fn show_in(&self, space: SpaceId) {
        if let Err(error) = self.pipeline.store.show_active(&self.run, space).await {
            tracing::warn!(run = %self.run.id, %space, %error, "who comes to follow the space is not told that a run is active there");
        }
        let run = Run { active_space_id: Some(space), ..self.run.view(self.trigger.hidden(), None) };
        self.pipeline.announce(space, Happening::RunStarted { run: Box::new(run) }).await;
    }

    /// Tells those of the run's spaces what became of it.
    async fn announce(&self, record: &RunRecord, error: Option<RunError>, what: impl Fn(Box<Run>) -> Happening) {
        self.pipeline.announce_run(record, record.view(self.trigger.clone(), error), what).await;
    }

    /// Gives the run to a fresh invocation.
    async fn hand_over(&self, tried: Option<Tried>) -> Result<()> {
        tracing::info!(run = %self.run.id, ?tried, "handing a run over: the invocation ends");
        self.streams.end_all(None);
        let (store, now) = (&self.pipeline.store, self.pipeline.now());
        match tried {
            Some(tried) => store.give_back_tried(self.run.id, &self.lease, &tried).await?,
            None => store.give_back(self.run.id, &self.lease, now).await?,
        }
        match tried.filter(|tried| tried.again_at > now) {
            // A model that is to be left alone for a while is: nobody is paid for waiting.
            Some(tried) => self.pipeline.wake_at(self.run.id, tried.again_at).await,
            None => self.pipeline.queue_runs(vec![self.run.job()]).await,
        }
        Ok(())
    }

    /// Ends the run with an error, where it is still ours.
    pub(crate) async fn fail(&self, error: RunError) -> Result<()> {
        self.streams.end_all(Some(StreamEnd::Failed));
        self.end(Ending {
            status: RunStatus::Failed,
            reason: None,
            error: Some(error),
            usage: self.run.usage,
            last_step: None,
            prompt: None,
            marks: Marks::new(),
        })
        .await
    }

    async fn end(&self, ending: Ending) -> Result<()> {
        let run = match self.pipeline.store.run_record(self.run.id).await {
            Ok(run) if run.lease.as_ref() == Some(&self.lease) => run,
            Ok(_) | Err(Error::NotFound(_)) => return Ok(()),
            Err(error) => return Err(error),
        };
        let ending = Ending { usage: run.usage, ..ending };
        match self.pipeline.store.finish(&run, &self.lease, &ending, self.pipeline.now()).await {
            Ok(run) => {
                self.tell_end(&run, ending.error).await;
                Ok(())
            }
            Err(Error::LeaseLost) => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// Tells the space how its run ended.
    async fn tell_end(&self, run: &RunRecord, error: Option<RunError>) {
        let error = match (run.status, error) {
            (RunStatus::Failed, None) => self.pipeline.store.run(run).await.ok().and_then(|run| run.error),
            (_, error) => error,
        };
        if run.status == RunStatus::Failed {
            self.streams.end_all(Some(StreamEnd::Failed));
            if let Some(RunError { code, message }) = &error {
                tracing::warn!(event = "run_failed", run = %run.id, agent = %run.agent_id, ?code, message, "a run failed");
            }
        }
        let what = |run: Box<Run>| match run.status {
            RunStatus::Failed => Happening::RunFailed { run },
            RunStatus::Canceled => Happening::RunCanceled { run, by: None },
            _ => Happening::RunCompleted { run },
        };
        self.announce(run, error, what).await;
        self.pipeline.close_calls_now(run).await;
    }

    /// Tells the space that its run waits for people.
    async fn tell_pause(&self) {
        match self.pipeline.store.run_record(self.run.id).await {
            Ok(run) if run.status == RunStatus::WaitingTool => {
                self.announce(&run, None, |run| Happening::RunWaitingTool { run }).await;
                if let Some(next) = run.due_at {
                    self.pipeline.wake_at(run.id, next).await;
                }
            }
            // It goes on already.
            Ok(_) => {}
            Err(error) => tracing::warn!(run = %self.run.id, %error, "nobody was told that a run waits"),
        }
    }

    async fn stop(&self, stop: Stop) {
        tracing::info!(run = %self.run.id, ?stop, "stopped working on a run");
        match stop {
            Stop::Ended(reason) => self.streams.end_all(Some(reason)),
            // Who goes on streams again, with a higher attempt.
            Stop::TakenOver | Stop::NotRenewed => self.streams.end_all(None),
            Stop::Stopping => {
                let _writing = self.writing.lock().await;
                if let Err(error) = self.pipeline.store.give_back(self.run.id, &self.lease, self.pipeline.now()).await {
                    tracing::warn!(run = %self.run.id, %error, "a run could not be given back; its lease runs out by itself");
                }
            }
        }
    }

    /// Returns when there is a reason to stop. Renewing waits for nothing else: neither for a look at the run, nor for the queue.
    async fn hold(&self, renewed: Instant, delivery: &dyn Delivery) -> Stop {
        tokio::select! {
            biased;
            stop = self.renewing(renewed, delivery) => stop,
            stop = self.looking() => stop,
            () = self.stopped() => Stop::Stopping,
        }
    }

    /// Returns when the process ends, and what is under way outside has had its chance.
    async fn stopped(&self) {
        told(self.stopping.clone()).await;
        let mut outside = self.outside.subscribe();
        let _ = timeout(OUTSIDE_ENDS_WITHIN, outside.wait_for(|calls| *calls == 0)).await;
    }

    /// Renews the lease, and with it the time for which the queue keeps the job to us.
    async fn renewing(&self, mut renewed: Instant, delivery: &dyn Delivery) -> Stop {
        let mut due_moved = Instant::now();
        let mut next = renewed + lease::RENEWED;
        loop {
            // A queue that does not answer is asked again with the next renewal.
            let _ = timeout_at(next, delivery.hold(HELD)).await;
            sleep_until(next).await;
            let move_due = due_moved.elapsed() >= lease::RUNNING_DUE / 2;
            let renewal = async {
                let _writing = self.writing.lock().await;
                self.pipeline.store.renew(self.run.id, &self.lease, move_due, self.pipeline.now()).await
            };
            // Also where neither a yes nor a no comes.
            let Ok(result) = timeout_at(renewed + lease::GIVEN_UP, renewal).await else { return Stop::NotRenewed };
            match result {
                Ok(()) => {
                    renewed = Instant::now();
                    if move_due {
                        due_moved = renewed;
                    }
                }
                Err(Error::LeaseLost) => return self.why_lost().await,
                Err(error) => {
                    tracing::warn!(run = %self.run.id, %error, "a lease could not be renewed");
                    if renewed.elapsed() >= lease::GIVEN_UP {
                        return Stop::NotRenewed;
                    }
                }
            }
            next = Instant::now() + lease::RENEWED;
        }
    }

    /// Looks now and then, and when the bell rings, whether the run is still ours.
    async fn looking(&self) -> Stop {
        let mut heard = self.pipeline.bell.heard(self.run.id);
        loop {
            tokio::select! {
                biased;
                () = sleep(LOOKED_AFTER) => {}
                () = &mut heard => heard = self.pipeline.bell.heard(self.run.id),
            }
            if let Some(stop) = self.look().await {
                return stop;
            }
        }
    }

    /// Looks whether the run is still ours.
    async fn look(&self) -> Option<Stop> {
        match self.pipeline.store.run_record(self.run.id).await {
            Ok(run) if run.lease.as_ref() == Some(&self.lease) => None,
            Ok(run) if run.status == RunStatus::Canceled => Some(Stop::Ended(match run.end_reason {
                Some(EndReason::Absorbed) => StreamEnd::Absorbed,
                _ => StreamEnd::Canceled,
            })),
            // We ended it ourselves, this very moment.
            Ok(run) if run.ended_by.as_ref() == Some(&self.lease) => None,
            Ok(_) | Err(Error::NotFound(_)) => Some(Stop::TakenOver),
            // Not known: every write checks it anyway.
            Err(_) => None,
        }
    }

    async fn why_lost(&self) -> Stop {
        self.look().await.unwrap_or(Stop::TakenOver)
    }

    /// What is kept of a call, with the time when it is dropped.
    pub(crate) fn with_expiry(&self, call: CallRecord) -> CallRecord {
        CallRecord { expires_at: self.pipeline.store.progress_expiry(self.pipeline.now()), ..call }
    }
}

/// Waits until the process ends.
async fn told(mut stopping: watch::Receiver<bool>) {
    if stopping.wait_for(|stopping| *stopping).await.is_err() {
        // Whoever could tell is gone, and tells nothing any more.
        std::future::pending::<()>().await;
    }
}
