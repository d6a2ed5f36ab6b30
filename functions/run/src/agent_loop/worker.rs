//! The worker of one run: holds the lease, drives the loop, and stores and announces its end.
//!
//! It renews the lease while the loop works.
//! It stops at once when it loses the run: then another worker may already have it.

mod lease;
mod lifecycle_events;
mod stopped;

use std::collections::BTreeMap;

use smartspace_domain::{
    Error, Result,
    events::StreamEnd,
    limits,
    runs::{FailureCode, RunError},
};
use smartspace_ports::queues::ReceivedJob;
use smartspace_store::runs::{Tried, endings::Ending, steps::Progress};
use tokio::{sync::watch, time::Instant};

use crate::{
    agent_loop::steps::{AgentLoop, LoopOutcome},
    prompt::reading::PromptSources,
    run_context::{RunContext, call_id, image_call_id},
    tools::{configured::mcp::McpProblems, toolbox::Toolbox},
};
use lease::StopReason;

/// How a worker got its run, which decides what it loads and announces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ClaimKind {
    /// No worker had the run before.
    First,
    /// The run waited for people.
    Resumed,
    /// Another worker had the run before.
    Reclaimed,
    /// The run is a fork. It continues the steps of another run, and is not announced.
    Fork,
}

/// The worker of one run.
pub(crate) struct Worker {
    pub(crate) context: RunContext,
    pub(crate) tools: Toolbox,
    pub(crate) stopping: watch::Receiver<bool>,
    /// When the claim began. The lease counts from this moment.
    pub(crate) claimed_at: Instant,
    /// Texts for the model about MCP servers that do not answer.
    pub(crate) mcp_problems: McpProblems,
}

impl Worker {
    /// Works on the run until it ends, or until the worker loses it.
    pub(crate) async fn run(
        &self,
        sources: &PromptSources,
        progress: Progress,
        claim: ClaimKind,
        delivery: &dyn ReceivedJob,
    ) -> Result<()> {
        let renewed = match self.renew_if_slow().await {
            Ok(renewed) => renewed,
            Err(Error::LeaseLost) => return Ok(()),
            Err(error) => return Err(error),
        };
        // A worker that died may have reserved budget for a model call, or stored that the run is
        // shown in a space without saying so there.
        if claim != ClaimKind::First {
            self.settle_calls(&progress).await;
            self.show_where_shown(&progress, claim).await;
        }
        let agent_loop = self.agent_loop();
        // The space is notified while the model is asked, so that this does not delay the answer.
        let announcing = self.announce_begin(claim);
        let driving = async { futures::join!(agent_loop.drive(sources, progress), announcing).0 };
        let outcome = tokio::select! {
            // In a fixed order, so that the simulation can repeat a history.
            // The loop comes first: if it ends at the moment the lease is lost, its end is stored
            // and must be announced.
            biased;
            outcome = driving => Ok(outcome),
            stop = self.hold(renewed, delivery) => Err(stop),
        };
        let result = match outcome {
            Ok(outcome) => Box::pin(self.conclude(outcome)).await,
            Err(stop) => self.stop_early(stop).await,
        };
        self.context.streams.end_all(None);
        self.context.streams.close(self.context.run.id).await;
        self.context.live_steps.close(self.context.run.id).await;
        self.context.spending.close().await;
        self.announce_budgets().await;
        self.context.broadcasts.close().await;
        result
    }

    /// Renews the lease before the first step if a renewal is already due: it took long to read the
    /// sources of the prompt, or the process stood still. Another worker may have the run by now.
    /// Returns when the lease was last renewed.
    async fn renew_if_slow(&self) -> Result<Instant> {
        if self.claimed_at.elapsed() < limits::lease::RENEW_EVERY {
            return Ok(self.claimed_at);
        }
        let context = &self.context;
        let renewed = Instant::now();
        context.store().runs().renew(context.run.id, &context.lease, false, context.now()).await?;
        Ok(renewed)
    }

    /// Settles the model calls of an earlier worker: a call with a stored answer by the usage that
    /// is stored with it.
    async fn settle_calls(&self, progress: &Progress) {
        let run = self.context.run.id;
        let answers = progress
            .steps
            .iter()
            .map(|step| (call_id(run, step.index, step.stream_attempt), step.usage));
        let pictures = progress.calls.values().filter_map(|call| {
            let used = call.used.as_ref()?;
            Some((image_call_id(run, call.step, call.index), used.usage))
        });
        let used: BTreeMap<_, _> = answers.chain(pictures).collect();
        let prefix = format!("{run}_");
        self.context
            .spending
            .settle_left(&prefix, |call| used.get(&format!("{prefix}{call}")).copied())
            .await;
    }

    /// Stores and announces how the loop ended.
    async fn conclude(&self, outcome: Result<LoopOutcome>) -> Result<()> {
        match outcome {
            Ok(LoopOutcome::Ended(ended)) => {
                self.announce_end(&ended, None).await;
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
            // A write noticed before the renewal that the run is lost. It has ended, or another
            // worker has claimed it, so this job needs no second delivery.
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
                    event = "run_broken", %run, %error, "an internal error ended a run"
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
        AgentLoop { context: &self.context, tools: &self.tools, mcp_problems: &self.mcp_problems }
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
        let error = RunError { code: FailureCode::Internal, message: message.to_owned() };
        let context = &self.context;
        // The context has the run as it was claimed. Its steps since then have used tokens, and the
        // end adds them to the usage of the space: the stored run has the sum.
        let run = match context.store().runs().record(context.run.id).await {
            Ok(run) if run.lease.as_ref() == Some(&context.lease) => run,
            Ok(_) | Err(Error::NotFound(_)) => return Ok(()),
            Err(error) => return Err(error),
        };
        let ending = Ending::failed(error, run.used.clone());
        match context.store().runs().finish(&run, &context.lease, &ending, context.now()).await {
            Ok(ended) => {
                context.pipeline.queue_runs(ended.next.clone()).await;
                self.announce_end(&ended, ending.error).await;
                Ok(())
            }
            // The run was canceled or taken over since it was read: its end is not this worker's.
            Err(Error::LeaseLost) => Ok(()),
            Err(error) => Err(error),
        }
    }

    async fn stop(&self, stop: StopReason) {
        let run = self.context.run.id;
        tracing::info!(%run, ?stop, "stopped working on a run");
        match stop {
            StopReason::Ended { reason, is_replaced } => {
                // Members have seen a part of the answer. It is stored, unless another run replaces
                // this one and answers anew.
                if !is_replaced {
                    Box::pin(self.store_shown(reason)).await;
                }
                self.context.streams.end_all(Some(reason));
            }
            // The next worker streams again, with a higher attempt.
            StopReason::TakenOver | StopReason::NotRenewed => self.context.streams.end_all(None),
            StopReason::Stopping => {
                // One writer per run: two transactions of one run at once refuse each other.
                let _writing = self.context.writing.lock().await;
                if let Err(error) = self.give_back().await {
                    tracing::warn!(%run, %error, "a run was not given back; its lease will expire");
                }
            }
        }
    }
}
